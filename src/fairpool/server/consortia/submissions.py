"""What parties send for a round: received, looked at, submitted, and withdrawn while it is open.

A file is on the disk before there is a record of it, and goes after its record went.
"""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from fairpool.consortium.tables import SUFFIXES
from fairpool.errors import DataError, cut, printable, shown
from fairpool.exchange.contribution_file import SUFFIX
from fairpool.server.consortia import checks, events, rounds
from fairpool.server.consortia.agreed import Partner, accepted_by, in_force, partners
from fairpool.server.consortia.erasing import erase
from fairpool.server.consortia.found import SEEN, found_in
from fairpool.server.consortia.having import data_of, is_contribution
from fairpool.server.consortia.who import Who
from fairpool.server.refused import NotFoundError, RefusedError
from fairpool.server.settings import Settings
from fairpool.server.store.tables import (
    Blob,
    Round,
    RoundState,
    Submission,
    SubmissionState,
    Terms,
    now,
)
from fairpool.server.work.vault import Stored

__all__ = [
    "data_of",
    "find",
    "of_party",
    "receipt",
    "receive",
    "refuse_now",
    "submit",
    "suffix_of",
    "withdraw",
]

MOST_AT_ONCE = 30
"""Uploads of a party in a round that it has not withdrawn: a disk has an end."""

LONGEST_SHOWN = 200

LATER = {
    RoundState.CLOSED: "it is closed",
    RoundState.COMPUTING: "it is being computed",
    RoundState.PREVIEWED: "it was computed",
    RoundState.RELEASING: "it is being released",
    RoundState.RELEASED: "it was released",
}


def suffix_of(name: str) -> str:
    """What a file is read as, by its name; refused where it is nothing that is read here."""
    for suffix in (SUFFIX, *SUFFIXES):
        if name.lower().endswith(suffix):
            return suffix
    raise DataError(
        f"{shown(name)} is no table that can be read here; send one as"
        f" {', '.join(SUFFIXES)}, or a contribution ({SUFFIX})"
    )


def shown_name(name: str) -> str:
    """What a file is called here: without folders, in one line, and of no great length."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return printable(last)[-LONGEST_SHOWN:]


def refuse_now(session: Session, who: Who, name: str) -> None:
    """Refuse what one's own party would send in vain, before it has come.

    Args:
        session: Open.
        who: One of the party's own people.
        name: What the file is called.
    """
    round_, terms = _now(session, who)
    _refuse_other_kind(who, _partner(who, terms), suffix_of(name))
    _refuse_many(session, who, round_)


def receive(session: Session, who: Who, stored: Stored, name: str) -> Submission:
    """Record an upload of one's own party, and have it looked at.

    The very same file is received once: sent again, it is the submission that is there.

    Args:
        session: The open transaction.
        who: One of the party's own people.
        stored: The upload, which is on the disk.
        name: What the file is called.
    """
    suffix = suffix_of(name)
    round_, terms = _open(session, who)
    _refuse_other_kind(who, _partner(who, terms), suffix)
    known = _same(session, who, round_, stored)
    if known is not None:
        return known
    _refuse_many(session, who, round_)
    session.add(Blob(id=stored.id, size=stored.size, sha256=stored.sha256))
    session.flush()
    submission = Submission(
        round_id=round_.id,
        party_id=who.own_party.id,
        person_id=who.person.id,
        blob_id=stored.id,
        file_name=shown_name(name),
        suffix=suffix,
        created=now(),
    )
    session.add(submission)
    session.flush()
    checks.ask(session, who, submission, round_)
    _tell(session, who, "file-received", submission, sha256=stored.sha256, bytes=stored.size)
    return submission


def find(session: Session, who: Who, submission_id: str) -> Submission:
    """A submission of one's own party, of people whom one follows."""
    submission = session.get(Submission, submission_id, populate_existing=True)
    if submission is None or submission.party_id != who.own_party.id:
        raise NotFoundError
    if submission.ended is not None:
        raise NotFoundError
    return submission


def of_party(session: Session, who: Who, round_: Round) -> list[Submission]:
    """What one's own party sent for a round, the newest first."""
    mine = select(Submission).where(
        Submission.round_id == round_.id,
        Submission.party_id == who.own_party.id,
        Submission.ended.is_(None),
    )
    return [*session.scalars(mine.order_by(Submission.created.desc(), Submission.id))]


def submit(
    session: Session, settings: Settings, who: Who, submission_id: str, *, adds: bool = False
) -> Submission:
    """Have what was looked at take part in the round.

    A table stands in the place of the one that the party submitted before for the same round.

    Args:
        session: The open transaction.
        settings: Where uploads are.
        who: One of the party's own people.
        submission_id: Which.
        adds: Whether a table has further rows, beside those of the one before.
    """
    find(session, who, submission_id)
    round_, terms = _open(session, who)
    submission = find(session, who, submission_id)  # as it is now that nobody else changes it
    if submission.state == SubmissionState.SUBMITTED.value:
        return submission
    _refuse_unfit(submission, round_, terms)
    if who.own_party.id not in accepted_by(session, terms):
        raise RefusedError(
            "your party has not accepted the terms in force; read and accept them, then submit"
        )
    _refuse_other_kind(who, _partner(who, terms), submission.suffix)
    if not adds and not is_contribution(submission):
        for other in of_party(session, who, round_):
            if other.state == SubmissionState.SUBMITTED.value and not is_contribution(other):
                _withdraw(session, settings, other)
                _tell(session, who, "withdrawn", other, replaced_by=submission.id)
    submission.state = SubmissionState.SUBMITTED.value
    submission.decided = now()
    session.flush()
    _tell(session, who, "submitted", submission)
    return submission


def withdraw(session: Session, settings: Settings, who: Who, submission_id: str) -> Submission:
    """Take something back, and erase it; until the round is closed.

    Args:
        session: The open transaction.
        settings: Where uploads are.
        who: One of the party's own people.
        submission_id: Which.
    """
    find(session, who, submission_id)
    round_, _ = _open(session, who)
    submission = find(session, who, submission_id)
    if submission.round_id != round_.id:
        raise RefusedError(
            "this took part in an earlier round, and what was released cannot be taken back; send"
            " a new table in its place, or leave the collaboration"
        )
    if submission.state != SubmissionState.WITHDRAWN.value:
        _withdraw(session, settings, submission)
        _tell(session, who, "withdrawn", submission)
    return submission


def receipt(session: Session, settings: Settings, who: Who, submission_id: str) -> bytes:
    """The operator's signed word that a contribution came and was right, once it is submitted.

    Args:
        session: Open.
        settings: Where uploads are.
        who: One of the party's own people.
        submission_id: Which.
    """
    submission = find(session, who, submission_id)
    if not is_contribution(submission):
        raise NotFoundError
    if submission.state != SubmissionState.SUBMITTED.value:
        raise RefusedError("a receipt is given for what is submitted; submit this first")
    found = found_in(settings, submission)
    if found is None or not found.receipt:
        raise RefusedError("this is being looked at under new terms; wait a moment")
    return found.receipt.encode()


def _open(session: Session, who: Who) -> tuple[Round, Terms]:
    """The round that is open, and its terms; nobody else changes the collaboration from here on."""
    rounds.lock(session, who.collaboration.id)
    return _now(session, who)


def _now(session: Session, who: Who) -> tuple[Round, Terms]:
    """The round that is open, and its terms."""
    round_ = rounds.current(session, who.collaboration)
    terms = in_force(session, who.collaboration)
    if round_ is None or terms is None:
        raise RefusedError(
            "no terms were proposed yet, so that nobody knows what a table is to have; you will be"
            " asked for it once there are some"
        )
    state = RoundState(round_.state)
    if state is not RoundState.OPEN:
        raise RefusedError(
            f"round {round_.number} takes nothing any longer, and gives nothing back:"
            f" {LATER[state]}; wait for the next round, or ask the operator to open this one again"
        )
    return round_, terms


def _partner(who: Who, terms: Terms) -> Partner:
    """What the terms say of one's own party."""
    party = who.own_party
    for partner in partners(terms):
        if partner.id == party.permanent and party.left is None:
            return partner
    raise RefusedError(f'"{party.name}" takes no part in the terms in force; ask the operator')


def _refuse_other_kind(who: Who, partner: Partner, suffix: str) -> None:
    if partner.key is None and suffix == SUFFIX:
        raise DataError(
            f'by the terms "{cut(who.own_party.name)}" sends rows, and this is a contribution; send'
            " a table, or have the operator propose terms with your key"
        )
    if partner.key is not None and suffix != SUFFIX:
        raise DataError(
            f'by the terms "{cut(who.own_party.name)}" sends sums, signed with its key, and this is'
            " a table, which then stays at home; make a contribution of it: fairpool contribute"
        )


def _same(session: Session, who: Who, round_: Round, stored: Stored) -> Submission | None:
    """The very same file, if the party has sent it for this round, and not taken it back."""
    for submission in of_party(session, who, round_):
        if submission.blob_id is not None:
            blob = session.get_one(Blob, submission.blob_id)
            if (blob.sha256, blob.size) == (stored.sha256, stored.size):
                return submission
    return None


def _refuse_many(session: Session, who: Who, round_: Round) -> None:
    count = session.scalar(
        select(func.count())
        .select_from(Submission)
        .where(Submission.round_id == round_.id, Submission.party_id == who.own_party.id)
        .where(Submission.blob_id.is_not(None), Submission.ended.is_(None))
    )
    if count is not None and count >= MOST_AT_ONCE:
        raise RefusedError(
            f"your party has {count} files in this round already; withdraw those that are not"
            " needed, then send this one again"
        )


def _refuse_unfit(submission: Submission, round_: Round, terms: Terms) -> None:
    if submission.round_id != round_.id:
        raise RefusedError("this was sent for an earlier round; send it again for this one")
    state = SubmissionState(submission.state)
    if state is SubmissionState.WITHDRAWN:
        raise RefusedError("this was withdrawn, and is erased; send it again")
    if state is SubmissionState.CHECKING or checks.is_waiting(submission, terms.id):
        raise RefusedError("this is still being looked at; wait a moment, then submit it")
    if not checks.fits(submission, terms.id):
        raise RefusedError(
            "this cannot take part as it is; correct what is listed beside it, and send it again"
        )


def _withdraw(session: Session, settings: Settings, submission: Submission) -> None:
    """Erase what was sent, and what was found in it: its first rows are among that."""
    erased = (submission.blob_id, submission.findings.get(SEEN))
    submission.state = SubmissionState.WITHDRAWN.value
    submission.decided = now()
    submission.blob_id = None
    submission.findings = {}
    for identity in erased:
        erase(session, settings, identity)


def _tell(
    session: Session, who: Who, action: str, submission: Submission, **detail: str | int
) -> None:
    events.record(session, who.collaboration, who, action, {"submission": submission.id, **detail})
