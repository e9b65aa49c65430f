"""What the labels say of each party: it helps, it harms, or there is no evidence of either.

Judged twice. With each party's own noise variance, learned from its own labels, a party harms if
its labels do not agree with what the others' data predicts, more than chance allows. With the noise
variance that everybody's labels are taken to have, one may be found that is not found in the other
way: its labels are only noisier than they are taken to be. Everybody's noise is the median party's,
and no party counts for more rows than the median party has: what one party sends decides neither.

It guides and warns, and does not replace information gain: agreement is symmetric, so that a liar
and an honest party look alike where there are only two, and a party that measures differently, or
whose labels are truly different, looks like a liar.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from math import ceil

import numpy as np

from fairpool.audit.agreement import LEVEL, SIMULATIONS, helping
from fairpool.audit.agreement_weights import ALL_COALITIONS
from fairpool.audit.setting_aside import Judged, set_aside
from fairpool.compute.workers import Workers, as_workers
from fairpool.errors import GameError, shown
from fairpool.tables.arrays import FloatArray, as_count, as_generator
from fairpool.values import EvidenceGain

NEARLY_NOISE = 2.0
"""Who disagrees with one other alone is named, too, where its labels are so many times as noisy as
the median party's and of no more use than noise.
"""

LEAST_IN_COMMON = 0.5
"""Nats: where honest labels would agree less than this, no labels can be compared."""

LEAST_Z_TO_HELP = -2.0
"""Who helps also agrees about as much as the model makes one expect."""


class LabelVerdict(StrEnum):
    """What the labels say of a party."""

    HELPS = "helps"
    HARMS = "harms"
    NOISY = "noisy"
    """It harms only since its labels are noisier than everybody's are taken to be."""
    DISPUTED = "disputed"
    """It disagrees with one other alone, and nobody can tell which of them is right."""
    NO_EVIDENCE = "no evidence"
    NO_DATA = "no data"


@dataclass(frozen=True, kw_only=True)
class PartyEvidence:
    """What a party's labels say, in numbers.

    Attributes:
        party: Its name.
        verdict: In a word.
        phi: Its Shapley value in the evidence game of all parties, in nats.
        expected: What the model makes one expect of honest labels.
        z: How many deviations its agreement is from that, among the parties that it was judged
            with: the lower of the two, with the model's noise and with its own.
        noise_factor: How many times the median party's noise variance its labels have, by
            themselves.
        share: Of the agreement that honest labels would have, among those that it was judged with
            last, from 0 to 1: the lower of the two.
        chance: How likely any of some honest parties is so low; 1 where it was not the lowest.
    """

    party: str
    verdict: LabelVerdict
    phi: float
    expected: float
    z: float
    noise_factor: float
    share: float = 1.0
    chance: float = 1.0

    @property
    def deviation_factor(self) -> float:
        """The same of standard deviations, by which people are told of noise."""
        return float(np.sqrt(self.noise_factor))


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What the labels say of every party.

    Attributes:
        parties: In the parties' order.
        pairs: How well i's data predicts j's labels [n, n], in nats; symmetric.
        expected_pairs: What the model makes one expect of honest labels.
        level: The chance that any party is named where all are honest, and the model holds.
        exact: Whether phi and pairs are exact; otherwise they are estimates, by some orders in
            which the parties could join.
    """

    parties: tuple[PartyEvidence, ...]
    pairs: FloatArray
    expected_pairs: FloatArray
    level: float
    exact: bool = True

    @property
    def comparable(self) -> bool:
        """Whether anybody's labels could disagree: False where honest ones hardly agree."""
        telling = [one for one in self.parties if one.verdict != LabelVerdict.NO_DATA]
        if len(telling) < 2:
            return True  # there is nobody to compare with, which is no surprise
        return max(one.expected for one in telling) >= LEAST_IN_COMMON

    @property
    def harmful(self) -> tuple[int, ...]:
        """Who harms, as indices."""
        return self._with(LabelVerdict.HARMS)

    @property
    def disputed(self) -> tuple[int, ...]:
        """Who disagrees with one other alone, where nobody can tell which is right."""
        return self._with(LabelVerdict.DISPUTED)

    def _with(self, verdict: LabelVerdict) -> tuple[int, ...]:
        return tuple(i for i, one in enumerate(self.parties) if one.verdict == verdict)


def judge_evidence(
    game: EvidenceGain,
    *,
    level: float = LEVEL,
    rng: np.random.Generator | int | None = None,
    simulations: int = SIMULATIONS,
    executor: Workers | Executor | None = None,
) -> Evidence:
    """Which parties' labels agree with what the others' data predicts, and which do not.

    Args:
        game: The parties' evidence.
        level: The chance that any party is named where all are honest, and the model holds.
        rng: Seed or generator of the simulations.
        simulations: How many sets of labels are drawn from the model at most, each time.
        executor: Who does the work.
    """
    _refuse_settings(level, simulations)
    rng = as_generator(rng)
    workers = as_workers(executor)
    rows = np.array(game.information.rows)
    telling = tuple(np.flatnonzero(rows).tolist())
    if len(telling) < 2:
        return _nothing_to_compare(game.names, telling, level=level)
    # Who sends many times the rows of anybody else, perhaps the same ones again, counts no more
    # than the median party: otherwise what it says would be the truth.
    counts_less = np.maximum(rows / np.median(rows[rows > 0]), 1.0)
    of_model = game.judged.noise_factors()
    # By the median party's noise: who is much noisier than all others raises what was learned.
    usual = float(np.sort(of_model[list(telling)])[(len(telling) - 1) // 2])
    space = game.judged.with_noise(usual * counts_less)
    own_noise = game.judged.with_noise(of_model * counts_less)
    # Two ways to be named: each has half of the chance.
    judged = partial(set_aside, parties=telling, level=level / 2, rng=rng, simulations=simulations)
    common = judged(space, executor=workers)
    own = judged(own_noise, executor=workers)
    factors = of_model / usual

    def helpful_of(aside: frozenset[int]) -> frozenset[int]:
        some = tuple(party for party in telling if party not in aside)
        return helping(space, some, rng=rng, executor=workers)

    of_use = helpful_of(own.set_aside)
    twice = _Twice(common=common, own=own, factors=factors, of_use=of_use)
    # Beside a party that harms nobody helps much.
    helpful = of_use if twice.named == own.set_aside else helpful_of(twice.named)
    parties = []
    for i, name in enumerate(game.names):
        if i in telling:
            parties.append(twice.party(i, name, helpful))
        else:
            parties.append(_unjudged(name, LabelVerdict.NO_DATA))
    return Evidence(
        parties=tuple(parties),
        pairs=_for_all(common.first.pairs, telling, space.n),
        expected_pairs=_for_all(common.first.expected_pairs, telling, space.n),
        level=level,
        exact=len(telling) <= ALL_COALITIONS,
    )


def fewest_simulations(level: float) -> int:
    """How many sets of labels it takes to tell so small a chance, in each of two ways."""
    return ceil(2 / level)


def _refuse_settings(level: float, simulations: int) -> None:
    """Refuse what could name nobody, or is no chance."""
    if not 0 < level < 1:
        raise GameError(f"level {shown(level)} is no chance; give a number between 0 and 1")
    fewest = fewest_simulations(level)
    if as_count(simulations, "simulations", 1) < fewest:
        raise GameError(
            f"{simulations} simulations cannot tell a chance of {level:g}; give at least {fewest}"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Twice:
    """The parties judged with everybody's noise and with their own.

    Attributes:
        common: With the noise variance that everybody is taken to have.
        own: With each party's own.
        factors: How many times noisier each is than the median party [n].
        of_use: Who agrees more with the others than pure noise would.
    """

    common: Judged
    own: Judged
    factors: FloatArray
    of_use: frozenset[int]

    @property
    def named(self) -> frozenset[int]:
        """Who disagrees even with its own noise, or is of no more use than noise."""
        # Who is not noisier, and is found out with everybody's noise alone, has no excuse.
        excused = self._noisier & self.of_use
        named = self.own.set_aside | (self.common.set_aside - excused)
        if len(self.common.first.parties) == 2:
            return named  # that is nobody: there is no third party to tell who is right
        useless = self._noisier - self.of_use
        return named | {i for i in useless if self.factors[i] >= NEARLY_NOISE}

    @property
    def _noisier(self) -> frozenset[int]:
        """Who is found out with everybody's noise, and has more than that."""
        found_out = self.common.set_aside.union(*self.common.disputed)
        return frozenset(i for i in found_out if self.factors[i] > 1)

    @property
    def _disputed(self) -> list[frozenset[int]]:
        """Pairs who disagree, with their own noise, or where neither is noisier; nobody named."""
        pairs = [pair for pair in self.own.disputed if not pair & self.named]
        explained = self.named | self._noisier
        return [*pairs, *(pair for pair in self.common.disputed if not pair & explained)]

    def party(self, i: int, name: str, helpful: frozenset[int]) -> PartyEvidence:
        """What is said of party i."""
        place = self.common.first.parties.index(i)
        chance = 2 * min(self.common.chance.get(i, 1.0), self.own.chance.get(i, 1.0))
        return PartyEvidence(
            party=name,
            verdict=self._verdict(i, helpful),
            phi=float(self.common.first.phi[place]),
            expected=float(self.common.first.expected[place]),
            z=min(self.common.z[i], self.own.z[i]),
            chance=min(chance, 1.0),
            share=min(self.common.share[i], self.own.share[i]),
            noise_factor=float(self.factors[i]),
        )

    def _verdict(self, i: int, helpful: frozenset[int]) -> LabelVerdict:
        if i in self.named:
            return LabelVerdict.HARMS
        if any(i in pair for pair in self._disputed):
            return LabelVerdict.DISPUTED
        if i in self._noisier:
            return LabelVerdict.NOISY
        # Labels of pure noise agree a little where hyperparameters were learned from them.
        if i in helpful and self.own.z[i] > LEAST_Z_TO_HELP:
            return LabelVerdict.HELPS
        return LabelVerdict.NO_EVIDENCE


def _unjudged(name: str, verdict: LabelVerdict) -> PartyEvidence:
    return PartyEvidence(
        party=name, verdict=verdict, phi=0.0, expected=0.0, z=0.0, noise_factor=1.0
    )


def _nothing_to_compare(
    names: Sequence[str], telling: tuple[int, ...], *, level: float
) -> Evidence:
    """Where only one party has data, or none, labels are compared with nobody's."""
    parties = []
    for i, name in enumerate(names):
        verdict = LabelVerdict.NO_EVIDENCE if i in telling else LabelVerdict.NO_DATA
        parties.append(_unjudged(name, verdict))
    nothing = np.zeros((len(names), len(names)))
    return Evidence(parties=tuple(parties), pairs=nothing, expected_pairs=nothing, level=level)


def _for_all(pairs: FloatArray, telling: tuple[int, ...], n: int) -> FloatArray:
    """Pairs of those who have data, among all [n, n]."""
    matrix = np.zeros((n, n))
    matrix[np.ix_(telling, telling)] = pairs
    return matrix
