"""Do a party's labels agree with what the others' data predicts? Judged against the model itself.

What counts is not the sign of phi''_i, a party's Shapley value in the evidence game, but where it
lies in its distribution under the model: the mean is known in closed form, since labels drop out
of it, and the spread by simulation. The party that deviates most is looked at first; if that is
more than chance allows, it is set aside, and the others are judged again without it.
"""

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse

from fairpool.audit.agreement_weights import AgreementWeights
from fairpool.compute.workers import Workers, as_workers, no_progress
from fairpool.information import Explained, LabelledSpace
from fairpool.tables.arrays import FloatArray

FIRST_SIMULATIONS = 250
"""Sets of labels drawn from the model at first, and .."""

SIMULATIONS = 1000
""".. in all, where the first ones leave it open."""

CLEARLY = 10
"""Where so many of the first ones are as low as the parties' own, there is nothing to find."""

PURE_NOISE_SIMULATIONS = 200
"""Sets of labels in which one party's are noise, for each party."""

LEAST_DEVIATION = 1e-8
"""As a share of the largest log evidence: an agreement that varies less is nothing but rounding."""

LEVEL = 0.01
"""The chance that any honest party is said to disagree, where the model holds."""

HELPS = 0.99
"""A party helps if its labels agree with the others' more than so much of pure noise would.

Hyperparameters were learned from the labels, too, which makes noise agree a little: of permuted
labels a quarter were above 0.95, and a tenth above 0.99.
"""


@dataclass(frozen=True, eq=False, kw_only=True)
class Agreement:
    """How some parties' labels agree, beside what the model makes one expect.

    Attributes:
        parties: Who they are [k], as indices.
        phi: Each one's Shapley value in the evidence game [k], in nats.
        expected: What the model makes one expect [k].
        deviation: And how far off that usually is [k].
        drawn: The same of labels drawn from the model [k, simulations].
        pairs: How well i's data predicts j's labels [k, k]: Shapley interactions of the log
            evidence, whose rows sum to phi.
        expected_pairs: What the model makes one expect of these.
    """

    parties: tuple[int, ...]
    phi: FloatArray
    expected: FloatArray
    deviation: FloatArray
    drawn: FloatArray
    pairs: FloatArray
    expected_pairs: FloatArray

    @cached_property
    def z(self) -> FloatArray:
        """How many deviations each party's agreement is from what is expected [k].

        0 of a party that has nothing in common with anybody.
        """
        return (self.phi - self.expected) / self.deviation

    @cached_property
    def _lowest_drawn(self) -> FloatArray:
        """The lowest z of any party, in each simulation."""
        z = (self.drawn - self.expected[:, None]) / self.deviation[:, None]
        return np.asarray(z.min(axis=0))

    @property
    def shares(self) -> FloatArray:
        """Of the agreement that is expected, how much there is [k], from 0 to 1."""
        least = np.finfo(float).tiny
        return np.clip(self.phi / np.maximum(self.expected, least), 0.0, 1.0)

    @property
    def as_low(self) -> int:
        """In how many simulations some party is as low as the lowest here."""
        return int((self._lowest_drawn <= self.z.min()).sum())

    @property
    def chance(self) -> float:
        """How likely the lowest z of honest parties is as low as here, whichever party it is.

        Parties depend on each other, and no distribution is assumed: that of the lowest is drawn.
        """
        return (1 + self.as_low) / (1 + len(self._lowest_drawn))


def agreement_of(
    space: LabelledSpace,
    parties: tuple[int, ...],
    *,
    rng: np.random.Generator,
    simulations: int = SIMULATIONS,
    executor: Workers | Executor | None = None,
) -> Agreement:
    """How the labels of some parties, two at least, agree with each other.

    Args:
        space: Everybody's data with labels.
        parties: Who is looked at, the others aside.
        rng: Of the simulation.
        simulations: How many sets of labels are drawn.
        executor: Who does the work.
    """
    workers = as_workers(executor)
    some = space.of_parties(np.array(parties))
    weights = AgreementWeights.of(some.n, rng)
    explained = _explained(some, weights, workers)
    known = _Known(
        parties=parties,
        phi=weights.of_parties @ explained.log_evidence,
        expected=weights.of_parties @ -explained.v,
        pairs=weights.pairs(explained.log_evidence),
        expected_pairs=weights.pairs(-explained.v),
        least_deviation=LEAST_DEVIATION * (1 + float(np.abs(explained.log_evidence).max())),
    )
    drawn = np.empty((some.n, 0))
    for count in (min(FIRST_SIMULATIONS, simulations), simulations - FIRST_SIMULATIONS):
        if count <= 0:
            break
        labels = some.drawn(rng.standard_normal((some.normals, count)))
        fits = some.weighted_fits(weights.S, labels, weights=weights.of_parties, executor=workers)
        drawn = np.concatenate([drawn, fits + known.expected[:, None]], axis=1)
        agreement = known.beside(drawn)
        # Labels that are as ordinary as this need no more simulations to say so.
        if agreement.as_low >= CLEARLY:
            break
    return agreement


@dataclass(frozen=True, eq=False, kw_only=True)
class _Known:
    """What is known of an agreement before anything is drawn; see `Agreement`."""

    parties: tuple[int, ...]
    phi: FloatArray
    expected: FloatArray
    pairs: FloatArray
    expected_pairs: FloatArray
    least_deviation: float

    def beside(self, drawn: FloatArray) -> Agreement:
        """Beside what was drawn [k, simulations]."""
        # About the mean that is known, not about the one that happened to be drawn.
        deviation = np.sqrt(np.square(drawn - self.expected[:, None]).mean(axis=1))
        rounding = deviation <= self.least_deviation
        return Agreement(
            parties=self.parties,
            phi=np.where(rounding, self.expected, self.phi),
            expected=self.expected,
            deviation=np.where(rounding, 1.0, deviation),
            drawn=np.where(rounding[:, None], self.expected[:, None], drawn),
            pairs=self.pairs,
            expected_pairs=self.expected_pairs,
        )


def deviations_of_pairs(
    space: LabelledSpace,
    party: int,
    others: tuple[int, ...],
    *,
    rng: np.random.Generator,
    executor: Workers | Executor | None = None,
) -> FloatArray:
    """How far a party's agreement with each other one alone is from what is expected [k].

    In deviations, from l(i + j) - l(i) - l(j): no third party's labels come in. 0 where the two
    have nothing in common.

    Args:
        space: Everybody's data with labels.
        party: i.
        others: Each j.
        rng: Of the simulation.
        executor: Who does the work.
    """
    some = space.of_parties(np.array([party, *others]))
    k = len(others)
    alone = np.eye(k + 1, dtype=bool)
    together = alone[1:].copy()
    together[:, 0] = True
    S = np.concatenate([together, alone[1:], alone[:1]])
    weights = np.concatenate([np.eye(k), -np.eye(k), -np.ones((k, 1))], axis=1)
    explained = some.explained_by(S)
    labels = some.drawn(rng.standard_normal((some.normals, FIRST_SIMULATIONS)))
    drawn = some.weighted_fits(S, labels, weights=weights, executor=executor)
    # What two fit together beyond each alone is 0 on average under the model.
    deviation = np.sqrt(np.square(drawn).mean(axis=1))
    least = LEAST_DEVIATION * (1 + float(np.abs(explained.log_evidence).max()))
    z = np.zeros(k)
    common = deviation > least
    z[common] = (weights @ explained.fit)[common] / deviation[common]
    return z


def helping(
    space: LabelledSpace,
    parties: tuple[int, ...],
    *,
    rng: np.random.Generator,
    executor: Workers | Executor | None = None,
) -> frozenset[int]:
    """Who of some parties agrees more with the others than pure noise of the same size would.

    Args:
        space: Everybody's data with labels.
        parties: Who is looked at, the others aside.
        rng: Of the noise.
        executor: Who does the work.
    """
    if len(parties) < 2:
        return frozenset()
    workers = as_workers(executor)
    some = space.of_parties(np.array(parties))
    weights = AgreementWeights.of(some.n, rng)
    explained = _explained(some, weights, workers)
    phi = weights.of_parties @ explained.log_evidence
    found = []
    for place, party in enumerate(parties):
        of_party = _dense(weights.of_parties[[place]])
        # Coalitions without the party, or that do not count, are the same whatever its labels are.
        changed = weights.S[:, place] & (of_party != 0)
        same = float(of_party[~changed] @ explained.log_evidence[~changed])
        normals = rng.standard_normal((some.normals_of(place), PURE_NOISE_SIMULATIONS))
        labels = some.with_pure_noise(place, normals)
        counts = of_party[None, changed]
        fits = some.weighted_fits(weights.S[changed], labels, weights=counts, executor=workers)
        of_noise = same + fits[0] - float(counts[0] @ explained.v[changed])
        if phi[place] > np.quantile(of_noise, HELPS):
            found.append(party)
    return frozenset(found)


def _explained(space: LabelledSpace, weights: AgreementWeights, workers: Workers) -> Explained:
    """Of the coalitions that count, which share work where they are all."""
    if weights.counts_all:
        # What is being done is comparing labels: nobody need be told of each coalition's value.
        return space.explained(replace(workers, progress=no_progress))
    return space.explained_by(weights.S)


def _dense(row: Any) -> FloatArray:
    """One row of weights [N], which may be sparse."""
    return np.ravel(row.toarray() if issparse(row) else row)
