"""What Parquet files say of themselves before they are read: rows, sizes, types of columns."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pa_parquet

from fairpool.columns.rules import is_image_type
from fairpool.consortium.limits import SMALL_TABLE, Limits, beyond
from fairpool.consortium.tables import Source, first_line, is_parquet
from fairpool.errors import DataError
from fairpool.tables.dates import is_date_type

BYTES_PER_VALUE = 8


LONGEST_FIXED_TEXT = 1000
"""Bytes of a text in a column of texts of one length."""


def row_groups(file: Path) -> list[int]:
    """How many rows each row group of a Parquet file has."""
    try:
        head = pa_parquet.read_metadata(file)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{file}: {first_line(error)}") from None
    return [head.row_group(k).num_rows for k in range(head.num_row_groups)]


def refuse_large(source: Source, columns: Sequence[str], limits: Limits) -> None:
    """Refuse Parquet files that say of themselves that they are too large, before reading them.

    Args:
        source: Files of which some may be CSV: these are not larger than they look.
        columns: Those that would be read.
        limits: What is allowed.
    """
    problems = []
    rows = 0
    for file in source.files:
        if not is_parquet(file):
            continue
        try:
            head = pa_parquet.read_metadata(file)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{source.owner}: {file}: {first_line(error)}") from None
        rows += head.num_rows
        # Only what the head says of the whole file: details of a damaged one can end the process.
        table = BYTES_PER_VALUE * head.num_rows * len(columns)
        times = table / max(file.stat().st_size, 1)
        if table > SMALL_TABLE and times > limits.expansion:
            what = f"{head.num_rows} rows are a table of {table / 2**30:.3g} GiB:"
            allowed = beyond(f"{times:.0f} times its size", limits.expansion, "expansion")
            problems.append(f"{source.owner}: {file}: its {what} {allowed}")
    if rows > limits.rows:
        problems.append(f"{source.owner}: {beyond(f'{rows} rows', limits.rows, 'rows')}")
    if problems:
        raise DataError(*problems)


def unfit_columns(schema: pa.Schema, types: dict[str, pa.DataType]) -> dict[str, str | None]:
    """The columns of a Parquet file that cannot be read as these types.

    Returns:
        What they are instead, by name; None where there is no such column.
    """
    unfit: dict[str, str | None] = {}
    names = {*schema.names}
    for name, kind in types.items():
        if name not in names:
            unfit[name] = None
        elif not _fits(schema.field(name).type, kind):
            unfit[name] = str(schema.field(name).type)
    return unfit


def is_text_type(kind: pa.DataType) -> bool:
    """Whether a column of a Parquet file has texts."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _fits(own: pa.DataType, wanted: pa.DataType) -> bool:
    if wanted == pa.float64():
        return bool(
            pa.types.is_integer(own)
            or pa.types.is_floating(own)
            or pa.types.is_boolean(own)
            or pa.types.is_decimal(own)
            or pa.types.is_null(own)
        )
    if wanted == pa.date32():
        if pa.types.is_dictionary(own):
            own = own.value_type
        return bool(is_date_type(own) or is_text_type(own) or pa.types.is_null(own))
    if wanted == pa.large_binary():
        return is_image_type(own) or is_text_type(own) or bool(pa.types.is_null(own))
    if pa.types.is_fixed_size_binary(own):
        # A long one that is stored once could fill memory before anybody looks at it.
        return bool(own.byte_width <= LONGEST_FIXED_TEXT)
    return not pa.types.is_nested(own)
