"""Tables with a column that names rows: a row is known by it, whatever else is corrected."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpool.consortium.home.choosing import _in_place_of
from fairpool.errors import ContributionError
from tests.support.exchange import a_plan, signed_plan
from tests.support.home import COLUMNS, a_home, contributed, prepared, rows_of, write_table

PLAN = a_plan()
WITH_IDS = signed_plan(replace(PLAN, encoding=replace(PLAN.encoding, ids=("patient",))))
NAMED = ("patient", *COLUMNS)


def named(rows, first=0):
    return [(f"P{number}", *row) for number, row in enumerate(rows, first)]


@pytest.fixture
def place(tmp_path):
    """A home from which eighty rows were contributed."""
    home = a_home(tmp_path / "home")
    rows = named(rows_of(120))
    table = write_table(tmp_path / "mine.csv", rows[:80], NAMED)
    contributed(WITH_IDS, table, home, tmp_path / "1.contribution")
    return tmp_path, home, rows


def test_a_row_whose_inputs_were_corrected_is_known(place):
    folder, home, rows = place
    patient, _, b, c, y = rows[7]
    rows[7] = (patient, 0.5, b, c, y)
    made = prepared(WITH_IDS, write_table(folder / "mine.csv", rows, NAMED), home)
    assert (made.file.manifest.rows, made.left_out, made.vanished) == (40, 80, 0)


@pytest.mark.parametrize("count", [1, 5, 20, 80])
@pytest.mark.parametrize("label", [lambda y: y + 1.5, lambda y: -3 * y], ids=["shifted", "other"])
def test_rows_under_other_labels_do_not_count_twice(place, count, label):
    """A table of new rows, and of earlier ones whose labels are others; the first 80 are gone."""
    folder, home, rows = place
    again = [(*row[:-1], label(row[-1])) for row in rows[:count]]
    made = prepared(WITH_IDS, write_table(folder / "2.csv", [*again, *rows[80:]], NAMED), home)
    alone = prepared(WITH_IDS, write_table(folder / "3.csv", rows[80:], NAMED), home)
    assert (made.file.manifest.rows, made.left_out) == (40, count)
    assert made.vanished == 80 - count
    assert np.array_equal(made.file.arrays["moment"], alone.file.arrays["moment"])
    (note,) = made.notes
    assert note.startswith(f"{count} row(s) have another label than rows that you contributed bef")
    assert "under the same 'patient'" in note
    assert not alone.notes


def test_rows_under_other_labels_alone_are_refused(place):
    folder, home, rows = place
    again = [(*row[:-1], row[-1] + 1.5) for row in rows[:80]]
    table = write_table(folder / "2.csv", again, NAMED)
    with pytest.raises(ContributionError, match=r"no row is new, and 80 row.* another label"):
        prepared(WITH_IDS, table, home)
    assert prepared(WITH_IDS, table, home, replace=True).file.manifest.rows == 80


def test_a_later_visit_of_the_same_patient_is_a_new_row(place):
    folder, home, rows = place
    visits = [(f"P{number}", *row) for number, row in enumerate(rows_of(30, seed=4))]
    made = prepared(WITH_IDS, write_table(folder / "2.csv", [*rows[:80], *visits], NAMED), home)
    assert (made.file.manifest.rows, made.left_out) == (30, 80)
    assert "another label" not in " ".join(made.notes)
    # Of the earlier rows, ten are lacking: that many visits may be these, with other labels.
    made = prepared(WITH_IDS, write_table(folder / "3.csv", [*rows[10:80], *visits], NAMED), home)
    assert (made.file.manifest.rows, made.left_out, made.vanished) == (20, 80, 0)
    assert "give the earlier ones in this table, too" in made.notes[0]


@given(
    gone=st.lists(st.integers(0, 5), max_size=12),
    names=st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=12),
)
def test_for_every_row_that_is_gone_one_of_its_name_stands_in_its_place(gone, names):
    left = Counter(gone)
    expected = []
    for name, is_new in names:
        expected.append(is_new and left[name] > 0)
        left[name] -= expected[-1]
    found = _in_place_of(
        np.array(gone, np.uint64),
        np.array([name for name, _ in names], np.uint64),
        np.array([is_new for _, is_new in names], bool),
    )
    assert found.tolist() == expected


def test_a_corrected_unit_is_told_with_its_column(place):
    folder, home, rows = place
    right = [(patient, 25.4 * a, b, c, y) for patient, a, b, c, y in rows]
    right[3] = (*right[3][:2], 9.0, *right[3][3:])
    some = write_table(folder / "2.csv", [*right[:60], *rows[60:]], NAMED)
    made = prepared(WITH_IDS, some, home)
    assert made.file.manifest.rows == 40
    (note,) = made.notes
    assert "60 row(s) that you contributed before have other values now" in note
    assert "(a in 60 of them, b in 1 of them)" in note
    assert "--replace" in note
    # In the same month there is nothing to write but the wrong numbers once more.
    same = write_table(folder / "3.csv", right[:80], NAMED)
    with pytest.raises(ContributionError, match=r"no row is new, and 80 .*a in 80 .*--replace"):
        prepared(WITH_IDS, same, home)
    assert prepared(WITH_IDS, same, home, replace=True, rows_may_be_seen=True).notes == ()


def test_rows_that_were_pasted_in_twice_are_called_that(place):
    folder, home, rows = place
    table = write_table(folder / "2.csv", [*rows[:80], *rows[:80], *rows[80:]], NAMED)
    with pytest.raises(ContributionError, match=r"about 80 of 120 .* line 82.* pasted in twice\?"):
        prepared(WITH_IDS, table, home)


def test_a_corrected_row_counts_as_a_difference(place):
    folder, home, rows = place
    patient, _, b, c, y = rows[7]
    rows[7] = (patient, 0.5, b, c, y)
    table = write_table(folder / "mine.csv", rows[:80], NAMED)
    with pytest.raises(ContributionError, match=r"differs by 1 row"):
        prepared(WITH_IDS, table, home, replace=True)


def test_a_table_without_the_names_is_refused(place):
    folder, home, rows = place
    table = write_table(folder / "mine.csv", [row[1:] for row in rows])
    with pytest.raises(ContributionError, match=r"known by patient, y .* known by a, b, c, y"):
        prepared(WITH_IDS, table, home)
    with pytest.raises(ContributionError, match="nobody can tell whether few rows"):
        prepared(WITH_IDS, table, home, replace=True)
    made = prepared(WITH_IDS, table, home, replace=True, rows_may_be_seen=True)
    assert made.file.manifest.rows == 120


def test_under_another_plan_rows_may_be_known_by_other_columns(place):
    folder, home, rows = place
    table = write_table(folder / "mine.csv", [row[1:] for row in rows])
    other = signed_plan(a_plan(weights=5))
    assert prepared(other, table, home, replace=True).file.manifest.rows == 120


def test_names_do_not_leave(place):
    folder, _, rows = place
    content = (folder / "1.contribution").read_bytes()
    assert not [row[0] for row in rows[10:80] if row[0].encode() in content]
    assert b"patient" not in content
