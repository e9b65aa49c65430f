"""What coalitions' data explain of many sets of labels, beside one factor for each coalition."""

import numpy as np
import pytest

from fairpool.errors import KernelError
from fairpool.information import labelled_weights
from fairpool.information.labelled_space import COALITIONS_PER_TASK
from fairpool.information.labelled_weights import LabelledWeights


def space_of(n, d, rng):
    A = rng.standard_normal((n, 9, d))
    moments = rng.standard_normal((n, d))
    return LabelledWeights(
        P=A.transpose(0, 2, 1) @ A,
        labels=moments,
        squares=np.full(n, 9.0),
        rows=np.full(n, 9),
    )


def by_one_factor_each(space, S, labels, weights):
    fits = []
    for members in S:
        B = np.eye(space.P.shape[1]) + sum(space.P[members], start=np.zeros(space.P.shape[1:]))
        q = sum(labels[members], start=np.zeros(labels.shape[1:]))
        fits.append(0.5 * (q * np.linalg.solve(B, q)).sum(axis=0))
    return weights @ np.array(fits)


@pytest.mark.parametrize("at_once", [1, 200, 1 << 18])
def test_many_coalitions_at_once_are_as_one_after_the_other(monkeypatch, at_once):
    monkeypatch.setattr(labelled_weights, "NUMBERS_AT_ONCE", at_once)
    rng = np.random.default_rng(0)
    space = space_of(7, 4, rng)
    S = rng.random((COALITIONS_PER_TASK + 11, 7)) < 0.5
    S[3] = False
    labels = space.drawn(rng.standard_normal((space.normals, 13)))
    weights = rng.standard_normal((5, len(S)))
    found = space.weighted_fits(S, labels, weights=weights)
    expected = by_one_factor_each(space, S, labels, weights)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


def test_a_precision_that_is_none_is_refused_in_words():
    space = space_of(3, 2, np.random.default_rng(1))
    space.P[1] -= 40 * np.eye(2)
    labels = np.ones((3, 2, 1))
    S = np.array([[True, False, False], [True, True, False]])
    with pytest.raises(KernelError, match="not positive definite"):
        space.weighted_fits(S, labels, weights=np.ones((1, 2)))
