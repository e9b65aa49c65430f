"""A round that is closed, and whoever computes it, as a worker does."""

import threading
from dataclasses import dataclass
from pathlib import Path

from fairpool.server.consortia import closing, rounds, terms
from fairpool.server.consortia.found import PROBLEMS, TERMS
from fairpool.server.consortia.having import data_of
from fairpool.server.store.database import Database
from fairpool.server.store.tables import (
    Job,
    JobKind,
    JobState,
    Membership,
    Party,
    Person,
    Role,
    Round,
    Submission,
    SubmissionState,
)
from fairpool.server.work import queue
from fairpool.server.work.progress import Hold
from fairpool.server.work.project import folder_of
from fairpool.server.work.stages import Work
from fairpool.server.work.worker import do
from tests.server.agreed import Agreed, agreed, csv_of, draft_of, rows
from tests.server.consortium import add_person

LEASE = 60.0


@dataclass(frozen=True, kw_only=True)
class Computed:
    """A collaboration, and what its operator has done in it."""

    agreed: Agreed

    @property
    def folder(self) -> Path:
        return folder_of(self.agreed.settings, self.agreed.id)

    @property
    def database(self) -> Database:
        return self.agreed.database

    def act(self, what, *more, person: Person | None = None):
        """What somebody does, by default the operator."""
        with self.database.transaction() as session:
            who = self.agreed.who(session, person or self.agreed.consortium.operator)
            return what(session, who, *more)

    def look_at_all(self) -> None:
        """What was sent is right, and so nobody spends time to look at it."""
        with self.database.transaction() as session:
            in_force = terms.in_force(session, self.agreed.consortium.collaboration)
            looks = session.query(Job).filter_by(kind=JobKind.CHECK, state=JobState.QUEUED)
            for look in looks:
                look.state = JobState.DONE.value
                submission = session.get_one(Submission, look.submission_id)
                submission.findings = {TERMS: in_force.id, PROBLEMS: 0, "rows": 40}
                if submission.state == SubmissionState.CHECKING.value:
                    submission.state = SubmissionState.CHECKED.value

    def send(self, person: Person, content: bytes, name: str = "mine.csv") -> Submission:
        """A table that is submitted."""
        sent = self.agreed.send(person, content, name)
        self.look_at_all()
        return self.agreed.submit(person, sent)

    def work_off(self, **how) -> int:
        """Do all jobs that wait, as a worker does; how many there were."""
        count = 0
        while taken := queue.take(self.database, "test", LEASE):
            with Hold(self.database, taken, LEASE, threading.Event()) as hold:
                do(
                    Work(
                        settings=self.agreed.settings,
                        database=self.database,
                        taken=taken,
                        hold=hold,
                        **how,
                    )
                )
            count += 1
        return count

    def preview(self) -> Job:
        """The job of a preview that was computed."""
        job = self.act(rounds.preview)
        self.work_off()
        return self.job(job.id)

    def release(self, preview: Job) -> Job:
        """The job of a release."""
        job = self.act(rounds.release, preview.id)
        self.work_off()
        return self.job(job.id)

    def job(self, identity: str) -> Job:
        with self.database.reading() as session:
            return session.get_one(Job, identity)

    def job_at_work(self) -> Job | None:
        """The computation that has not ended; None: there is none."""
        with self.database.reading() as session:
            computations = session.query(Job).filter(Job.kind != JobKind.CHECK)
            at_work = computations.filter(Job.state.in_([JobState.QUEUED, JobState.RUNNING]))
            return at_work.one_or_none()

    def who_has_data(self) -> set[str]:
        """The parties that have something in the newest round."""
        with self.database.reading() as session:
            newest = rounds.current(session, self.agreed.consortium.collaboration)
            having = data_of(session, newest)
            return {session.get_one(Party, party_id).permanent for party_id in having}

    def rounds(self) -> list[Round]:
        with self.database.reading() as session:
            mine = session.query(Round).filter_by(collaboration_id=self.agreed.id)
            return mine.order_by(Round.number).all()

    @property
    def state(self) -> str:
        """Of the newest round."""
        return self.rounds()[-1].state


def closed(database: Database, folder: Path, beginning: str = "", toml: str = "") -> Computed:
    """A collaboration of two parties whose first round is closed."""
    made = Computed(agreed=agreed(database, folder, beginning, toml))
    close_first(made)
    return made


def close_first(made: Computed) -> None:
    """Do all that comes before a first round is computed."""
    made.agreed.propose()
    made.agreed.accept_all()
    consortium = made.agreed.consortium
    made.send(consortium.of_north, csv_of(rows(40, 1)))
    made.send(consortium.of_south, csv_of(rows(60, 2)))
    made.act(closing.close)


def preview_second(made: Computed) -> None:
    """Have a collaboration whose first round was released, and whose second one is previewed."""
    made.agreed.put_draft(draft_of("north", "south"))
    close_first(made)
    made.release(made.preview())
    made.act(closing.close)
    made.preview()


MANY = """\
name = "Many"
target = "y"
features = ["x", "kind"]

[columns.kind]
kind = "category"
levels = ["red", "green"]

[model]
kind = "blr"

[rewards]
rho = 0.6
"""


def closed_with_many(database: Database, folder: Path, count: int = 12) -> Computed:
    """The same with so many parties that their coalitions are valued in several tasks."""
    names = [f"p{number:02d}" for number in range(count)]
    made = Computed(agreed=agreed(database, folder, toml=draft_of(*names, toml=MANY)))
    made.agreed.propose()
    for number, name in enumerate(names):
        person = add_person(database, f"of-{name}")
        with database.transaction() as session:
            session.add(
                Membership(
                    collaboration_id=made.agreed.id,
                    person_id=person.id,
                    role=Role.PARTY,
                    party_id=made.agreed.party(name).id,
                )
            )
        made.agreed.accept(person)
        made.send(person, csv_of(rows(30, number)))
    made.act(closing.close)
    return made
