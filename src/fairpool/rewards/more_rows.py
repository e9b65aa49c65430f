"""What a party would be due if it had more rows of the kind that it has.

Nobody knows rows that are not there. So some are drawn: rows that tell as much as the party's own
do on average (`fairpool.information.space.Space.with_more_rows`). Everybody's values, contributions
and rewards are computed anew for each draw, at the same rho; all others' data stay as they are.
Draws differ, and by how much is said. What cannot be said is whether new rows would be like those
that are there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log10

import numpy as np

from fairpool.compute.workers import Workers
from fairpool.contributions import Concept
from fairpool.parties import NoisySummary
from fairpool.rewards.scheme import SilentScheme
from fairpool.tables.arrays import FloatArray
from fairpool.values import InformationGain

DRAWS = 8
"""How many times further rows are drawn for each party, and .."""

FEWEST_DRAWS = 4
""".. how many it takes for an error."""

MOST_WORK = 1e10
"""So many multiplications for all parties together: some seconds."""

FEW = 100
"""How many more rows are looked at, of a party with less than ten times as many."""

TOO_MUCH_WORK = "valuing every group anew for each party would take too long"
SAMPLED = "of so many parties contributions are sampled, which is too rough for such differences"
NOT_MEASURED = "contributions were given as numbers"


@dataclass(frozen=True, kw_only=True)
class MoreRows:
    """What a party would be due with more rows like its own, all else as it is.

    Attributes:
        rows: How many more.
        reward: What they would add to its reward, in nats.
        reward_error: The standard deviation of that over draws.
        share: What they would add to its reward as a share of the best model's information, which
            grows with them.
        share_error: The standard deviation of that.
    """

    rows: int
    reward: float
    reward_error: float
    share: float
    share_error: float


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What more rows would bring to everybody.

    Attributes:
        parties: One entry for each party; None: of its data that cannot be told.
        why_not: Why nobody's could be told; empty: they are.
    """

    parties: tuple[MoreRows | None, ...]
    why_not: str = ""


def how_many_more(rows: int) -> int:
    """A round number of rows: 100, or of many rows the power of ten below them.

    >>> how_many_more(40), how_many_more(999), how_many_more(25_000)
    (100, 100, 10000)
    """
    return max(FEW, 10 ** int(log10(rows))) if rows else FEW


def outlook(game: InformationGain, concept: Concept, *, rho: float, rewards: FloatArray) -> Outlook:
    """What more rows would bring to each party.

    Args:
        game: The values as they are.
        concept: How contributions are measured.
        rho: The number that was used.
        rewards: r as they are [n].
    """
    nobody: tuple[MoreRows | None, ...] = (None,) * game.n
    if not game.enumerable:
        return Outlook(parties=nobody, why_not=SAMPLED)
    if concept.name == "given":
        return Outlook(parties=nobody, why_not=NOT_MEASURED)
    draws = _affordable_draws(game)
    if draws < FEWEST_DRAWS:
        return Outlook(parties=nobody, why_not=TOO_MUCH_WORK)
    if game.total <= 0:
        return Outlook(parties=nobody)
    parties: list[MoreRows | None] = []
    for i in range(game.n):
        # Of sums with noise, more rows would lessen the noise beside them as well: that is another
        # question.
        is_noisy = isinstance(game.pool.parties[i], NoisySummary)
        if is_noisy or game.alone[i] <= 0:
            parties.append(None)
            continue
        found = [_reward_of(i, drawn, concept, rho) for drawn in _draws(game, i, draws)]
        now = (float(rewards[i]), float(rewards[i] / game.total))
        parties.append(_summed_up(how_many_more(game.rows[i]), now, np.array(found)))
    return Outlook(parties=tuple(parties))


def _affordable_draws(game: InformationGain) -> int:
    work = game.space.work_per_value * 2.0**game.n * game.n
    return DRAWS if work * DRAWS <= MOST_WORK else int(MOST_WORK / work)


def _draws(game: InformationGain, i: int, count: int) -> Iterator[InformationGain]:
    """Games in which party i has more rows; the same run draws the same."""
    for draw in range(count):
        rng = np.random.default_rng((i, draw))
        yield game.with_more_rows(i, more=how_many_more(game.rows[i]), rng=rng)


def _reward_of(i: int, game: InformationGain, concept: Concept, rho: float) -> tuple[float, float]:
    """r_i, in nats and as a share of v_N."""
    workers = Workers()
    game.values(workers)  # all of them, which share work
    phi = concept.measure(
        game, rng=0, evaluations=None, target_standard_error=None, workers=workers
    )
    reward = float(SilentScheme(game, phi).rewards(rho)[i])
    return reward, reward / game.total


def _summed_up(more: int, now: tuple[float, float], found: FloatArray) -> MoreRows:
    """The mean and the deviation of what draws gave [draws, 2], less what there is."""
    mean = found.mean(axis=0) - now
    deviation = found.std(axis=0, ddof=1)
    return MoreRows(
        rows=more,
        reward=float(mean[0]),
        reward_error=float(deviation[0]),
        share=float(mean[1]),
        share_error=float(deviation[1]),
    )
