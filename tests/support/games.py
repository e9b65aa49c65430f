"""Random games for hypothesis: integers, so that ties are real ties and sums are exact."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def monotone_tables(draw, least=1, most=5):
    n = draw(st.integers(least, most))
    steps = draw(st.lists(st.integers(0, 12), min_size=2**n, max_size=2**n))
    v = np.zeros(2**n)
    for mask in range(1, 2**n):
        v[mask] = max(v[mask & ~(1 << i)] for i in range(n) if mask >> i & 1) + steps[mask]
    return v


@st.composite
def submodular_tables(draw, least=1, most=5):
    """Coverage: each of some weighted items is known to some parties.

    A coalition has the weight of what it knows.
    """
    n = draw(st.integers(least, most))
    items = draw(
        st.lists(st.tuples(st.integers(1, 9), st.integers(0, 2**n - 1)), min_size=1, max_size=8)
    )
    return np.array(
        [sum(w for w, knowers in items if knowers & mask) for mask in range(2**n)], dtype=float
    )


def tables(least=1, most=5):
    return st.one_of(monotone_tables(least, most), submodular_tables(least, most)).filter(
        lambda v: v[-1] > 0
    )
