"""Theorem 1: r_i = (phi_i / phi*)^rho v_N, and the two values of rho at which incentives switch."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import floor
from typing import ClassVar

import numpy as np

from fairpool.contributions import Contributions
from fairpool.contributions.contributions import as_contributions
from fairpool.errors import RewardError, cut, shown
from fairpool.notes import Note, texts_of, warn_of
from fairpool.rewards.intervals import (
    ContributionIntervals,
    Interval,
    rho_rational_interval,
    rho_stable_interval,
    share_of_total_intervals,
)
from fairpool.rewards.scheme_notes import (
    conflict,
    notes_on_contributions,
    notes_on_values,
    nothing_to_give,
)
from fairpool.rewards.ties import parties_up_to, snap_ties
from fairpool.tables.arrays import FloatArray, read_only
from fairpool.values import Game, tolerance_of
from fairpool.values.game import check_game

WORDS = ("fair", "rational", "stable", "welfare")
"""Names for the four values of rho that Theorem 1 speaks of."""


@dataclass(frozen=True, eq=False)
class RewardScheme:
    """The values of the model rewards, for any rho.

    Paper: Theorem 1, Sec. 4.2.

    Args:
        game: The values v_C.
        contributions: The Shapley values phi (or other contributions), as `shapley` gives them or
            as numbers [n].

    Example 1 of the paper: at rho = 1 the second party's reward is below what it has alone, and no
    model can realise it; rho_r mends that.

    >>> from fairpool import TableGame, realise, shapley
    >>> game = TableGame([0, 7, 5, 8])
    >>> phi = shapley(game)
    >>> phi
    Contributions([5. 3.], exact)
    >>> scheme = RewardScheme(game, phi)
    >>> scheme.rewards("fair")
    array([8. , 4.8])
    >>> realise(game, scheme.rewards("fair"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    fairpool.errors.RewardError: party "1": target 4.8 is below its own value 5 (R4); ...
    >>> round(scheme.rho_rational, 5), scheme.rewards("rational").round(9)
    (0.92009, array([8., 5.]))
    """

    game: Game
    contributions: Contributions
    warns: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_game(self.game)
        object.__setattr__(self, "contributions", as_contributions(self.contributions, self.game.n))
        if self.warns:
            warn_of(self.notes, stacklevel=4)

    @cached_property
    def phi(self) -> FloatArray:
        """The contributions [n], with ties made equal and those of no size made 0."""
        return read_only(snap_ties(self.contributions.values, tolerance_of(self.game)))

    @cached_property
    def shares(self) -> FloatArray:
        """phi_i / phi* [n], in 0 .. 1; 1 for every party that contributes most."""
        most = self.phi.max()
        if most <= 0:
            return read_only(np.zeros(self.game.n))
        return read_only(np.maximum(self.phi, 0.0) / most)

    def rewards(self, rho: float | str) -> FloatArray:
        """r_i = (phi_i / phi*)^rho v_N for every party [n].

        Paper: Theorem 1.

        Args:
            rho: A number in 0 .. 1, or a word: "fair" (1), "rational" (the smaller of 1 and rho_r),
                "stable" (the smaller of 1 and rho_s), "welfare" (0: everybody receives v_N, those
                who bring nothing included).
        """
        if not self._anything_to_give:
            return np.zeros(self.game.n)
        number = self.rho(rho)
        rewards = np.asarray(self.shares**number * self.game.total)
        if number == 0 and rho in ("rational", "stable"):
            # 0^0 is 1, but only who asks for "welfare" wants to give something for nothing.
            rewards[self.shares == 0] = 0.0
        return rewards

    def rho(self, rho: float | str) -> float:
        """The number that a rho, given as a number or a word, stands for."""
        if isinstance(rho, str):
            return self._rho_of_word(rho)
        # True is a whole number to Python, but nobody means 1 by it; nan is unlike itself.
        is_number = isinstance(rho, int | float | np.integer | np.floating)
        if not is_number or isinstance(rho, bool) or rho != rho:
            raise RewardError(
                f"rho {shown(rho)} is not a number; give one in 0 .. 1, or one of"
                f" {', '.join(WORDS)}"
            )
        if not 0 <= rho <= 1:
            raise RewardError(
                f"rho {shown(rho)} is outside 0 .. 1; 1 is purely Shapley fair, smaller is more"
                " equal"
            )
        return float(rho)

    def _rho_of_word(self, word: str) -> float:
        match word:
            case "fair":
                return 1.0
            case "welfare":
                return 0.0
            case "rational":
                limit = self.rho_rational
            case "stable":
                limit = self.rho_stable
            case _:
                raise RewardError(
                    f'rho "{cut(word)}" is unknown; give a number in 0 .. 1, or one of'
                    f" {', '.join(WORDS)}"
                )
        if limit < 0:
            raise RewardError(f'no rho is "{word}": {self._above_all}')
        return min(1.0, limit)

    @cached_property
    def rho_rational(self) -> float:
        """rho_r, the largest rho for which no party gets less than it has alone.

        Paper: Theorem 1, rho_r = min_i log(v_i / v_N) / log(phi_i / phi*). It may exceed 1, and is
        infinite if no party ever gets less. Parties that contribute nothing do not count: no rho
        above 0 gives them anything.
        """
        return min(self._largest_rho(i, float(self.game.alone[i])) for i in range(self.game.n))

    @cached_property
    def rho_stable(self) -> float:
        """rho_s, the largest rho for which no coalition can do better by itself.

        Paper: Theorem 1, rho_s = min_i log(v_{C_i} / v_N) / log(phi_i / phi*), C_i = {j: phi_j <=
        phi_i}. It may exceed 1, and is infinite if no coalition ever can.
        """
        return min(
            self._largest_rho(i, float(self.values_of_lesser[i])) for i in range(self.game.n)
        )

    @property
    def worse_off_when_fair(self) -> tuple[str, ...]:
        """The parties that would receive less than they have alone if rho were 1.

        Paper: App. C: R4 breaks for party i at rho = 1 when v_i / phi_i > v_N / phi*. It can happen
        because values are submodular, so that phi_i <= v_i. (Multiplied out here, so that phi_i may
        be 0.)
        """
        short = self.game.alone > self.shares * self.game.total + tolerance_of(self.game)
        return tuple(self.game.names[i] for i in np.flatnonzero(short))

    def benefit_ratios(self, rho: float | str) -> FloatArray:
        """How many times as much each party receives as it would at rho = 1 [n].

        Paper: Sec. 4.2, (phi* / phi_i)^(1 - rho) >= 1: who contributes less gains more by a smaller
        rho, and who contributes most gains nothing. Who contributes nothing receives nothing at any
        rho above 0: its ratio is 1, and infinite where rho = 0 gives it something for nothing.
        """
        contributes = self.shares > 0
        ratios = np.ones(self.game.n)
        ratios[contributes] = (1 / self.shares[contributes]) ** (1 - self.rho(rho))
        ratios[~contributes & (self.rewards(rho) > 0)] = np.inf
        return ratios

    @cached_property
    def rho_rational_interval(self) -> Interval:
        """Where rho_r of the exact contributions lies; where phi is exact, both ends are rho_r.

        Like all intervals here it holds in 95% of all samplings, and all hold at once: see
        `intervals`.
        """
        return self._around(self.rho_rational, rho_rational_interval)

    @cached_property
    def rho_stable_interval(self) -> Interval:
        """Where rho_s of the exact contributions lies; where phi is exact, both ends are rho_s.

        Where parties nearly tie it is wide, and the estimate rather too small: rewards follow the
        estimates, and must also keep those from leaving who only seem to contribute a little less
        than another. Where values are not known to be monotone it is -inf .. inf: nothing is known.
        """
        return self._around(self.rho_stable, rho_stable_interval)

    def reward_intervals(self, rho: float | str) -> FloatArray:
        """Where each reward of the exact contributions lies [n, 2], at the same number or word.

        In 95% of all samplings all of them hold at once; where phi is exact, both ends are the
        reward.
        """
        rewards = self.rewards(rho)
        if self.contributions.exact or not self._anything_to_give:
            return np.column_stack([rewards, rewards])
        limits = {"rational": self.rho_rational_interval, "stable": self.rho_stable_interval}
        number = self.rho(rho)
        rho_interval = limits.get(str(rho), Interval(number, number))
        shares = share_of_total_intervals(self._phi_intervals, rho_interval)
        intervals = self.game.total * shares
        if rho in limits:
            # As in `rewards`: only "welfare" gives something for nothing.
            intervals[np.column_stack(self._phi_intervals.shares()) == 0] = 0.0
        # The estimate is in its interval, whatever rounding makes of the ends.
        low = np.minimum(intervals[:, 0], rewards)
        high = np.maximum(intervals[:, 1], rewards)
        return np.column_stack([low, high])

    @cached_property
    def _phi_intervals(self) -> ContributionIntervals:
        return ContributionIntervals.of(self.game, self.contributions)

    def _around(
        self, rho: float, interval: Callable[[Game, ContributionIntervals], Interval]
    ) -> Interval:
        """The interval, with the estimate in it, which rewards follow and readers see."""
        if self.contributions.exact or not self._anything_to_give:
            return Interval(rho, rho)
        low, high = interval(self.game, self._phi_intervals)
        return Interval(min(low, rho), max(high, rho))

    @cached_property
    def values_of_lesser(self) -> FloatArray:
        """v_{C_i} for every party [n]."""
        # All at once: that takes less time than one by one.
        S = np.zeros((self.game.n, self.game.n), dtype=bool)
        for i in range(self.game.n):
            S[i, list(self.lesser(i))] = True
        return read_only(self.game.evaluator.values_of(S))

    def lesser(self, i: int) -> tuple[int, ...]:
        """C_i, the parties that contribute at most as much as party i, or may do so.

        Paper: Theorem 1. Where phi is sampled, C_i takes in every party that may contribute as
        little, within the sampling error: C_i errs on the safe side, it is rather too large than
        too small. That does not make rho_s an estimate on the safe side of the exact one, since it
        depends on phi_i / phi* as well (`rho_stable_interval`). Only where party i may itself
        contribute most, C_i would be everybody and force rho_s = 0; the estimates then decide.
        Either way Definition 3 holds for monotone values: it depends on the rewards alone, and
        these follow the estimates.
        """
        tolerance = tolerance_of(self.game)
        errors = self.contributions.standard_errors
        C_i = parties_up_to(i, self.phi, errors=errors, tolerance=tolerance)
        if len(C_i) < self.game.n:
            return C_i
        return parties_up_to(i, self.phi, errors=np.zeros(self.game.n), tolerance=tolerance)

    def _largest_rho(self, i: int, least: float) -> float:
        """The largest rho for which party i gets at least `least`."""
        share = self.shares[i]
        tolerance = tolerance_of(self.game)
        # Those who contribute most get v_N, and those who contribute nothing get 0, whatever
        # rho > 0 is: they bind no rho.
        if share == 1 and least > self.game.total + tolerance:
            return -np.inf
        if share in (0.0, 1.0) or least <= tolerance:
            return np.inf
        # Who contributes less than another gets v_N only if all do. The formula would give a rho of
        # the size of rounding, and of either sign.
        if abs(least - self.game.total) <= tolerance:
            return 0.0
        return float(np.log(least / self.game.total) / np.log(share))

    @property
    def _anything_to_give(self) -> bool:
        return self.game.total > tolerance_of(self.game)

    @property
    def _above_all(self) -> str:
        i = int(np.argmax(self.game.alone))
        return (
            f"some coalition's data is worth more than everybody's (v_N = {self.game.total:.6g},"
            f' "{self.game.names[i]}" alone has {self.game.alone[i]:.6g}), so the values are not'
            " monotone"
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes in words."""
        return texts_of(self.notes)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """What the operator should know before trusting the rewards."""
        if not self._anything_to_give:
            return (nothing_to_give(self.game),)
        notes = notes_on_values(self.game) + notes_on_contributions(self.game, self.phi)
        # Exactly 0, as `_largest_rho` says where C_i has all of v_N.
        if self.rho_stable == 0:
            best = int(np.argmax(self.phi))
            notes.append(conflict(self.game, best, self._coalition_that_binds_rho_to_0()))
        return tuple(notes)

    def _coalition_that_binds_rho_to_0(self) -> tuple[int, ...]:
        """C_i of the first party that only rho = 0 gives as much as C_i has."""
        binding = (
            i
            for i in range(self.game.n)
            if self._largest_rho(i, float(self.values_of_lesser[i])) == 0
        )
        return self.lesser(next(binding))


class SilentScheme(RewardScheme):
    """The same scheme without warnings, for results that carry its notes."""

    warns = False

    def __repr__(self) -> str:
        return f"RewardScheme(game={self.game!r}, contributions={self.contributions!r})"


def round_down(rho: float, digits: int = 5) -> float:
    """rho as it may be printed as an upper limit: never more than it is."""
    if not np.isfinite(rho):
        return rho
    return floor(rho * 10.0**digits) / float(10.0**digits)
