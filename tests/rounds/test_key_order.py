"""Keys are sorted and found as their bytes would be, whatever they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpool.rounds.batches import as_before, assign
from fairpool.rounds.party_batches import PartyBatches
from fairpool.rounds.row_keys import ids_of, in_order, keys_of, order_of, places

# Few different words, so that keys agree in their first half.
WORDS = st.sampled_from([0, 1, 255, 256, 2**56, 2**63, 2**64 - 1])
KEYS = st.lists(st.tuples(WORDS, WORDS), max_size=12)


def keys(pairs):
    return keys_of(np.array(pairs, dtype=np.uint64).reshape(-1, 2))


def as_bytes(some):
    return [bytes(key) for key in some]


@given(KEYS)
def test_keys_are_sorted_by_their_bytes(pairs):
    some = keys(pairs)
    assert as_bytes(in_order(some)) == sorted(as_bytes(some))
    listed = as_bytes(some)
    assert order_of(some).tolist() == sorted(range(len(listed)), key=lambda i: listed[i])


@given(KEYS, KEYS)
def test_keys_are_found_where_they_are(known, wanted):
    known = in_order(keys(sorted(set(known))))
    listed = as_bytes(known)
    found = places(known, keys(wanted)).tolist()
    assert found == [listed.index(k) if k in listed else -1 for k in as_bytes(keys(wanted))]


def some_rows(count, seed=0):
    return np.random.default_rng(seed).integers(0, 2**63, (count, 2), dtype=np.uint64)


@pytest.mark.parametrize("rounds", [1, 3])
def test_rows_that_are_as_before_are_assigned_as_before(rounds):
    history = PartyBatches(party="a")
    rows = np.empty((0, 2), np.uint64)
    for seed in range(rounds):
        rows = np.concatenate([rows, some_rows(40, seed)])
        last = assign(keys_of(rows), history, fewest=10)
        history = last.batches
    again = assign(keys_of(rows), history, fewest=10)
    shortcut = as_before(history, part_names=last.part_names, groups=last.groups)
    assert shortcut.part_names == again.part_names
    assert (shortcut.groups == again.groups).all()
    assert (shortcut.new, shortcut.left, shortcut.withdrawn) == ((), (), 0)
    assert again.waiting == 0


def test_rows_that_wait_are_assigned_anew():
    first = assign(keys_of(some_rows(40)), PartyBatches(party="a"), fewest=10)
    rows = np.concatenate([some_rows(40), some_rows(3, 1)])
    later = assign(keys_of(rows), first.batches, fewest=10)
    assert later.waiting == 3
    names, groups = later.part_names, later.groups
    assert as_before(later.batches, part_names=names, groups=groups) is None


def test_other_parts_are_assigned_anew():
    first = assign(keys_of(some_rows(40)), PartyBatches(party="a"), fewest=10)
    names, groups = first.part_names, first.groups
    nobody = PartyBatches(party="a", parts=first.batches.parts, batches=first.batches.batches)
    assert as_before(nobody, part_names=names, groups=groups) is None


def test_identities_come_back_from_keys():
    rows = some_rows(5)
    assert (ids_of(keys_of(rows)) == rows).all()
