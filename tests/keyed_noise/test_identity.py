"""Row identity, beside an oracle that goes row by row with other libraries' words."""

import datetime
import hashlib
import math
import struct
import unicodedata
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from fairpool.errors import DataError
from fairpool.keyed_noise.identity import coordinate_ids, row_digests, row_ids
from fairpool.keyed_noise.secret import Secret

SECRET = Secret(bytes(range(32)))
TEXT_KEY = SECRET.subkey("text of a row")
EPOCH = datetime.datetime(1970, 1, 1)


def cell(value):
    """A value as 16 bytes, by Python's own arithmetic."""
    if value is None or value != value:
        return bytes(16)
    if isinstance(value, str):
        normal = unicodedata.normalize("NFC", value).encode()
        return hashlib.blake2b(normal, digest_size=15, key=TEXT_KEY).digest() + b"\x02"
    if isinstance(value, datetime.datetime):
        since = value - EPOCH
        seconds = since.days * 86400 + since.seconds
        return struct.pack("<qIxxxB", seconds, since.microseconds * 1000, 3)
    if isinstance(value, datetime.date):
        return cell(datetime.datetime(value.year, value.month, value.day))
    rest = 0
    if not math.isinf(value) and Fraction(value) != Fraction(float(value)):
        rest = value % 2048
        value -= rest
    number = 0.0 if value == 0 else float(value)
    return struct.pack("<dHxxxxxB", number, rest, 1)


def encrypted(key, block):
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return encryptor.update(block) + encryptor.finalize()


def digest(party, row):
    """The CBC-MAC of one row, a dictionary from names to values."""
    names = sorted(row)
    key = SECRET.subkey("row digest", party.encode(), *(name.encode() for name in names))
    state = bytes(16)
    for name in names:
        mixed = bytes(a ^ b for a, b in zip(state, cell(row[name]), strict=True))
        state = encrypted(key, mixed)
    return struct.unpack("<QQ", state)


def rows_of(columns):
    names = list(columns)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def digests_of(party="a", **columns):
    found = row_digests(SECRET, party, columns)
    assert found.dtype == np.uint64
    return [tuple(map(int, pair)) for pair in found]


def one(value, **settings):
    (found,) = digests_of(x=pa.array([value], **settings))
    return found


def test_the_digests_are_those_of_the_oracle():
    rng = np.random.default_rng(0)
    columns = {
        "z": rng.normal(size=50).tolist(),
        "whole": rng.integers(-(2**62), 2**62, 50).tolist(),
        "note": [None if k % 7 == 0 else f"Ge\u0308ra\u0308t {k % 5}" for k in range(50)],
        "day": [datetime.date(1969, 12, 20) + datetime.timedelta(k) for k in range(50)],
        "label": [None if k % 3 == 0 else k / 3 for k in range(50)],
    }
    expected = [digest("clinic 7", row) for row in rows_of(columns)]
    assert digests_of("clinic 7", **{name: pa.array(c) for name, c in columns.items()}) == expected
    assert len(set(expected)) == 50


numbers = st.one_of(
    st.none(),
    st.floats(width=64),
    st.integers(-(2**53), 2**53).map(float),
)
whole = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.integers(-5, 5))
texts = st.one_of(st.none(), st.text(max_size=4), st.sampled_from(["\u00e9", "e\u0301", "", "0"]))
tables = st.lists(st.tuples(numbers, whole, texts, numbers), min_size=1, max_size=6)
TYPES = {"a": pa.float64(), "b": pa.int64(), "c": pa.string(), "label": pa.float64()}


def columns_of(table):
    columns = {}
    for (name, kind), values in zip(TYPES.items(), zip(*table, strict=True), strict=True):
        columns[name] = pa.array(values, kind)
    return columns


@given(tables)
def test_any_table_has_the_oracles_digests(table):
    columns = columns_of(table)
    lists = {name: column.to_pylist() for name, column in columns.items()}
    assert digests_of(**columns) == [digest("a", row) for row in rows_of(lists)]


@given(tables, st.permutations(list(TYPES)), st.lists(st.integers(0, 6), max_size=4))
def test_neither_the_order_of_columns_nor_chunks_matter(table, order, cuts):
    columns = columns_of(table)
    plain = digests_of(**columns)
    borders = [0, *sorted(min(cut, len(table)) for cut in cuts), len(table)]
    chunked = {}
    for name in order:
        chunks = [columns[name].slice(a, b - a) for a, b in pairwise(borders)]
        chunked[name] = pa.chunked_array(chunks, columns[name].type)
    assert digests_of(**chunked) == plain


@given(tables, st.permutations(range(6)))
def test_the_order_of_rows_does_not_matter(table, order):
    order = [k for k in order if k < len(table)]
    columns = columns_of(table)
    plain = digests_of(**columns)
    moved = digests_of(**{name: column.take(order) for name, column in columns.items()})
    assert moved == [plain[k] for k in order]


@given(numbers, numbers)
def test_numbers_are_equal_if_python_says_so(one_number, other):
    both_missing = cell(one_number) == cell(other) == bytes(16)
    is_same = both_missing or one_number == other
    found = digests_of(x=pa.array([one_number, other], pa.float64()))
    assert (found[0] == found[1]) == is_same


@given(st.text(max_size=3), st.text(max_size=3))
def test_texts_are_equal_if_their_normal_forms_are(text, other):
    is_same = unicodedata.normalize("NFC", text) == unicodedata.normalize("NFC", other)
    found = digests_of(x=pa.array([text, other]))
    assert (found[0] == found[1]) == is_same


@given(st.text(max_size=5))
def test_every_unicode_form_is_the_same(text):
    assert one(unicodedata.normalize("NFD", text)) == one(unicodedata.normalize("NFC", text))


def test_zeros_are_equal():
    zeros = [one(0.0), one(-0.0), one(0), one(0, type=pa.uint8()), one(False)]
    assert len(set(zeros)) == 1


def test_every_missing_value_is_the_same_and_nothing_else_is():
    odd = np.array([0x7FF8000000000001, 0xFFF0000000000001], np.uint64).view(np.float64)
    missing = {
        one(None, type=pa.float64()),
        one(None, type=pa.string()),
        one(None, type=pa.int64()),
        one(None, type=pa.date32()),
        one(None, type=pa.timestamp("us", "UTC")),
        one(None, type=pa.bool_()),
        one(None),
        one(math.nan),
        *digests_of(x=odd),
        *digests_of(x=np.array([None, math.nan, pd.NA], object)),
        *digests_of(x=np.array(["NaT"], "datetime64[s]")),
    }
    assert len(missing) == 1
    others = {one(0), one(""), one("nan"), one(datetime.date(1970, 1, 1)), one(math.inf)}
    assert len(others) == 5
    assert not missing & others


@pytest.mark.parametrize("value", [3, -7, 2**53, -(2**53), 2**53 + 2, -(2**62), 0])
def test_a_whole_number_is_the_same_as_a_float(value):
    assert one(value) == one(float(value))
    if 0 <= value < 100:
        for kind in (pa.int8(), pa.uint16(), pa.uint64(), pa.float32()):
            assert one(value, type=kind) == one(float(value))


def test_whole_numbers_that_no_float_equals_are_all_different():
    around = []
    for middle in (2**53, 2**60, 2**63 - 3000, -(2**63) + 3000, 2**63 - 2):
        around += [middle + k for k in range(-2, 2)]
    found = digests_of(x=pa.array(around, pa.int64()))
    assert len(set(found)) == len(around)
    assert one(2**63 - 1) != one(float(2**63 - 1))
    assert one(2**53 + 1) != one(float(2**53 + 1))
    high = [2**64 - 1, 2**64 - 2, 2**63, 2**63 + 1, 2**63 - 1]
    found = digests_of(x=pa.array(high, pa.uint64()))
    assert len(set(found)) == len(high)
    assert found[4] == one(2**63 - 1)
    assert found[2] == one(2.0**63)
    assert found[0] != one(2.0**64)


def test_a_text_that_looks_like_a_number_is_a_text():
    assert one("1") != one(1)
    assert one("1.0") != one("1")


def test_every_kind_of_text_column_is_the_same():
    plain = pa.array(["red", None, "blue", "red", ""])
    expected = digests_of(x=plain)
    assert expected[0] == expected[3]
    for other in (
        plain.dictionary_encode(),
        plain.cast(pa.large_string()),
        plain.cast(pa.string_view()),
        pa.DictionaryArray.from_arrays([2, 0, 3, 2, 1], [None, "", "red", "blue"]),
        np.array(["red", None, "blue", "red", ""], object),
    ):
        assert digests_of(x=other) == expected


def test_dates_and_times_are_what_they_say():
    day = datetime.date(2031, 5, 17)
    midnight = datetime.datetime(2031, 5, 17)
    early = datetime.datetime(1901, 2, 3, 4, 5, 6, 789000)
    same = {
        one(day),
        one(day, type=pa.date64()),
        one(midnight),
        one(midnight, type=pa.timestamp("s")),
        one(midnight, type=pa.timestamp("ns")),
        *digests_of(x=np.array(["2031-05-17"], "datetime64[D]")),
    }
    assert len(same) == 1
    assert one(early, type=pa.timestamp("ms")) == one(early, type=pa.timestamp("ns"))
    assert one(early) == digest("a", {"x": early})
    assert one(midnight, type=pa.timestamp("us", "UTC")) not in same
    assert one(midnight + datetime.timedelta(microseconds=1)) not in same
    assert one(2.0) != one(datetime.date(1970, 1, 3))


def test_party_names_and_columns_take_part():
    x = np.arange(3.0)
    variants = [
        digests_of("a", x=x),
        digests_of("b", x=x),
        digests_of("a", y=x),
        digests_of("a", x=x, y=x),
        digests_of("a", x=x, z=x),
        digests_of("a", x=x, y=x + 1),
        digests_of("a", x=x + 1, y=x),
    ]
    values = [pair for variant in variants for pair in variant]
    assert len(set(values)) == 21


def test_names_are_the_same_in_every_unicode_form():
    x = np.arange(3.0)
    composed = row_digests(SECRET, "Spit\u00e4l", {"Gr\u00f6\u00dfe": x})
    apart = row_digests(SECRET, "Spita\u0308l", {"Gro\u0308\u00dfe": x})
    np.testing.assert_array_equal(composed, apart)


def test_secrets_take_part():
    columns = {"x": np.arange(3.0)}
    other = Secret(bytes(32))
    mine = row_digests(SECRET, "a", columns)
    theirs = row_digests(other, "a", columns)
    assert not (mine == theirs).any()
    assert not (row_ids(SECRET, mine) == row_ids(other, mine)).any()
    assert not (coordinate_ids(SECRET, "a", 5) == coordinate_ids(other, "a", 5)).any()


def test_no_rows():
    columns = {"x": np.zeros(0), "note": pa.chunked_array([], pa.string())}
    assert row_digests(SECRET, "a", columns).shape == (0, 2)
    assert row_ids(SECRET, row_digests(SECRET, "a", columns)).shape == (0, 2)


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({}, 'party "clinic": no column tells its rows apart'),
        (
            {"a": np.zeros(3), "b": np.zeros(2)},
            'party "clinic": column "b" has 2 rows, those before it 3',
        ),
        ({"\u00e9": np.zeros(1), "e\u0301": np.zeros(1)}, "two columns are named"),
        ({"x": pa.array([b"raw"])}, 'party "clinic", column "x": of type binary it cannot'),
        ({"x": pa.array([[1.0]])}, "of type list"),
        ({"x": np.zeros((2, 2))}, 'column "x": cannot tell its rows apart'),
        ({"x": np.array([1, "a"], object)}, 'column "x": cannot tell its rows apart'),
        ({"x": np.array([1j])}, 'column "x": cannot tell its rows apart'),
        ({"x": np.array(["\ud800"], object)}, 'column "x": cannot tell its rows apart'),
    ],
)
def test_what_cannot_be_told_apart_is_refused(columns, text):
    with pytest.raises(DataError, match=text):
        row_digests(SECRET, "clinic", columns)


def id_of(pair, occurrence):
    key = SECRET.subkey("row id")
    first = encrypted(key, struct.pack("<QQ", *pair))
    counted = struct.pack("<QQ", occurrence, 0)
    mixed = bytes(a ^ b for a, b in zip(first, counted, strict=True))
    return struct.unpack("<QQ", encrypted(key, mixed))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=12))
def test_equal_rows_are_counted_in_the_order_of_appearance(pairs):
    digests = np.array(pairs, np.uint64).reshape(-1, 2)
    seen = Counter()
    expected = []
    for pair in pairs:
        expected.append(id_of(pair, seen[pair]))
        seen[pair] += 1
    found = [tuple(map(int, pair)) for pair in row_ids(SECRET, digests)]
    assert found == expected
    assert len(set(found)) == len(found)


def test_more_rows_leave_the_ids_of_those_before_them_alone():
    digests = row_digests(SECRET, "a", {"x": np.arange(40) % 7})
    np.testing.assert_array_equal(row_ids(SECRET, digests)[:30], row_ids(SECRET, digests[:30]))


def test_coordinates_have_ids_of_their_own():
    ids = coordinate_ids(SECRET, "clinic, 2031", 4)
    key = SECRET.subkey("coordinate", b"clinic, 2031")
    expected = [struct.unpack("<QQ", encrypted(key, struct.pack("<QQ", k, 0))) for k in range(4)]
    assert [tuple(map(int, pair)) for pair in ids] == expected
    np.testing.assert_array_equal(coordinate_ids(SECRET, "clinic, 2031", 2), ids[:2])
    assert not (coordinate_ids(SECRET, "clinic, 2032", 4) == ids).any()
    assert coordinate_ids(SECRET, "clinic", 0).shape == (0, 2)
    with pytest.raises(DataError, match="d -1 is not a whole number"):
        coordinate_ids(SECRET, "clinic", -1)


def test_ids_stay_what_they_are_for_good():
    # Another value here would give every row of every consortium new noise.
    columns = {"age": [61.0, None], "note": ["tr\u00e8s bien", ""], "label": [0.25, -1e300]}
    digests = row_digests(SECRET, "clinic", {n: pa.array(c) for n, c in columns.items()})
    assert digests.tobytes().hex() == GOLDEN_DIGESTS
    assert row_ids(SECRET, digests).tobytes().hex() == GOLDEN_IDS
    assert coordinate_ids(SECRET, "clinic", 1).tobytes().hex() == GOLDEN_COORDINATE


GOLDEN_DIGESTS = "5fabe6d21a35837aab13d5d708de2a4804f91d232f65d12cd0452c37e6015258"
GOLDEN_IDS = "0b23a5dd43f1c41c4ab55400e31ba642e280609f3c005a37796210c3ecad713a"
GOLDEN_COORDINATE = "b89909779ccc54cc5aede5f53c2e3f04"
