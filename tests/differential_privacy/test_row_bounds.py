"""No row moves the sums by more than is accounted for, and the worst one by as much."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

from fairpool import Classifier, SparseGaussianProcess
from fairpool.differential_privacy.row_bounds import SLACK, RowBounds

POINTS = np.random.default_rng(1).normal(size=(5, 2))
VARIANCE = 1.5


def process(length=1.0):
    return SparseGaussianProcess(VARIANCE * RBF(length), 0.3, POINTS)


def moved(model, bounds, x, y):
    """How far a row moves what is sent, in units of noise."""
    sums = model.moments(np.reshape(x, (1, 2)), np.array([y]))
    shares = bounds.shares
    squares = [np.sum(np.square(sums.gram)), np.sum(np.square(shares.moment * sums.moment))]
    squares.append(np.sum(np.square(shares.squares * np.asarray(sums.squares))))
    if not bounds.classes:
        squares.append(shares.rows**2)
    return np.sqrt(np.sum(squares))


INPUTS = st.tuples(st.floats(-5, 5), st.floats(-5, 5))


@given(x=INPUTS, y=st.floats(-3, 3))
def test_no_row_of_numbers_moves_sums_by_more(x, y):
    bounds = RowBounds(features=VARIANCE, labels=3.0, weights=5)
    assert moved(process(), bounds, x, y) <= bounds.sensitivity


@given(x=INPUTS, y=st.integers(0, 2))
@pytest.mark.parametrize("own", [False, True])
def test_no_row_of_classes_moves_sums_by_more(own, x, y):
    model = [process(length) for length in (0.5, 1.0, 2.0)] if own else process()
    bounds = RowBounds(features=VARIANCE, labels=5.0, weights=5, classes=3, own_features=own)
    assert moved(Classifier(model, 3), bounds, x, float(y)) <= bounds.sensitivity


def test_the_worst_row_moves_them_by_as_much():
    # At an inducing point, a sparse process has all of its prior variance.
    bounds = RowBounds(features=VARIANCE, labels=3.0, weights=5)
    worst = moved(process(), bounds, POINTS[0], 3.0)
    assert worst == pytest.approx(bounds.sensitivity / (1 + SLACK), rel=1e-6)
    own = RowBounds(features=VARIANCE, labels=5.0, weights=5, classes=3, own_features=True)
    several = Classifier([process(length) for length in (0.5, 1.0, 2.0)], 3)
    worst = moved(several, own, POINTS[0], 1.0)
    assert worst == pytest.approx(own.sensitivity / (1 + SLACK), rel=1e-6)


def test_with_equal_shares_it_is_the_length_of_all_that_is_sent():
    R2, Y = 1.5, 3.0
    a = np.sqrt(R2) * np.array([0.6, 0.8])
    row = np.concatenate([np.outer(a, a).ravel(), Y * a, [Y**2, 1.0]])
    expected = np.sqrt(R2**2 + R2 * Y**2 + Y**4 + 1)
    assert np.linalg.norm(row) == pytest.approx(expected)


@pytest.mark.parametrize("classes", [0, 3])
def test_no_other_share_of_the_moment_gives_less_noise(classes):
    R2, Y, d = 1.5, 3.0, 10
    bounds = RowBounds(features=R2, labels=Y, weights=d, classes=classes)

    def variance(share):
        """Of the noise that the weights meet, at one mu."""
        part = R2 if classes else R2 * Y**2
        in_moment = (Y**2 if classes else 1.0) / share**2
        return (R2**2 + share**2 * part) * ((d + 1) / 2 + in_moment)

    best = bounds.shares.moment
    assert variance(best) < min(variance(best * 0.99), variance(best * 1.01))
    assert variance(best) < 0.96 * variance(1.0)
