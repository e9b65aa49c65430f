"""Who must do what before a round can go on: in words for people, as codes for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.errors import cut
from fairpool.server.consortia import checks, draft, rounds
from fairpool.server.consortia.agreed import Partner, accepted_by, in_force
from fairpool.server.consortia.having import data_of, parties_of
from fairpool.server.store.tables import (
    Collaboration,
    Membership,
    Party,
    Round,
    RoundState,
    Submission,
    SubmissionState,
    Terms,
)


class Code(StrEnum):
    """What is to be done."""

    PROPOSE = "propose"
    JOIN = "join"
    ACCEPT = "accept"
    SEND = "send"
    WAIT = "wait"
    CORRECT = "correct"
    SUBMIT = "submit"
    LEAVE_OUT = "leave-out"
    CLOSE = "close"
    COMPUTE = "compute"
    RELEASE = "release"


@dataclass(frozen=True, kw_only=True)
class Task:
    """Something that somebody has to do, or has done.

    Attributes:
        code: What.
        party_id: Which party has to do it, by its record; None: the operator.
        name: The party's; empty: the operator.
        text: What is to be done, or was: "read and accept the terms", "has accepted the terms".
        is_done: Whether it is done.
        blocks: Whether the round cannot be closed before that.
    """

    code: Code
    party_id: str | None
    name: str
    text: str
    is_done: bool = False
    blocks: bool = True


@dataclass(frozen=True, kw_only=True)
class Checklist:
    """What is to be done in a collaboration.

    Attributes:
        round: The number of the newest round; None: there is none yet.
        state: Where it stands.
        tasks: What is to be done, and was, party by party; then the operator's.
    """

    round: int | None
    state: RoundState | None
    tasks: tuple[Task, ...]

    @property
    def why_not(self) -> tuple[str, ...]:
        """What keeps the round from being closed, in sentences; empty: nothing."""
        sentences = []
        for task in self.tasks:
            if task.blocks and not task.is_done:
                who = f'"{cut(task.name)}"' if task.party_id else "the operator"
                sentences.append(f"{who} is still to do this: {task.text}")
        return tuple(sentences)

    @property
    def ready_to_close(self) -> bool:
        """Whether the round can be closed."""
        return self.state is RoundState.OPEN and not self.why_not

    def next_of(self, party_id: str | None) -> Task | None:
        """What a party, or the operator, is to do next; None: nothing now.

        Args:
            party_id: The party's record; None: the operator.
        """
        for task in self.tasks:
            if task.party_id == party_id and not task.is_done:
                return task
        return None


def of(session: Session, collaboration: Collaboration) -> Checklist:
    """What is to be done now.

    Args:
        session: Open.
        collaboration: Where.
    """
    round_ = rounds.current(session, collaboration)
    terms = in_force(session, collaboration)
    if round_ is None or terms is None:
        return Checklist(round=None, state=None, tasks=(_first_terms(collaboration),))
    state = RoundState(round_.state)
    tasks: list[Task] = []
    if state is RoundState.OPEN:
        tasks += _of_parties(session, round_, terms)
    checklist = Checklist(round=round_.number, state=state, tasks=tuple(tasks))
    tasks += _of_operator(collaboration, terms, checklist)
    return Checklist(round=round_.number, state=state, tasks=tuple(tasks))


def _first_terms(collaboration: Collaboration) -> Task:
    found = len(draft.problems(collaboration.draft))
    text = "propose the terms"
    if found:
        things = "one thing" if found == 1 else f"{found} things"
        text = f"finish the draft of the terms ({things} to settle), and propose it"
    return Task(code=Code.PROPOSE, party_id=None, name="", text=text)


def _of_operator(
    collaboration: Collaboration, terms: Terms, checklist: Checklist
) -> Iterator[Task]:
    match checklist.state:
        case RoundState.OPEN:
            if collaboration.draft != terms.toml:
                yield _operators(
                    Code.PROPOSE, "the draft was changed: propose it, or put it back as it was"
                )
            if checklist.ready_to_close:
                yield _operators(Code.CLOSE, "everybody is ready: close the round")
            else:
                yield _operators(Code.WAIT, "wait for the parties, or propose terms without some")
        case RoundState.CLOSED:
            yield _operators(Code.COMPUTE, "have the round computed")
        case RoundState.PREVIEWED:
            yield _operators(Code.RELEASE, "look at the preview, and release it if it is right")
        case _:
            yield _operators(Code.WAIT, "wait: the round is being computed")


def _operators(code: Code, text: str, *, blocks: bool = False) -> Task:
    return Task(code=code, party_id=None, name="", text=text, blocks=blocks)


@dataclass(frozen=True, kw_only=True)
class _Standing:
    """Where a party stands in a round that is open.

    Attributes:
        party: Its record.
        partner: What the terms say of it.
        round: The round.
        terms: Those in force.
        has_people: Whether anybody belongs to it.
        has_accepted: Whether it accepted these terms.
        having: What takes part.
        sent: What it sent for this round, and did not withdraw.
    """

    party: Party
    partner: Partner
    round: Round
    terms: Terms
    has_people: bool
    has_accepted: bool
    having: Sequence[Submission]
    sent: Sequence[Submission]

    def task(self, code: Code, text: str, *, is_done: bool = False) -> Task:
        """Something for the party to do."""
        return Task(
            code=code,
            party_id=self.party.id,
            name=self.partner.name,
            text=text,
            is_done=is_done,
        )

    @property
    def what(self) -> str:
        """What it sends."""
        return "table" if self.partner.key is None else "contribution"


def _of_parties(session: Session, round_: Round, terms: Terms) -> Iterator[Task]:
    accepted = accepted_by(session, terms)
    data = data_of(session, round_)
    parts = select(Membership.party_id).where(Membership.collaboration_id == terms.collaboration_id)
    with_people = {*session.scalars(parts)}
    sent = session.scalars(
        select(Submission)
        .where(Submission.round_id == round_.id, Submission.ended.is_(None))
        .where(Submission.state != SubmissionState.WITHDRAWN.value)
    ).all()
    for party, partner in parties_of(session, terms):
        standing = _Standing(
            party=party,
            partner=partner,
            round=round_,
            terms=terms,
            has_people=party.id in with_people,
            has_accepted=party.id in accepted,
            having=data.get(party.id, []),
            sent=[one for one in sent if one.party_id == party.id],
        )
        if party.left is None:
            yield from _of_party(standing)
        else:
            text = f'"{cut(partner.name)}" has left: propose terms without it'
            yield _operators(Code.LEAVE_OUT, text, blocks=True)


def _of_party(standing: _Standing) -> Iterator[Task]:
    if not standing.has_people:
        yield standing.task(Code.JOIN, "join, by an invitation of the operator's")
    if standing.has_accepted:
        yield standing.task(Code.ACCEPT, "has accepted the terms", is_done=True)
    else:
        yield standing.task(Code.ACCEPT, "read and accept the terms")
    if standing.having:
        yield _of_data(standing)
    else:
        yield _without_data(standing)


def _of_data(standing: _Standing) -> Task:
    """What is to be done about data that take part."""
    having, terms = standing.having, standing.terms
    if any(checks.is_waiting(one, terms.id) for one in having):
        return standing.task(Code.WAIT, "wait: its data are being looked at under the new terms")
    if not all(checks.fits(one, terms.id) for one in having):
        return standing.task(
            Code.CORRECT, f"its {standing.what} does not fit the new terms: send another"
        )
    rows = sum(one.findings.get("rows", 0) for one in having)
    is_new = having[-1].round_id == standing.round.id
    since = "" if is_new else ", as in the round before"
    return standing.task(Code.SEND, f"takes part with {rows} rows{since}", is_done=True)


def _without_data(standing: _Standing) -> Task:
    """What a party is to do of which nothing takes part yet."""
    states = {SubmissionState(one.state) for one in standing.sent}
    what = standing.what
    if SubmissionState.CHECKED in states:
        return standing.task(Code.SUBMIT, f"submit the {what} that was looked at")
    if SubmissionState.CHECKING in states:
        return standing.task(Code.WAIT, f"wait: the {what} is being looked at")
    if SubmissionState.REFUSED in states:
        return standing.task(Code.CORRECT, f"correct the {what}, and send it again")
    return standing.task(Code.SEND, f"send a {what} for round {standing.round.number}")
