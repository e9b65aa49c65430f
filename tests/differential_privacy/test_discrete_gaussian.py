"""Draws on whole numbers have the distribution that they should have."""

import random

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from fairpool.differential_privacy.discrete_gaussian import discrete_gaussian


def draws(deviation, count, seed=1):
    below = random.Random(seed).randrange
    return np.array([float(discrete_gaussian(deviation, below)) for _ in range(count)])


@pytest.mark.parametrize("deviation", [1, 2, 5])
def test_small_deviations_have_the_exact_probabilities(deviation):
    found = draws(deviation, 20_000)
    x = np.arange(-4 * deviation, 4 * deviation + 1)
    expected = np.exp(-(x**2) / (2 * deviation**2))
    # All that is farther away counts as one.
    far = np.abs(np.arange(-60 * deviation, 60 * deviation + 1))
    total = np.exp(-(far.astype(float) ** 2) / (2 * deviation**2)).sum()
    counts = np.array([(found == one).sum() for one in x])
    counts = np.append(counts, len(found) - counts.sum())
    expected = np.append(expected, total - expected.sum()) * len(found) / total
    likely = expected > 5
    counts = np.append(counts[likely], counts[~likely].sum())
    expected = np.append(expected[likely], expected[~likely].sum())
    assert chisquare(counts, expected).pvalue > 1e-3


def test_large_deviations_are_those_of_the_continuous_gaussian():
    assert kstest(draws(2**40, 5000) / 2**40, "norm").pvalue > 1e-3


def test_another_deviation_is_recognised():
    assert kstest(draws(2**40, 5000) / 2**40 * 1.1, "norm").pvalue < 1e-3


def test_without_a_source_the_operating_systems_is_used():
    assert len({discrete_gaussian(2**40) for _ in range(20)}) == 20
