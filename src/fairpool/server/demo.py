"""A consortium to click through: three hospitals, one round released, and the next in the middle.

Everything in it is done as people do it: terms are proposed and accepted, tables are sent, looked
at and submitted, and a worker computes the first round and releases it.
"""

import shutil
import threading

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.compute.files import make_private_folder
from fairpool.consortium.example import example_files
from fairpool.errors import DataError
from fairpool.server.acting import Acting
from fairpool.server.consortia import creating
from fairpool.server.people import passwords
from fairpool.server.people.secret_words import new_secret
from fairpool.server.settings import Settings
from fairpool.server.starting import prepared
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Membership, Party, Person, Role
from fairpool.server.work.worker import run_worker

MARKER = "demo"
"""A file in the folder of a demonstration, once that is complete."""

OPERATOR = ("Olga Berg", "olga@pool.example")
AUDITOR = ("Noor Haddad", "noor@audit.example")
PARTY_PEOPLE = {
    "Hospital A": ("Amina Diallo", "amina@hospital-a.example"),
    "Hospital B": ("Ben Okafor", "ben@hospital-b.example"),
    "Hospital C": ("Clara Winter", "clara@hospital-c.example"),
}
TABLES = {
    "Hospital A": "hospital_a.csv",
    "Hospital B": "hospital_b.csv",
    "Hospital C": "hospital_c.csv",
}

TOML = """\
name = "Three hospitals"
target = "progression"
features = ["age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"]
contact = "Olga Berg, olga@pool.example"

[columns.age]
range = [0, 120]

[columns.sex]
kind = "category"
levels = ["female", "male"]

[columns.bmi]
unit = "kg/m2"
range = [10, 70]

[model]
kind = "sparse_gp"
inducing_points = 40

[rewards]
rho = "RHO"

[[parties]]
name = "Hospital A"

[[parties]]
name = "Hospital B"

[[parties]]
name = "Hospital C"
"""

FIRST_RHO, SECOND_RHO = "rational", "stable"
"""In the second round, parties are to agree to another one."""

EARLY = 0.75
"""Of its rows, each hospital had so many in the first round."""


def prepared_demo(settings: Settings) -> Database:
    """The database of a demonstration, which is made where it is lacking, or not complete.

    Args:
        settings: Of a folder of its own.
    """
    marker = settings.folder / MARKER
    if settings.folder.exists() and any(settings.folder.iterdir()) and not marker.exists():
        raise DataError(
            f"{settings.folder} holds something else, or a demonstration that was never completed;"
            " remove it, or give another --folder"
        )
    is_new = not marker.exists() or not marker.read_text(encoding="utf-8")
    if is_new and settings.folder.exists():
        shutil.rmtree(settings.folder)
    make_private_folder(settings.folder)
    marker.touch(mode=0o600)
    database = prepared(settings)
    if is_new:
        make(settings, database)
        marker.write_text("complete\n", encoding="utf-8")
    return database


def make(settings: Settings, database: Database) -> None:
    """Make people and collaboration, and take them through a round and a half.

    Args:
        settings: Of the service.
        database: Of the service, with nothing in it.
    """
    stop = threading.Event()
    worker = threading.Thread(target=run_worker, args=(settings, database, stop))
    worker.start()
    try:
        acting = Acting(
            settings=settings, database=database, collaboration_id=_begin(settings, database)
        )
        _first_round(acting)
        _second_round(acting)
    finally:
        stop.set()
        worker.join()


def _begin(settings: Settings, database: Database) -> str:
    """People, and a collaboration with a draft."""
    with database.transaction() as session:
        operator = _person(session, *OPERATOR, may_create=True)
        text = TOML.replace("RHO", FIRST_RHO)
        made = creating.create(session, settings, operator, toml=text).collaboration
        mine = select(Party).where(Party.collaboration_id == made.id)
        for party in session.scalars(mine).all():
            person = _person(session, *PARTY_PEOPLE[party.permanent])
            session.add(_membership(made.id, person, Role.PARTY, party.id))
        session.add(_membership(made.id, _person(session, *AUDITOR), Role.AUDITOR, None))
        return made.id


def _first_round(acting: Acting) -> None:
    acting.propose()
    files = example_files()
    for party, file in TABLES.items():
        acting.accept(party)
        acting.submit(party, acting.send(party, early_rows(files[file]).encode(), file))
    acting.release()


def early_rows(table: str) -> str:
    """What a hospital had of its table in the first round."""
    lines = table.splitlines(keepends=True)
    return "".join(lines[: int(EARLY * len(lines))])


def _second_round(acting: Acting) -> None:
    """Other terms, which two accept; a newer table of one, and one of another with faults."""
    acting.change_draft(TOML.replace("RHO", SECOND_RHO))
    acting.propose()
    files = example_files()
    acting.accept("Hospital A")
    newer = acting.send("Hospital A", files[TABLES["Hospital A"]].encode(), "hospital_a_new.csv")
    acting.submit("Hospital A", newer)
    acting.accept("Hospital B")
    faulty = _with_faults(files[TABLES["Hospital B"]])
    acting.send("Hospital B", faulty.encode(), "hospital_b_new.csv")


def _with_faults(table: str) -> str:
    """A table with slips of the kind that tables have."""
    lines = table.splitlines()
    names = lines[0].split(",")
    for line, name, slip in (
        (4, "sex", "f"),
        (7, "bmi", "312"),
        (11, "bp", "n/a"),
        (19, "progression", "about 90"),
    ):
        values = lines[line].split(",")
        values[names.index(name)] = slip
        lines[line] = ",".join(values)
    return "\n".join(lines) + "\n"


def _person(session: Session, name: str, email: str, *, may_create: bool = False) -> Person:
    """Somebody with a password that nobody knows: one signs in by a click (`web.pages.demo`)."""
    person = Person(
        name=name, email=email, password=passwords.hashed(new_secret()), may_create=may_create
    )
    session.add(person)
    session.flush()
    return person


def _membership(
    collaboration_id: str, person: Person, role: Role, party_id: str | None
) -> Membership:
    return Membership(
        collaboration_id=collaboration_id,
        person_id=person.id,
        role=role.value,
        party_id=party_id,
    )
