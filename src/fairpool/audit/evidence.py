"""What the labels say of each party: it helps, it harms, or there is no evidence of either.

Judged twice. With each party's own noise variance, learned from its own labels, a party harms if
its labels do not agree with what the others' data predicts, more than chance allows. With the noise
variance that everybody's labels are taken to have, one may be found that is not found in the other
way: its labels are only noisier than they are taken to be.

It guides and warns, and does not replace information gain: agreement is symmetric, so that a liar
and an honest party look alike where there are only two, and a party that measures differently, or
whose labels are truly different, looks like a liar.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from enum import StrEnum
from math import ceil

import numpy as np

from fairpool.audit.agreement import LEVEL, SIMULATIONS, Agreement, agreement_of, helping
from fairpool.audit.agreement_weights import ALL_COALITIONS
from fairpool.audit.setting_aside import Judged, set_aside
from fairpool.compute.workers import Workers, as_workers
from fairpool.errors import GameError, shown
from fairpool.information import LabelledSpace
from fairpool.tables.arrays import FloatArray, as_count, as_generator
from fairpool.values import EvidenceGain

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
    """It and one other disagree, and nobody else can tell which of them is right."""
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
        noise_factor: How many times the model's noise variance its labels have, by themselves.
        share: Of the agreement that honest labels would have, with its own noise and among those
            that it was judged with last, from 0 to 1.
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
        """The two who disagree, where nobody can tell which of them is right."""
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
    space = game.space
    alone = space.explained_by(np.eye(space.n, dtype=bool)).v
    telling = tuple(np.flatnonzero(alone > 0).tolist())
    factors = np.where(alone > 0, space.noise_factors(), 1.0)
    if len(telling) < 2:
        return _nothing_to_compare(game.names, telling, factors=factors, level=level)

    def agreement(of: LabelledSpace, parties: tuple[int, ...]) -> Agreement:
        return agreement_of(of, parties, rng=rng, simulations=simulations, executor=workers)

    # Two ways to be named: each has half of the chance.
    common = set_aside(space, telling, level=level / 2, agreement=agreement)
    own = set_aside(space.with_noise(factors), telling, level=level / 2, agreement=agreement)
    twice = _Twice(common=common, own=own, factors=factors)
    helpful = helping(space, own.left, rng=rng, executor=workers)
    parties = []
    for i, name in enumerate(game.names):
        if i in telling:
            parties.append(twice.party(i, name, helpful))
        else:
            parties.append(_unjudged(name, LabelVerdict.NO_DATA, noise_factor=float(factors[i])))
    return Evidence(
        parties=tuple(parties),
        pairs=_for_all(common.first.pairs, telling, space.n),
        expected_pairs=_for_all(common.first.expected_pairs, telling, space.n),
        level=level,
        exact=len(telling) <= ALL_COALITIONS,
    )


def _refuse_settings(level: float, simulations: int) -> None:
    """Refuse what could name nobody, or is no chance."""
    if not 0 < level < 1:
        raise GameError(f"level {shown(level)} is no chance; give a number between 0 and 1")
    fewest = ceil(2 / level)
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
        factors: How many times noisier each is than it is taken to be [n].
    """

    common: Judged
    own: Judged
    factors: FloatArray

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
            share=self.own.share[i],
            noise_factor=float(self.factors[i]),
        )

    def _verdict(self, i: int, helpful: frozenset[int]) -> LabelVerdict:
        if i in self.own.set_aside:
            return LabelVerdict.HARMS
        if i in self._disputed:
            return LabelVerdict.DISPUTED
        if i in self.common.set_aside or i in self.common.disputed:
            # With its own noise it agrees: it is noisier than it is taken to be.
            if self.factors[i] > 1:
                return LabelVerdict.NOISY
            if i in self.common.set_aside:
                return LabelVerdict.HARMS
        # Labels of pure noise agree a little where hyperparameters were learned from them.
        if i in helpful and self.own.z[i] > LEAST_Z_TO_HELP:
            return LabelVerdict.HELPS
        return LabelVerdict.NO_EVIDENCE

    @property
    def _disputed(self) -> frozenset[int]:
        """Two who disagree, with their own noise or else with everybody's; always both or none."""
        if self.own.disputed:
            return self.own.disputed
        explained = any(self.factors[i] > 1 for i in self.common.disputed)
        # Where one of them harms anyway, there is no question which of them is right.
        if explained or self.common.disputed & self.own.set_aside:
            return frozenset()
        return self.common.disputed


def _unjudged(name: str, verdict: LabelVerdict, *, noise_factor: float) -> PartyEvidence:
    return PartyEvidence(
        party=name, verdict=verdict, phi=0.0, expected=0.0, z=0.0, noise_factor=noise_factor
    )


def _nothing_to_compare(
    names: Sequence[str], telling: tuple[int, ...], *, factors: FloatArray, level: float
) -> Evidence:
    """Where only one party has data, or none, labels are compared with nobody's."""
    parties = []
    for i, name in enumerate(names):
        verdict = LabelVerdict.NO_EVIDENCE if i in telling else LabelVerdict.NO_DATA
        parties.append(_unjudged(name, verdict, noise_factor=float(factors[i])))
    nothing = np.zeros((len(names), len(names)))
    return Evidence(parties=tuple(parties), pairs=nothing, expected_pairs=nothing, level=level)


def _for_all(pairs: FloatArray, telling: tuple[int, ...], n: int) -> FloatArray:
    """Pairs of those who have data, among all [n, n]."""
    matrix = np.zeros((n, n))
    matrix[np.ix_(telling, telling)] = pairs
    return matrix
