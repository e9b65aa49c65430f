"""What stands in place of a missing value, and the feature that says so."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairpool.columns.column import SHARE_MISSING
from fairpool.columns.kind import Declared, SeenColumn
from fairpool.columns.rules import Scaled
from fairpool.errors import ConfigurationError, RewardFileError
from fairpool.stored import number
from fairpool.tables.arrays import LARGEST, TINY, FloatArray
from fairpool.tables.moments import rounded_to, scaling_of


def indicator(name: str) -> str:
    """What the feature is called that says whether a value is missing."""
    return f"{name} is missing"


def is_missing(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Which values are missing [m]."""
    return np.asarray(pc.is_null(column, nan_is_null=True).to_numpy(), dtype=bool)


def with_gaps(values: FloatArray, share: FloatArray) -> pa.Array:
    """Made-up numbers of a column that may lack some."""
    return pa.array(values, mask=share < SHARE_MISSING)


def scaled_by(declared: Declared, seen: SeenColumn) -> Scaled:
    """The scaling of numbers: of the declared range, or else as it was learned.

    The scale of a column that has the same value everywhere is 0.
    """
    by_range = declared.rules.declared
    if by_range is not None:
        return by_range
    public = None if seen.public is None else seen.public.moments
    scaling = scaling_of([values.moments for values in seen.parties], public)
    if not scaling.means:
        return Scaled(0.0, 0.0)
    (mean,) = scaling.means
    (scale,) = scaling.scales
    return Scaled(mean, scale)


def median_of(declared: Declared, seen: SeenColumn, scaled: Scaled) -> float | None:
    """What missing numbers are taken to be, in the column's own unit; None: they are not imputed.

    It is rounded as the scaling is: it stands in every reward file.
    """
    if not declared.rules.imputes:
        return None
    median = seen.median()
    if median is None:
        raise ConfigurationError(
            f'column "{declared.name}": nobody has a value, so that none can be imputed; leave the'
            ' column out, or give it role = "ignore"'
        )
    if seen.public is None:
        median = rounded_to(median, scaled.scale)
    bounds = declared.rules.bounds
    original = declared.rules.original(median)
    if bounds is not None:  # rounding may have moved it beyond an end
        original = min(max(original, bounds.lowest), bounds.highest)
    return original


def stored_number(entries: dict[str, Any], key: str) -> float:
    """A number of a column in a reward file."""
    least = TINY if key == "scale" else -LARGEST
    return number(entries[key], key, least=least, most=LARGEST)


def stored_flag(entries: dict[str, Any], key: str) -> bool:
    """An entry that is there if something holds."""
    if key not in entries:
        return False
    if entries[key] is not True:
        raise RewardFileError(f"{key} must be true, or not be there")
    return True


def refuse_unknown(entries: dict[str, Any], known: set[str]) -> None:
    """Refuse entries of a column that mean nothing."""
    unknown = set(entries) - known
    if unknown:
        raise RewardFileError(f"a column has the unknown entry {sorted(unknown)[0]!r}")


def refuse_lone_indicator(entries: dict[str, Any]) -> None:
    """Refuse a column that tells what is missing, though nothing may be."""
    if stored_flag(entries, "indicator") and "fill" not in entries:
        raise RewardFileError("a column tells what is missing, though nothing may be")
