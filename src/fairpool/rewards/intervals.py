"""From intervals for the contributions to intervals for rho and for rewards that hold where parties
nearly tie.

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

import numpy as np
from scipy.special import ndtri

from fairpool.contributions import Contributions
from fairpool.tables.arrays import FloatArray
from fairpool.values import Game, tolerance_of
from fairpool.values.properties import monotone

MISSED = 0.02
"""Of all samplings, the share in which some contribution's interval would miss the truth if errors
were normal.

Their tails are somewhat wider: for 100 parties all intervals held at once in 91% to 99% of
samplings, depending on the budget. Those of rho and rewards allow for the worst within them, and
held in 99% or more; 95% is what is promised.
"""

Interval = tuple[float, float]
"""The least and the largest value."""

ANYTHING: Interval = (-np.inf, np.inf)


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
        low, high = phi - margin, phi + margin
        bounded = game.properties_proved and contributions.concept.averages_marginals
        if bounded and not contributions.exact:
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

    def shares(self) -> tuple[FloatArray, FloatArray]:
        """The least and the largest phi_i / phi* [n each]."""
        largest = np.maximum(self.highest_high, self.low)
        least = np.maximum(self.low, 0.0) / np.where(largest > 0, largest, 1.0)
        others = self.highest_low
        most = np.maximum(self.high, 0.0) / np.where(others > 0, others, 1.0)
        return least, np.where((self.high > 0) & (others <= 0), 1.0, np.minimum(most, 1.0))


def rho_rational_interval(game: Game, phi: ContributionIntervals) -> Interval:
    """The least and the largest rho_r of all contributions within their intervals.

    rho_r = min_i log(v_i / v_N) / log(phi_i / phi*).
    """
    tolerance = tolerance_of(game)
    if (game.alone > game.total + tolerance).any():
        return ANYTHING
    low, high, best_low, best_high = phi.low, phi.high, phi.highest_low, phi.highest_high
    surely_best = low >= best_high - tolerance
    surely_nothing = high <= tolerance
    least = _limits(game, game.alone, low, best_high)
    maybe_unbound = (high >= best_low - tolerance) | (low <= tolerance)
    most = _limits(game, game.alone, high, best_low)
    return (
        float(np.where(surely_best | surely_nothing, np.inf, least).min()),
        float(np.where(maybe_unbound, np.inf, most).min()),
    )


def rho_stable_interval(game: Game, phi: ContributionIntervals) -> Interval:
    """The least and the largest rho_s of all contributions within their intervals.

    rho_s = min_i log(v_{C_i} / v_N) / log(phi_i / phi*), C_i = {j: phi_j <= phi_i}. Where values
    are not known to be monotone, nothing is known of it.
    """
    if monotone(game).holds is not True:
        return ANYTHING
    return _least_rho_stable(game, phi), _largest_rho_stable(game, phi)


def _least_rho_stable(game: Game, phi: ContributionIntervals) -> float:
    tolerance, low = tolerance_of(game), phi.low
    may_be_lesser = (
        low <= low[:, None] + tolerance
    )  # [n, n]: row i has who may contribute at most low_i
    v = game.evaluator.values_of(may_be_lesser)
    # Those who contribute most are not bound. If others may be bound, somebody who may be the best
    # is not in C_i.
    may_be_best = phi.high >= low.max() - tolerance
    v = np.where(may_be_lesser.all(axis=1), game.without_one[may_be_best].max(), v)
    bound = low < phi.highest_high - tolerance
    limits = _limits(game, v, low, np.full(game.n, phi.high.max()))
    return float(np.where(bound, limits, np.inf).min())


def _largest_rho_stable(game: Game, phi: ContributionIntervals) -> float:
    tolerance, high = tolerance_of(game), phi.high
    together = high <= high[:, None]  # [n, n]: row i has who contributes at most high_i for certain
    largest_low = np.where(together, phi.low, -np.inf).max(axis=1)
    # If the one of them who contributes most may be the best of all, or contribute nothing, nothing
    # binds it.
    bound = (high < phi.low.max() - tolerance) & (largest_low > tolerance)
    limits = _limits(game, game.evaluator.values_of(together), high, np.full(game.n, phi.low.max()))
    return float(np.where(bound, limits, np.inf).min())


def share_of_total_intervals(phi: ContributionIntervals, rho: Interval) -> FloatArray:
    """The least and the largest r_i / v_N [n, 2], for contributions and a rho within their
    intervals.

    r_i = (phi_i / phi*)^rho v_N.
    """
    least_rho, most_rho = np.clip(rho, 0.0, 1.0)
    least_share, most_share = phi.shares()
    return np.column_stack([least_share**most_rho, most_share**least_rho])


def _limits(game: Game, v: FloatArray, phi: FloatArray, best: FloatArray) -> FloatArray:
    """The largest rho for which (phi / best)^rho v_N is at least v [n], for phi < best; inf where v is nothing."""
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
