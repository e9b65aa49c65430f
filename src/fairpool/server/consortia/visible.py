"""What others can see about a party: the party's own page tells it, as it is now.

Each sentence follows from what pages and API give to whom; `tests/server/test_isolation.py` holds
them to that.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from fairpool.server.consortia import standing
from fairpool.server.consortia.having import is_contribution
from fairpool.server.consortia.standing import Standing
from fairpool.server.consortia.who import Who
from fairpool.server.store.tables import Membership, Role, Round, RoundState


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What somebody can see.

    Attributes:
        by: Who.
        what: Of the party, in sentences.
    """

    by: str
    what: tuple[str, ...]


def of(session: Session, who: Who) -> tuple[Seen, ...]:
    """What others can see about one's own party.

    Args:
        session: Open.
        who: One of the party's own people.
    """
    own = standing.of(session, who)
    released = session.scalar(
        select(func.count())
        .select_from(Round)
        .where(
            Round.collaboration_id == who.collaboration.id,
            Round.state == RoundState.RELEASED.value,
        )
    )
    auditors = session.scalar(
        select(func.count())
        .select_from(Membership)
        .where(
            Membership.collaboration_id == who.collaboration.id,
            Membership.role == Role.AUDITOR.value,
        )
    )
    rounds = released or 0
    return (
        Seen(by="the other parties", what=tuple(_by_others(own, rounds))),
        Seen(by="the operator", what=tuple(_by_operator(own, rounds))),
        Seen(by="an auditor", what=tuple(_by_auditor(auditors or 0, rounds))),
        Seen(by="whoever runs this service's machine", what=tuple(_by_machine(own))),
    )


def _by_others(own: Standing, released: int) -> Iterator[str]:
    if own.takes_part and own.terms is not None:
        yield f'That "{own.party.name}" takes part: its name stands in the terms.'
        if own.party.public_key is not None:
            yield "The public half of its key, by which its contributions are known."
    else:
        yield "Nothing: it is no party of the terms in force."
    if released:
        yield (
            "What their own models and letters tell, which the terms describe; no letter names"
            " another party."
        )
    yield (
        "None of its people, files, findings, letters or models; not even whether there are any."
        " Only if nobody of its people is left and the operator invites others, all are told so."
    )


def _by_operator(own: Standing, released: int) -> Iterator[str]:
    yield "Its people, by name and e-mail address."
    yield (
        "Nothing that only its people see, as long as it has some of its own: these alone invite"
        " more. The operator invited the first of them, and can remove people. Where nobody is"
        " left, it invites a first one again, who sees the letters and models handed out so far,"
        " and nothing that was sent; what was accepted and sent ends then, and everybody is told."
    )
    if own.acceptance is not None:
        yield "Who of them accepted the terms, and when: in a signed document."
    elif own.terms is not None and own.takes_part:
        yield "That it has not accepted the terms in force."
    if own.having:
        yield "That its data take part, and how many rows they are."
    elif own.sent:
        yield "That it sent something, and whether that fits the terms; nothing of what is in it."
    else:
        yield "That it sent nothing for this round."
    if any(is_contribution(one) for one in own.having):
        yield "The sums of its contributions, as its own machine said before they were made."
    elif own.having:
        yield (
            "In reports: what its data are worth, charts of how well its labels are predicted, and"
            " values that stand out, with their rows."
        )
    if released:
        of_all = "the released round" if released == 1 else f"all {released} released rounds"
        yield f"Its letters and what it received in {of_all}."


def _by_auditor(auditors: int, released: int) -> Iterator[str]:
    if not auditors:
        yield "Nobody is auditor of this collaboration; the operator could invite one."
    yield "The terms and who accepted them, and the log of what was done when, by whom."
    if released:
        yield (
            "Of released rounds everything that computing them anew takes: the ledger, reports,"
            " letters and models of all parties, sums over rows, and the secret that noise is made"
            " of. An auditor must be as trusted as the operator is."
        )
    yield "No row as it was sent, no file and no finding."


def _by_machine(own: Standing) -> Iterator[str]:
    yield (
        "Everything that is sent here: it holds the key by which uploads are encrypted. A thief of"
        " the database or of a backup without that key reads no row."
    )
    if own.party.public_key is not None:
        yield "Its rows never come here: it sends sums."
