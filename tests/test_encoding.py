import numpy as np
import pyarrow as pa
import pytest

from fairpool.columns import CategoryColumn, NumberColumn
from fairpool.encoding import TableEncoding
from fairpool.errors import DataError
from fairpool.targets import NumberTarget

ENCODING = TableEncoding(
    (CategoryColumn("kind", ("a", "b")), NumberColumn("x", 3.0, 2.0)), NumberTarget("y", 10.0, 5.0)
)


def test_a_table_becomes_numbers_by_hand():
    table = pa.table(
        {"y": [10, 20, None], "x": pa.array([1, 3, None], pa.int32()), "kind": ["b", "c", None]}
    )
    np.testing.assert_array_equal(ENCODING.encode(table), [[0, 1, -1], [0, 0, 0], [0, 0, np.nan]])
    np.testing.assert_array_equal(ENCODING.encode_target(table), [0, 2, np.nan])
    assert ENCODING.features == ("kind=a", "kind=b", "x")
    assert ENCODING.encode(table.slice(0, 0)).shape == (0, 3)


def test_chunks_and_dictionaries_are_read_as_plain_columns():
    parts = [
        pa.table({"kind": pa.array(kinds).dictionary_encode(), "x": [1.0, 5.0]})
        for kinds in (["a", "b"], ["b", "a"])
    ]
    X = ENCODING.encode(pa.concat_tables(parts))
    np.testing.assert_array_equal(X, [[1, 0, -1], [0, 1, 1], [0, 1, -1], [1, 0, 1]])


def test_columns_are_contiguous_for_sums_over_rows():
    assert ENCODING.encode(pa.table({"kind": ["a"] * 5, "x": [1.0] * 5})).flags.f_contiguous


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(DataError, match='the table has no column "kind"; the model needs kind, x'):
        ENCODING.encode(pa.table({"x": [1.0]}))


def test_predictions_come_back_in_the_targets_units():
    mean, variance = ENCODING.target.decode(np.array([0.0, 2.0]), np.array([1.0, 4.0]))
    np.testing.assert_array_equal(mean, [10, 20])
    np.testing.assert_array_equal(variance, [25, 100])
