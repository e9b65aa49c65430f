"""Features that see few of the rows: refused, however many other rows there are."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool.columns import CategoryColumn, NumberColumn
from fairpool.consortium.home.few_together import VALUES_PER_NUMBER
from fairpool.encoding import TableEncoding
from fairpool.errors import ContributionError
from fairpool.targets import NumberTarget
from tests.support.exchange import LEVELS, a_plan, signed_plan
from tests.support.home import a_home, prepared, rows_of, write_table

WARD = "w"
COLUMNS = (
    NumberColumn("a", 1.0, 2.0),
    NumberColumn("b", 0.0, 1.0),
    CategoryColumn("c", ("x", "y", WARD)),
)
ENCODING = TableEncoding(COLUMNS, NumberTarget("y", 10.0, 5.0))


def plan_for_the_ward(*, elsewhere=0, side=3):
    """Inducing points that lie in one ward, with a length scale so short that others are far."""
    rng = np.random.default_rng(9)
    grid = np.linspace(-1, 1, side)
    points = np.zeros((side**2 + elsewhere, 5))
    points[: side**2, :2] = [(a, b) for a in grid for b in grid]
    # Not quite a grid, of which many pairs of points have the same middle, and so tell the same.
    points[: side**2, :2] += rng.uniform(-0.2, 0.2, size=(side**2, 2))
    points[: side**2, 4] = 1.0
    points[side**2 :, :2] = rng.normal(size=(elsewhere, 2))
    points[side**2 :, 2] = 1.0
    kernel = 1.5 * RBF([0.6, 0.6, 0.05, 0.05, 0.05])
    return a_plan(encoding=ENCODING, model=fp.SparseGaussianProcess(kernel, 0.3, points))


def rows_with_a_ward(count, *, of_ward):
    rows = rows_of(count)
    inside = np.random.default_rng(5).uniform(-1, 1, size=(of_ward, 2)).round(6).tolist()
    for number, (a, b) in enumerate(inside):
        rows[7 * number] = (1 + 2 * a, b, WARD, rows[7 * number][3])
    return rows


def attempt(plan, rows, folder, **choices):
    table = write_table(folder / "mine.csv", rows)
    return prepared(signed_plan(plan), table, a_home(folder / "home"), **choices)


def known_inputs(plan, rows):
    """Of how many of the inputs (a, b) of some rows their Gram matrix depends on each apart."""
    X = np.array([((a - 1) / 2, b, c == "x", c == "y", c == WARD) for a, b, c, _ in rows], float)

    def gram(X):
        A = plan.model.whitened_features(X)
        return (A.T @ A)[np.triu_indices(A.shape[1])]

    columns = []
    for row in range(len(X)):
        for column in range(2):
            step = np.zeros_like(X)
            step[row, column] = 1e-4
            columns.append((gram(X + step) - gram(X - step)) / 2e-4)
    singular = np.linalg.svd(np.array(columns).T, compute_uv=False)
    return int((singular > 1e-7 * singular[0]).sum())


@pytest.mark.parametrize("elsewhere", [0, 6])
def test_features_that_see_one_ward_alone_are_refused(elsewhere, tmp_path):
    plan = plan_for_the_ward(elsewhere=elsewhere)
    rows = rows_with_a_ward(600, of_ward=20)
    assert plan.fewest_rows < 600
    with pytest.raises(ContributionError, match=r"1\d row\(s\) are few together.*45 numbers"):
        attempt(plan, rows, tmp_path)
    assert attempt(plan, rows, tmp_path, rows_may_be_seen=True).file.manifest.rows == 600


def test_that_it_is_no_false_alarm(tmp_path):
    plan = plan_for_the_ward()
    rows = rows_with_a_ward(600, of_ward=20)
    ward = [row for row in rows if row[2] == WARD]
    made = attempt(plan, rows, tmp_path, rows_may_be_seen=True)
    X = np.array([((a - 1) / 2, b, 0, 0, 1) for a, b, _, _ in ward], float)
    A = plan.model.whitened_features(X)
    # The sums over 600 rows are those over the 20, and no input can move without being noticed.
    np.testing.assert_allclose(made.file.arrays["gram"], A.T @ A, atol=1e-12)
    assert known_inputs(plan, ward) == 2 * 20


def test_a_large_ward_is_as_good_as_a_table(tmp_path):
    plan = plan_for_the_ward()
    rows = rows_with_a_ward(1000, of_ward=2 * plan.fewest_rows)
    assert attempt(plan, rows, tmp_path).file.manifest.rows == 1000


def test_rare_levels_are_each_counted_by_themselves(tmp_path):
    levels = tuple(f"l{number}" for number in range(20))
    columns = (NumberColumn("a", 1.0, 2.0), NumberColumn("b", 0.0, 1.0))
    encoding = TableEncoding(
        (*columns, CategoryColumn("c", ("x", "y", *levels))), NumberTarget("y", 10.0, 5.0)
    )
    plan = a_plan(encoding=encoding, model=fp.BayesianLinearRegression(0.3))
    rows = rows_of(1000)
    for number in range(60):
        a, b, _, y = rows[number]
        rows[number] = (a, b, levels[number % 20], y)
    assert attempt(plan, rows, tmp_path).file.manifest.rows == 1000


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_fewest_rows_that_a_plan_asks_for_are_enough(classes, seed, tmp_path):
    plan = a_plan(classes=classes, weights=8)
    count = (3 if classes else 2) * plan.fewest_rows
    rows = rows_of(count, classes=classes, seed=seed)
    if classes:
        assert {row[3] for row in rows} == {*LEVELS}
    assert attempt(plan, rows, tmp_path).file.manifest.rows == count
    assert VALUES_PER_NUMBER > 1  # below, there are as many equations as unknowns
