"""Intervals for rho and rewards that hold where parties nearly tie, from those of contributions.

Paper: Theorem 1 says how rho_r, rho_s and the rewards follow from exact contributions. Of sampled
ones an interval low_i .. high_i is known for each. rho_s is a minimum, and C_i changes by jumps
where two parties change places: a standard error says little about it. So its interval here has
every rho_s that contributions within their intervals could have. With values that are monotone, and
phi* for the largest contribution:

- At least: who contributes t > 0 has C_i among {j: low_j <= t}, and log(phi* / phi_i) is at most
  log(largest high / t). As t grows these parties change only at the lower ends, so it is enough to
  look there.
- At most: of {j: high_j <= high_i} one, m, contributes most. C_m has them all, and log(phi* /
  phi_m) is at least log(largest low / high_i).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from fairpool.contributions import Contributions
from fairpool.tables.arrays import FloatArray
from fairpool.values import Game, tolerance_of
from fairpool.values.properties import monotone

MISSED = 0.02
"""In this share of all samplings some contribution's interval would miss, were errors normal.

Their tails are somewhat wider: for 100 parties all intervals held at once in 91% to 99% of
samplings, depending on the budget. Those of rho and rewards allow for the worst within them, and
held in 99% or more; 95% is what is promised.
"""


class Interval(NamedTuple):
    """The least and the largest value that a number may have."""

    low: float
    high: float


class Shares(NamedTuple):
    """The least and the largest phi_i / phi* [n each]."""

    least: FloatArray
    most: FloatArray


ANYTHING = Interval(-np.inf, np.inf)


@dataclass(frozen=True, eq=False)
class ContributionIntervals:
    """Where the exact contributions lie, all of them at once in most samplings (see `MISSED`).

    Attributes:
        low: [n].
        high: [n].
    """

    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, game: Game, contributions: Contributions) -> "ContributionIntervals":
        """As many standard errors wide as n intervals need to hold at once, within known bounds.

        Of submodular values no party adds less than as the last to come, and none more than alone;
        so neither does an average of what it adds.
        """
        phi = contributions.values
        margin = -ndtri(MISSED / (2 * game.n)) * contributions.standard_errors
        low = phi - margin
        high = phi + margin
        bounded = game.properties_proved and contributions.concept.averages_marginals
        if bounded and not contributions.exact:
            # The estimate stays in its interval, even where rounding puts it beyond a bound.
            low = np.minimum(np.maximum(low, game.total - game.without_one), phi)
            high = np.maximum(np.minimum(high, game.alone), phi)
        return cls(low, high)

    @property
    def highest_low(self) -> FloatArray:
        """Of the others than party i, the largest lower end [n]."""
        return _largest_of_others(self.low)

    @property
    def highest_high(self) -> FloatArray:
        """Of the others than party i, the largest upper end [n]."""
        return _largest_of_others(self.high)

    def shares(self) -> Shares:
        """The least and the largest phi_i / phi* [n each].

        The least is reached where party i contributes as little as it may, and the others as much
        as they may; the largest the other way round.
        """
        largest = np.maximum(self.highest_high, self.low)
        least = np.maximum(self.low, 0.0) / np.where(largest > 0, largest, 1.0)
        others = self.highest_low
        most = np.maximum(self.high, 0.0) / np.where(others > 0, others, 1.0)
        may_be_the_only_one = (self.high > 0) & (others <= 0)
        return Shares(least=least, most=np.where(may_be_the_only_one, 1.0, np.minimum(most, 1.0)))


def rho_rational_interval(game: Game, phi: ContributionIntervals) -> Interval:
    """The least and the largest rho_r of all contributions within their intervals.

    rho_r = min_i log(v_i / v_N) / log(phi_i / phi*).
    """
    tolerance = tolerance_of(game)
    if (game.alone > game.total + tolerance).any():
        return ANYTHING
    # Who contributes most is not bound, nor is who contributes nothing. For the least rho_r only
    # those are left out of whom that is certain; for the largest, all of whom it may be true.
    surely_unbound = (phi.low >= phi.highest_high - tolerance) | (phi.high <= tolerance)
    maybe_unbound = (phi.high >= phi.highest_low - tolerance) | (phi.low <= tolerance)
    least = _limits(game, game.alone, phi=phi.low, best=phi.highest_high)
    most = _limits(game, game.alone, phi=phi.high, best=phi.highest_low)
    return Interval(
        low=float(np.where(surely_unbound, np.inf, least).min()),
        high=float(np.where(maybe_unbound, np.inf, most).min()),
    )


def rho_stable_interval(game: Game, phi: ContributionIntervals) -> Interval:
    """The least and the largest rho_s of all contributions within their intervals.

    rho_s = min_i log(v_{C_i} / v_N) / log(phi_i / phi*), C_i = {j: phi_j <= phi_i}. Where values
    are not known to be monotone, nothing is known of it.
    """
    if monotone(game).holds is not True:
        return ANYTHING
    return Interval(low=_least_rho_stable(game, phi), high=_largest_rho_stable(game, phi))


def _least_rho_stable(game: Game, phi: ContributionIntervals) -> float:
    tolerance = tolerance_of(game)
    low = phi.low
    # [n, n]: row i has who may contribute at most low_i.
    may_be_lesser = low <= low[:, None] + tolerance
    v = game.evaluator.values_of(may_be_lesser)
    # Those who contribute most are not bound. If others may be bound, somebody who may be the best
    # is not in C_i.
    may_be_best = phi.high >= low.max() - tolerance
    v = np.where(may_be_lesser.all(axis=1), game.without_one[may_be_best].max(), v)
    bound = low < phi.highest_high - tolerance
    limits = _limits(game, v, phi=low, best=np.full(game.n, phi.high.max()))
    return float(np.where(bound, limits, np.inf).min())


def _largest_rho_stable(game: Game, phi: ContributionIntervals) -> float:
    tolerance = tolerance_of(game)
    high = phi.high
    # [n, n]: row i has who contributes at most high_i for certain.
    together = high <= high[:, None]
    v = game.evaluator.values_of(together)
    largest_low = np.where(together, phi.low, -np.inf).max(axis=1)
    # If the one of them who contributes most may be the best of all, or contribute nothing, nothing
    # binds it.
    bound = (high < phi.low.max() - tolerance) & (largest_low > tolerance)
    limits = _limits(game, v, phi=high, best=np.full(game.n, phi.low.max()))
    return float(np.where(bound, limits, np.inf).min())


def share_of_total_intervals(phi: ContributionIntervals, rho: Interval) -> FloatArray:
    """The least and the largest r_i / v_N [n, 2], for phi and rho within their intervals.

    r_i = (phi_i / phi*)^rho v_N.
    """
    least_rho, most_rho = np.clip(rho, 0.0, 1.0)
    shares = phi.shares()
    # Shares are at most 1, so a larger rho makes less of them.
    return np.column_stack([shares.least**most_rho, shares.most**least_rho])


def _limits(game: Game, v: FloatArray, *, phi: FloatArray, best: FloatArray) -> FloatArray:
    """The largest rho for which (phi / best)^rho v_N is at least v [n], for phi < best.

    It is infinite where v is nothing.
    """
    tolerance = tolerance_of(game)
    limits = np.full(game.n, np.inf)
    for i in np.flatnonzero(v > tolerance):
        everything = v[i] >= game.total - tolerance
        if everything or phi[i] <= 0:
            limits[i] = 0.0
        elif phi[i] < best[i]:
            limits[i] = np.log(game.total / v[i]) / np.log(best[i] / phi[i])
    return limits


def _largest_of_others(values: FloatArray) -> FloatArray:
    """For each party the largest value of the others [n]; -inf where there are none."""
    if len(values) == 1:
        return np.array([-np.inf])
    second, first = np.sort(values)[-2:]
    largest = np.full(len(values), first)
    largest[int(np.argmax(values))] = second
    return largest
