"""A service from its start to its end."""

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from fairpool.server.demo import prepared_demo
from fairpool.server.logs import write_logs
from fairpool.server.people.invitations import first_operator
from fairpool.server.settings import ADDRESS, Settings
from fairpool.server.starting import fit_address, prepared
from fairpool.server.store.database import Database
from fairpool.server.web.app import create_app
from fairpool.server.web.pages.demo import DEMO, add_demo
from fairpool.server.web.serving import listening, serve
from fairpool.server.workers import workers as working


@dataclass(frozen=True, kw_only=True)
class Running:
    """A service that listens, and answers once it serves.

    Attributes:
        settings: How it is set up.
        database: With all tables.
        listener: Where clients connect.
        link: For the first operator, or to a demonstration; None: there is an operator.
        is_demo: Whether whoever is on this machine may look as anybody.
    """

    settings: Settings
    database: Database
    listener: socket.socket
    link: str | None
    is_demo: bool = False

    @classmethod
    def prepare(
        cls, folder: Path, *, host: str, port: int, address: str | None, is_insecure: bool
    ) -> "Running":
        """A service of a folder, which is made where it is lacking.

        Args:
            folder: Where everything is kept.
            host: Where it listens.
            port: Where it listens; 0: any that is free.
            address: Where browsers find it; None: where it listens.
            is_insecure: It may listen to other machines without TLS.
        """
        address = address or os.environ.get(ADDRESS)
        given = address or _address(host, port)
        settings = Settings.of(
            folder, address=fit_address(given, host=host, is_insecure=is_insecure)
        )
        listener = listening(host, port)
        with _closed_on_failure(listener):
            if address is None:
                settings = replace(settings, address=_address(host, listener.getsockname()[1]))
            database = prepared(settings)
            with database.transaction() as session:
                link = first_operator(session, settings)
        return cls(settings=settings, database=database, listener=listener, link=link)

    @classmethod
    def prepare_demo(cls, folder: Path, *, host: str, port: int) -> "Running":
        """A demonstration, for this machine alone, in a folder of its own.

        Args:
            folder: Where it is, or goes.
            host: Where it listens.
            port: Where it listens; 0: any that is free.
        """
        address = fit_address(_address(host, port), host=host, is_insecure=False)
        # What the environment says is about a service that is none of this.
        settings = Settings.of(folder, address=address, environment={})
        listener = listening(host, port)
        with _closed_on_failure(listener):
            settings = replace(settings, address=_address(host, listener.getsockname()[1]))
            write_logs(logging.WARNING)  # nobody wants to read of each table of a demonstration
            database = prepared_demo(settings)
        return cls(
            settings=settings,
            database=database,
            listener=listener,
            link=settings.address + DEMO,
            is_demo=True,
        )

    def serve(self, *, workers: int) -> None:
        """Answer until it is stopped.

        Args:
            workers: So many beside it.
        """
        write_logs()
        app = create_app(self.settings, self.database)
        if self.is_demo:
            add_demo(app)
        try:
            with working(self.settings, workers):
                serve(app, self.settings, self.listener)
        finally:
            self.database.close()


@contextmanager
def _closed_on_failure(listener: socket.socket) -> Iterator[None]:
    """A place to listen at is free again where the service cannot be prepared."""
    try:
        yield
    except BaseException:
        listener.close()
        raise


def _address(host: str, port: int) -> str:
    """Where browsers on this machine find what listens."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"
