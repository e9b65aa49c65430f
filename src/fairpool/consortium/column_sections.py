"""[columns.NAME]: what the operator says of one column, for everybody or of one source.

What it means, together with the shorthands `features`, `categorical` and `missing`, is decided in
`fairpool.consortium.column_plan` and nowhere else.
"""

from datetime import date, datetime
from typing import Annotated, NamedTuple

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
)

from fairpool.columns import COLUMNS
from fairpool.consortium.section import Section, Text, one_of
from fairpool.encoders.pin import is_sha256
from fairpool.errors import shown
from fairpool.tables.arrays import LARGEST
from fairpool.tables.dates import form_of
from fairpool.tables.units import kind_of_unit

NEVER_INPUTS = ("id",)
"""Kinds of columns that nothing is learned from; those of `COLUMNS` may be inputs.

Texts and images may be some only with an encoder: see `never_an_input`.
"""

TARGET_KIND = "target"
OUTSIDE = ("refuse", "clip")
MISSING_VALUES = ("error", "drop", "impute")
TRANSFORMS = ("log",)
ROLES = ("input", "ignore")

Outside = Annotated[str, AfterValidator(lambda word: one_of(word, OUTSIDE))]
MissingValues = Annotated[str, AfterValidator(lambda word: one_of(word, MISSING_VALUES))]
Transform = Annotated[str, AfterValidator(lambda word: one_of(word, TRANSFORMS))]
Role = Annotated[str, AfterValidator(lambda word: one_of(word, ROLES))]


def _known_unit(name: str) -> str:
    kind_of_unit(name)
    return name


def _known_format(text: str) -> str:
    form_of(text)
    return text


Unit = Annotated[str, AfterValidator(lambda name: _known_unit(name))]

EPOCH = date(1970, 1, 1).toordinal()
"""Dates are counted in days from here."""


class DeclaredRange(NamedTuple):
    """The ends of a range.

    Attributes:
        lowest: A number, or days since 1970-01-01.
        highest: Likewise.
        of_dates: Whether the file gives dates.
    """

    lowest: float
    highest: float
    of_dates: bool


def never_an_input(kind: str | None, encoder: str | None) -> bool:
    """Whether nothing is learned from a column of some kind, and with or without an encoder."""
    return kind in NEVER_INPUTS or (needs_encoder(kind) and encoder is None)


def needs_encoder(kind: str | None) -> bool:
    """Whether columns of some kind are inputs only through an encoder."""
    return kind in COLUMNS and "encoder" in COLUMNS[kind].keys


def _sha256(value: str) -> str:
    if not is_sha256(value):
        raise ValueError(
            f"{shown(value)} is not allowed; give the 64 digits and small letters that fairpool"
            " check prints where the line is left out"
        )
    return value


def _kind(name: str) -> str:
    return one_of(name, [*COLUMNS, *NEVER_INPUTS, TARGET_KIND])


def _range(value: object) -> DeclaredRange:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"{shown(value)} is not allowed; give two numbers, such as [0, 100]")
    ends = [_end(end) for end in value]
    are_dates = [isinstance(end, date | str) for end in value]
    if are_dates[0] != are_dates[1]:
        raise ValueError(f"{shown(value)} is not allowed; give two numbers, or two dates")
    lowest, highest = ends
    if lowest >= highest:
        raise ValueError(
            f"{shown(value)} is not allowed; the first must be below the second, as in [0, 100]"
        )
    return DeclaredRange(lowest, highest, are_dates[0])


def _range_as_list(declared: DeclaredRange | None) -> list[float | bool] | None:
    return None if declared is None else list(declared)


def _end(value: object) -> float:
    """An end of a range: a number, or a date as days since 1970-01-01."""
    if isinstance(value, str):
        try:
            value = date.fromisoformat(value)
        except ValueError:
            raise ValueError(
                f"{shown(value)} is not allowed; give a number, or a date such as 2024-12-31"
            ) from None
    if isinstance(value, datetime):
        value = value.date()
    if isinstance(value, date):
        return float(value.toordinal() - EPOCH)
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST:
        return float(value)
    raise ValueError(
        f"{shown(value)} is not allowed; give a number of at most {LARGEST:g}, or a date"
    )


class MissingSection(Section):
    """What stands for a missing value in a column, and what is done about it.

    Attributes:
        tokens: Values that stand for a missing one, beside the usual ones.
        do: "error", "drop" or "impute"; None: as the whole file says.
    """

    tokens: Annotated[list[Text], Field(min_length=1)] | None = None
    do: MissingValues | None = None


def _in_full(missing: object) -> object:
    """A word alone stands for a section that says nothing else."""
    return missing if isinstance(missing, dict) else {"do": missing}


class ColumnSection(Section):
    """[columns.NAME]; every key may be left out.

    Attributes:
        kind: number, category, date, text, image, id, or target.
        unit: The collaboration's unit; parties' own units are converted to it.
        range: What values may be.
        outside: What becomes of values outside of that: "refuse" or "clip".
        levels: Of a category, all of them.
        missing: What stands for missing values, and what is done about them.
        transform: "log".
        role: "input", or "ignore".
        encoder: Of text or images, the folder of the encoder that makes numbers of them.
        encoder_sha256: Which encoder that must be.
    """

    kind: Annotated[str, AfterValidator(_kind)] | None = None
    unit: Unit | None = None
    range: Annotated[
        DeclaredRange | None, PlainValidator(_range), PlainSerializer(_range_as_list)
    ] = None
    outside: Outside | None = None
    levels: Annotated[list[Text], Field(min_length=1)] | None = None
    missing: Annotated[MissingSection | None, BeforeValidator(_in_full)] = None
    transform: Transform | None = None
    role: Role | None = None
    encoder: Text | None = None
    encoder_sha256: Annotated[str, AfterValidator(_sha256)] | None = None


class OwnColumnSection(Section):
    """[parties.columns.NAME], and of public and test data: how a source has a column."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)

    named: Text | None = None
    own_unit: Unit | None = Field(default=None, alias="from")
    constant: str | float | bool | None = None
    date_format: Annotated[str, AfterValidator(lambda text: _known_format(text))] | None = None
