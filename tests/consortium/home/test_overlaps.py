"""What several contributions show together, against every combination with small factors."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairpool.consortium.home.overlaps import fewest_apart, smallest_shown
from fairpool.rounds.row_keys import in_order, keys_of

FEWEST = 4
SMALL, LARGE = (1, 3), (4, 9)


def keys(groups):
    """The rows of some groups, sorted: a group is (its number, how many rows)."""
    ids = [(number, row) for number, size in groups for row in range(size)]
    return in_order(keys_of(np.array(ids, np.uint64).reshape(-1, 2)))


@st.composite
def contributions(draw):
    """Groups of rows of some sizes, and which of up to three contributions has each."""
    k = draw(st.integers(2, 3))
    patterns = draw(
        st.lists(
            st.tuples(
                st.lists(st.booleans(), min_size=k, max_size=k).filter(any).map(tuple),
                st.sampled_from([*SMALL, *LARGE]),
            ),
            min_size=1,
            max_size=5,
            unique_by=lambda one: one[0],
        )
    )
    return k, patterns


@given(contributions())
def test_a_group_is_shown_if_a_combination_has_it_without_large_ones(drawn):
    k, patterns = drawn
    members = np.array([pattern for pattern, _ in patterns], float).T  # [k, g]
    sizes = np.array([size for _, size in patterns])
    is_small = sizes < FEWEST
    shown = []
    # Of so few contributions, factors up to 2 give every combination that cancels.
    for factors in product(range(-2, 3), repeat=k):
        left = factors @ members
        if not left[~is_small].any():
            shown += sizes[is_small & (left != 0)].tolist()
    rows = [
        keys([(g, size) for g, (who, size) in enumerate(patterns) if who[one]]) for one in range(k)
    ]
    assert smallest_shown(rows, fewest=FEWEST) == min(shown, default=0)


@given(st.sets(st.integers(0, 20)), st.sets(st.integers(0, 20)))
def test_the_fewest_rows_apart(first, second):
    sides = [len(first - second), len(second - first)]
    expected = min((side for side in sides if side), default=0)
    rows = [keys([(number, 1) for number in one]) for one in (first, second)]
    assert fewest_apart(*rows) == expected


@given(contributions())
def test_what_left_before_is_not_counted_again(drawn):
    k, patterns = drawn
    rows = [
        keys([(g, size) for g, (who, size) in enumerate(patterns) if who[one]]) for one in range(k)
    ]
    empty = keys([])
    assert smallest_shown([*rows, empty], fewest=FEWEST, known=k) == 0
    assert smallest_shown(rows, fewest=FEWEST, known=0) == smallest_shown(rows, fewest=FEWEST)
