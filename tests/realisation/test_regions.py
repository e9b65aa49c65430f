"""What hiding the others' inputs does to intervals: near own data, near the others', elsewhere."""

import numpy as np
import pytest

from tests.support.regions import HEADING, averages, data_sets, lines, narrow_box, scores

SHIPPED = ["diabetes (by BMI)", "Friedman (by the fourth input)"]
"""With scikit-learn; others are measured where their files are."""


def check(mean):
    for (_, region), score in mean.items():
        assert score.coverage > 0.88, region
    for region in ("all with data", "own", "others", "nobody"):
        full, hidden = mean["full", region], mean["hidden", region]
        assert abs(hidden.coverage - full.coverage) < 0.04
        assert abs(hidden.mnlp - full.mnlp) < 0.03


@pytest.mark.parametrize("name", SHIPPED)
def test_coverage_is_as_before_in_every_region(name):
    X, y, column = data_sets()[name]
    check(averages([scores(X, y, column, seed) for seed in range(2)]))


def test_where_others_are_in_a_corner_that_nobody_told_of_intervals_are_too_wide_there():
    mean = averages([narrow_box(seed) for seed in range(5)])
    assert mean["full", "nobody"].coverage > 0.97
    # Wider where the others are, and too narrow where nobody is: the worth is the same.
    assert mean["hidden", "others"].coverage > mean["full", "others"].coverage
    assert 0.8 < mean["hidden", "nobody"].coverage < 0.97
    assert mean["hidden", "own"].mnlp == pytest.approx(mean["full", "own"].mnlp, abs=0.02)
    assert np.isfinite(mean["hidden", "others"].mnlp)


@pytest.mark.soak
def test_coverage_table():
    print(f"\n{HEADING}")
    for name, (X, y, column) in data_sets().items():
        mean = averages([scores(X, y, column, seed) for seed in range(10)])
        print(*lines(name, mean), sep="\n")
        check(mean)
