"""Every error a user can cause, and the one warning: what was found, where, and what to do.

The texts live beside the checks that raise them; here are only the kinds. All of them are
`ValueError`s, so that code which does not know fairpool can catch them. What a user gave is echoed
by `shown`, which cuts it where it is long.
"""

from collections.abc import Sequence
from reprlib import Repr

LONGEST_ECHO = 80
"""So many characters of a value are enough to recognise it."""

_BRIEF = Repr()
_BRIEF.maxstring = _BRIEF.maxother = _BRIEF.maxlong = LONGEST_ECHO


def shown(value: object) -> str:
    """A value as an error text echoes it: in one line, and cut where it is long.

    >>> shown(-1), shown("word")
    ('-1', "'word'")
    >>> shown([[1.0, 2.0]] * 50)
    '[[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0], ...]'
    """
    try:
        text = _BRIEF.repr(value)
    except ValueError:
        # Python refuses to write out a whole number of more than some thousand digits.
        text = f"of type {type(value).__name__}"
    return cut(" ".join(text.splitlines()))


def cut(text: str) -> str:
    """A text as an error text quotes it: as it is, or its beginning.

    >>> cut("rbf + " * 50 + "rbf")
    'rbf + rbf + rbf + rbf + rbf + rbf + rbf + rbf + rbf + rbf + rbf + rbf + rbf +...'
    """
    if len(text) <= LONGEST_ECHO:
        return text
    return f"{text[: LONGEST_ECHO - 3].rstrip()}..."


def few(items: Sequence[str], most: int = 5) -> str:
    """The first few of a list in words, and how many more there are.

    >>> few(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


class FairpoolError(ValueError):
    """Something a user gave us cannot be used; the text says what, where and the remedy.

    Args:
        *problems: One text for each problem that was found; mostly there is a single one.
    """

    @property
    def problems(self) -> tuple[str, ...]:
        """One text for each problem that was found."""
        return tuple(str(problem) for problem in self.args)

    def __str__(self) -> str:
        return "\n".join(self.problems)


class DataError(FairpoolError):
    """A party's table, or a model's settings, hold a value that cannot be used."""


class ConfigurationError(FairpoolError):
    """The configuration or the data have problems; `problems` lists every one of them."""


class KernelError(FairpoolError):
    """A kernel is not positive definite, or not of a kind that this step can handle."""


class GameError(FairpoolError):
    """A table of coalition values, a coalition, or a coalition structure is not one."""


class RewardError(FairpoolError):
    """A reward cannot be given: rho is out of range, or no noise variance realises the target."""


class RewardFileError(FairpoolError):
    """A reward file cannot be written or read."""


class ClusterError(FairpoolError):
    """Workers on other machines cannot be reached, or are gone."""


class FairpoolWarning(UserWarning):
    """The numbers are right, but they may not mean what one hopes; the text says why."""
