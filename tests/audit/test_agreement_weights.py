"""Weights of coalitions, against Shapley values and interactions by their definitions."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest

import fairpool as fp
from fairpool.audit import agreement_weights
from fairpool.audit.agreement_weights import AgreementWeights
from fairpool.values.evidence_gain import agreement


def naive_interaction(table, i, j):
    """I_ij over all subsets of the others."""
    n = len(table).bit_length() - 1
    others = [k for k in range(n) if k not in (i, j)]
    total = 0.0
    for size in range(n - 1):
        weight = factorial(size) * factorial(n - 2 - size) / factorial(n - 1)
        for chosen in combinations(others, size):
            S = sum(1 << k for k in chosen)
            both, only_i, only_j = S | 1 << i | 1 << j, S | 1 << i, S | 1 << j
            total += weight * (table[both] - table[only_i] - table[only_j] + table[S])
    return total


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_rows_of_interactions_sum_to_the_shapley_value_of_the_evidence_game(n):
    table = np.random.default_rng(n).standard_normal(2**n)
    table[0] = 0
    weights = AgreementWeights.of(n, np.random.default_rng(0))
    pairs = weights.pairs(table)
    phi = fp.shapley(fp.TableGame(agreement(table))).values
    np.testing.assert_allclose(weights.of_parties @ table, phi, atol=1e-10)
    np.testing.assert_allclose(pairs.sum(axis=1), phi, atol=1e-10)
    for i, j in combinations(range(n), 2):
        assert pairs[i, j] == pytest.approx(naive_interaction(table, i, j), abs=1e-10)


@pytest.mark.parametrize("later", [50, 3])
def test_orders_give_interactions_on_average(monkeypatch, later):
    """Sampled weights are right on average: here over many orders of few parties."""
    n = 6
    table = np.random.default_rng(1).standard_normal(2**n)
    exact = AgreementWeights.of(n, np.random.default_rng(0)).pairs(table)
    monkeypatch.setattr(agreement_weights, "ALL_COALITIONS", 0)
    monkeypatch.setattr(agreement_weights, "MOST_LATER", later)
    monkeypatch.setattr(agreement_weights, "EVALUATIONS", 100_000)
    rng = np.random.default_rng(2)
    sampled = AgreementWeights.of(n, rng)
    masks = sampled.S @ (1 << np.arange(n))
    error = sampled.pairs(table[masks]) - exact
    assert np.abs(error).max() < 0.2  # a sample of one order is off by 3
    assert np.abs(exact).max() > 0.5


def test_many_parties_take_a_bounded_number_of_coalitions():
    few = AgreementWeights.of(20, np.random.default_rng(0))
    many = AgreementWeights.of(200, np.random.default_rng(0))
    assert len(few.S) < 2 * agreement_weights.EVALUATIONS
    # A few orders, and of each place in them some parties that come later.
    places = 200 * 4 * agreement_weights.MOST_LATER
    assert len(many.S) < 2.1 * places
    # What is a sum over parties is nobody's agreement.
    sums = many.S @ np.arange(200.0)
    np.testing.assert_allclose(many.of_parties @ sums, 0, atol=1e-6)
