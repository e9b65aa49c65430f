"""Spaces: any class with the declared members computes values for the whole chain."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest

import fairpool as fp
from fairpool.coalitions import members
from fairpool.information import KernelSpace, PencilCurve, Space, WeightSpace
from fairpool.models import WeightModel
from tests.support.examples import MODELS, make_parties

MEMBERS = {name for name in vars(Space) if not name.startswith("_")}


@dataclass(frozen=True, eq=False)
class NaiveSpace:
    """A toy: one slogdet per coalition, and nothing shared."""

    P: np.ndarray

    @property
    def n(self):
        return len(self.P)

    rounding_error = 0.0
    curve_bytes = 0
    work_per_value = 1.0

    def value(self, mask):
        B = np.eye(self.P.shape[1]) + self.P[list(members(mask))].sum(axis=0)
        return 0.5 * float(np.linalg.slogdet(B)[1])

    def values(self, executor=None):
        return np.array([self.value(mask) for mask in range(1 << self.n)])

    def values_of(self, S):
        return np.array([self.value(int(row @ (1 << np.arange(self.n)))) for row in S])

    def without_one(self):
        return self.values_of(~np.eye(self.n, dtype=bool))

    def cost(self, sizes):
        return np.ones(len(sizes))

    def digest(self):
        return ""

    def reward_curve(self, party, noise_variance):
        others = [j for j in range(self.n) if j != party]
        R = np.eye(self.P.shape[1]) + self.P[party]
        P = self.P[others].sum(axis=0)
        return PencilCurve(P=P, R=R, base=0.0, noise_variance=noise_variance)

    def with_more_rows(self, party, *, rows, more, rng):
        P = self.P.copy()
        P[party] *= 1 + more / rows  # the mean of what may come
        return NaiveSpace(P)


class NaiveRegression(fp.BayesianLinearRegression):
    """The same regression, which computes elsewhere."""

    def space(self, pool):
        return NaiveSpace(np.array([statistics.told.precision for statistics in pool.statistics]))


def test_a_new_space_carries_the_whole_chain():
    parties = make_parties([12, 9, 15], 1)
    model = fp.BayesianLinearRegression(0.5)
    usual = fp.collaborate(parties, model, rho="stable", rng=1)
    naive = fp.collaborate(parties, NaiveRegression(0.5), rho="stable", rng=1)
    np.testing.assert_allclose(naive.game.values(), usual.game.values(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(naive.rewards, usual.rewards, rtol=1e-10)
    assert [m.tau for m in naive.models] == pytest.approx([m.tau for m in usual.models], rel=1e-8)


@pytest.mark.parametrize("space", [KernelSpace, WeightSpace, NaiveSpace])
def test_every_space_has_the_declared_members(space):
    assert {name for name in MEMBERS if not hasattr(space, name)} == set()


@pytest.mark.parametrize("name", MODELS)
def test_all_ways_to_value_agree(name):
    parties = make_parties([7, 0, 9, 5], 3)
    space = fp.InformationGain(MODELS[name], parties).space
    all_values = space.values()
    S = np.array([[bool(mask >> i & 1) for i in range(4)] for mask in range(16)])
    np.testing.assert_allclose(space.values_of(S), all_values, rtol=1e-9, atol=1e-9)
    one_by_one = [space.value(mask) for mask in range(16)]
    np.testing.assert_allclose(one_by_one, all_values, rtol=1e-9, atol=1e-9)
    without = [sum(1 << i for i in others) for others in combinations(range(4), 3)][::-1]
    np.testing.assert_allclose(space.without_one(), all_values[without], rtol=1e-9, atol=1e-9)
    assert isinstance(MODELS[name], WeightModel) or isinstance(space, KernelSpace)
