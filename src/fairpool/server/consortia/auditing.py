"""The auditor: given a copy of all that an audit needs, computes rounds anew, and signs.

The copy is that of `fairpool audit`: ledger, plan, rounds, contributions, what was agreed, and the
secret that noise is made of; no table, and no private key. An auditor computes here, or at home
with a program that nobody else has touched. What is signed is signed there, with a key of its own:
a signature that this service made would be the service's word alone.
"""

import shutil
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.compute.files import make_private_folder
from fairpool.consortium.auditing.audit import audit
from fairpool.consortium.auditing.opened import open_round
from fairpool.consortium.rounds.context import (
    AGREEMENT_FILE,
    KEPT_FOLDER,
    LEDGER_FILE,
    PLAN_FILE,
    ROUNDS_FOLDER,
    SECRET_FILE,
    STATE_FOLDER,
)
from fairpool.consortium.rounds.releasing import one_at_a_time
from fairpool.consortium.verification.finding import Finding
from fairpool.errors import DataError, FairpoolError
from fairpool.exchange.attestation import KIND
from fairpool.exchange.contribution_file import SUFFIX
from fairpool.ledger.lock import HeldError
from fairpool.server.consortia import events
from fairpool.server.consortia.released import released_round
from fairpool.server.consortia.who import Who
from fairpool.server.refused import NotFoundError, RefusedError, TooManyError
from fairpool.server.settings import Settings
from fairpool.server.store.tables import (
    AuditorSignature,
    Role,
    Round,
    Submission,
    SubmissionState,
    now,
)
from fairpool.server.work.project import folder_of
from fairpool.server.work.vault import Vault
from fairpool.signatures import Signed

ATTESTATION = "audit.json"
"""What the signed document is called where errors name it."""

MOST_AT_ONCE = 4
"""So many audits at a time, of different collaborations: each is minutes of work for a request."""

A_MINUTE = 60
"""Seconds after which somebody tries again."""

LONGEST = 1 << 20
"""Bytes of a signed document."""


@dataclass(frozen=True, kw_only=True)
class Recomputed:
    """What came of computing a round anew.

    Attributes:
        number: Of the round.
        release: The hash of its release's record in the ledger.
        lines: What was compared, and what was found.
    """

    number: int
    release: str
    lines: tuple[Finding, ...]


def recompute(session: Session, settings: Settings, who: Who, number: int) -> Recomputed:
    """Compute a released round anew, and compare; nothing is changed.

    Args:
        session: Open.
        settings: Of the service.
        who: An auditor.
        number: Of the round.
    """
    with _copy(session, settings, who, number) as folder:
        try:
            opened = open_round(folder, number)
            found = audit(opened)
        except FairpoolError as error:
            # Where the copy lies on this service's disk is nobody's affair.
            raise DataError(*(text.replace(f"{folder}/", "") for text in error.problems)) from None
    return Recomputed(number=number, release=opened.release, lines=found.lines)


def bundle(session: Session, settings: Settings, who: Who, number: int) -> Path:
    """All that an audit needs, in one file; whoever asks for it removes it.

    Args:
        session: Open.
        settings: Of the service.
        who: An auditor.
        number: Of the round.
    """
    with _copy(session, settings, who, number) as folder:
        handle, name = tempfile.mkstemp(prefix="audit-", suffix=".zip", dir=settings.work)
        with open(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    packed.write(path, path.relative_to(folder))
    return Path(name)


def sign(
    session: Session, settings: Settings, who: Who, number: int, content: bytes
) -> AuditorSignature:
    """Keep what an auditor has signed of a round; a later one stands in its place.

    Args:
        session: The open transaction.
        settings: Of the service.
        who: The auditor.
        number: Of the round.
        content: What `fairpool audit --out audit.json --sign auditor.key` wrote.
    """
    _require_auditor(who)
    round_ = released_round(session, who, number)
    if len(content) > LONGEST:
        raise DataError(f"{ATTESTATION}: it is too large for what an audit signs; send that alone")
    signed = Signed.of_content(content, KIND, ATTESTATION)
    _refuse_other(signed.body, number, _release(settings, who, number))
    kept = session.scalars(
        select(AuditorSignature).where(
            AuditorSignature.round_id == round_.id, AuditorSignature.person_id == who.person.id
        )
    ).one_or_none()
    if kept is None:
        kept = AuditorSignature(round_id=round_.id, person_id=who.person.id)
        session.add(kept)
    kept.document = signed.content.decode()
    kept.time = now()
    session.flush()
    detail = {"round": number, "audit": signed.digest, "ok": bool(signed.body["ok"])}
    events.record(session, who.collaboration, who, "audit-signed", detail)
    return kept


def signatures(session: Session, who: Who) -> list[tuple[Round, AuditorSignature]]:
    """What auditors signed of a collaboration's rounds, for operators and auditors."""
    if who.role is Role.PARTY:
        raise NotFoundError
    found = session.execute(
        select(Round, AuditorSignature)
        .join(AuditorSignature, AuditorSignature.round_id == Round.id)
        .where(Round.collaboration_id == who.collaboration.id)
        .order_by(Round.number, AuditorSignature.time)
    )
    return [(round_, signature) for round_, signature in found]


def _require_auditor(who: Who) -> None:
    if who.role is not Role.AUDITOR:
        raise NotFoundError


def _refuse_other(body: dict[str, Any], number: int, release: str) -> None:
    """Refuse what was signed of another round, or of another one's ledger."""
    if body.get("round") != number or body.get("release") != release:
        raise DataError(
            f"{ATTESTATION}: it is about another release than round {number} of this collaboration;"
            " audit what you downloaded here, and send what that wrote"
        )
    if not isinstance(body.get("ok"), bool) or not isinstance(body.get("findings"), list):
        raise DataError(f"{ATTESTATION}: it lacks what was found; send it as fairpool wrote it")


def _release(settings: Settings, who: Who, number: int) -> str:
    """The hash of a release's record."""
    return open_round(folder_of(settings, who.collaboration.id), number).release


@contextmanager
def _copy(session: Session, settings: Settings, who: Who, number: int) -> Iterator[Path]:
    """A copy of what an operator shows, for as long as this lasts."""
    _require_auditor(who)
    released_round(session, who, number)
    with _one_of(who.collaboration.id), _copied(session, settings, who) as place:
        yield place


_at_work: set[str] = set()
_lock = threading.Lock()
"""Collaborations that are being audited by this process."""


@contextmanager
def _one_of(collaboration_id: str) -> Iterator[None]:
    """A collaboration is audited once at a time, and few are: the others want answers, too."""
    with _lock:
        if collaboration_id in _at_work or len(_at_work) >= MOST_AT_ONCE:
            raise TooManyError(
                "an audit is at work already; wait until it has ended, then try again",
                seconds=A_MINUTE,
            )
        _at_work.add(collaboration_id)
    try:
        yield
    finally:
        with _lock:
            _at_work.discard(collaboration_id)


@contextmanager
def _copied(session: Session, settings: Settings, who: Who) -> Iterator[Path]:
    folder = folder_of(settings, who.collaboration.id)
    make_private_folder(settings.work)
    place = Path(tempfile.mkdtemp(prefix="audit-", dir=settings.work))
    try:
        try:
            with one_at_a_time(folder):
                _copy_files(folder, place)
        except HeldError:
            raise RefusedError(
                "a round of this collaboration is being computed; try again when that has ended"
            ) from None
        _decrypt_contributions(session, settings, who, place)
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _copy_files(folder: Path, place: Path) -> None:
    """Everything with its mode: a secret that others can read is refused."""
    state = place / STATE_FOLDER
    make_private_folder(state)
    shutil.copy2(folder / LEDGER_FILE, place / LEDGER_FILE)
    shutil.copytree(folder / ROUNDS_FOLDER, place / ROUNDS_FOLDER)
    if (folder / PLAN_FILE).exists():
        shutil.copy2(folder / PLAN_FILE, place / PLAN_FILE)
    agreed = (folder / STATE_FOLDER).glob(f"{AGREEMENT_FILE}*")
    for path in (folder / STATE_FOLDER / SECRET_FILE, *agreed):
        shutil.copy2(path, state / path.name)
    if (folder / STATE_FOLDER / KEPT_FOLDER).exists():
        shutil.copytree(folder / STATE_FOLDER / KEPT_FOLDER, state / KEPT_FOLDER)


def _decrypt_contributions(session: Session, settings: Settings, who: Who, place: Path) -> None:
    """All contributions of all rounds, as they were sent."""
    sent = session.scalars(
        select(Submission)
        .join(Round, Round.id == Submission.round_id)
        .where(
            Round.collaboration_id == who.collaboration.id,
            Submission.suffix == SUFFIX,
            Submission.state == SubmissionState.SUBMITTED.value,
            Submission.blob_id.is_not(None),
        )
        .order_by(Submission.created, Submission.id)
    ).all()
    vault = Vault(settings)
    for number, submission in enumerate(sent, 1):
        assert submission.blob_id is not None
        make_private_folder(place / "contributions")
        vault.decrypt_to(submission.blob_id, place / "contributions" / f"{number:04d}{SUFFIX}")
