"""Workers beside a service: processes of their own, which end when it ends, however it does."""

import multiprocessing
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

import structlog

from fairpool.server.logs import write_logs
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.work.worker import run_worker

PATIENCE = 20.0
"""Seconds that a worker has to put down its work."""

PAUSE = 1.0
"""Seconds before a worker that died is replaced."""

log = structlog.get_logger("fairpool.server")


@contextmanager
def workers(settings: Settings, count: int) -> Iterator[None]:
    """Have so many workers at work; one that dies is replaced.

    Args:
        settings: Of the service.
        count: How many; 0: they run elsewhere.
    """
    stop = threading.Event()
    keepers = [
        threading.Thread(target=_keep, args=(settings, stop), name=f"worker-{number}")
        for number in range(count)
    ]
    for keeper in keepers:
        keeper.start()
    try:
        yield
    finally:
        stop.set()
        for keeper in keepers:
            keeper.join()


def _keep(settings: Settings, stop: threading.Event) -> None:
    """Have a worker, and another when it dies, until told to stop."""
    context = multiprocessing.get_context("spawn")
    while not stop.is_set():
        there, here = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(settings, there))
        process.start()
        there.close()
        while process.is_alive() and not stop.wait(0.2):
            pass
        here.close()
        process.join(PATIENCE)
        if process.is_alive():
            process.kill()
            process.join()
        if not stop.is_set():
            log.error("worker died", exit_code=process.exitcode)
            stop.wait(PAUSE)


def _work(settings: Settings, parent: Connection) -> None:
    """The process of a worker."""
    write_logs()
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    # Ctrl-C reaches the whole group; the parent says when it is over.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        # Nothing is ever sent: the end is closed when the parent stops, or is killed.
        parent.poll(None)
        stop.set()

    threading.Thread(target=watch, daemon=True).start()
    database = Database(settings.database)
    try:
        run_worker(settings, database, stop)
    finally:
        database.close()
