"""Where a party stands: what is asked of it, what it agreed to, and what it sent."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from fairpool.server.consortia import checklist, rounds
from fairpool.server.consortia.agreed import accepted_by, in_force, partners
from fairpool.server.consortia.checklist import Task
from fairpool.server.consortia.having import data_of
from fairpool.server.consortia.submissions import of_party
from fairpool.server.consortia.who import Who
from fairpool.server.store.tables import Acceptance, Party, Round, RoundState, Submission, Terms


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where a party stands.

    Attributes:
        party: Its record.
        round: The newest round; None: there is none yet.
        terms: Those in force; None: there are none yet.
        takes_part: Whether it is a party of these terms.
        acceptance: What it accepted; None: not these terms.
        tasks: What it is to do now, and what of that is done.
        sent: What it sent for the newest round, the newest first.
        having: What takes part of all that it ever sent.
    """

    party: Party
    round: Round | None
    terms: Terms | None
    takes_part: bool
    acceptance: Acceptance | None
    tasks: tuple[Task, ...]
    sent: tuple[Submission, ...]
    having: tuple[Submission, ...]

    @property
    def next_task(self) -> Task | None:
        """The one thing to do next; None: nothing now."""
        for task in self.tasks:
            if not task.is_done:
                return task
        return None

    @property
    def is_open(self) -> bool:
        """Whether it can send, submit and withdraw."""
        return self.round is not None and self.round.state == RoundState.OPEN.value


def of(session: Session, who: Who) -> Standing:
    """Where one's own party stands.

    Args:
        session: Open.
        who: One of the party's own people.
    """
    party = who.own_party
    round_ = rounds.current(session, who.collaboration)
    terms = in_force(session, who.collaboration)
    tasks = checklist.of(session, who.collaboration).tasks
    takes_part = terms is not None and party.permanent in {one.id for one in partners(terms)}
    return Standing(
        party=party,
        round=round_,
        terms=terms,
        takes_part=takes_part,
        acceptance=None if terms is None else accepted_by(session, terms).get(party.id),
        tasks=tuple(task for task in tasks if task.party_id == party.id),
        sent=() if round_ is None else tuple(of_party(session, who, round_)),
        having=() if round_ is None else tuple(data_of(session, round_).get(party.id, [])),
    )
