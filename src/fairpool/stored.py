"""Names and numbers out of a file that somebody else may have written: checked, one by one."""

from typing import Any

import numpy as np

from fairpool.errors import RewardFileError, shown


def text(value: Any) -> str:
    """A name in a file."""
    if not isinstance(value, str):
        raise RewardFileError(f"{shown(value)} is not a name")
    return value


def whole_number(value: Any, name: str) -> int:
    """A whole number in a file."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise RewardFileError(f"{name} {shown(value)} is not a whole number")
    return value


def number(value: Any, name: str, *, least: float = -np.inf, most: float = np.inf) -> float:
    """A number in a file, within bounds."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not np.isfinite(value):
        raise RewardFileError(f"{name} {shown(value)} is not a finite number")
    if not least <= value <= most:
        raise RewardFileError(f"{name} {shown(value)} is outside {least:g} .. {most:g}")
    return float(value)
