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

import numpy as np

from fairpool.audit.agreement import LEVEL, SIMULATIONS, Agreement, agreement_of, helping
from fairpool.audit.setting_aside import Judged, set_aside
from fairpool.compute.workers import Workers, as_workers
from fairpool.information import LabelledSpace
from fairpool.tables.arrays import FloatArray, as_generator
from fairpool.values import EvidenceGain

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
        chance: How likely any of some honest parties is so low; 1 where it was not the lowest.
    """

    party: str
    verdict: LabelVerdict
    phi: float
    expected: float
    z: float
    noise_factor: float
    chance: float = 1.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What the labels say of every party.

    Attributes:
        parties: In the parties' order.
        pairs: How well i's data predicts j's labels [n, n], in nats; symmetric.
        expected_pairs: What the model makes one expect of honest labels.
        level: The chance that any honest party is said to harm, where the model holds.
    """

    parties: tuple[PartyEvidence, ...]
    pairs: FloatArray
    expected_pairs: FloatArray
    level: float

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
        level: The chance that any honest party is said to harm, where the model holds.
        rng: Seed or generator of the simulations.
        simulations: How many sets of labels are drawn from the model, each time.
        executor: Who does the work.
    """
    rng = as_generator(rng)
    workers = as_workers(executor)
    space = game.judged
    n = space.n
    alone = space.explained_by(np.eye(n, dtype=bool)).v
    telling = tuple(np.flatnonzero(alone > 0).tolist())
    factors = space.noise_factors()
    if len(telling) < 2:
        return _nothing_to_compare(game.names, telling, factors=factors, level=level)

    def agreement(of: LabelledSpace, parties: tuple[int, ...]) -> Agreement:
        return agreement_of(of, parties, rng=rng, simulations=simulations, executor=workers)

    common = set_aside(space, telling, level=level, agreement=agreement)
    own = set_aside(space.with_noise(factors), telling, level=level, agreement=agreement)
    helpful = helping(space, own.left, rng=rng, executor=workers)
    parties = []
    for i, name in enumerate(game.names):
        if i in telling:
            place = telling.index(i)
            parties.append(
                PartyEvidence(
                    party=name,
                    verdict=_verdict(
                        i, common=common, own=own, helpful=helpful, noise_factor=factors[i]
                    ),
                    phi=float(common.first.phi[place]),
                    expected=float(common.first.expected[place]),
                    z=min(common.z[i], own.z[i]),
                    chance=min(common.chance.get(i, 1.0), own.chance.get(i, 1.0)),
                    noise_factor=float(factors[i]),
                )
            )
        else:
            parties.append(_unjudged(name, LabelVerdict.NO_DATA, noise_factor=float(factors[i])))
    return Evidence(
        parties=tuple(parties),
        pairs=_for_all(common.first.pairs, telling, n),
        expected_pairs=_for_all(common.first.expected_pairs, telling, n),
        level=level,
    )


def _verdict(
    i: int, *, common: Judged, own: Judged, helpful: frozenset[int], noise_factor: float
) -> LabelVerdict:
    if i in own.set_aside:
        return LabelVerdict.HARMS
    if i in common.set_aside:
        return LabelVerdict.NOISY if noise_factor > 1 else LabelVerdict.HARMS
    if i in own.disputed or i in common.disputed:
        return LabelVerdict.DISPUTED
    # Labels of pure noise agree a little where hyperparameters were learned from them.
    if i in helpful and own.z[i] > LEAST_Z_TO_HELP:
        return LabelVerdict.HELPS
    return LabelVerdict.NO_EVIDENCE


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
