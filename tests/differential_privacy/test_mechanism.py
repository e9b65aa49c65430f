"""Noise is on everything that leaves, as much as is accounted for."""

import random

import numpy as np
import pytest

from fairpool.differential_privacy.mechanism import STEPS, with_noise
from fairpool.differential_privacy.row_bounds import RowBounds

BOUNDS = RowBounds(features=1.5, labels=3.0, weights=3)
CLASSES = RowBounds(features=1.5, labels=5.0, weights=2, classes=3)


def below(seed=1):
    return random.Random(seed).randrange


def sums(d=3):
    A = np.random.default_rng(1).normal(size=(200, d))
    return {"gram": A.T @ A, "moment": A.sum(axis=0), "squares": np.array(321.5)}


def test_noise_has_the_deviations_that_are_said():
    draw = below()
    before = sums()
    noisy = [with_noise(before, 200, bounds=BOUNDS, mu=0.7, randbelow=draw) for _ in range(1500)]
    expected = BOUNDS.deviations(noisy[0].noise)
    assert noisy[0].noise == BOUNDS.sensitivity / 0.7
    gram = np.array([one.arrays["gram"] - before["gram"] for one in noisy])
    assert np.array_equal(gram, np.swapaxes(gram, 1, 2))
    off = np.sqrt(0.5)
    shape = np.array([[1, off, off], [off, 1, off], [off, off, 1]])
    assert gram.std(axis=0) == pytest.approx(expected.gram * shape, rel=0.08)
    moment = np.array([one.arrays["moment"] - before["moment"] for one in noisy])
    assert moment.std(axis=0) == pytest.approx(expected.moment, rel=0.08)
    squares = np.array([one.arrays["squares"] - before["squares"] for one in noisy])
    assert squares.std() == pytest.approx(expected.squares, rel=0.08)
    rows = np.array([one.rows - 200 for one in noisy])
    assert rows.std() == pytest.approx(expected.rows, rel=0.08)
    everything = np.column_stack([gram[:, *np.triu_indices(3)], moment, squares, rows])
    between = np.corrcoef(everything.T) - np.eye(everything.shape[1])
    assert np.abs(between).max() < 0.12


def test_of_classes_every_number_has_noise():
    rng = np.random.default_rng(2)
    before = {
        "gram": np.zeros((3, 2, 2)),
        "moment": rng.normal(size=(3, 2)),
        "squares": np.array([5.0, 0.0, 40.0]),
    }
    noisy = with_noise(before, 45, bounds=CLASSES, mu=1.0, randbelow=below())
    for name, array in noisy.arrays.items():
        assert array.shape == before[name].shape
        assert (array != before[name]).all()
    assert noisy.rows == round(np.maximum(noisy.arrays["squares"], 0).sum())


def test_what_leaves_lies_on_a_grid_that_does_not_depend_on_the_sums():
    step = BOUNDS.sensitivity / 0.7 / STEPS
    for factor in (1.0, 1e-6, np.pi):
        before = {name: factor * array for name, array in sums().items()}
        noisy = with_noise(before, 200, bounds=BOUNDS, mu=0.7, randbelow=below())
        diagonal = np.diag(noisy.arrays["gram"])
        steps = np.rint(diagonal / step)
        assert np.array_equal(steps * step, diagonal)


def test_no_table_has_no_rows_to_an_onlooker():
    nothing = {name: np.zeros_like(array) for name, array in sums().items()}
    noisy = [with_noise(nothing, 0, bounds=BOUNDS, mu=0.3, randbelow=below(k)) for k in range(20)]
    assert min(one.rows for one in noisy) == 1
    assert max(one.rows for one in noisy) > 5
