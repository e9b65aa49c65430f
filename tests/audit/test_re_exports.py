"""New rows beside known ones: what is recognised, and what honest growth looks like."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairpool.audit.known_rows import KnownRows, with_few_digits
from fairpool.audit.re_exports import find_re_export
from tests.support.copies import HONEST, jittered, rounded
from tests.support.re_export_tables import ALTERED, coordinates, known_rows, tables_of


def found(kind, alter, share, seed=0):
    known, new, names, again = tables_of(kind, alter, share, seed)
    return find_re_export(known, new, names=names), again


@pytest.mark.parametrize("what", ALTERED)
@pytest.mark.parametrize("share", [0.1, 1.0])
def test_rows_that_come_again_are_recognised(what, share):
    finding, again = found("friedman", ALTERED[what], share)
    assert (finding.new < again).sum() >= 0.9 * again
    assert (finding.new >= again).sum() <= 0.05 * again


@pytest.mark.parametrize("what", ["2 digits", "3 digits", "jitter 0.01", "exact"])
def test_many_columns_that_are_added_up_are_recognised(what):
    finding, again = found("diabetes", ALTERED[what], 0.5)
    assert (finding.new < again).sum() >= 0.8 * again


@pytest.mark.parametrize("kind", [*HONEST, "diabetes", "friedman"])
@pytest.mark.parametrize("in_order", [False, True])
def test_honest_growth_is_not_suspected(kind, in_order):
    rng = np.random.default_rng(7)
    X, y = coordinates(kind, rng)
    X, y = X[:6000], y[:6000]
    order = np.arange(len(y)) if in_order else rng.permutation(len(y))
    rows, names = known_rows(X[order], y[order])
    for end in (2, 6, 12):
        first = len(y) * (end - 1) // 12
        known = rows.some(np.arange(first))
        new = rows.some(np.arange(first, len(y) * end // 12))
        assert find_re_export(known, new, names=names) is None


def test_a_register_whose_labels_stay_as_they_were_is_suspected():
    """The same units month after month, with labels that hardly change: these are known labels."""
    X, y = coordinates("300 units, measured ten times with noise", np.random.default_rng(7))
    order = np.argsort(X[:, 3], kind="stable")
    rows, names = known_rows(X[order], y[order])
    for first in (300, 600):
        known = rows.some(np.arange(first))
        new = rows.some(np.arange(first, first + 300))
        finding = find_re_export(known, new, names=names)
        assert finding.alteration.column == "column 3"  # the month
        assert len(finding.new) > 250


def test_labels_that_are_measured_again_are_not_suspected_and_those_of_a_rule_are():
    rng = np.random.default_rng(1)
    X, y = coordinates("friedman", rng)
    known, names = known_rows(X, y)
    again, _ = known_rows(X, y + 0.3 * y.std() * rng.normal(size=len(y)), like=(X, y))
    assert find_re_export(known, again, names=names) is None
    shifted, _ = known_rows(X, y + 3.0, like=(X, y))
    assert len(find_re_export(known, shifted, names=names).new) == len(y)


def test_texts_that_are_all_spelled_otherwise_are_recognised():
    rng = np.random.default_rng(2)
    X, y = coordinates("friedman", rng)
    X = X[:, :4]
    texts = rng.normal(size=(2, 3))[:, rng.integers(0, 3, len(y))].T
    other = rng.normal(size=(2, 3))[:, rng.integers(0, 3, len(y))].T
    known, names = known_rows(np.column_stack([X, texts]), y)
    new, _ = known_rows(np.column_stack([X, other]), y, like=(np.column_stack([X, texts]), y))
    assert find_re_export(known, new, names=names) is None
    assert len(find_re_export(known, new, names=names, texts=(4, 5)).new) == len(y)


def test_nothing_is_found_in_nothing():
    known, names = known_rows(*coordinates("friedman", np.random.default_rng(3)))
    nothing = KnownRows.nothing(len(names))
    assert find_re_export(known, nothing, names=names) is None
    assert find_re_export(nothing, known, names=names) is None


def with_ids(labels, ids):
    m = len(labels)
    rng = np.random.default_rng(0)
    return KnownRows(
        sketch=np.vstack([rng.normal(size=(3, m)), labels]).astype(np.float32),
        labels=np.asarray(labels, float),
        coarse=rng.integers(0, 1 << 60, m).astype(np.uint64),
        names=np.asarray(ids, np.uint64),
        noise=np.zeros(m, np.uint64),
    )


def judged_by_id(before, after, ids):
    known = with_ids(before, np.arange(len(before)))
    return find_re_export(known, with_ids(after, ids), names=["a", "b", "c", "y"])


def test_labels_of_known_ids():
    rng = np.random.default_rng(4)
    y = rng.normal(100, 20, 300)
    ids = np.arange(300)
    assert judged_by_id(y, rounded(y, 2), ids).by_id
    assert judged_by_id(y, jittered(y, 0.01, rng), ids).by_id
    # Corrections: many by much, or few by little.
    assert judged_by_id(y, rng.permutation(y), ids) is None
    assert judged_by_id(y, rounded(y, 4)[:10], ids[:10]) is None
    assert judged_by_id(y, rounded(y, 4)[:16], ids[:16]).by_id
    # The same unit every month, with labels of its own, whole numbers among them.
    units = rng.normal(100, 20, 300)
    first = units + rng.normal(0, 6, 300)
    second = units + rng.normal(0, 6, 300)
    assert judged_by_id(first, second, ids) is None
    assert judged_by_id(np.round(first), np.round(second), ids) is None
    # Also where few of them moved by the same, an honest month's noise follows no rule.
    for scale in (0.5, 1.0, 2.0):
        assert judged_by_id(first, scale * second, ids) is None
    # Few labels come again by themselves.
    assert judged_by_id(np.arange(300) % 3, np.arange(300) % 3, ids) is None


@pytest.mark.parametrize("count", [16, 300])
@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ("shifted", lambda y: y + 1.5),
        ("rescaled", lambda y: 0.8 * y),
        ("shifted and rescaled", lambda y: np.round(0.8 * y + 1.5, 1)),
    ],
)
def test_labels_of_known_ids_that_follow_a_rule(kind, rule, count):
    rng = np.random.default_rng(5)
    y = rng.normal(100, 20, 300)
    after = rule(y)
    wrong = rng.permutation(300)[:30]
    after[wrong] = rng.normal(100, 20, 30)  # a rule with exceptions
    finding = judged_by_id(y, after[:count], np.arange(count))
    assert finding.by_id
    assert finding.alteration.kind == kind
    assert finding.alteration.column == "y"
    # A few corrections by the same amount are corrections.
    assert judged_by_id(y, rule(y)[:10], np.arange(10)) is None


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=20), st.integers(2, 6))
def test_two_digits_of_a_rounded_number_are_nearly_those_of_the_number(values, digits):
    values = np.array(values)
    once = with_few_digits(values)
    assert np.array_equal(with_few_digits(once), once)
    values = np.where(np.abs(values) < 1e-9, 0.0, values)
    once = with_few_digits(values)
    twice = with_few_digits(rounded(values, digits))
    assert (np.abs(twice - once) <= 0.1000001 * np.abs(values)).all()


def test_the_time_grows_like_a_sort():
    def seconds(m):
        rng = np.random.default_rng(5)
        X = rng.normal(size=(m, 2))  # close together, so that all grids are gone through
        known, names = known_rows(X, X[:, 0] + rng.normal(size=m))
        start = time.process_time()
        find_re_export(known.some(np.arange(m // 2)), known.some(np.arange(m // 2, m)), names=names)
        return time.process_time() - start

    seconds(1000)
    assert seconds(160_000) < 12 * seconds(40_000)
