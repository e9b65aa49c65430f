"""The surrogate's terms: what the formulas say is what all coalitions say."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairpool.contributions.bands import Bands
from fairpool.contributions.estimates import Marginals
from fairpool.contributions.terms import (
    MOST_COEFFICIENTS,
    SAMPLES_PER_COEFFICIENT,
    PairTerms,
    PartyTerms,
    SumTerms,
    Terms,
    additive_contrast,
)
from tests.support.coalitions_by_size import all_of_size, contrasts_over_all


def some_marginals(n, seed):
    rng = np.random.default_rng(seed)
    return Marginals(alone=rng.uniform(-1, 3, n), last=rng.uniform(-1, 3, n))


@settings(max_examples=settings.default.max_examples // 5)
@given(st.integers(5, 7), st.integers(0, 1000), st.integers(1, 4))
def test_the_surrogates_contrasts_are_those_over_all_coalitions(n, seed, most):
    bands = Bands.of(n, most)
    assert bands.starts[0] == 2
    assert bands.starts[-1] == n - 1
    terms = Terms.of(some_marginals(n, seed), bands, samples=10**6)
    assert len(terms.groups) == 3
    coefficients = np.random.default_rng(seed).standard_normal(terms.count)
    for band in range(bands.count):
        expected = []
        for size in bands.sizes_in(band):
            coalitions = all_of_size(n, size)
            expected.append(
                contrasts_over_all(coalitions, terms.columns(coalitions) @ coefficients)
            )
        contrasts = terms.contrasts(band, coefficients)
        np.testing.assert_allclose(contrasts, np.mean(expected, axis=0), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("group", [SumTerms, PairTerms, PartyTerms])
def test_each_kind_of_terms_has_the_contrasts_of_a_sum_over_members(group, size):
    n = 6
    marginals = some_marginals(n, 0)
    terms = PartyTerms(n) if group is PartyTerms else group(marginals)
    coefficients = np.random.default_rng(1).standard_normal(terms.count)
    coalitions = all_of_size(n, size)
    sizes = coalitions.sum(axis=1)
    values = terms.columns(coalitions.astype(float), sizes) @ coefficients
    additive = terms.additive(coefficients, np.array([size])).sum(axis=0)
    np.testing.assert_allclose(
        additive_contrast(additive), contrasts_over_all(coalitions, values), rtol=1e-9, atol=1e-9
    )


def test_pair_terms_are_sums_over_pairs_of_different_members():
    n, size = 5, 3
    marginals = some_marginals(n, 0)
    coalitions = all_of_size(n, size)
    columns = PairTerms(marginals).columns(coalitions.astype(float), coalitions.sum(axis=1))
    for row, members in zip(columns, combinations(range(n), size), strict=True):
        ordered_pairs = [(j, k) for j in members for k in members if j != k]
        alone, last = marginals.alone, marginals.last
        for number, (first, second) in enumerate([(alone, alone), (alone, last), (last, last)]):
            pairs = sum(first[j] * second[k] for j, k in ordered_pairs)
            expected = [pairs / size, pairs, pairs * size / n]
            np.testing.assert_allclose(row[3 * number : 3 * number + 3], expected, rtol=1e-9)


@pytest.mark.parametrize("n", [8, 60, 400])
def test_a_group_of_terms_takes_part_where_there_are_samples_for_it(n):
    bands = Bands.of(n, 40)
    marginals = some_marginals(n, 0)
    levels_only = Terms.of(marginals, bands, samples=0)
    assert levels_only.groups == ()
    needed = levels_only.count
    for groups, group in enumerate([SumTerms(marginals), PairTerms(marginals), PartyTerms(n)], 1):
        needed += group.count
        enough = SAMPLES_PER_COEFFICIENT * needed
        allowed = groups if needed <= MOST_COEFFICIENTS else groups - 1
        assert len(Terms.of(marginals, bands, samples=enough).groups) == allowed
        assert len(Terms.of(marginals, bands, samples=enough - 1).groups) == groups - 1
