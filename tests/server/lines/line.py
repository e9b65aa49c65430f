"""What a line of the table says; how to write one stands in `tests/server/test_isolation.py`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Line:
    """Who gets which answer; whoever is not in `answers` is answered as if there were nothing."""

    answers: Mapping[str, int]
    body: Any = None
    form: Mapping[str, str] | None = None
    content: bytes | None = None
    for_all: bool = False
    by_link: bool = False
    browser_only: bool = False


def line(
    who: Sequence[str], status: int = 200, *, also: Mapping[str, int] | None = None, **more: Any
) -> Line:
    """A line of the table.

    Args:
        who: In words of `tests/server/world.py`.
        status: What they get.
        also: What others get who are not answered as if there were nothing.
        more: Of `Line`.
    """
    return Line(answers=dict.fromkeys(who, status) | dict(also or {}), **more)
