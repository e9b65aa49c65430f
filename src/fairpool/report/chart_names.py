"""Names as charts show them: beside a chart there is little room, and tables have them whole."""

import unicodedata
from collections.abc import Mapping, Sequence

LONGEST = 30
"""Columns of letters, of which such as 北 take two."""

AT_THE_END = 11
"""How many of them are the end of a name that is cut: what differs is often a number there."""


def names_in_charts(names: Sequence[str], longest: int = LONGEST) -> tuple[str, ...]:
    """The names, those that are too long with a part left out; each is another one.

    >>> names_in_charts(["North", "Hospital of the Sisters of Charity, ward 7"], longest=20)
    ('North', 'Hospital…ty, ward 7')
    >>> names_in_charts(["Clinic 01 of the province", "Clinic 02 of the province"], longest=20)
    ('Clinic 01…e province', 'Clinic 02…e province')

    Args:
        names: Different ones.
        longest: How many columns a name takes at most.
    """
    cut = {name: _without_middle(name, longest) for name in names}
    for alike in _alike(cut):
        same = _letters_in_common(alike)
        cut |= {name: _where_they_differ(name, same, longest) for name in alike}
    for alike in _alike(cut):
        cut |= dict(zip(alike, alike, strict=True))  # better long than mistaken
    return tuple(cut[name] for name in names)


def _alike(cut: Mapping[str, str]) -> list[list[str]]:
    """The names that cannot be told apart as they are cut, together."""
    of_text: dict[str, list[str]] = {}
    for name, text in cut.items():
        of_text.setdefault(text, []).append(name)
    return [names for names in of_text.values() if len(names) > 1]


def _letters_in_common(names: Sequence[str]) -> int:
    """With how many letters all of them begin."""
    first, last = min(names), max(names)  # those between them begin like both
    for place, letters in enumerate(zip(first, last, strict=False)):
        if letters[0] != letters[1]:
            return place
    return len(first)


def columns_of(text: str) -> int:
    """How wide a text is, in letters of usual width."""
    return sum(map(_columns, text))


def _columns(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _without_middle(name: str, longest: int) -> str:
    if columns_of(name) <= longest:
        return name
    end = min(AT_THE_END, longest // 2)
    return f"{_head(name, longest - 1 - end).rstrip()}…{_tail(name, end).lstrip()}"


def _where_they_differ(name: str, same: int, longest: int) -> str:
    """The beginning, and what comes where others that begin in the same way go on otherwise."""
    if columns_of(name) <= longest:
        return name
    # From the beginning of the word in which they differ, unless that is far away.
    start = name.rfind(" ", max(0, same - AT_THE_END), same) + 1 or same
    head = _head(name[:start], min(AT_THE_END, longest // 3)).rstrip()
    rest = name[start:]
    room = longest - columns_of(head) - 1
    if columns_of(rest) > room:
        rest = f"{_head(rest, room - 1)}…"
    return f"{head}…{rest}"


def _head(name: str, most: int) -> str:
    """As many letters as fit, with the marks that belong to them."""
    taken = 0
    for place, letter in enumerate(name):
        taken += _columns(letter)
        if taken > most:
            return name[:place]
    return name


def _tail(name: str, most: int) -> str:
    taken = 0
    start = len(name)
    for place in range(len(name) - 1, -1, -1):
        taken += _columns(name[place])
        if taken > most:
            break
        if _columns(name[place]):  # a mark stays with the letter before it
            start = place
    return name[start:]
