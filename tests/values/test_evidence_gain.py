"""The evidence game, against its definition from log marginal likelihoods of every coalition."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairpool as fp
from fairpool.values.evidence_gain import agreement
from tests.support import oracles
from tests.support.examples import MODELS, NOISES, make_parties

SIZES = [12, 0, 9, 1, 20]
WEIGHTS = [name for name, model in MODELS.items() if hasattr(model, "summarise")]


def likelihood(model, parties, mask):
    """log p(y_C | X_C), of the rows that are not silent: those have no density."""
    chosen = [p for i, p in enumerate(parties) if mask >> i & 1]
    X = np.concatenate([np.empty((0, 3)), *(p.X for p in chosen)])
    y = np.concatenate([np.empty(0), *(p.y for p in chosen)])
    noise = np.concatenate([np.empty(0), *(oracles._noise(model, p) for p in chosen)])
    heard = np.isfinite(noise)
    return oracles.log_marginal_likelihood(model, X[heard], y[heard], noise[heard])


def naive(model, parties):
    """v''_C for every coalition, as it is defined."""
    n = len(parties)
    l = [likelihood(model, parties, mask) for mask in range(2**n)]  # noqa: E741
    values = []
    for C in range(2**n):
        terms = [l[C | 1 << j] - l[C & ~(1 << j)] - l[1 << j] for j in range(n)]
        values.append(sum(terms))
    return np.array(values)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", MODELS)
def test_every_value_is_its_definition(name, noise):
    model = MODELS[name]
    parties = make_parties(SIZES, 3, NOISES[noise])
    expected = naive(model, parties)
    game = fp.EvidenceGain(model, parties)
    one_by_one = [game.value_of_mask(mask) for mask in range(2 ** len(parties))]
    scale = 1 + np.abs(expected).max()
    np.testing.assert_allclose(game.values(), expected, atol=1e-9 * scale)
    np.testing.assert_allclose(one_by_one, expected, atol=1e-9 * scale)


@pytest.mark.parametrize("name", WEIGHTS)
def test_sums_are_enough(name):
    model = MODELS[name]
    parties = make_parties(SIZES, 8)
    summaries = [model.summarise(party) for party in parties]
    mixed = [*summaries[:2], *parties[2:]]
    expected = naive(model, parties)
    for known in (summaries, mixed):
        np.testing.assert_allclose(fp.EvidenceGain(model, known).values(), expected, atol=1e-8)


@pytest.mark.parametrize("name", ["gp", "sparse", "blr-wide"])
def test_information_gains_come_with_it(name):
    model, parties = MODELS[name], make_parties(SIZES, 1)
    information = fp.InformationGain(model, parties)
    fp.EvidenceGain.of(information).values()
    assert information.tabulated
    np.testing.assert_allclose(information.values(), oracles.values(model, parties), atol=1e-9)


@pytest.mark.parametrize("name", ["gp", "sparse"])
def test_nobody_vouches_for_itself(name):
    """A party's own term has it as a null player: alone, nobody's data are evidence of anything."""
    game = fp.EvidenceGain(MODELS[name], make_parties([8, 5, 7], 2))
    v = game.values()
    assert game.empty_value == pytest.approx(0, abs=1e-10)
    # Two parties alone vouch for each other alike.
    two = fp.EvidenceGain(MODELS[name], make_parties([8, 5], 2))
    first, second = fp.shapley(two).values
    assert first == pytest.approx(second, rel=1e-9)
    assert fp.shapley(game).values.sum() == pytest.approx(v[-1])


@pytest.mark.parametrize("name", ["gp", "sparse"])
def test_workers_give_the_same_numbers(name):
    parties = make_parties([6, 9, 4, 7, 3], 4)
    alone = fp.EvidenceGain(MODELS[name], parties).values()
    for executor in (ThreadPoolExecutor(2), ProcessPoolExecutor(2)):
        with executor:
            shared = fp.EvidenceGain(MODELS[name], parties).values(executor)
        np.testing.assert_allclose(shared, alone, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", ["gp", "sparse"])
def test_sampled_contributions_are_near_the_exact_ones(name):
    parties = make_parties([6, 9, 4, 7, 3, 5, 8, 4, 6, 5], 4)
    exact = fp.shapley(fp.EvidenceGain(MODELS[name], parties)).values
    sampled = fp.shapley(fp.EvidenceGain(MODELS[name], parties), "sampled", rng=1, evaluations=400)
    error = np.abs(sampled.values - exact)
    assert (error <= 5 * sampled.standard_errors + 1e-9).all()


@given(st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_whatever_is_a_sum_over_parties_cancels(n, seed):
    rng = np.random.default_rng(seed)
    table = rng.standard_normal(2**n)
    table[0] = 0
    members = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(float)
    shifted = table + members @ rng.standard_normal(n)
    np.testing.assert_allclose(agreement(shifted), agreement(table), atol=1e-10)
    assert agreement(table)[0] == pytest.approx(0, abs=1e-10)


def test_labels_in_other_units_change_nothing():
    """With prior and noise in the same units."""
    model = fp.BayesianLinearRegression(0.5, prior_variance=2.0)
    other = fp.BayesianLinearRegression(0.5 * 1e8, prior_variance=2.0 * 1e8)
    parties = make_parties([12, 9, 7], 3)
    scaled = [fp.Party(p.name, p.X, 1e4 * p.y) for p in parties]
    np.testing.assert_allclose(
        fp.EvidenceGain(model, parties).values(),
        fp.EvidenceGain(other, scaled).values(),
        rtol=1e-9,
        atol=1e-9,
    )
