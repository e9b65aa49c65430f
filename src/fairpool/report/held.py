"""What a party holds after a round, beside its share of the round, in words."""

from dataclasses import dataclass
from enum import Enum

from fairpool.outcome import Outcome
from fairpool.report.words import ROUNDING, as_percent


class Standing(Enum):
    """What a party holds, beside its share."""

    MORE = "more"
    SHARE = "share"
    LESS = "less"


@dataclass(frozen=True, kw_only=True)
class Held:
    """What a party holds, in nats.

    Attributes:
        holds: What everything that it holds is worth.
        due: Its share of the round, r_i.
        total: v_N, above 0.
    """

    holds: float
    due: float
    total: float

    @property
    def standing(self) -> Standing:
        """Whether it is more than the share, or less."""
        if self.holds - self.due > ROUNDING * self.total:
            return Standing.MORE
        return Standing.LESS if self.due - self.holds > ROUNDING * self.total else Standing.SHARE

    @property
    def in_words(self) -> str:
        """What is held."""
        return f"{as_percent(self.holds / self.total)} of the best model's information"

    @property
    def share_in_words(self) -> str:
        """The share, beside what is held: two that differ are not told as the same number."""
        share = as_percent(self.due / self.total)
        if self.standing is Standing.SHARE or share != as_percent(self.holds / self.total):
            return share
        return "a little less" if self.standing is Standing.MORE else "a little more"

    @property
    def why_more_than_all(self) -> str:
        """Why more is held than all data are worth; empty where that is not so."""
        if self.holds - self.total <= ROUNDING * self.total:
            return ""
        return (
            "That is more than all data of this round are worth: some of it is of data that take"
            " part no longer."
        )


def kept_sentence(name: str, held: Held) -> str:
    """Of a party that is sent no new model, to the operator."""
    keeps = f"{name} keeps the model that it has"
    if held.standing is Standing.LESS:
        return (
            f"{keeps}: none of the others' data that take part are new to it. With its own rows it"
            f" holds {held.in_words}; its share of this round is {held.share_in_words}, and the"
            " rest comes with the next model."
        )
    if held.standing is Standing.SHARE:
        return (
            f"{keeps}: it holds {held.in_words} already, which is its share of this round. Nothing"
            " new is sent."
        )
    more = f" {held.why_more_than_all}" if held.why_more_than_all else ""
    return (
        f"{keeps}: it holds {held.in_words} already, and its share of this round is"
        f" {held.share_in_words}. Nothing worse is sent.{more}"
    )


def of_party(outcome: Outcome, i: int) -> Held:
    """What party i holds; only of a round, and where there is anything to hold."""
    received = outcome.received[i]
    return Held(holds=received.holds, due=received.due, total=outcome.game.total)


def is_sent(outcome: Outcome, i: int) -> bool:
    """Whether party i is sent a new model."""
    return not outcome.received or outcome.received[i].sent


def somebody_keeps(outcome: Outcome) -> bool:
    """Whether some party is sent no new model."""
    return not all(received.sent for received in outcome.received)
