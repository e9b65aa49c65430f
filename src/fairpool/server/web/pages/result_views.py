"""What the page of a party's results shows."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Download:
    """A file to be saved."""

    text: str
    address: str


@dataclass(frozen=True, kw_only=True)
class ResultLine:
    """A round among the others."""

    number: int
    address: str
    share: str


@dataclass(frozen=True, kw_only=True)
class ResultCard:
    """What was received in a round.

    Attributes:
        number: Of the round.
        released: When.
        share: What the party holds, of the best model's information.
        alone: What its data have alone.
        why: How that comes, in sentences.
        files: To be saved.
        commands: That check them.
        fingerprint: Of the operator's key; empty: nothing was signed.
        letter: Where its page is.
        sums: Whether the party sent contributions.
    """

    number: int
    released: datetime
    share: str
    alone: str
    why: tuple[str, ...]
    files: tuple[Download, ...]
    commands: tuple[str, ...]
    fingerprint: str
    letter: str
    sums: bool


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A round in the chart: two bars, of what is held and of what the data have alone.

    Attributes:
        x: Of the first bar's left side.
        y: Of its top.
        alone_y: Of the second one's top.
        share: Above it.
        label: Below it.
    """

    x: float
    y: float
    alone_y: float
    share: str
    label: str


@dataclass(frozen=True, kw_only=True)
class HistoryChart:
    """Shares over the rounds.

    Attributes:
        width: Of the drawing.
        height: Of the drawing.
        base: Where zero is.
        bar: The width of a bar.
        bars: A pair for each round.
        in_words: The same for whoever does not see it.
    """

    width: int
    height: int
    base: int
    bar: int
    bars: tuple[Bar, ...]
    in_words: str
