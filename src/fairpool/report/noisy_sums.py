"""What is said otherwise of a party that put noise on its sums: they are not its rows.

Whatever is made of such sums is about them alone. The party's rows may tell more, and stay with it.
"""

from fairpool.parties import NoisySummary
from fairpool.parties.rough_counts import roughly
from fairpool.report.words import MEANINGS
from fairpool.values import InformationGain

OWN_ROWS = "your own data"
ROWS_OF_THE_ROUND = "those of your rows that take part in this round"
OWN_SUMS = "the noisy sums that you sent"

NOISY_MEANINGS = {"R4": "Everybody receives at least the information that what it sent has alone"}
"""Conditions that hold of noisy sums, and not of the rows that they were made of."""


def own_in_words(game: InformationGain, i: int) -> str:
    """What party i's model is made of besides the others' data."""
    return OWN_SUMS if has_noise(game, i) else OWN_ROWS


def counted_in_words(game: InformationGain, i: int) -> str:
    """With what of party i's it is counted what it holds."""
    return OWN_SUMS if has_noise(game, i) else ROWS_OF_THE_ROUND


def has_noise(game: InformationGain, i: int) -> bool:
    """Whether party i put noise on what it sent, or on some of it."""
    return isinstance(game.pool.parties[i], NoisySummary)


def some_have_noise(game: InformationGain) -> bool:
    """Whether any party did."""
    return any(has_noise(game, i) for i in range(game.n))


def meanings_for(*, is_noisy: bool) -> dict[str, str]:
    """Each condition as a sentence, to readers among whom there is noise or is none."""
    return MEANINGS | NOISY_MEANINGS if is_noisy else MEANINGS


def rows_in_words(game: InformationGain, i: int) -> str:
    """Party i's number of rows; one with noise is no exact number."""
    return f"{roughly(has_noise(game, i))}{game.rows[i]:,}"


def all_rows_in_words(game: InformationGain) -> str:
    """Everybody's."""
    return f"{roughly(some_have_noise(game))}{sum(game.rows):,}"
