"""Records: canonical bytes, one hash and one seal for each; anything else is refused."""

import hashlib
import hmac
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpool.__about__ import __version__
from fairpool.errors import LedgerError
from fairpool.ledger.record import (
    DEEPEST_BODY,
    LONGEST_LINE,
    NOTHING_BEFORE,
    is_authentic,
    make_record,
    parse,
)
from tests.support.ledgers import KEY, OTHER_KEY, ZEROS, plain_line, sealed_line

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
BODIES = st.dictionaries(st.text(), VALUES, max_size=5)


def record_with(**changes):
    given = {"number": 3, "previous": "ab" * 32, "kind": "release", "body": {"a": 1}}
    return make_record(KEY, **(given | changes))


@given(
    body=BODIES,
    number=st.integers(1, 10**9),
    kind=st.from_regex("[a-z][a-z0-9 _-]{0,79}", fullmatch=True),
)
def test_what_is_written_is_read_again(body, number, kind):
    record = record_with(body=body, number=number, kind=kind)
    again = parse(record.line)
    assert again == record
    assert again.line == record.line
    assert again.body == body
    assert repr(again.body) == repr(record.body)  # 1 is not 1.0, and 0.0 not -0.0
    assert record.line.isascii()
    assert record.line.count(b"\n") == 1


@given(body=BODIES)
def test_hash_and_seal_are_those_of_the_format(body):
    """Written out once more, with nothing but the standard library."""
    record = record_with(body=body)
    fields = json.loads(record.line)
    assert fields["version"] == __version__
    mac = fields.pop("mac")
    assert mac == hmac.new(KEY, plain_line(fields)[:-1], "sha256").hexdigest()
    assert record.line == plain_line(fields | {"mac": mac})
    assert record.hash == hashlib.sha256(record.line).hexdigest()
    assert is_authentic(record, KEY)
    assert not is_authentic(record, OTHER_KEY)


@given(body=BODIES, order=st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(body, order):
    names = list(body)
    order.shuffle(names)
    shuffled = {name: body[name] for name in names}
    time = "2026-03-01T09:30:00Z"
    assert record_with(body=body, time=time).line == record_with(body=shuffled, time=time).line


def test_a_record_keeps_a_copy_of_its_body():
    inner = {"b": [1]}
    record = record_with(body={"a": inner})
    inner["b"].append(2)
    assert record.body == {"a": {"b": [1]}}
    assert parse(record.line) == record


def test_numbers_of_numpy_that_are_floats_are_written_as_floats():
    assert record_with(body={"eta": np.float64(0.1)}).body == {"eta": 0.1}
    assert record_with(body={"pair": (1, 2)}).body == {"pair": [1, 2]}


@pytest.mark.parametrize(
    ("body", "match"),
    [
        ({"a": math.nan}, r"body\.a: nan is not a finite number"),
        ({"a": [1, {"b": math.inf}]}, r"body\.a\[1\]\.b: inf is not a finite number"),
        ({"a": {1: 2}}, r"body\.a: the name 1 is no text"),
        ({"a": {1, 2}}, r"body\.a: .* is nothing that JSON can hold"),
        ({"a": b"bytes"}, r"body\.a: .* is nothing that JSON can hold"),
        ({"a": np.int64(3)}, r"body\.a: .* is nothing that JSON can hold"),
        ([1], r"body: \[1\] is no object with names"),
        ({"a": 10**5000}, r"kind 'release' cannot be written \(Exceeds the limit"),
    ],
)
def test_a_body_that_json_cannot_hold_is_refused(body, match):
    with pytest.raises(LedgerError, match=match):
        record_with(body=body)


def test_a_body_is_not_nested_without_end():
    body = {}
    for _ in range(DEEPEST_BODY):
        body = {"a": body}
    assert parse(record_with(body=body).line).body == body
    with pytest.raises(LedgerError, match="nested more than 50 deep"):
        record_with(body={"a": body})


def test_a_line_is_not_endless():
    with pytest.raises(LedgerError, match="a line has at most 67108864"):
        record_with(body={"a": "x" * LONGEST_LINE})
    with pytest.raises(LedgerError, match="longer than 67108864 bytes"):
        parse(b" " * (LONGEST_LINE + 1))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"number": 0}, "number 0 is no whole number from 1 on"),
        ({"number": 1.0}, r"number 1\.0 is no whole number"),
        ({"number": True}, "number True is no whole number"),
        ({"time": "2026-03-01"}, "time '2026-03-01' is not one in UTC"),
        ({"time": "2026-02-30T00:00:00Z"}, "is not one in UTC"),
        ({"time": "2026-03-01T09:30:00+01:00"}, "is not one in UTC"),
        ({"time": 5}, "time 5 is not one in UTC"),
        ({"kind": ""}, "kind '' is no word"),
        ({"kind": "Release"}, "kind 'Release' is no word"),
        ({"kind": ["release"]}, "kind .* is no word"),
        ({"kind": "a\n"}, "kind .* is no word"),
        ({"version": ""}, "version '' is no version"),
        ({"version": 1}, "version 1 is no version"),
        ({"version": "0.1\x1b[2J"}, "is no version"),
        ({"previous": "ab"}, "previous 'ab' is not 64 hexadecimal digits"),
        ({"previous": "AB" * 32}, "is not 64 hexadecimal digits"),
        ({"mac": None}, "mac None is not 64 hexadecimal digits"),
        ({"body": []}, r"body \[\] is no JSON object"),
        ({"more": 1}, "it has unknown fields: 'more'"),
    ],
)
def test_a_line_with_a_wrong_field_is_refused(changes, match):
    with pytest.raises(LedgerError, match=match):
        parse(sealed_line(**changes))


@pytest.mark.parametrize("name", ["body", "kind", "mac", "number", "previous", "time", "version"])
def test_a_line_without_a_field_is_refused(name):
    fields = json.loads(sealed_line())
    del fields[name]
    with pytest.raises(LedgerError, match=f"it lacks {name}"):
        parse(plain_line(fields))


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        (b'"number":1', b'"number":1,"number":1', "same key twice"),
        (b'"body":{}', b'"body":{"a":1,"a":1}', "same key twice"),
        (b'"body":{}', b'"body":{"a":NaN}', "holds NaN, which is no number"),
        (b'"body":{}', b'"body":{"a":-Infinity}', "holds -Infinity, which is no number"),
        (b'"body":{}', b'"body":{"a":1e999}', "not written as fairpool writes"),
        (b'"body":{}', b'"body":{"a":1.50}', "not written as fairpool writes"),
        (b'"body":{}', b'"body":{"b":1,"a":1}', "not written as fairpool writes"),
        (b'"body":{}', b'"body": {}', "not written as fairpool writes"),
        (b'"body":{}', b'"body":{"a":"\\u0041"}', "not written as fairpool writes"),
        (b'"body":{}', '"body":{"a":"é"}'.encode(), "no ASCII"),
        (b'"body":{}', b'"body":{"a":' + b"9" * 5000 + b"}", "Exceeds the limit"),
        (b'"body":{}', b'"body":' + b'{"a":' * 5000 + b"1" + b"}" * 5000, "nested too deeply"),
        (b"}\n", b"}\r\n", "not written as fairpool writes"),
        (b"}\n", b"}", "not written as fairpool writes"),
        (b"}\n", b"}}\n", "it is no JSON"),
        (b"}\n", b"\n", "it is no JSON"),
    ],
)
def test_bytes_that_are_not_canonical_are_refused(old, new, match):
    line = sealed_line()
    assert line.count(old) == 1
    parse(line)
    with pytest.raises(LedgerError, match=match):
        parse(line.replace(old, new))


@pytest.mark.parametrize("line", [b"", b"\n", b"\0" * 50, b"[]\n", b"null\n", b"\xff\xfe{\0}\0"])
def test_what_is_no_record_is_refused(line):
    with pytest.raises(LedgerError, match=r"no JSON|no ASCII"):
        parse(line)


@given(st.binary(max_size=60))
def test_any_bytes_are_refused_in_words(line):
    with pytest.raises(LedgerError, match=r"no JSON|no ASCII|lacks|key twice|no number"):
        parse(line)


def test_nothing_comes_before_the_first_record():
    assert NOTHING_BEFORE == ZEROS
