"""What everybody can do in a collaboration; what roles do besides is in files of their own."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from fairpool.client.connection import Connection, Request
from fairpool.client.records import read
from fairpool.client.records.agreeing import Acceptance, Change, Terms
from fairpool.client.records.computing import CANCELLED, FAILED, Job, Round
from fairpool.client.records.people import Collaboration, Member, Part
from fairpool.client.saving import save
from fairpool.compute.workers import Progress, no_progress
from fairpool.errors import ServiceError

Told = TypeVar("Told")

FIRST_LOOK, LONGEST_LOOK = 0.1, 2.0
"""Seconds between two looks at something that takes time: ever longer ones."""


@dataclass(frozen=True, kw_only=True)
class Within:
    """A collaboration, as one of its people sees it.

    Attributes:
        connection: To the service, with the token of that person.
        part: What the person is there.
    """

    connection: Connection
    part: Part

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.part.name!r}, {str(self.connection.address)!r})"

    def collaboration(self) -> Collaboration:
        """Where the newest round stands, and whose people were replaced."""
        return self._get(Collaboration, "")

    def terms(self) -> tuple[Terms, ...]:
        """All terms that were proposed, the newest first: these are in force."""
        return self._get(tuple[Terms, ...], "/terms")

    def changes(self, terms: Terms) -> tuple[Change, ...]:
        """What terms say otherwise than those before."""
        return self._get(tuple[Change, ...], f"/terms/{terms.digest}/changes")

    def save_terms(self, terms: Terms, path: str | os.PathLike[str]) -> Path:
        """The signed document of terms."""
        return self._save(f"/terms/{terms.digest}/document", path)

    def plan(self, terms: Terms) -> bytes:
        """The signed plan.json of terms, by which parties make contributions."""
        return self._content(f"/terms/{terms.digest}/plan")

    def acceptances(self) -> tuple[Acceptance, ...]:
        """Who accepted which terms; a party sees its own."""
        return self._get(tuple[Acceptance, ...], "/acceptances")

    def save_acceptance(self, acceptance: Acceptance, path: str | os.PathLike[str]) -> Path:
        """The signed document of an acceptance."""
        return self._save(f"/acceptances/{acceptance.id}/document", path)

    def rounds(self) -> tuple[Round, ...]:
        """All rounds, the first one first."""
        return self._get(tuple[Round, ...], "/rounds")

    def members(self) -> tuple[Member, ...]:
        """The people whom one sees."""
        return self._get(tuple[Member, ...], "/members")

    def leave(self) -> None:
        """End one's own part in the collaboration."""
        (own,) = (member for member in self.members() if member.is_self)
        self._ask("DELETE", f"/members/{own.id}", is_repeatable=False)

    def job(self, job_id: str) -> Job:
        """How far a job is."""
        return self._get(Job, f"/jobs/{job_id}")

    def wait(
        self, job: Job, *, seconds: float | None = None, progress: Progress = no_progress
    ) -> Job:
        """Wait until a job has done what it is for.

        Args:
            job: Which.
            seconds: How long at most; None: as long as it takes.
            progress: Called with what is being done, and how much of it is.
        """
        looking = Looking.for_seconds(seconds)
        while not job.has_ended:
            looking.pause(f"the job {job.id} has not ended yet")
            job = self.job(job.id)
            progress(job.stage, job.done, job.total)
        if job.state == FAILED:
            raise ServiceError(
                job.problem or f"the job {job.id} failed; ask whoever runs the service"
            )
        if job.state == CANCELLED:
            raise ServiceError(f"the job {job.id} was cancelled; an operator can have it go on")
        return job

    def _get(self, kind: type[Told], path: str) -> Told:
        return read(kind, self._content(path))

    def _content(self, path: str) -> bytes:
        return self.connection.ask(Request(path=self._path(path)))

    def _save(self, path: str, place: str | os.PathLike[str]) -> Path:
        return save(self.connection, Request(path=self._path(path)), place)

    def _ask(
        self,
        method: str,
        path: str,
        sent: Mapping[str, object] | None = None,
        *,
        is_repeatable: bool,
    ) -> bytes:
        return self.connection.ask(
            Request(method=method, path=self._path(path), sent=sent, is_repeatable=is_repeatable)
        )

    def _path(self, path: str) -> str:
        return f"/collaborations/{self.part.collaboration_id}{path}"


@dataclass(kw_only=True)
class Looking:
    """Looking again and again, ever more rarely.

    Attributes:
        end: When to give up; None: never.
        between: Seconds until the next look.
    """

    end: float | None
    between: float = FIRST_LOOK

    @classmethod
    def for_seconds(cls, seconds: float | None) -> "Looking":
        """Look for so long."""
        return cls(end=None if seconds is None else time.monotonic() + seconds)

    def pause(self, what: str) -> None:
        """Wait until the next look.

        Args:
            what: Is not so, for the error at the end.
        """
        if self.end is not None and time.monotonic() >= self.end:
            raise ServiceError(f"{what}; it goes on at the service: look again later")
        time.sleep(self.between)
        self.between = min(LONGEST_LOOK, 1.5 * self.between)


def number_of(round_: Round | int) -> int:
    """Which round is meant."""
    return round_.number if isinstance(round_, Round) else round_
