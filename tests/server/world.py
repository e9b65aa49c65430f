"""A service with two collaborations, and a way in for everybody: what the test of isolation plays.

`things_of` says what stands in addresses. Whoever adds an endpoint with a new parameter adds what
it is called there, made for a collaboration's party called north.
"""

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from fairpool.server.consortia.who import require
from fairpool.server.people import invitations, sessions, tokens
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import (
    ApiToken,
    Attempts,
    Base,
    BrowserSession,
    Job,
    JobKind,
    JobState,
    Person,
    Role,
    Round,
    RoundState,
)
from tests.server.agreed import Agreed
from tests.server.consortium import Consortium, add_consortium, add_person
from tests.server.work.computed import Computed, preview_second
from tests.server.world_data import agreed_things

NOBODY = "nobody"
STRANGER = "a stranger"
OTHER_OPERATOR = "the operator of another collaboration"
OPERATOR = "the operator"
PARTY = "the party"
OTHER_PARTY = "the other party"
AUDITOR = "the auditor"

SIGNED_IN = (STRANGER, OTHER_OPERATOR, OPERATOR, PARTY, OTHER_PARTY, AUDITOR)
MEMBERS = (OPERATOR, PARTY, OTHER_PARTY, AUDITOR)
"""Of the collaboration whose things are asked for."""

NOT_KEPT = {BrowserSession.__tablename__: {"seen", "expires"}, ApiToken.__tablename__: {"used"}}
"""Reading may write these: that somebody was there."""

Things = Mapping[str, str]
"""What stands in an address, by the name of the parameter."""


@dataclass(frozen=True, kw_only=True)
class WayIn:
    """How somebody is let in: with a browser, and with a program."""

    cookie: str
    form_token: str
    token: str


@dataclass(frozen=True, kw_only=True)
class World:
    """A service in which something has happened.

    Attributes:
        settings: Of the service.
        database: Of the service.
        ways_in: Of everybody who is signed in, by the words above.
        things: Of the collaboration and of its party called north.
        other_things: The same of the other collaboration, in which only its operator has a part.
        kept: A copy of the folder, but for a database in it.
        rows: Of every table.
    """

    settings: Settings
    database: Database
    ways_in: Mapping[str, WayIn]
    things: Things
    other_things: Things
    kept: Path
    rows: Mapping[str, Sequence[Mapping[str, Any]]]

    def restore(self) -> None:
        """Have everything as it was."""
        with self.database.transaction() as session:
            for table in reversed(Base.metadata.sorted_tables):
                session.execute(delete(table))
            for table in Base.metadata.sorted_tables:
                if self.rows[table.name]:
                    session.execute(insert(table), self.rows[table.name])
        if _files(self.settings.folder) == _files(self.kept):
            return  # most requests change none, and making all anew takes longer than these
        for path in self.settings.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
        shutil.copytree(self.kept, self.settings.folder, dirs_exist_ok=True)

    def digest(self) -> str:
        """Of all that is kept, in tables and in files, but for when somebody was seen."""
        found = hashlib.sha256()
        with self.database.reading() as session:
            for table in Base.metadata.sorted_tables:
                if table.name == Attempts.__tablename__:
                    continue
                leave_out = NOT_KEPT.get(table.name, set())
                columns = [column for column in table.columns if column.name not in leave_out]
                rows = sorted(repr(tuple(row)) for row in session.execute(select(*columns)))
                found.update(f"{table.name}: {rows}\n".encode())
        for path in sorted(self.settings.folder.rglob("*")):
            if path.is_file() and not path.name.startswith("database.sqlite"):
                name = path.relative_to(self.settings.folder).as_posix()
                found.update(name.encode() + b"\0" + path.read_bytes())
        return found.hexdigest()


def _files(folder: Path) -> dict[str, tuple[int, int] | None]:
    """What is in a folder, but for a database: of files, how large they are, and when written."""
    found: dict[str, tuple[int, int] | None] = {}
    for path in folder.rglob("*"):
        if path.name.startswith("database.sqlite"):
            continue
        status = path.stat()
        is_file = path.is_file()
        found[path.relative_to(folder).as_posix()] = (
            (status.st_size, status.st_mtime_ns) if is_file else None
        )
    return found


def new_world(settings: Settings, database: Database) -> World:
    """A world in an empty database with tables.

    Args:
        settings: Of a service whose folder is there.
        database: Of that service.
    """
    clinics = add_consortium(database)
    others = add_consortium(database, "other-")
    people = {
        STRANGER: add_person(database, "stranger"),
        OTHER_OPERATOR: others.operator,
        OPERATOR: clinics.operator,
        PARTY: clinics.of_north,
        OTHER_PARTY: clinics.of_south,
        AUDITOR: clinics.auditor,
    }
    preview_second(
        Computed(agreed=Agreed(settings=settings, database=database, consortium=clinics))
    )
    _add_round(database, others)
    with database.transaction() as session:
        ways_in = {name: _way_in(session, settings, person) for name, person in people.items()}
        things = things_of(session, settings, clinics)
        other_things = things_of(session, settings, others)
    kept = settings.folder.with_name("kept")
    shutil.copytree(settings.folder, kept, ignore=shutil.ignore_patterns("database.sqlite*"))
    with database.reading() as session:
        rows = {
            table.name: [dict(row) for row in session.execute(select(table)).mappings()]
            for table in Base.metadata.sorted_tables
        }
    return World(
        settings=settings,
        database=database,
        ways_in=ways_in,
        things=things,
        other_things=other_things,
        kept=kept,
        rows=rows,
    )


def _add_round(database: Database, consortium: Consortium) -> None:
    """A round with a number of its own, and a job; nothing of it is on the disk."""
    with database.transaction() as session:
        mine = {"collaboration_id": consortium.collaboration.id}
        added = Round(**mine, number=7, state=RoundState.RELEASED.value)
        session.add(added)
        session.flush()
        session.add(
            Job(
                **mine,
                round_id=added.id,
                kind=JobKind.PREVIEW.value,
                state=JobState.DONE.value,
                created_by=consortium.operator.id,
            )
        )


def _way_in(session: Session, settings: Settings, person: Person) -> WayIn:
    opened = sessions.open_session(session, settings, person)
    _, token = tokens.make(session, person, name="program", days=1)
    return WayIn(cookie=opened.cookie, form_token=opened.kept.form_token, token=token)


def things_of(session: Session, settings: Settings, consortium: Consortium) -> dict[str, str]:
    """What stands in addresses of a collaboration, made for its party called north."""
    operator = require(session, consortium.operator, consortium.collaboration.id)
    north = require(session, consortium.of_north, consortium.collaboration.id)
    invitation, secret = invitations.invite(
        session, settings, north, role=Role.PARTY, party_id=consortium.north.id
    )
    token, _ = tokens.make(session, consortium.of_north, name="thing", days=1)
    first = session.scalars(
        select(Round)
        .where(Round.collaboration_id == consortium.collaboration.id)
        .order_by(Round.number)
    ).first()
    newest = session.scalars(
        select(Job)
        .where(Job.collaboration_id == consortium.collaboration.id)
        .where(Job.kind == JobKind.PREVIEW.value)
        .order_by(Job.created.desc())
    ).first()
    assert first is not None
    assert newest is not None
    return {
        "number": str(first.number),
        "job_id": newest.id,
        **agreed_things(session, settings, operator, north),
        "collaboration_id": consortium.collaboration.id,
        "member_id": north.membership.id,
        "invitation_id": invitation.id,
        "secret": secret,
        "token_id": token.id,
    }
