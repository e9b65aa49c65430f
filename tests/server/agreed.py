"""Collaborations whose terms were proposed and accepted, and files that suit them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from fairpool.server.consortia import draft, submissions, terms
from fairpool.server.consortia.who import Who, require
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import JobKind, Party, Person, Submission, Terms
from fairpool.server.work import queue
from fairpool.server.work.checking import check
from fairpool.server.work.vault import Vault
from tests.server.consortium import Consortium, add_consortium

TOML = """\
name = "Clinics"
target = "y"
features = ["x", "kind"]

[columns.x]
range = [-10, 10]

[columns.y]
range = [0, 300]

[columns.kind]
kind = "category"
levels = ["red", "green"]

[model]
kind = "sparse_gp"
inducing = "spread"
inducing_points = 8

[rewards]
rho = 0.6
"""
"""All that a plan needs, too."""


def draft_of(*names: str, toml: str = TOML, keys: dict[str, str] | None = None) -> str:
    """A draft of these parties, some of which have a key."""
    text = toml
    for name in names:
        text += f'\n[[parties]]\nname = "{name}"\n'
        if keys and name in keys:
            text += f'key = "{keys[name]}"\n'
    return text


def rows(count: int = 40, seed: int = 1) -> pa.Table:
    """A table that suits the terms."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-9, 9, count)
    kind = rng.choice(["red", "green"], count)
    y = 100 + 5 * x + 3 * (kind == "red") + rng.normal(0, 1, count)
    return pa.table({"x": x, "kind": kind, "y": y})


def csv_of(table: pa.Table) -> bytes:
    """A table as CSV."""
    sink = pa.BufferOutputStream()
    pa.csv.write_csv(table, sink)
    return sink.getvalue().to_pybytes()


def parquet_of(table: pa.Table, **settings: object) -> bytes:
    """A table as Parquet."""
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(table, sink, **settings)
    return sink.getvalue().to_pybytes()


@dataclass(frozen=True, kw_only=True)
class Agreed:
    """A collaboration, and whatever is needed to do something in it."""

    settings: Settings
    database: Database
    consortium: Consortium

    @property
    def id(self) -> str:
        return self.consortium.collaboration.id

    def who(self, session, person: Person) -> Who:
        return require(session, person, self.id)

    def put_draft(self, toml: str) -> None:
        with self.database.transaction() as session:
            draft.change(session, self.who(session, self.consortium.operator), toml)

    def propose(self) -> Terms:
        with self.database.transaction() as session:
            who = self.who(session, self.consortium.operator)
            return terms.propose(session, self.settings, who)

    def accept(self, *people: Person) -> None:
        for person in people:
            with self.database.transaction() as session:
                who = self.who(session, person)
                in_force = terms.in_force(session, who.collaboration)
                assert in_force is not None
                terms.accept(session, self.settings, who, in_force.digest)

    def accept_these(self, person: Person, digest: str) -> None:
        with self.database.transaction() as session:
            terms.accept(session, self.settings, self.who(session, person), digest)

    def accept_all(self) -> None:
        self.accept(self.consortium.of_north, self.consortium.of_south)

    def send(self, person: Person, content: bytes, name: str = "mine.csv") -> Submission:
        """Upload and record a file."""
        stored = Vault(self.settings).store_bytes(content)
        with self.database.transaction() as session:
            return submissions.receive(session, self.who(session, person), stored, name)

    def checked(self, person: Person, content: bytes, name: str = "mine.csv") -> Submission:
        """The same, once it was looked at."""
        sent = self.send(person, content, name)
        self.work_off()
        return self.now(sent)

    def submit(self, person: Person, sent: Submission, **how: bool) -> Submission:
        with self.database.transaction() as session:
            who = self.who(session, person)
            return submissions.submit(session, self.settings, who, sent.id, **how)

    def withdraw(self, person: Person, sent: Submission) -> Submission:
        with self.database.transaction() as session:
            who = self.who(session, person)
            return submissions.withdraw(session, self.settings, who, sent.id)

    def now(self, sent: Submission) -> Submission:
        with self.database.reading() as session:
            return session.get_one(Submission, sent.id)

    def party(self, name: str) -> Party:
        with self.database.reading() as session:
            return session.query(Party).filter_by(collaboration_id=self.id, permanent=name).one()

    def work_off(self) -> int:
        """Do all checks that wait, as a worker does; how many there were."""
        count = 0
        while taken := queue.take(self.database, "test", 60.0, kinds=[JobKind.CHECK]):
            check(self.settings, self.database, taken)
            with self.database.transaction() as session:
                queue.finish(session, taken, {})
            count += 1
        return count


def agreed(database: Database, folder: Path, beginning: str = "", toml: str = "") -> Agreed:
    """A collaboration of north and south with a draft that nobody has proposed yet."""
    settings = Settings.of(folder / "server", environment={})
    consortium = add_consortium(database, beginning)
    made = Agreed(settings=settings, database=database, consortium=consortium)
    made.put_draft(toml or draft_of("north", "south"))
    return made
