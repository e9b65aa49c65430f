"""What a party receives in a round and holds after it, in words."""

from dataclasses import dataclass

from fairpool.report.words import as_percent
from fairpool.rounds.release import RoundReward

LITTLE = 1e-6
"""A share below which two worths are the same to people."""


@dataclass(frozen=True, kw_only=True)
class RoundWords:
    """A round, as its letters tell it.

    Attributes:
        number: From 1.
        head: The hash of its record in the ledger; empty in a preview.
        received: What the party receives; None where the mechanism knows nothing of rounds.
        total: v_N.
        waiting: How many of the party's rows wait.
    """

    number: int
    head: str
    received: RoundReward | None
    total: float
    waiting: int = 0

    @property
    def is_sent(self) -> bool:
        """Whether there is a new model."""
        return self.received is None or self.received.sent

    @property
    def keeps(self) -> float | None:
        """What the party holds, where there is no new model; None where there is one."""
        if self.received is None or self.received.sent:
            return None
        return self.received.holds

    @property
    def holds_more(self) -> bool:
        """Whether the party holds more than its reward."""
        if self.received is None or self.total <= 0:
            return False
        return self.received.holds - self.received.due > LITTLE * self.total

    def sentences(self) -> list[str]:
        """What there is to say about what the party holds."""
        if self.received is None or self.total <= 0:
            return []
        holds = as_percent(self.received.holds / self.total)
        due = as_percent(self.received.due / self.total)
        sentences = []
        if self.holds_more:
            sentences.append(
                f"You hold {holds} of this round's best model's information already; this round's"
                f" share would be {due}. What was released cannot be taken back, and nothing worse"
                " is sent."
            )
        if not self.is_sent and not self.holds_more:
            sentences.append(
                "Nothing of the others' data has changed that would make a new model for you, so"
                " that you keep the one you have. Add your own new rows to it yourself, with"
                " `fairpool update`: a new file each time your rows change would tell the others'"
                " rows, little by little."
            )
            if self.received.due - self.received.holds > LITTLE * self.total:
                sentences.append(
                    f"Your share of this round is {due}, and what you hold is worth {holds}: the"
                    " rest comes with the next model."
                )
        is_less = self.is_sent and self.received.holds > self.received.model.value * (1 + LITTLE)
        if is_less:
            sentences.append(
                f"Together with what you hold from earlier rounds that is worth {holds} of this"
                " round's best model, which is exactly your share."
            )
        return sentences

    def about_own_rows(self) -> list[str]:
        """What of the party's own rows takes no part yet."""
        sentences = []
        if self.waiting:
            sentences.append(
                f"{self.waiting} of your rows wait for the next round: rows come and go in batches,"
                " since files that differ by a few rows would tell the others what these are."
            )
        return sentences
