"""A cell of a table as 128 bits that depend on its value alone.

How a file happens to store a value must not change the row's noise: so 3 is the same as a whole
number and as a float, -0.0 is 0.0, every kind of missing value is the same (and neither 0 nor an
empty text), and a text is the same in every Unicode form. No other two values become the same bits,
but for a chance of 2^-120 for each two texts. A cell's bits depend neither on the other cells of
its column nor on the column's type, which may change from one export to the next.

The last byte says what it is:

    missing   all else is 0
    number    the float64, and what it falls short of a whole number that is not one
    text      a keyed hash of its bytes
    moment    seconds since 1970-01-01, and nanoseconds; with a time zone, one kind of its own
"""

from collections.abc import Callable
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairpool.errors import DataError
from fairpool.keyed_noise.block_cipher import Blocks
from fairpool.tables.arrays import FloatArray

Column: TypeAlias = pa.ChunkedArray | pa.Array | NDArray[np.generic]
"""A column of a table, by any of these names."""

NUMBER, TEXT, MOMENT, MOMENT_IN_ZONE = 1, 2, 3, 4
"""What a cell is; a missing one is 0."""

COARSE = 2**11
"""Among whole numbers of 64 bits, all multiples of this are floats."""

TEXT_BYTES = 15
DAY = 86_400
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def cells_of(column: Column, where: str, key: bytes) -> Blocks:
    """A column's cells [m, 2].

    Args:
        column: Numbers, truth values, texts, dates or times.
        where: What to call the column in an error.
        key: For the hash of texts.
    """
    if not isinstance(column, pa.ChunkedArray | pa.Array):
        column = _arrow(column, where)
    if isinstance(column, pa.Array):
        column = pa.chunked_array([column])
    blocks = [_cells(chunk, where, key) for chunk in column.chunks]
    return np.concatenate([np.zeros((0, 2), np.uint64), *blocks])


def _arrow(column: NDArray[np.generic], where: str) -> pa.Array | pa.ChunkedArray:
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"{where}: cannot tell its rows apart ({error}); give one column of numbers, texts or"
            " dates"
        ) from None


def _cells(chunk: pa.Array, where: str, key: bytes) -> Blocks:
    kind = chunk.type
    if pa.types.is_dictionary(kind):
        return _of_dictionary(chunk, lambda values: _cells(values, where, key))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        # Most columns of text say few things often, and hashing is what takes time.
        return _of_dictionary(chunk.dictionary_encode(), lambda values: _text_cells(values, key))
    if pa.types.is_null(kind):
        return np.zeros((len(chunk), 2), np.uint64)
    if pa.types.is_boolean(kind):
        return _number_cells(chunk.cast(pa.int8()))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _number_cells(chunk)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _moment_cells(chunk)
    if kind == pa.string_view():
        return _cells(chunk.cast(pa.large_string()), where, key)
    raise DataError(
        f"{where}: of type {kind} it cannot tell rows apart; give numbers, texts, dates or times"
    )


def _of_dictionary(chunk: pa.DictionaryArray, cells: Callable[[pa.Array], Blocks]) -> Blocks:
    """The cells of a column that says for each row which of some values it has."""
    # What is missing points behind the last value.
    values = np.concatenate([cells(chunk.dictionary), np.zeros((1, 2), np.uint64)])
    indices = chunk.indices.cast(pa.int64()).fill_null(len(values) - 1)
    places: NDArray[np.int64] = indices.to_numpy(zero_copy_only=False)
    return values[places]


def _text_cells(texts: pa.Array, key: bytes) -> Blocks:
    normal = pc.utf8_normalize(texts.cast(pa.large_string()), form="NFC")
    hashes = bytearray()
    for text in normal.cast(pa.large_binary()).to_pylist():
        hashes += blake2b(text, digest_size=TEXT_BYTES, key=key).digest()
        hashes.append(TEXT)
    return np.frombuffer(hashes, dtype="<u8").reshape(-1, 2).astype(np.uint64, copy=False)


def _number_cells(chunk: pa.Array) -> Blocks:
    missing = chunk.is_null().to_numpy(zero_copy_only=False)
    beyond = np.zeros(len(chunk), np.uint64)
    if pa.types.is_integer(chunk.type):
        wide = pa.uint64() if chunk.type == pa.uint64() else pa.int64()
        whole = chunk.cast(wide).fill_null(0).to_numpy(zero_copy_only=False)
        numbers, beyond = _float_and_rest(whole)
    else:
        numbers = chunk.cast(pa.float64()).to_numpy(zero_copy_only=False)
        missing |= np.isnan(numbers)
    # Adding 0.0 makes 0.0 of -0.0, and leaves all else alone.
    return _blocks((numbers + 0.0).view(np.uint64), beyond, NUMBER, missing)


def _float_and_rest(whole: NDArray[np.integer]) -> tuple[FloatArray, NDArray[np.uint64]]:
    """Whole numbers as floats and 0; those that no float equals as one below, and what is left."""
    numbers = whole.astype(np.float64)
    # The largest may round up to what their own type does not hold.
    fits = numbers < float(np.iinfo(whole.dtype).max)
    differs = np.where(fits, numbers, 0.0).astype(whole.dtype) != whole
    below = whole - whole % COARSE
    numbers = np.where(differs, below.astype(np.float64), numbers)
    rest = np.where(differs, whole % COARSE, 0)
    return numbers, rest.astype(np.uint64)


def _moment_cells(chunk: pa.Array) -> Blocks:
    missing = chunk.is_null().to_numpy(zero_copy_only=False)
    tag = MOMENT
    if pa.types.is_date32(chunk.type):
        days = chunk.cast(pa.int32()).fill_null(0).to_numpy(zero_copy_only=False)
        seconds = days.astype(np.int64) * DAY
        nanoseconds = np.zeros(len(chunk), np.int64)
    else:
        unit = "ms"  # of a date of 64 bits
        if pa.types.is_timestamp(chunk.type):
            unit = chunk.type.unit
            if chunk.type.tz is not None:
                tag = MOMENT_IN_ZONE
        ticks = chunk.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        seconds, within = np.divmod(ticks, TICKS[unit])
        nanoseconds = within * (TICKS["ns"] // TICKS[unit])
    return _blocks(seconds.view(np.uint64), nanoseconds.view(np.uint64), tag, missing)


def _blocks(
    first: NDArray[np.uint64], second: NDArray[np.uint64], tag: int, missing: NDArray[np.bool_]
) -> Blocks:
    """Blocks of two words [m] each, the second of which has room for the tag."""
    blocks = np.empty((len(first), 2), np.uint64)
    blocks[:, 0] = first
    blocks[:, 1] = second | np.uint64(tag << 56)
    blocks[missing] = 0
    return blocks
