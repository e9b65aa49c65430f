"""The surrogate is fitted in folds, block by block."""

import numpy as np
import pytest

from fairpool.contributions.bands import Bands, Sample
from fairpool.contributions.estimates import Marginals, random_coalitions
from fairpool.contributions.surrogate import BLOCK, FOLDS, Surrogate
from fairpool.contributions.terms import Terms


@pytest.mark.parametrize("samples", [60, BLOCK, 2 * BLOCK + 37])
def test_each_part_is_fitted_on_the_others_however_many_blocks(samples):
    rng, n = np.random.default_rng(0), 7
    memberships = random_coalitions(rng, rng.integers(2, n - 1, samples), n)
    sample = Sample(memberships=memberships, values=rng.standard_normal(samples))
    weights = rng.uniform(0.5, 2, samples)
    marginals = Marginals(alone=rng.random(n), last=rng.random(n))
    terms = Terms.of(marginals, Bands.of(n, 40), samples)
    residuals = Surrogate.fitted(terms, sample, weights).residuals(sample)
    columns, fold_of_sample = terms.columns(memberships), np.arange(samples) % FOLDS
    for fold in range(FOLDS):
        own = fold_of_sample == fold
        weighted = columns[~own] * weights[~own, None]
        coefficients = np.linalg.lstsq(weighted, sample.values[~own] * weights[~own], rcond=None)[0]
        expected = sample.values[own] - columns[own] @ coefficients
        np.testing.assert_allclose(residuals[own], expected, rtol=1e-5, atol=1e-5)
