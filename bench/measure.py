"""Timing in one process, interleaved, and the record that every row prints."""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent.parent / ".bench"
"""Environments, data and results: nothing in it is kept under version control."""


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        row: Which row of the table.
        size: The problem's size.
        against: The peer, the naive way or the floor that `ratio` refers to.
        ours, theirs, floor: Medians, in `unit`; None where there is none.
        ratio: Median over repeats of what is promised: theirs / ours, or ours / the floor.
        spread: The smallest and the largest of these.
        target: What was promised, in words.
        met: Whether it holds; None where nothing was promised.
        equal: What was compared to make sure that both compute the same.
        unit: Of ours, theirs and floor.
        note: What a reader must know.
        repeats: How many times each was measured.
    """

    row: str
    size: str
    against: str
    ours: float
    theirs: float | None
    floor: float | None
    ratio: float
    spread: tuple[float, float]
    target: str
    met: bool | None
    equal: str = ""
    unit: str = "s"
    note: str = ""
    repeats: int = 1

    @classmethod
    def timed(
        cls,
        seconds: Mapping[str, np.ndarray],
        *,
        at_least: float | None = None,
        at_most: float | None = None,
        **others: Any,
    ) -> "Row":
        """The row of what was timed as "ours", "theirs" and "floor".

        Args:
            seconds: Of each [repeats].
            at_least: The promise that they take so many times as long as we.
            at_most: The promise that we take no more than so many times as long as they; or,
                without them, the floor.
            others: Further attributes, and those that are not what follows from the seconds.
        """
        found = {way: seconds.get(way) for way in ("ours", "theirs", "floor")}
        ours, reference = seconds["ours"], seconds["theirs" if "theirs" in seconds else "floor"]
        ratios = reference / ours if at_most is None else ours / reference
        ratio = float(np.median(ratios))
        target, met = "none", None
        if at_least is not None:
            target, met = f"at least {at_least:g}x", ratio >= at_least
        elif at_most is not None:
            target, met = f"at most {at_most:g}x", ratio <= at_most
        return cls(
            **{
                **{
                    way: None if times is None else float(np.median(times))
                    for way, times in found.items()
                },
                "ratio": ratio,
                "spread": (float(ratios.min()), float(ratios.max())),
                "repeats": len(ours),
                "target": target,
                "met": met,
                **others,
            }
        )

    def print(self) -> None:
        """One JSON line."""
        print(json.dumps({"kind": "row", **asdict(self)}), flush=True)


def print_point(chart: str, way: str, x: float, y: float) -> None:
    """One point of a chart, as a JSON line."""
    print(json.dumps({"kind": "point", "chart": chart, "way": way, "x": x, "y": y}), flush=True)


def quick() -> bool:
    """Whether smaller sizes and fewer repeats are wanted."""
    return "--quick" in sys.argv


def interleaved(
    ways: Mapping[str, Callable[[], Any]], repeats: int
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Seconds of each way [repeats], and their last results.

    They take turns, so that a busy machine is busy for all; every other time in reverse order, so
    that none always comes after the same one.
    """
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    results = {}
    for turn in range(repeats):
        order = list(ways.items())
        if turn % 2:
            order.reverse()
        for name, way in order:
            start = perf_counter()
            results[name] = way()
            seconds[name].append(perf_counter() - start)
    return {name: np.array(times) for name, times in seconds.items()}, results


def same(ours: Any, theirs: Any, tolerance: float, what: str) -> str:
    """Fail unless both are the same, relative to the largest.

    Otherwise say what was compared, and how close it is.
    """
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    gap = float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-300))
    if not gap <= tolerance:
        raise AssertionError(
            f"{what} differ by {gap:.2g} of the largest, more than {tolerance:.2g}"
        )
    return f"{what}: {gap:.0e}"
