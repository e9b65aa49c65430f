"""Cells in common, counted quickly and one by one."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairpool.audit.occupied import CROWDED, Occupied, company_of

N = 3
ROWS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, N - 1)), min_size=1, max_size=40
)


def arrays(rows):
    fine, wide, owner = np.array(rows).T
    # A fine cell lies in one wide cell.
    keys = (fine + 10 * wide).astype(np.uint64) << np.uint64(20)
    return keys, wide.astype(np.uint64), owner.astype(np.intp)


def naive(rows):
    """Agreeing cells, and pairs of cells that nearly agree."""
    cells = {}
    for fine, wide, owner in rows:
        cells.setdefault((fine, wide), []).append(owner)
    agreeing = np.zeros((N, N))
    nearly = np.zeros((N, N))
    for owners in cells.values():
        for i in range(N):
            agreeing[i, i] += owners.count(i) > 1
            for j in range(N):
                agreeing[i, j] += i != j and i in owners and j in owners
    for (a, a_owners), (b, b_owners) in combinations(cells.items(), 2):
        if a[1] != b[1]:
            continue
        for i in range(N):
            nearly[i, i] += i in a_owners and i in b_owners
            for j in range(N):
                if i != j:
                    nearly[i, j] += i in a_owners and j in b_owners
                    nearly[i, j] += j in a_owners and i in b_owners
    return agreeing, nearly


@given(ROWS)
def test_agreeing_cells_are_those_counted_one_by_one(rows):
    keys, wide, owner = arrays(rows)
    occupied = Occupied.of(keys, owner, N)
    agreeing, nearly = naive(rows)
    np.testing.assert_array_equal(occupied.agreeing, agreeing)
    np.testing.assert_array_equal(occupied.nearly_agreeing(wide), nearly)


@given(ROWS)
def test_every_cell_with_several_rows_has_one_vote(rows):
    keys, _, owner = arrays(rows)
    votes = Occupied.of(keys, owner, N).votes(np.zeros(N, bool))
    crowded = (np.unique(keys, return_counts=True)[1] > 1).sum()
    assert np.isclose(np.triu(votes).sum(), crowded)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=40))
def test_rows_in_company_share_a_key(numbers):
    keys = np.array(numbers, np.uint64)
    company = company_of(keys)
    expected = [i for i, key in enumerate(keys) if (keys == key).sum() > 1]
    assert company.cells == len(set(numbers))
    if len(keys) - company.cells > len(keys) / CROWDED:
        assert company.rows.tolist() == list(range(len(keys)))
    else:
        assert company.rows.tolist() == expected
