"""Whether what lies on the disk and what the database tells belong together, and what to do if not.

It can be asked at any time, also while the service is at work: what a job is about to finish is
left alone.
"""

from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import select, text
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from fairpool.consortium.rounds.context import LEDGER_FILE, MAC, SECRET_FILE, STATE_FOLDER
from fairpool.consortium.rounds.inspecting import verify_folder
from fairpool.errors import FairpoolError
from fairpool.keyed_noise.secret import Secret
from fairpool.ledger.ledger import Ledger
from fairpool.ledger.transaction import unfinished
from fairpool.rounds.history import history_of
from fairpool.server.consortia import events
from fairpool.server.finding import Finding
from fairpool.server.leftovers import leftovers
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import (
    Blob,
    Collaboration,
    Job,
    JobState,
    Release,
    Round,
    RoundState,
)
from fairpool.server.work.project import folder_of
from fairpool.server.work.vault import Vault

__all__ = ["Finding", "check_service"]

AT_WORK = (JobState.QUEUED.value, JobState.RUNNING.value)

NEEDS_JOB = (RoundState.COMPUTING.value, RoundState.RELEASING.value)


def check_service(settings: Settings, database: Database) -> list[Finding]:
    """Everything that does not belong together.

    Args:
        settings: Of the service.
        database: With all its tables.
    """
    found = _of_database(database)
    if found:
        return found  # nothing else can be believed
    # Files first: one is there before its record, so that none looks like an orphan that is not.
    uploads = Vault(settings).identities()
    with database.reading() as session:
        found += _of_uploads(session, settings, uploads)
        found += leftovers(session, settings)
        collaborations = session.scalars(select(Collaboration).order_by(Collaboration.created))
        for collaboration in collaborations.all():
            found += _of_collaboration(session, settings, collaboration)
        found += _folders_of_nobody(session, settings)
    return found


def _of_database(database: Database) -> list[Finding]:
    if not database.is_sqlite:
        return []  # Postgres checks its pages itself
    try:
        with database.reading() as session:
            lines = [*session.scalars(text("PRAGMA integrity_check"))]
    except DatabaseError as error:
        lines = [str(error.orig)]
    return [
        Finding(
            text=f"the database is damaged: {line}",
            remedy="restore it, and the folder beside it, from the same backup",
        )
        for line in lines
        if line != "ok"
    ]


def _of_uploads(session: Session, settings: Settings, uploads: set[str]) -> Iterator[Finding]:
    known = {*session.scalars(select(Blob.id))}
    for identity in sorted(uploads - known):
        yield Finding(
            text=f"the upload {identity} has no record: it was sent, and never received",
            remedy="--repair removes it once it is an hour old",
            path=settings.uploads / identity,
        )
    there = Vault(settings).identities()
    for identity in sorted(known - there):
        yield Finding(
            text=f"the upload {identity} is no longer on the disk",
            remedy="restore the folder of uploads from a backup, or have its party send it again",
        )


def _of_collaboration(
    session: Session, settings: Settings, collaboration: Collaboration
) -> Iterator[Finding]:
    """Whether a ledger is valid, and tells of the rounds that the database tells of."""
    where = f'collaboration "{collaboration.name}" ({collaboration.id})'
    for fault in events.faults(session, collaboration):
        yield Finding(
            text=f"{where}: in its log of events, {fault}",
            remedy="somebody wrote to the database; compare it with a backup",
        )
    if _is_at_work(session, collaboration):
        return  # what it is about to record is not there yet
    folder = folder_of(settings, collaboration.id)
    for fault in _faults_of_ledger(folder):
        yield Finding(
            text=f"{where}: {fault}",
            remedy=f"compare {folder} with a backup; nothing else can say what was released",
        )
    yield from _other_releases(session, where, folder, collaboration)
    stuck = select(Round).where(
        Round.collaboration_id == collaboration.id, Round.state.in_(NEEDS_JOB)
    )
    for round_ in session.scalars(stuck):
        yield Finding(
            text=f"{where}: round {round_.number} is {round_.state}, and no job is at work on it",
            remedy="restore the database from a backup of one moment",
        )


def _is_at_work(session: Session, collaboration: Collaboration) -> bool:
    jobs = select(Job.id).where(
        Job.collaboration_id == collaboration.id,
        Job.state.in_(AT_WORK),
        Job.kind != "check",
    )
    return session.scalars(jobs.limit(1)).first() is not None


def _faults_of_ledger(folder: Path) -> list[str]:
    if not (folder / LEDGER_FILE).exists():
        return []
    try:
        found = verify_folder(folder)
    except FairpoolError as error:
        return [*error.problems]
    return [f"ledger, line {line}: {fault}" for line, fault in found.ledger.problems] + [
        *found.files
    ]


def _other_releases(
    session: Session, where: str, folder: Path, collaboration: Collaboration
) -> Iterator[Finding]:
    """Rounds that only the database, or only the ledger knows to be released."""
    released = dict(
        session.execute(
            select(Round.number, Release.head)
            .join(Release, Release.round_id == Round.id)
            .where(Round.collaboration_id == collaboration.id)
        ).all()
    )
    try:
        told = _heads(folder)
    except FairpoolError:
        return  # told above
    for number in sorted({*released, *told}):
        if number not in told:
            yield Finding(
                text=f"{where}: the database tells that round {number} was released, and the"
                " ledger does not",
                remedy=f"restore {folder} from the newest backup",
            )
        elif number not in released:
            yield Finding(
                text=f"{where}: the ledger tells that round {number} was released, and the"
                " database does not",
                remedy="press Go on (or Preview) on the round's page: the release is then"
                " recorded, and nothing is released twice",
            )
        elif told[number] != released[number]:
            yield Finding(
                text=f"{where}: round {number} has one head in the ledger and another in the"
                " database",
                remedy="restore both from a backup of one moment",
            )


def _heads(folder: Path) -> dict[int, str]:
    """The head of every round that was released, and of one that the next job will find to be."""
    secret = folder / STATE_FOLDER / SECRET_FILE
    if not (folder / LEDGER_FILE).exists() or not secret.exists():
        return {}
    ledger = Ledger.open(folder / LEDGER_FILE, Secret.read(secret).subkey(MAC))
    heads = {past.number: past.head for past in history_of(ledger.records).rounds}
    intent = unfinished(ledger)
    if intent is not None and (folder / intent.body["folder"]).is_dir():
        heads[intent.body["round"]] = intent.body["head"]
    return heads


def _folders_of_nobody(session: Session, settings: Settings) -> Iterator[Finding]:
    known = {*session.scalars(select(Collaboration.id))}
    for folder in sorted(settings.collaborations.glob("*")):
        if folder.name not in known:
            yield Finding(
                text=f"{folder}: the database has no collaboration of this name",
                remedy="if it has a ledger, restore the database from a newer backup; otherwise"
                " remove it",
            )
