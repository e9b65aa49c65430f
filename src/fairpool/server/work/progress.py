"""A worker's hold on its job: moved on while it computes, let go of when it is to stop.

What computes calls the hold to tell its progress, and gets an error instead where it must not go
on. It never waits for the database: a thread of the hold's own talks to that.
"""

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from sqlalchemy.exc import DBAPIError

from fairpool.server.store.database import Database
from fairpool.server.work import queue
from fairpool.server.work.queue import LeaseLostError, Taken

__all__ = ["CancelledError", "Hold", "StoppingError"]

PAUSE = 0.5
"""Seconds between two looks into the database: so old is at most what is shown of a job, and what
a worker knows of being cancelled."""

BEATS = 3
"""In a lease: one that fails costs nothing yet."""


class CancelledError(Exception):
    """Somebody wants the job stopped."""


class StoppingError(Exception):
    """The worker ends, and somebody else is to do the job."""


class Hold:
    """A job that is held; called, it says how far it is, as `fairpool.compute.workers` wants.

    Args:
        database: Where the queue is.
        taken: The job.
        lease_seconds: So long it is held without a beat.
        stop: Set when the worker is to end.
    """

    def __init__(
        self, database: Database, taken: Taken, lease_seconds: float, stop: threading.Event
    ) -> None:
        self.taken = taken
        self._database = database
        self._lease_seconds = lease_seconds
        self._stop = stop
        self._said: tuple[str, int, int | None] | None = None
        self._is_cancelled = taken.is_cancelled
        self._is_lost = False
        self._held_until = time.monotonic() + lease_seconds
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"hold {taken.id}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def __call__(self, text: str, done: int = 0, total: int | None = None) -> None:
        """Say what is being done; an error where the job is not to go on.

        Args:
            text: What is being done.
            done: How much of it.
            total: Of how much; None: nobody knows.
        """
        self._said = (text, done, total)
        self.check()

    def check(self) -> None:
        """Do nothing, or raise why the job is not to go on."""
        if self._is_lost or time.monotonic() > self._held_until:
            raise LeaseLostError(f"job {self.taken.id} was not held in time")
        if self._is_cancelled:
            raise CancelledError
        if self._stop.is_set():
            raise StoppingError

    def make_final(self) -> None:
        """Hold the job for a whole lease from now on, or raise why it is not to go on.

        It is asked for before what cannot be taken back; from then on nobody can cancel that.
        """
        self.check()
        self._is_cancelled |= self._beat(queue.make_final)
        self.check()

    def _keep(self) -> None:
        next_beat = time.monotonic() + self._lease_seconds / BEATS
        told = None
        while not self._over.wait(min(PAUSE, self._lease_seconds / BEATS)):
            said = self._said
            try:
                if said is not None and said is not told:
                    queue.tell(self._database, self.taken, *said)
                    told = said
                if time.monotonic() > next_beat:
                    next_beat = time.monotonic() + self._lease_seconds / BEATS
                    self._is_cancelled |= self._beat(queue.beat)
                else:
                    self._is_cancelled |= self._look()
            except LeaseLostError:
                self._is_lost = True
                return
            except DBAPIError:
                continue  # it may be back before the lease ends, and `check` knows when that is

    def _look(self) -> bool:
        with self._database.reading() as session:
            return queue.is_cancelled(session, self.taken)

    def _beat(self, hold: Callable[[Database, Taken, float], bool]) -> bool:
        begun = time.monotonic()
        is_cancelled = hold(self._database, self.taken, self._lease_seconds)
        self._held_until = begun + self._lease_seconds
        return is_cancelled
