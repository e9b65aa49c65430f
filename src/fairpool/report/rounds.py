"""What a party receives in a round and holds after it, in words."""

from dataclasses import dataclass

from fairpool.models import ClassPosterior, WeightPosterior
from fairpool.parties.rough_counts import roughly
from fairpool.realisation import ModelReward
from fairpool.report.held import Held, Standing
from fairpool.report.noisy_sums import ROWS_OF_THE_ROUND
from fairpool.report.words import ROUNDING
from fairpool.rounds.release import RoundReward


def own_rows_sentence(model: ModelReward, own: str) -> str:
    """With which rows it counts what a party keeps, and how these come into its model.

    Args:
        model: What it keeps.
        own: What of the party's counts, in words.
    """
    counts = f"What you hold is counted with {own}"
    posterior = model.posterior
    if not isinstance(posterior, WeightPosterior | ClassPosterior):
        return f"{counts}; rows that have come since come into your next model."
    if posterior.others is not None:
        return f"{counts}. Put all your rows into your model yourself, with “fairpool update”."
    if model.own_noise:
        return f"{counts}."
    return (
        f"{counts}. Add rows that have come since to your model yourself, with"
        " “fairpool update --add”."
    )


@dataclass(frozen=True, kw_only=True)
class RoundWords:
    """A round, as its letters tell it.

    Attributes:
        number: From 1.
        head: The hash of its record in the ledger; empty in a preview.
        received: What the party receives; None where the mechanism knows nothing of rounds.
        total: v_N.
        waiting: How many of the party's rows wait.
        gone: How many of its rows are gone and still count.
        fewest: How many new rows a batch needs.
        spent: How many of its rows count, and are in no new file.
        noisy: Whether these numbers have noise.
        own: What of the party's counts, in words.
    """

    number: int
    head: str
    received: RoundReward | None
    total: float
    waiting: int = 0
    gone: int = 0
    fewest: int = 0
    spent: int = 0
    noisy: bool = False
    own: str = ROWS_OF_THE_ROUND

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
    def held(self) -> Held:
        """What the party holds, beside its share; only where there is anything to hold."""
        assert self.received is not None
        return Held(holds=self.received.holds, due=self.received.due, total=self.total)

    def lead(self) -> str:
        """What comes first, of a party that is sent no new model, without a stop."""
        held = self.held
        if held.standing is Standing.LESS:
            return f"You keep the model that you have, and hold {held.in_words}"
        if held.standing is Standing.MORE:
            return f"You hold {held.in_words} already, more than your share of this round"
        return f"You hold your share of this round already, {held.in_words}"

    def sentences(self) -> list[str]:
        """What there is to say about what the party holds."""
        if self.received is None or self.total <= 0:
            return []
        held = self.held
        if not self.is_sent:
            kept = own_rows_sentence(self.received.model, self.own)
            sentences = [_why_nothing_is_sent(held), held.why_more_than_all, kept]
            return [sentence for sentence in sentences if sentence]
        if held.standing is Standing.LESS:
            return [
                f"With this model you hold {held.in_words}; your share of this round is"
                f" {held.share_in_words}. The rest comes with a later model: some of the others'"
                " rows are in no new one until others have come beside them."
            ]
        if held.holds > self.received.model.value * (1 + ROUNDING):
            return [
                f"Together with what you hold from earlier rounds that is {held.in_words}, which is"
                " exactly your share."
            ]
        return []

    def _rows(self, count: int) -> str:
        return f"{roughly(self.noisy).capitalize()}{count} of your rows"

    def about_own_rows(self) -> list[str]:
        """What of the party's own rows takes no part yet, or does so still."""
        sentences = []
        if self.waiting:
            sentences.append(
                f"{self._rows(self.waiting)} wait for the next round: rows come and go in batches,"
                " since files that differ by a few rows would tell the others what these are."
            )
        if self.gone:
            sentences.append(
                f"{self._rows(self.gone)} that were released before are no longer in your table."
                " They still count, with nothing new told about them, until"
                f" {self.fewest} new rows have come or as many have gone: then they leave, and the"
                " rows that were released together with them return without them. If they have to"
                " be out at once, tell the operator; the rows beside them then wait."
            )
        if self.spent:
            sentences.append(
                f"{self._rows(self.spent)} were in as many models as so few rows may be: every"
                " further one would tell the others more about each. They still count, and are in"
                f" no new model until {self.fewest} new rows have come."
            )
        return sentences


def _why_nothing_is_sent(held: Held) -> str:
    """To a party that keeps its model."""
    if held.standing is Standing.MORE:
        return (
            f"Your share of this round is {held.share_in_words}. What was released cannot be taken"
            " back, and nothing worse is sent: you keep the model that you have."
        )
    if held.standing is Standing.SHARE:
        return "Nothing new is sent to you: you keep the model that you have."
    return (
        "None of the others' data that take part are new to you, so that nothing is sent: a new"
        " file each time your own rows change would tell the others' rows, little by little. Your"
        f" share of this round is {held.share_in_words}: the rest comes with the next model."
    )
