"""Canonical JSON: one way to write every value, and nothing else is read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpool import canonical

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(JSON_VALUES)
def test_what_is_written_is_read_back_and_written_the_same(value):
    content = canonical.encoded(value)
    read = canonical.decoded(content)
    assert read == json.loads(json.dumps(value))
    assert canonical.encoded(read) == content


@given(st.dictionaries(st.text(), st.integers(), min_size=2))
def test_the_order_in_which_keys_came_changes_nothing(fields):
    turned = dict(reversed(fields.items()))
    assert canonical.encoded(turned) == canonical.encoded(fields)
    assert canonical.digest_of(turned) == canonical.digest_of(fields)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"a": 1}', "not written as fairpool writes"),
        (b'{"b":1,"a":2}', "not written as fairpool writes"),
        (b"[1.00]", "not written as fairpool writes"),
        (b'{"a":1,"a":1}', "same key twice"),
        (b"[NaN]", "NaN"),
        (b"[Infinity]", "Infinity"),
        (b"[1e999]", "a number out of range"),
        ('["é"]'.encode(), "no ASCII"),
        (b'{"a":1', "no JSON"),
        (b"", "no JSON"),
        (b"[" * 60 + b"]" * 60, "too deeply"),
        (b"[" * 200_000 + b"]" * 200_000, "too deeply"),
    ],
)
def test_anything_else_is_refused_with_the_reason(content, reason):
    with pytest.raises(ValueError, match=reason):
        canonical.decoded(content)


def test_what_is_no_number_cannot_be_written():
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical.encoded([float("nan")])
