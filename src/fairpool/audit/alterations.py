"""What was done to rows that nearly agree with others: rounded, jittered, one column altered."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpool.tables.arrays import FloatArray

MOST_PAIRS = 500
"""So many pairs of rows are enough to see what was done to them."""

MOSTLY = 0.8
"""The share of pairs that a rule must hold for: some rows agree by chance."""

SINGLE = 20.0
"""A column is altered alone if it differs so many times as much as any other."""

CLOSE = 0.06
"""Standard deviations that near copies differ by at most, in every column that is not altered: two
copies with jitter of 0.01 each differ by more in one of 50,000."""

MOST_DIGITS = 9
"""Of rounded numbers, after the point or in all."""

ROUNDED_RULE = 0.01
"""Shares of a column's inner half that a rule may be off by."""

TRIES = 200
"""Lines through two random pairs that are tried for a rule between two columns."""

TINIEST = 1e-290
"""Numbers below this are 0, whatever their digits are."""

UP_TO_ROUNDING = 1e-12
"""Shares of a value that the arithmetic of writing it down may change."""


@dataclass(frozen=True, kw_only=True)
class Alteration:
    """How rows of one party differ from the nearly same rows of another, or of its own.

    Attributes:
        kind: "exact", "rounded", "jitter", "shifted", "rescaled", "shifted and rescaled",
            "one column differs" or "other labels".
        column: The column that differs, where it is one alone.
        shift: What is added to it, in its own unit.
        factor: What it is multiplied with, first.
        deviation: How much the other columns differ, in standard deviations: the root mean square
            in the column that differs most.
    """

    kind: str
    column: str | None = None
    shift: float = 0.0
    factor: float = 1.0
    deviation: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """It as plain JSON."""
        return {
            "kind": self.kind,
            "column": self.column,
            "shift": self.shift,
            "factor": self.factor,
            "deviation": self.deviation,
        }

    def words(self, there: str) -> str:
        """It as a clause that follows "agree".

        Args:
            there: Where the rows are that differ from the first ones.
        """
        all_but = f'in all columns but "{self.column}"'
        match self.kind:
            case "exact":
                return "exactly"
            case "rounded":
                return "up to rounding"
            case "jitter":
                return f"to within {self.deviation:.2g} standard deviations"
            case "other labels":
                return "in all inputs, with other labels"
            case "shifted":
                than = "larger" if self.shift > 0 else "smaller"
                return f"{all_but}, which is {abs(self.shift):.6g} {than} {there}"
            case "rescaled":
                return f"{all_but}, which is {self.factor:.6g} times as large {there}"
            case "shifted and rescaled":
                return f"{all_but}, which is {self.factor:.6g} x {self.shift:+.6g} {there}"
        return all_but


def alteration_of(
    first: FloatArray,
    second: FloatArray,
    columns: Sequence[str],
    *,
    scales: FloatArray,
) -> Alteration:
    """How the rows of `second` differ from those of `first`, pair by pair.

    Args:
        first: Rows [s, c], the label in the last column.
        second: Those that nearly agree with them [s, c].
        columns: The columns' names [c].
        scales: Their standard deviations [c].
    """
    scale = np.where(scales > 0, scales, 1.0)
    gaps = np.abs(second - first)
    noise = UP_TO_ROUNDING * np.maximum(np.abs(first), np.abs(second))
    gaps = np.where(gaps <= noise, 0.0, gaps)
    if np.mean((gaps == 0).all(axis=1)) >= MOSTLY:
        return Alteration(kind="exact")
    if _are_rounded(first, second):
        return Alteration(kind="rounded", deviation=_largest_rms(gaps / scale))
    typical = np.median(gaps / scale, axis=0)
    place = int(np.argmax(typical))
    others = np.delete(typical, place).max(initial=0.0)
    if typical[place] > SINGLE * others:
        rule = _rule(first[:, place], second[:, place], noise=float(others * scale[place]))
        is_far = typical[place] > CLOSE
        if rule is not None or is_far:
            kind, shift, factor = rule or (_kind(columns, place), 0.0, 1.0)
            deviation = _largest_rms(np.delete(gaps / scale, place, axis=1))
            return Alteration(
                kind=kind, column=columns[place], shift=shift, factor=factor, deviation=deviation
            )
    if typical[place] > CLOSE:
        return Alteration(
            kind=_kind(columns, place),
            column=columns[place],
            deviation=_largest_rms(np.delete(gaps / scale, place, axis=1)),
        )
    return Alteration(kind="jitter", deviation=_largest_rms(gaps / scale))


def _kind(columns: Sequence[str], place: int) -> str:
    """What it is called if one column differs without a rule."""
    return "other labels" if place == len(columns) - 1 else "one column differs"


def _largest_rms(gaps: FloatArray) -> float:
    """The root mean square gap in the column that differs most."""
    return float(np.sqrt(np.mean(np.square(gaps), axis=0)).max(initial=0.0))


def _are_rounded(first: FloatArray, second: FloatArray) -> bool:
    """Whether one of the two has the other's numbers with fewer digits, in every column."""
    for fine, coarse in ((first, second), (second, first)):
        pairs = zip(fine.T, coarse.T, strict=True)
        if all(_is_rounded(*pair) for pair in pairs):
            return True
    return False


def _is_rounded(fine: FloatArray, coarse: FloatArray) -> bool:
    """Whether one column is the other with fewer digits, after the point or in all."""
    return any(fits.mean() >= MOSTLY for fits in _roundings(fine, coarse))


def is_rounded(fine: FloatArray, coarse: FloatArray) -> NDArray[np.bool_]:
    """Which values are the others with fewer digits, by the rule that holds for most [m]."""
    return max(_roundings(fine, coarse), key=lambda fits: int(fits.sum()))


def _roundings(fine: FloatArray, coarse: FloatArray) -> Iterator[NDArray[np.bool_]]:
    """For each number of digits, which values are the others with so many [m]."""
    size = np.where(np.abs(fine) < TINIEST, 1.0, np.abs(fine))
    magnitude = np.floor(np.log10(size)).astype(int)
    allowed = 1e-9 * np.abs(coarse)
    for digits in range(1, MOST_DIGITS):
        power = 10.0 ** (digits - 1 - magnitude)
        yield np.abs(np.round(fine * power) / power - coarse) <= allowed
    for decimals in range(-MOST_DIGITS, MOST_DIGITS):
        yield np.abs(np.round(fine, decimals) - coarse) <= allowed


def _rule(a: FloatArray, b: FloatArray, noise: float) -> tuple[str, float, float] | None:
    """How a column differs, if one rule holds for most rows: kind, shift and factor."""
    exactly = max(3.0 * noise, 1e-9 * float(np.abs(b).max()))
    # A converted column may have been rounded.
    nearly = max(exactly, ROUNDED_RULE * float(np.subtract(*np.quantile(b, [0.75, 0.25]))))
    for tolerance in (exactly, nearly):
        for kind, shift, factor in _candidates(a, b, tolerance):
            if np.mean(np.abs(b - factor * a - shift) <= tolerance) >= MOSTLY:
                return kind, shift, factor
    return None


def _candidates(
    a: FloatArray, b: FloatArray, tolerance: float
) -> Iterator[tuple[str, float, float]]:
    """Rules that b may follow from a, simple ones first."""
    yield "shifted", float(np.median(b - a)), 1.0
    is_set = a != 0
    if is_set.any():
        yield "rescaled", 0.0, float(np.median(b[is_set] / a[is_set]))
    factor, shift = _line(a, b, tolerance)
    yield "shifted and rescaled", shift, factor


def _line(a: FloatArray, b: FloatArray, tolerance: float) -> tuple[float, float]:
    """The line b = factor a + shift that most pairs lie on, of lines through two of them."""
    rng = np.random.default_rng(0)
    best = 1.0, 0.0
    most = 0.0
    for i, j in rng.integers(0, len(a), (TRIES, 2)):
        if a[i] == a[j]:
            continue
        factor = float((b[i] - b[j]) / (a[i] - a[j]))
        shift = float(b[i] - factor * a[i])
        on_line = float(np.mean(np.abs(b - factor * a - shift) <= tolerance))
        if on_line > most:
            best = factor, shift
            most = on_line
    on_it = np.abs(b - best[0] * a - best[1]) <= tolerance
    if on_it.sum() > 2 and np.ptp(a[on_it]) > 0:
        slope, intercept = np.polyfit(a[on_it], b[on_it], 1)
        return float(slope), float(intercept)
    return best
