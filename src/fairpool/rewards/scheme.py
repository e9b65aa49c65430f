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
    rho_rational_interval,
    rho_stable_interval,
    share_of_total_intervals,
)
from fairpool.rewards.ties import parties_up_to, snap_ties
from fairpool.tables.arrays import FloatArray, read_only
from fairpool.values import Game, check_properties, tolerance_of
from fairpool.values.game import check_game

WORDS = ("fair", "rational", "stable", "welfare")
"""Names for the four values of rho that Theorem 1 speaks of."""

IMPRECISE = 1e-6
"""Rounding that may be more than this share of v_N is told."""


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
    >>> realise(game, scheme.rewards("fair"), rng=0)  # doctest: +ELLIPSIS
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
        return read_only(np.maximum(self.phi, 0.0) / most if most > 0 else np.zeros(self.game.n))

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
            rewards[self.shares == 0] = 0.0  # only "welfare" gives something for nothing
        return rewards

    def rho(self, rho: float | str) -> float:
        """The number that a rho, given as a number or a word, stands for."""
        if isinstance(rho, str):
            if rho not in WORDS:
                raise RewardError(
                    f'rho "{cut(rho)}" is unknown; give a number in 0 .. 1, or one of'
                    f" {', '.join(WORDS)}"
                )
            limits = {
                "fair": 1.0,
                "rational": self.rho_rational,
                "stable": self.rho_stable,
                "welfare": 0.0,
            }
            if limits[rho] < 0:
                raise RewardError(f'no rho is "{rho}": {self._above_all}')
            return min(1.0, limits[rho])
        if (
            isinstance(rho, bool)
            or not isinstance(rho, int | float | np.integer | np.floating)
            or rho != rho
        ):
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

    @cached_property
    def rho_rational(self) -> float:
        """rho_r, the largest rho for which no party gets less than it has alone; inf if none ever
        does.

        Paper: Theorem 1, rho_r = min_i log(v_i / v_N) / log(phi_i / phi*). It may exceed 1.
        """
        return min(self._largest_rho(i, float(self.game.alone[i])) for i in range(self.game.n))

    @cached_property
    def rho_stable(self) -> float:
        """rho_s, the largest rho for which no coalition can do better by itself; inf if none ever
        can.

        Paper: Theorem 1, rho_s = min_i log(v_{C_i} / v_N) / log(phi_i / phi*), C_i = {j: phi_j <=
        phi_i}. It may exceed 1.
        """
        return min(
            self._largest_rho(i, float(self.values_of_lesser[i])) for i in range(self.game.n)
        )

    @property
    def worse_off_when_fair(self) -> tuple[str, ...]:
        """The parties that purely Shapley-fair rewards (rho = 1) would leave with less than they
        have alone.

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
        number, rewards = self.rho(rho), self.rewards(rho)
        ratios = np.ones(self.game.n)
        some = self.shares > 0
        ratios[some] = (1 / self.shares[some]) ** (1 - number)
        ratios[~some & (rewards > 0)] = np.inf
        return ratios

    @cached_property
    def rho_rational_interval(self) -> tuple[float, float]:
        """Between which numbers rho_r of the exact contributions lies; both are rho_r where phi is
        exact.

        Like all intervals here it holds in 95% of all samplings, and all hold at once: see
        `intervals`.
        """
        return self._around(self.rho_rational, rho_rational_interval)

    @cached_property
    def rho_stable_interval(self) -> tuple[float, float]:
        """Between which numbers rho_s of the exact contributions lies; both are rho_s where phi is
        exact.

        Where parties nearly tie it is wide, and the estimate rather too small: rewards follow the
        estimates, and must also keep those from leaving who only seem to contribute a little less
        than another. Where values are not known to be monotone it is -inf .. inf: nothing is known.
        """
        return self._around(self.rho_stable, rho_stable_interval)

    def reward_intervals(self, rho: float | str) -> FloatArray:
        """Between which values each reward of the exact contributions lies [n, 2], at the same
        number or word.

        In 95% of all samplings all of them hold at once; where phi is exact, both ends are the
        reward.
        """
        rewards = self.rewards(rho)
        if self.contributions.exact or not self._anything_to_give:
            return np.column_stack([rewards, rewards])
        number = self.rho(rho)
        limits = {"rational": self.rho_rational_interval, "stable": self.rho_stable_interval}
        intervals = self.game.total * share_of_total_intervals(
            self._phi_intervals, limits.get(str(rho), (number, number))
        )
        if rho in limits:
            intervals[np.column_stack(self._phi_intervals.shares()) == 0] = 0.0  # as in `rewards`
        return np.column_stack(
            [np.minimum(intervals[:, 0], rewards), np.maximum(intervals[:, 1], rewards)]
        )

    @cached_property
    def _phi_intervals(self) -> ContributionIntervals:
        return ContributionIntervals.of(self.game, self.contributions)

    def _around(
        self, rho: float, interval: Callable[[Game, ContributionIntervals], tuple[float, float]]
    ) -> tuple[float, float]:
        """The interval, with the estimate in it."""
        if self.contributions.exact or not self._anything_to_give:
            return rho, rho
        low, high = interval(self.game, self._phi_intervals)
        return min(low, rho), max(high, rho)

    @cached_property
    def values_of_lesser(self) -> FloatArray:
        """v_{C_i} for every party [n]."""
        S = np.zeros((self.game.n, self.game.n), dtype=bool)
        for i in range(self.game.n):
            S[i, list(self.lesser(i))] = True
        return read_only(self.game.evaluator.values_of(S))

    def lesser(self, i: int) -> tuple[int, ...]:
        """C_i, the parties that contribute at most as much as party i, and those that may tie with
        it.

        Paper: Theorem 1. Where phi is sampled, C_i takes in every party that may contribute as
        little, within the sampling error: C_i errs on the safe side, it is rather too large than
        too small. That does not make rho_s an estimate on the safe side of the exact one, since it
        depends on phi_i / phi* as well (`rho_stable_interval`). Only where party i may itself
        contribute most, C_i would be everybody and force rho_s = 0; the estimates then decide.
        Either way Definition 3 holds for monotone values: it depends on the rewards alone, and
        these follow the estimates.
        """
        tolerance, errors = tolerance_of(self.game), self.contributions.standard_errors
        C_i = parties_up_to(i, self.phi, errors, tolerance)
        return C_i if len(C_i) < self.game.n else parties_up_to(i, self.phi, 0 * errors, tolerance)

    def _largest_rho(self, i: int, least: float) -> float:
        """The largest rho for which party i gets at least `least`."""
        share, tolerance = self.shares[i], tolerance_of(self.game)
        if share in (0.0, 1.0) or least <= tolerance:
            # Those who contribute most get v_N, and those who contribute nothing get 0, whatever
            # rho > 0 is.
            return -np.inf if share == 1 and least > self.game.total + tolerance else np.inf
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
        notes = []
        game, names = self.game, self.game.names
        if not self._anything_to_give:
            text = (
                f"everybody's data together is worth v_N = {game.total:.6g}: there is nothing to"
                " give, and all rewards"
                " are 0; check that the data and the model's prior variance are not degenerate"
            )
            return (Note(code="nothing to give", text=text),)
        if game.rounding_error > IMPRECISE * game.total:
            text = (
                f"rounding may put values and rewards off by {game.rounding_error:.2g} nats; a"
                " larger noise variance,"
                " fewer inducing points, or standardised columns that are less alike make them more"
                " exact"
            )
            notes.append(Note(code="rounding", text=text))
        if game.enumerable:
            for verdict in check_properties(game)[:3]:
                if verdict.holds is False:
                    what = f"the values are not {verdict.condition} ({verdict.why})"
                    why = verdict.why if verdict.condition == "empty is 0" else what
                    notes.append(
                        Note(code="no promise", text=f"Theorem 1's promises do not hold: {why}")
                    )
        if self.phi.max() <= 0:
            text = "nobody's contribution is above 0, so all rewards are 0 although there is something to give"
            notes.append(Note(code="no contribution", text=text))
        if (self.phi < 0).any():
            losers = ", ".join(f'"{names[i]}"' for i in np.flatnonzero(self.phi < 0))
            text = f"{losers} contribute less than nothing; their rewards are 0"
            notes.append(Note(code="negative contribution", text=text))
        if self.rho_stable == 0:
            C = next(
                self.lesser(i)
                for i in range(game.n)
                if self._largest_rho(i, float(self.values_of_lesser[i])) == 0
            )
            best = names[int(np.argmax(self.phi))]
            text = (
                f"fairness and stability conflict (rho_s = 0): {{{', '.join(names[j] for j in C)}}}"
                " have data"
                f' worth v_N = {game.total:.6g} without "{best}", who contributes most, so only'
                " equal rewards"
                " (rho = 0) keep them from leaving; who contributes nothing still receives nothing"
            )
            notes.append(Note(code="conflict", text=text))
        return tuple(notes)


class SilentScheme(RewardScheme):
    """The same, without a warning: for results that carry its notes."""

    warns = False


def round_down(rho: float, digits: int = 5) -> float:
    """rho as it may be printed as an upper limit: never more than it is."""
    return floor(rho * 10.0**digits) / float(10.0**digits) if np.isfinite(rho) else rho
