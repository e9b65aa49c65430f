"""What a party was handed in each round, as the operator's signed statement says it."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.exchange.statement import SignedStatement
from fairpool.server.consortia import released
from fairpool.server.consortia.having import data_of, is_contribution
from fairpool.server.consortia.released import Papers
from fairpool.server.consortia.who import Who
from fairpool.server.refused import NotFoundError
from fairpool.server.settings import Settings
from fairpool.server.store.tables import Release, Round, Terms


@dataclass(frozen=True, kw_only=True)
class Received:
    """What a party was handed in a round.

    Attributes:
        number: Of the round.
        released: When.
        papers: Letter, model and card.
        signed: What the operator signed of it; None: its data were left out.
        files: What the party had sent, as it called it.
        sums: Whether that were contributions.
        terms: Those of the round.
    """

    number: int
    released: datetime
    papers: Papers
    signed: SignedStatement | None
    files: tuple[str, ...]
    sums: bool
    terms: Terms

    @property
    def share(self) -> float | None:
        """What it holds now, of the best model's information; None: nobody has any."""
        return self._of_all("holds")

    @property
    def alone(self) -> float | None:
        """What its data have alone, of the best model's information."""
        return self._of_all("value")

    def _of_all(self, what: str) -> float | None:
        if self.signed is None or self.signed.statement.total <= 0:
            return None
        worth: float = getattr(self.signed.statement, what)
        return worth / self.signed.statement.total


def received_by(session: Session, settings: Settings, who: Who) -> list[Received]:
    """All rounds in which one's own party took part, the first one first.

    Args:
        session: Open.
        settings: Where collaborations are.
        who: One of the party's own people.
    """
    rounds = session.execute(
        select(Round, Release)
        .join(Release, Release.round_id == Round.id)
        .where(Round.collaboration_id == who.collaboration.id)
        .order_by(Round.number)
    ).all()
    found = []
    for round_, release in rounds:
        try:
            papers = released.papers(session, settings, who, round_.number)
        except NotFoundError:
            continue  # it took no part
        statement = papers.statement
        signed = None
        if statement is not None:
            signed = SignedStatement.of_content(statement, f"round {round_.number}")
        sent = data_of(session, round_).get(who.own_party.id, [])
        one = Received(
            number=round_.number,
            released=release.released,
            papers=papers,
            signed=signed,
            files=tuple(one.file_name for one in sent if one.ended is None),
            sums=any(is_contribution(submission) for submission in sent),
            terms=session.get_one(Terms, round_.terms_id),
        )
        found.append(one)
    return found
