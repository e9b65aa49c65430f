import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from fairpool.models import descent
from fairpool.models.descent import minimise

ANYWHERE = np.tile([-np.inf, np.inf], (4, 1))


def rosenbrock(x):
    return rosen(x), rosen_der(x)


def bowl(x):
    """Its gradient is far longer than the way to the minimum, as a likelihood's is."""
    return 500 * float(((x - 3) ** 2).sum()), 1000 * (x - 3)


def down(function, start, bounds=ANYWHERE, **settings):
    start = np.asarray(start, dtype=float)
    bounds = np.asarray(bounds, dtype=float)
    return minimise(function, start, bounds, **{"tolerance": 1e-3, "small_fall": 1e-12} | settings)


def test_a_curved_valley_is_followed_to_its_end():
    end = down(rosenbrock, [-1.2, 1.0, -1.2, 1.0])
    assert end.reached
    np.testing.assert_allclose(end.x, 1.0, atol=1e-5)
    assert end.evaluations < 100


def test_bounds_hold_and_the_minimum_on_them_is_found():
    end = down(rosenbrock, [0.0] * 4, [[-2, 0.5]] * 4)
    assert end.reached
    assert end.x[0] == pytest.approx(0.5)
    assert (end.x <= 0.5).all()
    # What pushes against a bound is no part of the projected gradient.
    assert np.abs(end.gradient).max() > 1 > 1e-3 > np.abs(end.projected).max()


def test_no_variable_ever_moves_far_at_once():
    seen = []

    def watched(x):
        seen.append(x)
        return bowl(x)

    assert down(watched, [40.0, -40.0, 3.0, 0.0]).reached
    assert np.abs(np.diff(seen, axis=0)).max() <= descent.STEP + 1e-12
    assert np.linalg.norm(seen[1] - seen[0]) == pytest.approx(descent.FIRST_STEP)


@pytest.mark.parametrize("fault", ["raises", "infinite", "nan"])
def test_a_cliff_is_a_step_too_long(fault):
    """The minimum is beyond the cliff's edge but for a hair: the search goes to the edge, and stops
    at nothing less.
    """

    def cliff(x):
        if (x < 2.999).all():
            return bowl(x)
        if fault == "raises":
            raise np.linalg.LinAlgError
        return {"infinite": np.inf, "nan": np.nan}[fault], np.zeros_like(x)

    end = down(cliff, [-10.0, 0.0, 1.0, 2.0])
    assert end.x.max() == pytest.approx(2.999, abs=1e-3)
    assert end.value < 20  # from 93,500 at the start
    assert not end.reached


def test_a_start_that_cannot_be_computed_is_the_callers_to_know():
    def nowhere(x):
        return np.nan, x

    with pytest.raises(np.linalg.LinAlgError, match="the function is not finite"):
        down(nowhere, [0.0] * 4)


def test_a_search_that_is_cut_short_or_misled_is_not_called_a_minimum(monkeypatch):
    def uphill(x):
        value, gradient = bowl(x)
        return value, -gradient

    misled = down(uphill, [0.0] * 4)
    assert not misled.reached
    np.testing.assert_array_equal(misled.x, 0.0)
    monkeypatch.setattr(descent, "MOST_STEPS", 5)
    assert not down(rosenbrock, [-1.2, 1.0, -1.2, 1.0]).reached


def test_a_minimum_at_the_start_takes_one_evaluation():
    end = down(bowl, [3.0] * 4)
    assert (end.reached, end.evaluations) == (True, 1)


def test_a_cliff_on_all_sides_is_never_called_a_minimum_however_many_rows_there_are():
    """The tolerance grows with the rows, the way to a bound does not: the two have nothing to do
    with each other.
    """

    def pit(x):
        if x.any():
            raise np.linalg.LinAlgError
        return 0.0, np.full(4, 1e6)

    for rows in (10, 4_000, 25_000):
        for bound in (1.0, 12.0):
            assert not down(pit, [0.0] * 4, [[-bound, bound]] * 4, tolerance=1e-3 * rows).reached


@pytest.mark.parametrize("size", [1e-200, 1e-310])
def test_slopes_of_no_size_end_the_search(size):
    def flat(x):
        return size * float(x.sum()), np.full(4, size)

    end = down(flat, [0.0] * 4)
    assert (end.reached, end.evaluations) == (True, 1)


def test_variables_beside_their_bounds_do_not_jam_the_search():
    """Random bowls in a box, from starts that are at its walls but for a hair.

    scipy finds nothing lower.
    """
    rng = np.random.default_rng(0)
    for _ in range(200):
        A = rng.standard_normal((4, 4))
        H, b = A @ A.T + 0.01 * np.eye(4), 3 * rng.standard_normal(4)

        def quadratic(x, H=H, b=b):
            return float(0.5 * x @ H @ x - b @ x), H @ x - b

        start = np.where(rng.uniform(size=4) < 0.5, 1 - 1e-11, -1 + 1e-11)
        end = down(quadratic, start, [[-1, 1]] * 4, tolerance=1e-4)
        best = minimize(
            quadratic, start, jac=True, method="L-BFGS-B", bounds=[(-1, 1)] * 4, tol=1e-12
        )
        assert end.reached
        assert end.value <= best.fun + 1e-6
