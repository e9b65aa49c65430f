"""Rows come and go in batches: what any combination of releases is about, in random histories."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairpool.rounds.batches import as_before, assign, rows_gone
from fairpool.rounds.party_batches import PartyBatches
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


def all_may(batch):
    """Everything is kept."""
    return bool(batch)


@given(histories(), st.sampled_from([1, 2, 16]), st.sampled_from([None, all_may]))
def test_any_combination_of_releases_is_about_enough_rows(files, most_batches, may_stand):
    assignments = assigned(files, fewest=FEWEST, most_batches=most_batches, may_stand=may_stand)
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
def test_a_batch_that_lost_rows_stands_until_enough_came_or_went(files):
    ever = set()
    before = None
    for file, one in zip(files, assigned(files, fewest=FEWEST, may_stand=all_may), strict=True):
        if one is None:
            before = None
            continue
        takes_part = released(one)
        assert one.gone == len(takes_part - file)
        assert one.rows == len(takes_part)
        assert one.waiting == len(file - takes_part)
        lost = set() if before is None else released(before) - file
        enough_came = len(file - ever) >= FEWEST
        stands = {
            part
            for name in one.batches.active
            if not rows_in(one.batches.keys_of_batch(name)) <= file
            for part in one.batches.batches[name].parts
        }
        assert one.standing == stands
        if len(lost) < FEWEST and not enough_came:
            # Whatever is lost stays, and so do the rows beside it.
            assert one.gone == len(lost)
            assert one.left == ()
        else:
            assert one.gone == 0
            assert takes_part <= file
        ever |= takes_part
        before = one


def test_rows_gone_are_told_by_part():
    (first,) = assigned([set(range(30))], fewest=10)
    gone = rows_gone(keys(set(range(3, 40))), first.batches.parts)
    assert sum(gone.values()) == 3
    for name, count in gone.items():
        assert count == len(rows_in(first.batches.parts[name].keys) & {0, 1, 2})


def test_what_is_as_before_lacks_no_row():
    first, second = assigned([set(range(30)), set(range(1, 30))], fewest=10, may_stand=all_may)
    assert second.gone == 1
    known = as_before(second.batches, part_names=second.part_names, groups=second.groups)
    assert known is None
    again = as_before(first.batches, part_names=first.part_names, groups=first.groups)
    assert again.batches.active == first.batches.active


@given(histories())
def test_nothing_waits_where_no_number_is_asked_for(files):
    for file, one in zip(files, assigned(files, fewest=0), strict=True):
        if one is not None:
            assert released(one) == file
            assert one.waiting == 0


@given(histories(), st.sampled_from([None, all_may]))
def test_each_rows_parts_are_one_line_of_descent(files, may_stand):
    """A row is in one part at a time, and that part knows the one before: so every row has one
    least noise, wherever it is looked up.
    """
    for one in assigned(files, fewest=FEWEST, may_stand=may_stand):
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


def in_files(files, *, fewest, rows_per_file, lasting):
    """What goes into one file a round, where a batch may be in as many as its new rows allow.

    Of each round the rows in its file, and of every batch the files that it was in and the rows
    that were new in it.
    """
    history = PartyBatches(party="a")
    counts = {}
    new_rows = {}
    ever = set()
    releases = []
    for file in files:
        if file is None:
            history = PartyBatches(party="a", parts=history.parts, batches=history.batches)
            releases.append(set())
            continue
        spent = {
            name
            for name, count in counts.items()
            if new_rows[name] < min(lasting, (count + 1) * rows_per_file)
        }
        one = assign(keys(file), history, fewest=fewest, lasting=lasting, spent=spent)
        history = one.batches
        assert one.spent == spent & one.batches.active
        released_now = set()
        for name in sorted(one.batches.active):
            rows = rows_in(one.batches.keys_of_batch(name))
            new_rows.setdefault(name, len(rows - ever))
            if name not in one.spent:
                counts[name] = counts.get(name, 0) + 1
                released_now |= rows
        for name in one.batches.batches:
            ever |= rows_in(one.batches.keys_of_batch(name))
        releases.append(released_now)
    return releases, counts, new_rows


@given(histories())
def test_a_batch_is_in_no_more_files_than_its_new_rows_allow(files):
    releases, counts, new_rows = in_files(files, fewest=FEWEST, rows_per_file=3, lasting=9)
    for name, count in counts.items():
        assert new_rows[name] >= min(9, 3 * count)
    fewest = fewest_in_any_combination(releases)
    assert fewest is None or fewest >= FEWEST


def test_a_spent_batch_counts_until_its_rows_return_with_new_ones():
    first = assign(keys(range(6)), PartyBatches(party="a"), fewest=4, lasting=20)
    (name,) = first.new
    waits = assign(keys(range(9)), first.batches, fewest=4, lasting=20, spent=first.new)
    assert (waits.new, waits.left, waits.waiting) == ((), (), 3)
    assert waits.spent == {name}
    assert waits.rows == 6
    returned = assign(keys(range(10)), first.batches, fewest=4, lasting=20, spent=first.new)
    assert returned.left == first.new
    assert not returned.spent
    (batch,) = returned.new
    assert rows_in(returned.batches.keys_of_batch(batch)) == set(range(10))
    # What was not spent stays as it is.
    beside = assign(keys(range(10)), first.batches, fewest=4, lasting=20)
    assert name in beside.batches.active
    assert len(beside.new) == 1


def test_of_several_new_batches_each_lasts():
    for rows, batches in ((39, 1), (40, 2), (65, 3)):
        made = assign(keys(range(rows)), PartyBatches(party="a"), fewest=4, lasting=20).new
        assert len(made) == batches
