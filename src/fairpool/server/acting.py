"""Doing in a collaboration what its people do, one after the other, as the demonstration needs it.

Whatever waits for a worker is waited for.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session

from fairpool.errors import DataError
from fairpool.server.consortia import closing, draft, rounds, submissions, terms
from fairpool.server.consortia.who import Who, require
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Job, JobState, Membership, Party, Person, Role
from fairpool.server.work.vault import Vault

PAUSE = 0.05
PATIENCE = 600.0
"""Seconds between two looks at a job, and until it must have ended."""

ENDED = (JobState.DONE.value, JobState.FAILED.value, JobState.CANCELLED.value)


@dataclass(frozen=True, kw_only=True)
class Acting:
    """A collaboration with one operator, and one person of each party.

    Attributes:
        settings: Of the service.
        database: Of the service, whose queue a worker works off.
        collaboration_id: Which.
    """

    settings: Settings
    database: Database
    collaboration_id: str

    def change_draft(self, toml: str) -> None:
        """The operator puts another text in the draft's place."""
        with self._operator() as (session, who):
            draft.change(session, who, toml)

    def propose(self) -> None:
        """The operator proposes the draft."""
        with self._operator() as (session, who):
            terms.propose(session, self.settings, who)

    def accept(self, party: str) -> None:
        """A party accepts the terms in force."""
        with self._of(party) as (session, who):
            in_force = terms.in_force(session, who.collaboration)
            assert in_force is not None
            terms.accept(session, self.settings, who, in_force.digest)

    def send(self, party: str, content: bytes, name: str) -> str:
        """A party sends a file, which is looked at; its identity."""
        stored = Vault(self.settings).store_bytes(content)
        with self._of(party) as (session, who):
            submission = submissions.receive(session, who, stored, name)
        self._wait(select(Job).where(Job.submission_id == submission.id))
        return submission.id

    def submit(self, party: str, submission_id: str) -> None:
        """A party has a file take part."""
        with self._of(party) as (session, who):
            submissions.submit(session, self.settings, who, submission_id)

    def release(self) -> None:
        """The operator closes the round, has it computed, and releases it."""
        with self._operator() as (session, who):
            closing.close(session, who)
        with self._operator() as (session, who):
            preview = rounds.preview(session, who)
        self._wait(select(Job).where(Job.id == preview.id))
        with self._operator() as (session, who):
            release = rounds.release(session, who, preview.id)
        self._wait(select(Job).where(Job.id == release.id))

    @contextmanager
    def _operator(self) -> Iterator[tuple[Session, Who]]:
        with self.database.transaction() as session:
            yield session, self._as(session, Membership.role == Role.OPERATOR.value)

    @contextmanager
    def _of(self, party: str) -> Iterator[tuple[Session, Who]]:
        with self.database.transaction() as session:
            of_party = select(Party.id).where(Party.permanent == party)
            yield session, self._as(session, Membership.party_id.in_(of_party))

    def _as(self, session: Session, condition: ColumnElement[bool]) -> Who:
        person = session.scalars(
            select(Person)
            .join(Membership, Membership.person_id == Person.id)
            .where(Membership.collaboration_id == self.collaboration_id, condition)
        ).one()
        return require(session, person, self.collaboration_id, alone=True)

    def _wait(self, jobs: Select[Job]) -> None:
        """Wait for all jobs that are asked for, of which none may fail."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with self.database.reading() as session:
                found = session.scalars(jobs).all()
            if all(job.state in ENDED for job in found):
                problems = [job.problem for job in found if job.problem is not None]
                if problems:
                    raise DataError(*problems)
                return
            time.sleep(PAUSE)
        raise DataError(f"nothing was done within {PATIENCE:g} seconds; is a worker at work?")
