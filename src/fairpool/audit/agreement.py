"""Do a party's labels agree with what the others' data predicts? Judged against the model itself.

What counts is not the sign of phi''_i, a party's Shapley value in the evidence game, but where it
lies in its distribution under the model: the mean is known in closed form, since labels drop out
of it, and the spread by simulation. The party that deviates most is looked at first; if that is
more than chance allows, it is set aside, and the others are judged again without it.
"""

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse

from fairpool.audit.agreement_weights import AgreementWeights
from fairpool.compute.workers import Workers, as_workers
from fairpool.information import Explained, LabelledSpace
from fairpool.tables.arrays import FloatArray

SIMULATIONS = 2000
"""Sets of labels drawn from the model."""

PURE_NOISE_SIMULATIONS = 500
"""Sets of labels in which one party's are noise, for each party."""

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
        """How many deviations each party's agreement is from what is expected [k]."""
        return (self.phi - self.expected) / self.deviation

    @cached_property
    def _lowest_drawn(self) -> FloatArray:
        """The lowest z of any party, in each simulation."""
        z = (self.drawn - self.expected[:, None]) / self.deviation[:, None]
        return np.asarray(z.min(axis=0))

    @property
    def chance(self) -> float:
        """How likely the lowest z of honest parties is as low as here, whichever party it is.

        Parties depend on each other, and no distribution is assumed: that of the lowest is drawn.
        """
        as_low = int((self._lowest_drawn <= self.z.min()).sum())
        return (1 + as_low) / (1 + len(self._lowest_drawn))


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
    expected = weights.of_parties @ -explained.v
    normals = rng.standard_normal((some.normals, simulations))
    fits = some.fits(weights.S, some.drawn(normals), workers)
    drawn = weights.of_parties @ (fits - explained.v[:, None])
    # About the mean that is known, not about the one that happened to be drawn.
    deviation = np.sqrt(np.square(drawn - expected[:, None]).mean(axis=1))
    return Agreement(
        parties=parties,
        phi=weights.of_parties @ explained.log_evidence,
        expected=expected,
        deviation=deviation,
        drawn=drawn,
        pairs=weights.pairs(explained.log_evidence),
        expected_pairs=weights.pairs(-explained.v),
    )


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
        # What has not the party in it, or does not count, is the same whatever its labels are.
        changed = weights.S[:, place] & (of_party != 0)
        same = float(of_party[~changed] @ explained.log_evidence[~changed])
        normals = rng.standard_normal((some.normals_of(place), PURE_NOISE_SIMULATIONS))
        labels = some.with_pure_noise(place, normals)
        fits = some.fits(weights.S[changed], labels, workers)
        of_noise = same + of_party[changed] @ (fits - explained.v[changed, None])
        if phi[place] > np.quantile(of_noise, HELPS):
            found.append(party)
    return frozenset(found)


def _explained(space: LabelledSpace, weights: AgreementWeights, workers: Workers) -> Explained:
    """Of the coalitions that count, which share work where they are all."""
    if weights.counts_all:
        return space.explained(workers)
    return space.explained_by(weights.S)


def _dense(row: Any) -> FloatArray:
    """One row of weights [N], which may be sparse."""
    return np.ravel(row.toarray() if issparse(row) else row)
