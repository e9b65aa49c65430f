"""What a column holds: numbers, categories, dates, free text, or identifiers."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from fairpool.consortium.guessing.dates import DateGuess, guess_dates
from fairpool.consortium.guessing.numerals import Notation
from fairpool.errors import few, shown
from fairpool.tables.dialect import MISSING

TOKENS = frozenset(
    {
        *("-", "--", "---", "–", "—", "?", "??", ".", "..", "*"),
        *("n.a.", "n.a", "n/a", "na", "n.d.", "nd", "k.a.", "null", "missing"),
        *("#null!", "#div/0!", "#value!", "#ref!", "#name?", "#num!"),
    }
)
"""What people write where they have no number, in small letters."""

SENTINELS = frozenset({-999.0, -9999.0, -99999.0, 9999.0, 99999.0, 999.0, -99.0})
"""Numbers that stand for no number in many instruments' files."""

MOST_LEVELS = 30
MOST_DISTINCT = 0.5
"""A category has few levels, and each of them several rows."""

LEAST_NUMBERS = 0.7
"""A column with so large a share of numbers or dates, and one other word, misses the others."""

LONGEST_LEVEL = 60
FEWEST_CODES = 20
"""Single words in so many rows, and none of them twice, name the rows."""

IDENTIFIER = re.compile(
    r"(.*[\W_])?(id|nr|no|key|code|uuid|index|row)|(id|nr)[\W_].*", re.IGNORECASE
)
CAMEL_IDENTIFIER = re.compile(r".*[a-z](Id|ID|Nr)")


@dataclass(frozen=True, kw_only=True)
class KindGuess:
    """What a column seems to hold.

    Attributes:
        kind: As `[columns.NAME] kind` calls it; empty: it has no value at all.
        why: What that rests on.
        certain: Whether nothing else is likely.
        levels: Of a category, those seen, most frequent first.
        dates: Of dates, the formats that fit.
        tokens: Words that seem to stand for missing values, beside the usual ones.
        sentinels: Numbers that may stand for missing values.
        missing: How many values are missing.
        numbers: The values as numbers.
    """

    kind: str
    why: str = ""
    certain: bool = True
    levels: tuple[str, ...] = ()
    dates: DateGuess | None = None
    tokens: tuple[str, ...] = ()
    sentinels: tuple[str, ...] = ()
    missing: int = 0
    numbers: tuple[float, ...] = ()


def guess_kind(
    name: str, values: Sequence[str], notation: Notation, *, missing_words: Collection[str] = ()
) -> KindGuess:
    """What a column holds.

    Args:
        name: Its name, of which identifiers are known.
        values: Some of its values, as they stand in the file.
        notation: How the file writes numbers.
        missing_words: What stands for a missing value in other columns of the file.
    """
    usual = {*MISSING, *missing_words}
    known = [value for value in map(str.strip, values) if value not in usual]
    missing = len(values) - len(known)
    tokens = missing_tokens(known, notation)
    if tokens:
        without = [value for value in known if value not in tokens]
        missing += len(known) - len(without)
        known = without
    if not known:
        return KindGuess(kind="", why="it has no value", tokens=tokens, missing=missing)
    numbers = _all_numbers(known, notation)
    if numbers is not None and not _has_leading_zeros(known):
        return _number_guess(name, known, numbers, tokens=tokens, missing=missing)
    dates = guess_dates(known)
    if dates is not None:
        why = f"such as {known[0]}, as {dates.formats[0]}"
        if dates.ambiguous:
            why = f"{shown(known[0])} may be {' or '.join(dates.formats)}: which is it?"
        return KindGuess(
            kind="date",
            why=why,
            certain=not dates.ambiguous,
            dates=dates,
            tokens=tokens,
            missing=missing,
        )
    return _text_guess(name, known, tokens=tokens, missing=missing)


def _all_numbers(values: Sequence[str], notation: Notation) -> list[float] | None:
    """Values as numbers; None if one of them is none."""
    numbers = []
    for value in values:
        number = notation.read(value)
        if number is None:
            return None
        numbers.append(number)
    return numbers


def missing_tokens(known: Sequence[str], notation: Notation) -> tuple[str, ...]:
    """The words in a column that seem to stand for missing values.

    Beside numbers that is any single word, beside dates any well-known one. Beside texts, a dash or
    a question mark may be a level, so that only words such as n.a. count.
    """
    counts = Counter(known)
    well_known = []
    others = []
    numbers = 0
    for value, count in counts.items():
        if notation.read(value) is not None:
            numbers += count
        elif is_well_known(value):
            well_known.append(value)
        else:
            others.append(value)
    if numbers >= LEAST_NUMBERS * len(known):
        if len(others) == 1:
            well_known += others
        return tuple(well_known)
    if well_known and (not others or guess_dates(others) is not None):
        return tuple(well_known)
    return tuple(value for value in well_known if any(sign.isalpha() for sign in value))


def is_well_known(token: str) -> bool:
    """Whether people often write this where they have no value."""
    return token.casefold() in TOKENS


def _number_guess(
    name: str,
    known: Sequence[str],
    numbers: Sequence[float],
    *,
    tokens: tuple[str, ...],
    missing: int,
) -> KindGuess:
    counts = Counter(numbers)
    distinct = len(counts) == len(numbers) > 1
    whole = all(map(float.is_integer, numbers))
    if distinct and whole and is_identifier(name):
        return KindGuess(
            kind="id",
            why="by its name, and no value stands twice",
            tokens=tokens,
            missing=missing,
        )
    sentinels = []
    for value, number in dict(zip(known, numbers, strict=True)).items():
        is_end = number in (min(numbers), max(numbers))
        if number in SENTINELS and is_end and len(counts) > 2:
            sentinels.append(value)
    why = f"such as {few(list(dict.fromkeys(known)), 2)}"
    few_values = whole and len(counts) <= 5 < len(numbers)
    if few_values:
        listed = ", ".join(f"{number:g}" for number in sorted(counts))
        why = f"its only values are {listed}; are they categories?"
    return KindGuess(
        kind="number",
        why=why,
        certain=not few_values,
        tokens=tokens,
        sentinels=tuple(sentinels),
        missing=missing,
        numbers=tuple(numbers),
    )


def _text_guess(
    name: str, known: Sequence[str], *, tokens: tuple[str, ...], missing: int
) -> KindGuess:
    counts = Counter(known)
    levels = tuple(level for level, _ in counts.most_common())
    short = max(map(len, levels)) <= LONGEST_LEVEL
    repeated = len(counts) <= max(MOST_DISTINCT * len(known), 2) or len(counts) == 1
    if len(counts) <= MOST_LEVELS and repeated and short:
        return KindGuess(
            kind="category",
            why=f"{len(counts)} level(s) in {len(known)} values",
            levels=levels,
            tokens=tokens,
            missing=missing,
        )
    one_word = short and not any(" " in level for level in levels)
    if len(counts) == len(known) and one_word and is_identifier(name):
        why = "by its name, and no value stands twice"
        return KindGuess(kind="id", why=why, tokens=tokens, missing=missing)
    if len(counts) == len(known) >= FEWEST_CODES and one_word:
        why = "words of which none stands twice; predictions keep it"
        return KindGuess(kind="id", why=why, tokens=tokens, missing=missing)
    why = f"{len(counts)} different texts in {len(known)} values"
    return KindGuess(kind="text", why=why, tokens=tokens, missing=missing)


def _has_leading_zeros(known: Sequence[str]) -> bool:
    """Whether numbers are written as 007: they are codes then."""
    return any(re.match(r"0\d", value) for value in known)


def is_identifier(name: str) -> bool:
    """Whether a column is named like an identifier of rows.

    >>> is_identifier("plot_id"), is_identifier("paid"), is_identifier("PatientID")
    (True, False, True)
    """
    plain = name.strip()
    return bool(IDENTIFIER.fullmatch(plain) or CAMEL_IDENTIFIER.fullmatch(plain))
