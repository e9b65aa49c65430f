import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpool.paper.partitioning import block_sizes, partially_sorted, partition


@given(
    st.integers(2, 300),
    st.integers(1, 10),
    st.sampled_from([0.0, 0.05, 0.1]),
    st.integers(0, 10**6),
)
def test_every_row_once_and_everybody_has_its_least_share(m, n, least, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, 3))
    if n * np.ceil(least * m) > m:
        with pytest.raises(ValueError, match="cannot be divided among"):
            partition(X, n, least=least, rng=rng)
        return
    found = partition(X, n, least=least, rng=rng)
    assert sorted(np.concatenate(found.parties)) == list(range(m))
    assert min(map(len, found.parties)) >= least * m
    assert 0 <= found.feature < 3
    assert 0 <= found.point < m


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(0, 10**6))
def test_only_d_is_at_its_sorted_position_smaller_before_and_larger_after(values, seed):
    rng = np.random.default_rng(seed)
    values = np.array(values, dtype=float)
    point = int(rng.integers(len(values)))
    order = partially_sorted(values, point, rng)
    at = int(np.flatnonzero(order == point)[0])
    assert (values[order[:at]] <= values[point]).all()
    assert (values[order[at + 1 :]] >= values[point]).all()
    assert sorted(order) == list(range(len(values)))


def test_the_rest_is_not_sorted():
    values = np.arange(200.0)
    order = partially_sorted(values, 100, np.random.default_rng(0))
    assert order[100] == 100
    assert (np.diff(order[:100]) < 0).any()


def test_every_division_is_equally_likely():
    rng = np.random.default_rng(0)
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(6000):
        sizes = tuple(block_sizes(7, 3, smallest=1, rng=rng).tolist())
        assert sum(sizes) == 7
        assert min(sizes) >= 1
        counts[sizes] = counts.get(sizes, 0) + 1
    assert len(counts) == 15  # C(6, 2)
    assert all(abs(count - 400) < 100 for count in counts.values())
