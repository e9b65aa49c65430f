"""What one source's tables seem to be: how they are written, and what each column holds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from fairpool.consortium.guessing.encodings import EncodingGuess
from fairpool.consortium.guessing.kinds import (
    MOST_LEVELS,
    KindGuess,
    guess_kind,
    is_well_known,
    missing_tokens,
)
from fairpool.consortium.guessing.numerals import USUAL, Notation, guess_notation
from fairpool.consortium.guessing.places import Quartiles
from fairpool.consortium.guessing.samples import TableSample, read_sample
from fairpool.errors import DataError, shown
from fairpool.tables.dialect import MISSING

MOST_FILES = 3
"""Of a folder, so many files are looked at: the first, the last, and one in the middle."""


@dataclass(frozen=True, kw_only=True)
class ColumnLook:
    """A column of one source.

    Attributes:
        name: As its header has it.
        at: Its place in the header, from 0.
        rows: How many values were looked at.
        guess: What it seems to hold.
        quartiles: Of numbers.
        example: The first of its values; empty: there is none.
        counts: How often each value occurs, where there are few different ones; empty: there are
            many.
    """

    name: str
    at: int
    rows: int
    guess: KindGuess
    quartiles: Quartiles | None
    example: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SourceLook:
    """What a source seems to be.

    Attributes:
        name: The party's name, or that of the section.
        data: As the configuration will name its files.
        columns: By their own names, in order.
        notation: How numbers are written.
        encoding: Of a text file.
        separator: Of a text file; None: a comma, or no text file.
        separator_why: What that rests on.
        header: The line that names the columns, from 1.
        tokens: What stands for a missing value, beside the usual words.
        doubtful_tokens: What may stand for one.
        whole: Whether all rows were looked at.
        problems: What could not be read, or differs from file to file.
    """

    name: str
    data: str
    columns: dict[str, ColumnLook]
    notation: Notation = USUAL
    encoding: EncodingGuess | None = None
    separator: str | None = None
    separator_why: str = ""
    header: int = 1
    tokens: tuple[str, ...] = ()
    doubtful_tokens: tuple[str, ...] = ()
    whole: bool = False
    problems: tuple[str, ...] = ()


def look_at_source(name: str, data: str, files: Sequence[Path]) -> SourceLook:
    """What some files of one owner seem to be; what cannot be read is told in the result.

    Args:
        name: Whose they are.
        data: As the configuration will name them.
        files: All of them; a few are looked at.
    """
    samples: list[TableSample] = []
    problems: list[str] = []
    for file in _some_of(files):
        try:
            samples.append(read_sample(file))
        except DataError as error:
            problems += error.problems
    if not samples:
        return SourceLook(name=name, data=data, columns={}, problems=tuple(problems))
    first = samples[0]
    for twice in first.names_twice:
        problems.append(
            f"{first.file.name}: two columns are named {shown(twice)}; rename or remove one of them"
            " in the file"
        )
    for other in samples[1:]:
        problems += _differences(first, other)
    alike = [sample for sample in samples if not _differences(first, sample)]
    return _look(name, data, alike, whole=len(alike) == len(files), problems=problems)


def _some_of(files: Sequence[Path]) -> list[Path]:
    if len(files) <= MOST_FILES:
        return list(files)
    return [files[0], files[len(files) // 2], files[-1]]


def _differences(first: TableSample, other: TableSample) -> list[str]:
    """In what a file differs from the first one of its owner."""
    differences = []
    if {*other.names} != {*first.names}:
        differences.append(f"{other.file.name}: its columns are not those of {first.file.name}")
    if first.separator and other.separator and first.separator.sign != other.separator.sign:
        differences.append(f"{other.file.name}: its separator is not that of {first.file.name}")
    if first.header != other.header:
        differences.append(
            f"{other.file.name}: its columns are named in line {other.header}, those of"
            f" {first.file.name} in line {first.header}"
        )
    if first.encoding and other.encoding and first.encoding.name != other.encoding.name:
        # UTF-8 is what any file of plain letters is, so the other one reads both.
        differences.append(f"{other.file.name}: its encoding is not that of {first.file.name}")
    return differences


def _look(
    name: str, data: str, samples: Sequence[TableSample], *, whole: bool, problems: Sequence[str]
) -> SourceLook:
    first = samples[0]
    separator = None
    separator_why = ""
    if first.separator is not None:
        separator = first.separator.sign
        separator_why = first.separator.why
    values: dict[str, list[str]] = {}
    for sample in samples:
        for column, own in sample.columns().items():
            values.setdefault(column, []).extend(own)
    notation = USUAL
    if separator is not None:
        notation = guess_notation(chain.from_iterable(values.values()))
    tokens, doubtful = _tokens_of(values, notation)
    columns = {}
    for at, column in enumerate(values):
        guess = guess_kind(column, values[column], notation, missing_words=tokens)
        quartiles = Quartiles.of(guess.numbers) if guess.kind == "number" else None
        columns[column] = ColumnLook(
            name=column,
            at=at,
            rows=len(values[column]),
            guess=guess,
            quartiles=quartiles,
            example=_first_value(values[column]),
            counts=_counts(values[column], {*MISSING, *tokens, *guess.tokens}),
        )
    return SourceLook(
        name=name,
        data=data,
        columns=columns,
        notation=notation,
        encoding=first.encoding,
        separator=separator,
        separator_why=separator_why,
        header=first.header,
        tokens=tokens,
        doubtful_tokens=doubtful,
        whole=whole and all(sample.whole for sample in samples),
        problems=tuple(problems),
    )


def _counts(values: Sequence[str], missing: set[str]) -> dict[str, int]:
    """How often each value occurs, missing ones aside; nothing, if there are many."""
    counts = Counter(map(str.strip, values))
    known = {value: n for value, n in counts.items() if value not in missing}
    return known if len(known) <= MOST_LEVELS else {}


def _first_value(values: Sequence[str]) -> str:
    for value in values:
        if value.strip() not in MISSING:
            return value.strip()
    return ""


def _tokens_of(
    values: dict[str, list[str]], notation: Notation
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What stands for missing values in a source, certainly and perhaps; most frequent first."""
    counts = Counter[str]()
    for own in values.values():
        known = [value.strip() for value in own if value.strip() not in MISSING]
        tokens = {*missing_tokens(known, notation)}
        counts.update(value for value in known if value in tokens)
    certain = []
    doubtful = []
    for token, _ in counts.most_common():
        if is_well_known(token):
            certain.append(token)
        else:
            doubtful.append(token)
    return tuple(certain), tuple(doubtful)
