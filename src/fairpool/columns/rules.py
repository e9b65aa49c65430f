"""Which values of a column can be used, and what becomes of the others."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairpool.errors import RewardFileError, shown
from fairpool.stored import number, text
from fairpool.tables.arrays import LARGEST, FloatArray

MOST_TOKENS = 1000
"""Values of one column that stand for a missing one, in a reward file."""


Show = Callable[[float], str]
"""How a value is shown to people."""


def as_number(value: float) -> str:
    """A number as it was probably written."""
    return f"{value:.15g}"


class Scaled(NamedTuple):
    """What is subtracted from a column's values, and what they are divided by."""

    mean: float
    scale: float


class Bounds(NamedTuple):
    """A range that was declared, so that nothing of it was learned from anybody."""

    lowest: float
    highest: float

    def __str__(self) -> str:
        return self.in_words(as_number)

    def in_words(self, show: "Show") -> str:
        """Both ends."""
        return f"{show(self.lowest)} .. {show(self.highest)}"

    @property
    def logarithms(self) -> "Bounds":
        """The range of the logarithms."""
        return Bounds(float(np.log(self.lowest)), float(np.log(self.highest)))

    @property
    def scaled(self) -> Scaled:
        """The middle, and the standard deviation of values spread evenly over the range."""
        return Scaled(
            mean=0.5 * self.lowest + 0.5 * self.highest,
            scale=(self.highest - self.lowest) / 12**0.5,
        )

    def outside(self, values: FloatArray) -> NDArray[np.bool_]:
        """Which values lie outside [m]; a missing one does not."""
        return np.asarray((values < self.lowest) | (values > self.highest))

    def at(self, share: FloatArray) -> FloatArray:
        """The values at some shares of the way from one end to the other [m]."""
        return self.lowest + share * (self.highest - self.lowest)


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What is done to the values of a column before anything else.

    Attributes:
        tokens: Values that stand for a missing one.
        bounds: What values may be; None: anything.
        clips: Whether values outside are moved to the nearer end; otherwise they are refused.
        log: Whether the model sees logarithms.
        missing: "error", "drop" or "impute".
        blanks: Whether a text of nothing but blanks is missing, as free text is.
    """

    tokens: tuple[str, ...] = ()
    bounds: Bounds | None = None
    clips: bool = False
    log: bool = False
    missing: str = "error"
    blanks: bool = False

    @property
    def imputes(self) -> bool:
        """Whether rows that lack a value are complete all the same."""
        return self.missing == "impute"

    @property
    def has_tokens(self) -> bool:
        """Whether some values stand for missing ones."""
        return self.blanks or bool(self.tokens)

    @property
    def takes_all(self) -> bool:
        """Whether every number is taken, and as it is: then there is nothing to look at."""
        return self.bounds is None and not self.log

    @property
    def declared(self) -> Scaled | None:
        """The scaling that the range alone gives; None if there is none."""
        if self.bounds is None:
            return None
        if self.log:
            return self.bounds.logarithms.scaled
        return self.bounds.scaled

    def without_tokens(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """A column with nulls in place of the values that stand for missing ones."""
        if is_image_type(column.type):
            return column  # nothing but a file's name stands for a missing image
        if self.blanks:
            column = without_blanks(column)
        if not self.tokens:
            return column
        if pa.types.is_floating(column.type):
            # Others are refused, but all else that is wrong with the tables is to be told, too.
            numbers = [float(token) for token in self.tokens if is_number(token)]
            values = pa.array(numbers, column.type)
        else:
            values = pa.array(self.tokens, column.type)
        is_token = pc.is_in(column, value_set=values)
        return pc.if_else(is_token, pa.scalar(None, column.type), column)

    def refused(self, values: FloatArray) -> NDArray[np.bool_]:
        """Which numbers lie outside of the range, and are not clipped [m]."""
        if self.bounds is None or self.clips:
            return np.zeros(len(values), dtype=bool)
        return self.bounds.outside(values)

    def without_logarithm(self, values: FloatArray) -> NDArray[np.bool_]:
        """Which numbers have no logarithm though they need one [m]; clipped ones have."""
        if not self.log or (self.clips and self.bounds is not None):
            return np.zeros(len(values), dtype=bool)
        return np.asarray(values <= 0)

    def clipped(self, values: FloatArray) -> FloatArray:
        """The numbers, with those outside at the nearer end where that is wanted [m]."""
        if self.bounds is None or not self.clips:
            return values
        return np.clip(values, self.bounds.lowest, self.bounds.highest)

    def transformed(self, values: FloatArray) -> FloatArray:
        """The numbers as they are scaled: clipped, and their logarithms [m]; NaN if unusable."""
        values = self.clipped(values)
        if not self.log:
            return values
        with np.errstate(invalid="ignore", divide="ignore"):
            logarithms = np.log(values)
        logarithms[~np.isfinite(logarithms)] = np.nan
        return logarithms

    def original(self, value: float) -> float:
        """A transformed number in the column's own unit."""
        if self.log:
            return float(np.exp(value))
        return value

    def entries(self) -> dict[str, Any]:
        """As entries of a reward file: only what is not as by default.

        That values are imputed is told by what they are imputed with, an entry of the column.
        """
        entries: dict[str, Any] = {}
        if self.tokens:
            entries["tokens"] = list(self.tokens)
        if self.bounds is not None:
            entries["range"] = list(self.bounds)
        if self.clips:
            entries["outside"] = "clip"
        if self.log:
            entries["transform"] = "log"
        return entries

    @classmethod
    def of_entries(cls, entries: dict[str, Any], *, of_numbers: bool = True) -> "Rules":
        """The rules with some entries of a reward file, all of them checked.

        Args:
            entries: Those of a column, or of the target.
            of_numbers: Whether it is read as numbers.
        """
        bounds = None
        if "range" in entries:
            bounds = _bounds_of(entries["range"])
        clips = _word(entries, "outside", "clip")
        log = _word(entries, "transform", "log")
        if clips and bounds is None:
            raise RewardFileError("a column is clipped to no range")
        if log and bounds is not None and bounds.lowest <= 0:
            raise RewardFileError(f"the range {bounds} has no logarithm")
        return cls(
            tokens=_tokens_of(entries.get("tokens", []), of_numbers=of_numbers),
            bounds=bounds,
            clips=clips,
            log=log,
            missing="impute" if "fill" in entries else "error",
        )


NO_RULES = Rules()
"""Every value is taken as it is, and none may be missing."""


def is_image_type(kind: pa.DataType) -> bool:
    """Whether a column holds images themselves: bytes, or as data-set tools write them."""
    if pa.types.is_struct(kind):
        return "bytes" in kind.names and is_image_type(kind.field("bytes").type)
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def without_blanks(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts with nulls in place of those that consist of blanks."""
    is_blank = pc.equal(pc.utf8_trim_whitespace(texts), "")
    return pc.if_else(is_blank, pa.scalar(None, texts.type), texts)


def _bounds_of(ends: Any) -> Bounds:
    if not isinstance(ends, list) or len(ends) != 2:
        raise RewardFileError(f"{shown(ends)} is not a range")
    lowest, highest = (number(end, "range", least=-LARGEST, most=LARGEST) for end in ends)
    if lowest >= highest:
        raise RewardFileError(f"the range {lowest:g} .. {highest:g} is empty")
    return Bounds(lowest, highest)


def _word(entries: dict[str, Any], key: str, word: str) -> bool:
    """Whether an entry is there; if it is, it has a single meaning."""
    if key not in entries:
        return False
    if entries[key] != word:
        raise RewardFileError(f"{key} {shown(entries[key])} is not known")
    return True


def _tokens_of(tokens: Any, *, of_numbers: bool) -> tuple[str, ...]:
    if not isinstance(tokens, list) or len(tokens) > MOST_TOKENS:
        raise RewardFileError(f"{shown(tokens)} is not a list of at most {MOST_TOKENS} values")
    for token in tokens:
        if of_numbers and not is_number(text(token)):
            raise RewardFileError(f"{shown(token)} stands for a missing number, and is none itself")
    return tuple(text(token) for token in tokens)


def is_number(token: str) -> bool:
    """Whether a text is a number."""
    try:
        float(token)
    except ValueError:
        return False
    return True


def checked_fill(fill: float, rules: Rules) -> float:
    """What missing numbers are taken to be, in a reward file: one that the column could hold."""
    values = np.array([fill])
    is_outside = rules.bounds is not None and rules.bounds.outside(values).any()
    if is_outside or (rules.log and fill <= 0):
        raise RewardFileError(f"missing values are taken to be {fill:g}, which is out of range")
    return fill


def as_numbers(column: pa.ChunkedArray) -> FloatArray:
    """A column's values as numbers [m], missing ones as NaN."""
    if column.type != pa.float64():
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def unusable_numbers(
    name: str,
    values: FloatArray,
    rules: Rules,
    *,
    known: Bounds | None = None,
    show: Show = as_number,
) -> dict[int, str]:
    """The rows whose number cannot be used, and why; rows are counted from 0.

    Args:
        name: The column.
        values: Its values [m]; NaN: missing.
        rules: What is done to them.
        known: Bounds that hold anyway.
        show: How a value is shown.
    """
    reasons: dict[int, str] = {}
    if not rules.imputes:
        for row in np.flatnonzero(np.isnan(values)):
            reasons[int(row)] = f"{name} is missing"
    beyond = np.abs(values) > LARGEST
    wrong = [(beyond, f"is infinite or beyond {LARGEST:g}")]
    if rules.bounds is not None and not rules.clips:
        wrong.append((rules.bounds.outside(values), f"is outside {rules.bounds.in_words(show)}"))
    if known is not None:
        wrong.append((known.outside(values), f"is outside {known.in_words(show)}"))
    wrong.append((rules.without_logarithm(values), "has no logarithm"))
    for mask, what in wrong:
        for row in np.flatnonzero(mask):
            reasons.setdefault(int(row), f"{name}: {show(float(values[row]))} {what}")
    return reasons
