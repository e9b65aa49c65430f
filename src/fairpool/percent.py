"""Shares as people read them."""

from math import floor


def as_percent(share: float) -> str:
    """A share in whole per cent; with a decimal where it would read as all, and is less.

    >>> as_percent(0.42), as_percent(0.998), as_percent(1.0)
    ('42%', '99.8%', '100%')
    """
    return f"{floor(1000 * share) / 10:.1f}%" if 0.995 <= share < 1 else f"{share:.0%}"
