"""A game that is like the sampled one, and whose averages over coalitions are known by formula.

What is known exactly need not be sampled: only the part of v that the surrogate leaves has to be,
and that is small. Its terms are in `terms`; their coefficients are found by least squares, from
samples other than those that they are used on. The chapter docs/sampling.md derives it.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairpool.contributions.bands import Sample
from fairpool.contributions.terms import Terms
from fairpool.linear_algebra.solving import solve
from fairpool.tables.arrays import FloatArray

FOLDS = 10
"""The samples are split into so many parts; what is used on one is fitted on the others."""

BLOCK = 400 * FOLDS
"""How many samples have their terms in memory at a time: a multiple of FOLDS."""

RIDGE = 1e-13
"""What is added to the diagonal of the scaled normal equations.

It keeps terms that say the same from having huge coefficients of opposite sign.
"""


class NormalEquations(NamedTuple):
    """What least squares needs of some samples, for each fold.

    Attributes:
        gram: Products of terms with terms [FOLDS, count, count].
        moment: Products of terms with values [FOLDS, count].
    """

    gram: FloatArray
    moment: FloatArray


@dataclass(frozen=True, eq=False)
class Surrogate:
    """The game that is like the sampled one: FOLDS of them, each fitted to the other folds.

    Attributes:
        terms: The terms.
        coefficients: [FOLDS, count].
    """

    terms: Terms
    coefficients: FloatArray

    @classmethod
    def fitted(cls, terms: Terms, sample: Sample, weights: FloatArray) -> "Surrogate":
        """By weighted least squares, each fold's from all samples but its own.

        1. Sum up the normal equations of every fold.
        2. Scale the terms, so that the ridge means the same for all of them.
        3. For each fold, subtract its own from the sum over all folds, and solve.
        """
        gram, moment = _normal_equations(terms, sample, weights)
        scale = np.sqrt(gram.sum(axis=0).diagonal())
        # A term may be 0 for every sample, such as a sum over parties that are worth nothing alone.
        scale = np.where(scale == 0, 1.0, scale)
        gram = gram / np.outer(scale, scale)
        moment = moment / scale
        # Each sample is in all fits but one: subtracting is cheaper than summing for every fold.
        others_gram = gram.sum(axis=0) - gram + RIDGE * np.eye(len(scale))
        others_moment = moment.sum(axis=0) - moment
        solutions = solve(others_gram, others_moment[..., None])[..., 0]
        return cls(terms, solutions / scale)

    def residuals(self, sample: Sample) -> FloatArray:
        """What it does not explain of the samples' values [N], each by its own fold."""
        residuals = np.empty(len(sample))
        for block in _blocks(len(sample)):
            columns = self.terms.columns(sample.memberships[block])
            coefficients = self.coefficients[fold_of_samples(len(columns))]
            explained = np.einsum("sq,sq->s", columns, coefficients)
            residuals[block] = sample.values[block] - explained
        return residuals

    def contrasts(self) -> FloatArray:
        """Its contrast for every fold, band and party, exactly [FOLDS, bands, n]."""
        contrasts = []
        for coefficients in self.coefficients:
            bands = range(self.terms.bands.count)
            contrasts.append([self.terms.contrasts(band, coefficients) for band in bands])
        return np.array(contrasts)


def fold_of_samples(samples: int) -> NDArray[np.int64]:
    """The fold of each sample: they take turns, so that all folds have samples of all sizes."""
    return np.arange(samples) % FOLDS


def _normal_equations(terms: Terms, sample: Sample, weights: FloatArray) -> NormalEquations:
    gram = np.zeros((FOLDS, terms.count, terms.count))
    moment = np.zeros((FOLDS, terms.count))
    for block in _blocks(len(sample)):
        columns = terms.columns(sample.memberships[block]) * weights[block, None]
        values = sample.values[block] * weights[block]
        for fold in range(FOLDS):
            own_columns = columns[fold::FOLDS]
            gram[fold] += own_columns.T @ own_columns
            moment[fold] += own_columns.T @ values[fold::FOLDS]
    return NormalEquations(gram, moment)


def _blocks(samples: int) -> list[slice]:
    """All samples, in blocks: the terms of many would take much memory.

    Every block starts with the first fold, since BLOCK is a multiple of FOLDS.
    """
    return [slice(start, start + BLOCK) for start in range(0, samples, BLOCK)]
