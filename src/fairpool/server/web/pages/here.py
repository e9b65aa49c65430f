"""A collaboration that somebody looks at: what the endpoints of its pages begin with."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy.orm import Session

from fairpool.server.consortia.who import Who, require
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Role
from fairpool.server.web.pages.frame import Refusal, heading_of, page, see_other
from fairpool.server.web.signed_in import (
    CurrentBrowser,
    CurrentDatabase,
    CurrentSettings,
    SignedIn,
)

COLLABORATION = "/collaborations/{collaboration_id}"
"""Where the pages of a collaboration are."""


@dataclass(frozen=True, kw_only=True)
class Here:
    """Who looks at which collaboration, if there is such a one for them.

    Attributes:
        request: The request.
        signed_in: Who looks.
        collaboration_id: As the address has it.
        settings: Of the service.
        database: Of the service.
    """

    request: Request
    signed_in: SignedIn
    collaboration_id: str
    settings: Settings
    database: Database

    @property
    def address(self) -> str:
        """Of the collaboration's first page."""
        return f"/collaborations/{self.collaboration_id}"

    @contextmanager
    def reading(self, *roles: Role) -> Iterator[tuple[Session, Who]]:
        """A session that reads, and who looks, if one of these roles is theirs."""
        with self.database.reading() as session:
            yield session, require(session, self.signed_in.person, self.collaboration_id, *roles)

    @contextmanager
    def changing(self, *roles: Role) -> Iterator[tuple[Session, Who]]:
        """A session that is kept as a whole, with nobody else changing the collaboration."""
        with self.database.transaction() as session:
            person = self.signed_in.person
            yield session, require(session, person, self.collaboration_id, *roles, alone=True)

    def page(
        self, template: str, who: Who, active: str, refusal: Refusal | None = None, **values: Any
    ) -> HTMLResponse:
        """One of the collaboration's pages.

        Args:
            template: Without its endings.
            who: Who looks.
            active: Which tab.
            refusal: Why what was sent was not done.
            values: What the template puts into place.
        """
        return page(
            template,
            self.request,
            signed_in=self.signed_in,
            refusal=refusal,
            heading=heading_of(who),
            active=active,
            **values,
        )

    def see(self, more: str = "", said: str = "") -> RedirectResponse:
        """Where to look after something was done.

        Args:
            more: What follows the collaboration's address.
            said: What was done, in a word of `frame.SAID`.
        """
        return see_other(self.address + more, said)


def _here(
    request: Request,
    collaboration_id: str,
    browser: CurrentBrowser,
    settings: CurrentSettings,
    database: CurrentDatabase,
) -> Here:
    return Here(
        request=request,
        signed_in=browser,
        collaboration_id=collaboration_id,
        settings=settings,
        database=database,
    )


CurrentHere = Annotated[Here, Depends(_here)]
