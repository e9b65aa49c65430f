"""Near copies: what is found, what is not, and what honest data look like."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairpool as fp
from fairpool.audit.alterations import CLOSE
from fairpool.audit.near_copies import near_copies_of
from fairpool.paper.datasets import diabetes, friedman
from tests.support.copies import HONEST, altered, honest_parties, split


def shared(found):
    """The only finding, which is of the first two parties."""
    assert not found.repeated
    [finding] = found.shared
    assert (finding.first, finding.second) == (0, 1)
    return finding


def with_copies(data, alter, share, seed=0):
    """Three parties, the second of which has copies of rows of the first for so many of its own."""
    rng = np.random.default_rng(seed)
    first, second, third = split(data.X, data.y, rng)
    table = np.column_stack([first.X, first.y])
    count = round(share * len(second))
    chosen = rng.choice(len(first), min(count, len(first)), replace=False)
    own = np.column_stack([second.X, second.y])[count:]
    rows = rng.permutation(np.concatenate([alter(table[chosen], rng), own]))
    return [first, fp.Party("B", rows[:, :-1], rows[:, -1]), third], count


DATA = {"diabetes": diabetes(), "friedman": friedman(1500, np.random.default_rng(1))}
KINDS = {
    "exact": "exact",
    "3 digits": "rounded",
    "jitter 0.001": "jitter",
    "jitter 0.01": "jitter",
    "column + 0.1": "shifted",
    "column + 3 sd": "shifted",
    "column x 1.8": "rescaled",
    "column x 1.8 + 32": "shifted and rescaled",
    "other labels": "other labels",
}


@pytest.mark.parametrize("share", [0.2, 1.0])
@pytest.mark.parametrize("what", KINDS)
@pytest.mark.parametrize("data", DATA)
def test_copies_are_found_and_told_for_what_they_are(data, what, share):
    parties, count = with_copies(DATA[data], altered(what), share)
    finding = shared(fp.find_near_copies(parties))
    assert finding.alteration.kind == KINDS[what]
    assert finding.rows[1] >= 0.85 * count
    assert finding.rows[1] <= 1.1 * count
    assert finding.by_chance < 0.2 * count


def test_the_altered_column_is_named_with_what_was_done_to_it():
    for what, shift, factor in (("column + 0.1", 0.1, 1.0), ("column x 1.8 + 32", 32.0, 1.8)):
        parties, _ = with_copies(DATA["friedman"], altered(what), 0.3)
        alteration = shared(fp.find_near_copies(parties)).alteration
        assert alteration.column == "column 1"
        assert alteration.shift == pytest.approx(shift, rel=1e-6)
        assert alteration.factor == pytest.approx(factor, rel=1e-6)


def test_few_copies_in_a_large_table_are_found():
    parties, count = with_copies(DATA["friedman"], altered("column + 0.1"), 0.02)
    assert count == 10
    assert shared(fp.find_near_copies(parties)).rows == (10, 10)


@pytest.mark.parametrize("jitter", [1e-6, 1e-3, 1e-2])
@pytest.mark.parametrize("times", [2, 10])
@pytest.mark.parametrize("data", DATA)
def test_rows_that_are_repeated_with_jitter_are_found(data, times, jitter):
    rng = np.random.default_rng(0)
    first, second, third = split(DATA[data].X, DATA[data].y, rng)
    rows = np.repeat(np.column_stack([second.X, second.y]), times, axis=0)
    rows = rng.permutation(altered(f"jitter {jitter}")(rows, rng))
    again = fp.Party("B", rows[:, :-1], rows[:, -1])
    found = fp.find_near_copies([first, again, third])
    assert not found.shared
    [finding] = found.repeated
    assert finding.party == 1
    assert finding.typical_group == times
    assert finding.rows >= 0.7 * len(again)


@pytest.mark.parametrize(("how", "n"), [("random", 3), ("sorted", 3), ("random", 10)])
@pytest.mark.parametrize("kind", HONEST)
def test_honest_data_are_not_suspected(kind, how, n):
    found = fp.find_near_copies(honest_parties(kind, 0, how, n))
    assert not found.repeated
    assert not found.shared


def near_rows(first, second, scale):
    """The rows of the second that nearly agree with one of the first, by all pairs."""
    gaps = np.abs(first[None, :, :] - second[:, None, :]) / scale
    return np.flatnonzero((gaps.max(axis=2) <= CLOSE).any(axis=1))


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(8, 25), exponent=st.floats(-5, -3))
@settings(max_examples=25, deadline=None)
def test_the_rows_found_are_those_of_all_pairs(seed, count, exponent):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(120, 5))
    copied = rows[:count] + 10**exponent * rng.normal(size=(count, 5))
    other = rng.permutation(np.concatenate([copied, rng.normal(size=(40, 5))]))
    parties = [fp.Party("a", rows[:, :4], rows[:, 4]), fp.Party("b", other[:, :4], other[:, 4])]
    finding = shared(fp.find_near_copies(parties))
    assert finding.rows == (count, count)
    assert finding.rows[1] == len(near_rows(rows, other, np.ones(5)))


@given(seed=st.integers(0, 2**32 - 1), powers=st.lists(st.integers(-40, 40), min_size=4))
@settings(max_examples=20, deadline=None)
def test_units_do_not_matter(seed, powers):
    rng = np.random.default_rng(seed)
    units = 2.0 ** np.array(powers[:4])
    rows = rng.normal(size=(60, 4))
    other = np.concatenate([rows[:20] + 1e-4 * rng.normal(size=(20, 4)), rng.normal(size=(40, 4))])
    found = []
    for factor in (np.ones(4), units):
        first, second = rows * factor, other * factor
        parties = [fp.Party("a", first[:, :3], first[:, 3])]
        parties.append(fp.Party("b", second[:, :3], second[:, 3]))
        found.append(shared(fp.find_near_copies(parties)))
    assert found[0].rows == found[1].rows
    assert found[0].example == found[1].example
    assert found[0].alteration.kind == found[1].alteration.kind


def test_a_column_of_unix_times_does_not_hide_the_others():
    rng = np.random.default_rng(0)
    X = np.column_stack([1.7e9 + rng.integers(0, 3e7, 300), rng.normal(size=(300, 3))])
    y = rng.normal(size=300)
    later = X[:150] + np.array([3600.0, 0, 0, 0])
    parties = [fp.Party("a", X[:150], y[:150]), fp.Party("b", later, y[:150])]
    finding = shared(fp.find_near_copies(parties))
    assert finding.rows == (150, 150)
    assert finding.alteration.kind == "shifted"
    assert finding.alteration.shift == 3600.0


def test_wide_tables_are_searched_as_well():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 80))
    y = rng.normal(size=400)
    copied = X[:100].copy()
    copied[:, 37] *= 2.54
    parties = [fp.Party("a", X[:200], y[:200])]
    parties.append(fp.Party("b", np.vstack([copied, X[200:]]), np.append(y[:100], y[200:])))
    finding = shared(fp.find_near_copies(parties))
    assert finding.rows == (100, 100)
    assert (finding.alteration.kind, finding.alteration.column) == ("rescaled", "column 37")
    assert finding.alteration.factor == pytest.approx(2.54)


def test_the_same_inputs_measured_again_are_natural_but_not_with_jitter():
    rng = np.random.default_rng(0)
    sites = np.repeat(rng.normal(size=(40, 4)), 5, axis=0)
    other = fp.Party("other", rng.normal(size=(200, 4)), rng.normal(size=200))
    y = rng.normal(size=200)
    assert not fp.find_near_copies([fp.Party("sites", sites, y), other]).repeated
    jittered = sites + 1e-6 * rng.normal(size=sites.shape)
    [finding] = fp.find_near_copies([fp.Party("sites", jittered, y), other]).repeated
    assert finding.alteration.kind == "other labels"


def test_work_grows_like_the_rows():
    """Rows sorted per row do not depend on how many there are."""
    rng = np.random.default_rng(0)
    work = []
    for rows in (2_000, 32_000):
        X = rng.normal(size=(rows, 7))
        y = rng.normal(size=rows)
        parties = [fp.Party("a", X[::2], y[::2]), fp.Party("b", X[1::2], y[1::2])]
        work.append(fp.find_near_copies(parties).sorted_rows / rows)
    assert work[1] == pytest.approx(work[0], rel=0.05)


@pytest.mark.parametrize("kind", ["apart", "crowded", "repeated"])
def test_memory_is_that_of_some_numbers_per_row(kind):
    """What docs/trust.md and `MOST_SKETCHED` say: 200 bytes per row beside the sketches."""
    rng = np.random.default_rng(0)
    rows = 100_000
    coordinates = 3 if kind == "crowded" else 8
    sketch = rng.normal(size=(coordinates, rows)).astype(np.float32)
    if kind == "repeated":
        sketch = np.repeat(sketch[:, ::10], 10, axis=1)
    sketches = [sketch[:, : rows // 2], sketch[:, rows // 2 :]]
    columns = [str(place) for place in range(coordinates)]
    tracemalloc.start()
    try:
        found = near_copies_of(
            sketches,
            ["a", "b"],
            columns=columns,
            lookup=lambda party, chosen: sketches[party][:, chosen].T.astype(float),
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found.repeated) == (2 if kind == "repeated" else 0)
    assert peak < 240 * rows


def test_empty_and_tiny_parties_have_no_copies():
    empty = fp.Party("empty", np.zeros((0, 2)), [])
    tiny = fp.Party("tiny", [[1.0, 2.0]], [3.0])
    constant = fp.Party("constant", np.ones((50, 2)), np.ones(50))
    for parties in ([empty], [empty, tiny], [tiny, constant]):
        found = fp.find_near_copies(parties)
        assert not found.repeated
        assert not found.shared


def test_the_result_is_plain_json_with_names():
    parties, _ = with_copies(DATA["friedman"], altered("column + 0.1"), 0.2)
    found = fp.find_near_copies(parties).to_dict()
    [finding] = found["shared"]
    assert finding["parties"] == ["A", "B"]
    assert finding["kind"] == "shifted"
    assert found["repeated"] == []


def test_collaborate_warns_of_near_copies():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 3))
    y = X.sum(axis=1)
    moved = X[:30] + np.array([0.0, 0.1, 0.0])
    parties = [fp.Party("a", X[:30], y[:30]), fp.Party("b", moved, y[:30])]
    model = fp.BayesianLinearRegression(noise_variance=0.1)
    text = 'agree in all columns but "column 1", which is 0.1 larger at "b"'
    with pytest.warns(fp.FairpoolWarning, match=text):
        fp.collaborate([*parties, fp.Party("c", X[30:], y[30:])], model, rho=0.5)
