"""Arrays at the border: what comes in is checked once, converted to float64 and made read-only.

Tables may be numpy arrays, nested lists, or anything that speaks Arrow's C stream interface
(pandas, polars, pyarrow, duckdb); the latter keep their column names.
"""

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairpool.errors import DataError, shown

FloatArray = NDArray[np.float64]
"""An array of float64, the only kind of number fairpool computes with."""

LARGEST = 1e100
"""A number beyond this is an error of the data, and its square would overflow."""

TINY = float(np.finfo(float).tiny)
"""The smallest ordinary number, for what must not be 0."""


def read_only(array: FloatArray) -> FloatArray:
    """The same numbers in an array that nobody can change."""
    # This copies, so that whoever gave the array may go on changing it.
    array = np.array(array, dtype=np.float64)
    array.flags.writeable = False
    return array


def with_unit_diagonal(M: FloatArray) -> FloatArray:
    """M_ij / sqrt(M_ii M_jj), of one matrix or a stack of them.

    It is the same in whatever unit a row and its column are measured. A diagonal entry of 0 stays
    0; one below 0 gives nan.
    """
    with np.errstate(invalid="ignore"):
        root = np.sqrt(np.diagonal(M, axis1=-2, axis2=-1))
    root = np.where(root == 0, 1.0, root)
    # The divisions are done one after the other, since the product of two roots may overflow.
    return np.asarray(M / root[..., :, None] / root[..., None, :])


def as_matrix(X: Any, where: str) -> tuple[FloatArray, tuple[str, ...] | None]:
    """A finite float64 matrix, with column names when the table has them.

    Args:
        X: [m, p] numbers, or an Arrow-compatible table.
        where: Whose table it is, for the error texts.

    Returns:
        The matrix [m, p] and its column names (None when it has none).
    """
    columns = None
    if hasattr(X, "__arrow_c_stream__"):
        table = as_table(X, where)
        columns = tuple(table.column_names)
        if columns:
            X = np.column_stack([_arrow_column(table[name], where, name) for name in columns])
        else:
            X = np.empty((0, 0))
    matrix = as_numeric(X, f"{where}: X")
    if matrix.ndim != 2:
        raise DataError(
            f"{where}: X has {matrix.ndim} dimension(s), needs 2 (one row per data point,"
            " one column per feature); a single feature is X[:, None]"
        )
    _refuse_not_finite(matrix, where, columns)
    return read_only(matrix), columns


def as_vector(y: Any, where: str) -> FloatArray:
    """A finite float64 vector of labels [m]."""
    is_stream = hasattr(y, "__arrow_c_stream__")
    if is_stream and hasattr(y, "columns"):  # a frame, and not a single column of one
        table = as_table(y, where)
        if table.num_columns != 1:
            raise DataError(f"{where}: y is a table of {table.num_columns} columns, needs one")
        y = _arrow_column(table[0], where, "y")
    elif is_stream:
        y = _arrow_column(pa.chunked_array(y), where, "y")
    elif hasattr(y, "__arrow_c_array__"):
        y = _arrow_column(pa.array(y), where, "y")
    vector = as_numeric(y, f"{where}: y")
    if vector.ndim == 2 and vector.shape[1] == 1:
        vector = vector[:, 0]
    if vector.ndim != 1:
        raise DataError(f"{where}: y has {vector.ndim} dimensions, needs 1 (one label per row)")
    _refuse_not_finite(vector, where, None)
    return read_only(vector)


def as_labels(y: Any, rows: int) -> FloatArray:
    """Labels to train on: [m], or [m, k] for k sets of labels on the same inputs."""
    labels = as_numeric(y, "y")
    if labels.ndim not in (1, 2) or len(labels) != rows:
        raise DataError(
            f"y has shape {labels.shape}, needs one label for each of the {rows} rows of X"
        )
    bad = int((~np.isfinite(labels)).sum())
    if bad:
        raise DataError(f"y has {bad} value(s) that are not finite; remove those rows")
    return labels


def as_one_set_of_labels(y: Any, rows: int) -> FloatArray:
    """Labels [m], where several sets make no sense; at least one."""
    labels = as_labels(y, rows)
    if labels.ndim != 1 or not rows:
        raise DataError(
            f"y has shape {labels.shape}, needs one label per row, and at least one row"
        )
    return labels


def as_noise(noise_variance: Any, rows: int, where: str) -> FloatArray:
    """One noise variance per row [m], from a scalar or one per row.

    An infinite one means that the row tells nothing.
    """
    noise = as_numeric(noise_variance, f"{where}: noise_variance")
    if noise.ndim > 1 or (noise.ndim == 1 and len(noise) != rows):
        raise DataError(
            f"{where}: noise_variance has shape {noise.shape}, needs one number,"
            f" or one for each of the {rows} rows"
        )
    bad = noise[~(noise > 0)]  # not noise <= 0, which would let nan pass
    if bad.size:
        raise DataError(
            f"{where}: noise_variance {float(bad[0]):g} is not above 0;"
            " give the variance (not the standard deviation) of the labels' noise"
        )
    return read_only(np.broadcast_to(noise, (rows,)))


def as_generator(rng: Any) -> np.random.Generator:
    """A generator, from one, an integer seed, or None for fresh entropy."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError, OverflowError):
        raise DataError(
            f"rng {shown(rng)} is neither a numpy Generator nor a seed (a whole number from 0)"
        ) from None


def as_count(value: Any, name: str, least: int) -> int:
    """A whole number of at least `least`."""
    # True is an int to Python, but not a count to anybody.
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < least:
        raise DataError(f"{name} {shown(value)} is not a whole number from {least}")
    return int(value)


def as_numbers(values: Any, n: int, name: str) -> FloatArray:
    """One finite number for each of n parties [n]."""
    try:
        numbers = as_numeric(values, name)
    except DataError:
        numbers = np.full(0, np.nan)  # so that the error below is raised, which names the parties
    if numbers.shape != (n,) or not np.isfinite(numbers).all():
        raise DataError(
            f"{name} {shown(values)} are not one finite number for each of the {n} parties"
        )
    return numbers


def positive(value: Any, name: str) -> float:
    """A finite number above 0."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = np.nan  # so that the error below is raised
    if not 0 < number < np.inf:
        raise DataError(f"{name} {shown(value)} is not a finite number above 0")
    return number


def as_table(table: Any, where: str) -> pa.Table:
    """An Arrow table of distinct columns, from anything that speaks Arrow."""
    # Left to itself, pandas would add its index as a column.
    if type(table).__module__.partition(".")[0] == "pandas":
        table = pa.Table.from_pandas(table, preserve_index=False)
    table = pa.table(table)
    twice = sorted(name for name, count in Counter(table.column_names).items() if count > 1)
    if twice:
        raise DataError(f'{where}: two columns are named "{twice[0]}"')
    return table


def as_numeric(values: Any, what: str) -> FloatArray:
    """A float64 array of any shape, from what is made of numbers and nothing else."""
    if np.ma.is_masked(values):
        raise DataError(f"{what} has masked values; fill them in or remove those rows")
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":  # truth values, whole numbers, floats, objects
            raise TypeError(f"type {array.dtype}")
        # numpy would read the text "1.5" as a number, and a table that has it is likely a mistake.
        if array.dtype.kind == "O" and any(isinstance(value, str | bytes) for value in array.flat):
            raise TypeError("text")
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"{what} is not made of numbers ({error}); encode categories and dates first"
        ) from None


def _arrow_column(column: Any, where: str, name: str) -> FloatArray:
    is_whole = pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)
    if not is_whole and not pa.types.is_floating(column.type):
        raise DataError(
            f'{where}: column "{name}" has type {column.type}, needs numbers; encode it first'
        )
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def _refuse_not_finite(values: FloatArray, where: str, columns: tuple[str, ...] | None) -> None:
    """Refuse labels [m] or inputs [m, p] with values that are not finite, naming the first."""
    bad = np.argwhere(~np.isfinite(values))
    if not len(bad):
        return
    first = tuple(int(k) for k in bad[0])
    what = "y"
    column = ""
    if values.ndim == 2:
        what = "X"
        column = f", column {columns[first[1]] if columns else first[1]}"
    others = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
    raise DataError(
        f"{where}: {what} has {values[first]} in row {first[0]}{column}{others},"
        " counting from 0; remove the row or fill in the value"
    )
