"""Rows that a combination of the sums is about: refused, however many other rows there are."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool.errors import ContributionError
from tests.support.exchange import LEVELS, a_plan, signed_plan
from tests.support.home import a_home, prepared, rows_of, write_table

LINEAR = a_plan(model=fp.BayesianLinearRegression(0.3))


def attempt(plan, rows, folder, **choices):
    table = write_table(folder / "mine.csv", rows)
    return prepared(signed_plan(plan), table, a_home(folder / "home"), **choices)


def label_by(contribution, features):
    """What the operator computes of a row whose features it knows, from sums alone."""
    gram, moment = contribution.file.arrays["gram"], contribution.file.arrays["moment"]
    u = np.linalg.solve(gram, features)
    return u @ moment / (u @ features)


def test_a_value_far_from_all_others_is_refused_since_its_label_could_be_computed(tmp_path):
    rows = rows_of(300)
    rows[40] = (50000.0, 0.3, "x", 12.3)
    with pytest.raises(ContributionError, match=r"1 row\(s\) stand alone.*line 42.*100%"):
        attempt(LINEAR, rows, tmp_path)
    # That it is no false alarm: the operator computes the label.
    made = attempt(LINEAR, rows, tmp_path, rows_may_be_seen=True)
    known = np.array([[(50000.0 - 1) / 2, 0.3, 1.0, 0.0]])
    label = label_by(made, LINEAR.model.whitened_features(known)[0])
    assert 5 * label + 10 == pytest.approx(12.3, abs=0.05)
    del rows[40]
    assert attempt(LINEAR, rows, tmp_path).file.manifest.rows == 299


def test_a_plan_that_is_made_for_one_row_is_refused(tmp_path):
    rows = rows_of(300)
    a, b, _, y = rows[40]
    points = np.random.default_rng(1).normal(size=(4, 4))
    points[0] = ((a - 1) / 2, b, 1.0, 0.0)  # the row's inputs; its category is "x"
    plan = a_plan(model=fp.SparseGaussianProcess(1.5 * RBF(0.01), 0.3, points))
    with pytest.raises(ContributionError, match=r"stand alone.*line 42:"):
        attempt(plan, rows, tmp_path)
    made = attempt(plan, rows, tmp_path, rows_may_be_seen=True)
    gram, moment = made.file.arrays["gram"], made.file.arrays["moment"]
    assert 5 * moment[0] / np.sqrt(gram[0, 0]) + 10 == pytest.approx(y, abs=0.01)


def test_few_rows_of_a_class_span_fewer_directions_than_there_are_weights(tmp_path):
    plan = a_plan(classes=True, weights=12)
    others = [row for row in rows_of(600, classes=True) if row[3] != LEVELS[0]]
    reds = [row for row in rows_of(90, classes=True, seed=3) if row[3] == LEVELS[0]]
    with pytest.raises(ContributionError, match=r"10 row\(s\) stand alone"):
        attempt(plan, [*others, *reds[:10]], tmp_path)
    more = [row for row in rows_of(600, classes=True, seed=3) if row[3] == LEVELS[0]]
    assert attempt(plan, [*others, *more], tmp_path).file.manifest.counts == (200, 200, 200)


def test_rows_that_nearly_do_are_told(tmp_path):
    rows = rows_of(300)
    rows[40] = (60.0, 0.3, "x", 12.3)
    made = attempt(LINEAR, rows, tmp_path)
    assert made.notes[0].startswith("1 row(s) stand out, the first at")
    assert "line 42" in made.notes[0]
    assert not attempt(LINEAR, rows_of(300), tmp_path).notes
