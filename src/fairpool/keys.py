"""Keys of the configuration that a variant declares for itself, beside those that all have."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

from fairpool.errors import shown


@dataclass(frozen=True, kw_only=True)
class Key:
    """A key that a kind of model has in [model], or a kind of target in [target].

    Attributes:
        type: Of its value, which is not converted: a number in quotes is none.
        default: Its value where it is not given.
        check: Gives the value back, or raises a ValueError that says what is allowed.
    """

    type: Any
    default: Any
    check: Callable[[Any], Any]


def least(bound: float) -> Callable[[Any], Any]:
    """A check that a number is not below a bound."""

    def check(value: float) -> float:
        if not value >= bound:
            raise ValueError(
                f"{shown(value)} is not allowed; input should be greater than or equal to {bound:g}"
            )
        return value

    return check


def above(bound: float) -> Callable[[Any], Any]:
    """A check that a number is above a bound, and finite."""

    def check(value: float) -> float:
        if not bound < value < inf:
            raise ValueError(
                f"{shown(value)} is not allowed; input should be greater than {bound:g}"
            )
        return value

    return check
