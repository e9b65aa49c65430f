"""Labels of the chosen rho, rho_s and rho_r do not meet, wherever these are."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpool.report.rho_marks import BESIDE, placed

LABELS = ("chosen", "ρ_s", "ρ_r")
places = st.floats(0, 1).map(lambda rho: round(rho, 3))


def check(marks):
    for one, other in combinations(marks, 2):
        if one.line == other.line:
            low, high = sorted([one, other], key=lambda mark: mark.reach)
            assert low.reach[1] <= high.reach[0]
        else:
            lower, higher = sorted([one, other], key=lambda mark: mark.line)
            # The line of the higher label goes past the lower one.
            assert not lower.reach[0] < higher.rho < lower.reach[1]
    for mark in marks:
        assert mark.reach[0] >= -BESIDE
        assert mark.reach[1] <= 1 + BESIDE


@given(st.lists(places, min_size=3, max_size=3, unique=True))
def test_three_labels_have_room_on_a_phone(rhos):
    marks = placed(dict(zip(rhos, LABELS, strict=True)))
    assert [(mark.rho, mark.label) for mark in marks] == list(zip(rhos, LABELS, strict=True))
    check(marks)


@pytest.mark.parametrize("rho", [0.0, 0.01, 0.3, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("apart", [0.001, 0.02, 0.2])
def test_two_that_are_near_each_other(rho, apart):
    other = rho + apart if rho + apart <= 1 else rho - apart
    check(placed({rho: "chosen = ρ_s", other: "ρ_r"}))


def test_labels_that_have_room_are_in_one_line():
    marks = placed({0.5: "chosen", 0.2: "ρ_s", 0.9: "ρ_r"})
    assert {mark.line for mark in marks} == {0}
    (all_three,) = placed({0.4: "chosen = ρ_s = ρ_r"})
    assert all_three.line == 0
    assert placed({}) == ()
