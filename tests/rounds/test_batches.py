"""Rows come and go in batches: what any combination of releases is about, in random histories."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairpool.rounds.batches import PartyBatches, assign
from tests.support.batch_histories import (
    assigned,
    fewest_in_any_combination,
    keys,
    released,
    rows_in,
)

FEWEST = 4
ROUNDS = 6


@st.composite
def histories(draw):
    """Files in which rows come, go and return, singly or many at once; sometimes the party leaves.

    Rows that went before are likely to return, since that is where a rule could fail.
    """
    files = []
    present = set(range(draw(st.integers(0, 20))))
    gone = set()
    newest = len(present)
    for _ in range(draw(st.integers(1, ROUNDS))):
        files.append(None if draw(st.integers(0, 7)) == 0 else frozenset(present))
        leaving = draw(st.sets(st.sampled_from(sorted(present)))) if present else set()
        if draw(st.booleans()):
            leaving = set(sorted(leaving)[:2])
        returning = draw(st.sets(st.sampled_from(sorted(gone)))) if gone else set()
        if draw(st.integers(0, 3)) == 0:
            returning = set(gone)
        coming = set(range(newest, newest + draw(st.integers(0, 12))))
        newest += len(coming)
        gone = (gone | leaving) - returning
        present = (present - leaving) | returning | coming
    return files


@given(histories(), st.sampled_from([1, 2, 16]))
def test_any_combination_of_releases_is_about_enough_rows(files, most_batches):
    assignments = assigned(files, fewest=FEWEST, most_batches=most_batches)
    fewest = fewest_in_any_combination([released(one) for one in assignments])
    assert fewest is None or fewest >= FEWEST


@given(histories(), st.sampled_from([1, 2, 16]))
def test_every_new_batch_has_enough_rows_that_no_batch_had_before(files, most_batches):
    ever = set()
    for file, one in zip(
        files, assigned(files, fewest=FEWEST, most_batches=most_batches), strict=True
    ):
        if one is None:
            continue
        rows = [rows_in(one.batches.keys_of_batch(name)) for name in sorted(one.batches.active)]
        assert sum(len(of_batch) for of_batch in rows) == len(set().union(*rows))
        assert set().union(*rows) <= file
        for name in one.new:
            assert len(rows_in(one.batches.keys_of_batch(name)) - ever) >= FEWEST
        assert len(one.new) <= most_batches
        ever |= set().union(*rows)


@given(histories())
def test_rows_wait_only_where_too_few_are_new(files):
    ever = set()
    for file, one in zip(files, assigned(files, fewest=FEWEST), strict=True):
        if one is None:
            continue
        takes_part = released(one)
        waiting = file - takes_part
        assert one.waiting == len(waiting)
        assert len(waiting - ever) < FEWEST
        if waiting:
            assert not one.new
        ever |= takes_part


@given(histories())
def test_nothing_waits_where_no_number_is_asked_for(files):
    for file, one in zip(files, assigned(files, fewest=0), strict=True):
        if one is not None:
            assert released(one) == file
            assert one.waiting == 0


@given(histories())
def test_each_rows_parts_are_one_line_of_descent(files):
    """A row is in one part at a time, and that part knows the one before: so every row has one
    least noise, wherever it is looked up.
    """
    for one in assigned(files, fewest=FEWEST):
        if one is None:
            continue
        parts = one.batches.parts
        holders = {}
        for name, part in parts.items():
            for row in rows_in(part.keys):
                holders.setdefault(row, []).append(name)
        for names in holders.values():
            line = []
            name = names[-1]
            while name is not None:
                line.append(name)
                name = parts[name].parent
            assert sorted(line) == sorted(names)
        # What is active is where a line ends: no row of it was released by another name since.
        for name in one.part_names:
            assert all(holders[row][-1] == name for row in rows_in(parts[name].keys))


@given(histories())
def test_what_left_and_withdrew_is_told(files):
    before = None
    for file, one in zip(files, assigned(files, fewest=FEWEST), strict=True):
        if one is None:
            before = None
            continue
        was_released = set() if before is None else released(before)
        assert one.withdrawn == len(was_released - file)
        was_active = set() if before is None else set(before.batches.active)
        assert set(one.left) == was_active - set(one.batches.active)
        before = one


def test_four_releases_tell_a_row_though_every_two_of_them_differ_by_ten():
    """Ten leave, nine return where one goes: without batches their sums give that one away."""
    base = set(range(100, 130))
    ten = set(range(10))
    others = set(range(200, 210))
    nine = ten - {9}
    files = [base | ten, base, base | nine | others, base | {9} | others]
    for i, first in enumerate(files):
        for second in files[i + 1 :]:
            assert len(first ^ second) >= 10
    assert fewest_in_any_combination(files) == 1
    one_by_one = [1, -1, -1, 1]
    told = {}
    for factor, file in zip(one_by_one, files, strict=True):
        for row in file:
            told[row] = told.get(row, 0) + factor
    assert {row for row, factor in told.items() if factor} == {9}

    releases = [released(one) for one in assigned(files, fewest=10)]
    assert fewest_in_any_combination(releases) >= 10
    assert releases[0] == files[0]


def test_a_party_that_leaves_and_comes_back_is_as_it_was():
    file = set(range(50))
    first, _, third = assigned([file, None, file], fewest=10)
    assert third.batches.active == first.batches.active
    assert third.new == ()


def test_which_rows_are_batched_together_has_nothing_to_do_with_their_order():
    rng = np.random.default_rng(0)
    present = keys(range(60))
    sorted_first = assign(present, PartyBatches(party="a"), fewest=10)
    shuffled = assign(rng.permutation(present), PartyBatches(party="a"), fewest=10)
    assert sorted_first.batches.active == shuffled.batches.active
    assert len(sorted_first.new) == 6
