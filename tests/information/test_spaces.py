"""Every fast path against its naive oracle, for unequal sizes, an empty party, and noise of every
kind.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairpool as fp
from fairpool.information import DenseCurve, PencilCurve, SpectrumCurve
from tests.support import oracles
from tests.support.examples import MODELS, NOISES, make_parties


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n", range(1, 8))
@pytest.mark.parametrize("noise", NOISES)
def test_values_equal_slogdet_per_coalition(name, n, noise):
    rng = np.random.default_rng(n)
    sizes = rng.permutation([0, 1, 12, 5, 9, 3, 7][:n]) if n > 1 else [6]
    parties = make_parties(sizes, n, NOISES[noise])
    game = fp.InformationGain(MODELS[name], parties)
    expected = oracles.values(MODELS[name], parties)
    np.testing.assert_allclose(game.values(), expected, rtol=1e-9, atol=1e-9)
    single = fp.InformationGain(MODELS[name], parties)
    for mask in rng.integers(0, 2**n, 4):
        coalition = {i for i in range(n) if mask >> i & 1}
        assert single.value(coalition) == pytest.approx(expected[mask], rel=1e-9, abs=1e-9)
    masks = rng.integers(0, 2**n, 5)
    S = (masks[:, None] >> np.arange(n) & 1).astype(bool)
    np.testing.assert_allclose(single.space.values_of(S), expected[masks], rtol=1e-9, atol=1e-9)


@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=6),
    st.integers(0, 10**6),
    st.sampled_from(sorted(MODELS)),
)
def test_values_of_random_parties_equal_slogdet(sizes, seed, name):
    parties = make_parties(sizes, seed)
    if not sum(sizes):
        return
    game = fp.InformationGain(MODELS[name], parties)
    np.testing.assert_allclose(
        game.values(), oracles.values(MODELS[name], parties), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("noise", NOISES)
def test_reward_curve_is_the_information_gain_of_the_reward_data(name, noise):
    model = MODELS[name]
    for sizes in ([20, 0, 25, 30], [3, 4, 0, 2]):
        parties = make_parties(sizes, 3, NOISES[noise])
        game = fp.InformationGain(model, parties)
        for i in range(4):
            curve = game.reward_curve(i)
            assert isinstance(curve, DenseCurve if noise.startswith("per") else PencilCurve)
            assert curve.value(0.0) == pytest.approx(game.alone[i], rel=1e-9, abs=1e-9)
            assert curve.value(1.0) == pytest.approx(game.total, rel=1e-9)
            for tau in (1e-6, 0.01, 0.3, 0.99):
                eta = curve.noise_variance * (1 - tau) / tau
                assert curve.value(tau) == pytest.approx(
                    oracles.reward_data_gain(model, parties, i, eta), rel=1e-9
                )


def test_reward_curve_is_made_ready_for_many_rewards_when_it_is_asked_for_again():
    game = fp.InformationGain(MODELS["gp"], make_parties([3, 4], 0))
    first, second, third = (game.reward_curve(0) for _ in range(3))
    assert isinstance(first, PencilCurve)
    assert isinstance(second, SpectrumCurve)
    assert third is second


def test_weight_space_values_do_not_depend_on_the_stack(monkeypatch):
    from fairpool.linear_algebra import precision_sums

    game = fp.InformationGain(MODELS["blr"], make_parties([9, 8, 7, 6, 5], 0))
    whole = game.space.values()
    monkeypatch.setattr(precision_sums, "STACK_BYTES", 8 * 16 * 4)  # four matrices at a time
    np.testing.assert_allclose(game.space.values(), whole, rtol=1e-13)


def test_a_table_too_large_is_refused_with_the_way_out():
    game = fp.InformationGain(MODELS["blr"], make_parties([1] * 30, 0))
    with pytest.raises(
        ValueError,
        match=r'2\*\*30 values is too large .*; sample instead: shapley\(game, method="sampled"\)',
    ):
        game.values()


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_a_matrix_that_cannot_be_factorised_is_refused_by_every_path(bad):
    from fairpool.information import KernelSpace, WeightSpace

    K = np.diag([1.0, 1.0, 5 * bad])
    kernel, weight = (
        KernelSpace.of(K, [2, 1], np.ones(3)),
        WeightSpace(np.array([np.eye(3), K]), np.ones(2)),
    )
    for space in (kernel, weight):
        for compute in (
            space.values,
            lambda s=space: s.value(3),
            lambda s=space: s.values_of(np.ones((1, 2), dtype=bool)),
        ):
            with pytest.raises(
                ValueError,
                match=r"a covariance (is not positive definite|has values that are not finite)",
            ):
                compute()
