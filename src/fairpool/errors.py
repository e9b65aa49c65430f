"""Every error a user can cause, and the one warning: what was found, where, and what to do.

The texts live beside the checks that raise them; here are only the kinds. All of them are
`ValueError`s, so that code which does not know fairpool can catch them. What a user gave is echoed
by `shown`, which cuts it where it is long.

Here is also decided how people are shown what comes out of somebody's file, by `printable`: error
texts and notes pass through it as they are made, lines of the terminal and pages as they are
written.
"""

import unicodedata
from collections.abc import Sequence
from reprlib import Repr

LONGEST_ECHO = 80
"""So many characters of a value are enough to recognise it."""

JOINERS = "\u200c\u200d"
"""Signs without a shape that Persian, Hindi and pictures of people are written with."""

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
    return cut(printable(" ".join(text.splitlines())))


def printable(text: str) -> str:
    r"""A text in one line that no terminal obeys: whatever cannot be seen is written out.

    These are control characters, with which a text could clear the screen or forge a line; signs
    that turn the direction of writing or have no shape, with which one name looks like another; and
    bytes of a file name that are no text.

    >>> print(printable("a\x1b[2J\nerror: b"))
    a\x1b[2J\nerror: b
    """
    if text.isprintable():
        return text
    signs = []
    for sign in text:
        # Blanks of every width are blanks, but Python counts only one of them as printable.
        is_blank = unicodedata.category(sign) == "Zs"
        if sign.isprintable() or is_blank or sign in JOINERS:
            signs.append(sign)
        else:
            signs.append(sign.encode("unicode_escape").decode())
    return "".join(signs)


def is_printable(text: str) -> bool:
    """Whether a text is shown as it is."""
    return printable(text) == text


def cut(text: str) -> str:
    """A text as an error text quotes it: as it is, or its beginning.

    >>> cut("rbf + " * 50 + "rbf")
    'rbf + rbf + rbf + rbf + rbf + rbf + rbf + rbf + rbf + rbf + rbf + rbf + rbf +...'
    """
    if len(text) <= LONGEST_ECHO:
        return text
    return f"{text[: LONGEST_ECHO - 3].rstrip()}..."


NO_NAME = '""'
"""How a list shows an empty name, such as the header of the row numbers that pandas writes."""


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
        """One text for each problem that was found, each in one line."""
        return tuple(printable(str(problem)) for problem in self.args)

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


class SecretError(FairpoolError):
    """The secret of a collaboration cannot be read or written, or is none."""


class SignatureError(FairpoolError):
    """A signed document cannot be read, is not as it was signed, or not signed by whom it must."""


class PlanError(FairpoolError):
    """A plan cannot be used, or cannot be made of what is known without any party's rows."""


class ContributionError(FairpoolError):
    """A contribution cannot be made, or what arrived is none."""


class PrivacyError(FairpoolError):
    """Noise that hides single rows cannot be had as asked for, or would exceed what was allowed."""


class EncoderError(FairpoolError):
    """An encoder cannot be used: its folder, its files, or what it makes of texts or images."""


class LedgerError(FairpoolError):
    """A ledger cannot be read, trusted or continued, or another run is at work on its folder."""


class ServiceError(FairpoolError):
    """A service cannot be reached, or does not do what a program asked it for."""


class ClusterError(FairpoolError):
    """Workers on other machines cannot be reached, or are gone."""


class FairpoolWarning(UserWarning):
    """The numbers are right, but they may not mean what one hopes; the text says why."""
