"""[reading], and `reading` of one source: how tables are written; and both put together."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import AfterValidator, Field

from fairpool.consortium.column_sections import ColumnSection, OwnColumnSection
from fairpool.consortium.section import Section, Text
from fairpool.errors import cut
from fairpool.tables.delivery import Delivery, OwnColumn
from fairpool.tables.dialect import Dialect, known_encoding
from fairpool.tables.units import conversion


def _encoding(name: str) -> str:
    return known_encoding(name)


class ReadingSection(Section):
    """[reading]: how everybody's files are written; a source's own keys go before these."""

    separator: Text | None = None
    decimal: Text | None = None
    thousands: str | None = None
    encoding: Annotated[str, AfterValidator(lambda name: _encoding(name))] | None = None
    missing: list[str] | None = None
    sheet: Text | None = None
    header: int | None = None


Places = Text | Annotated[list[Text], Field(min_length=1)]
"""A file, a folder, a pattern, or a list of these."""


class SourceSection(Section):
    """Where somebody's tables are, and how they are read.

    `data` is a file, a folder of files, a pattern, or a list of these; None: there are none yet.
    """

    data: Places | None = None
    reading: ReadingSection = ReadingSection()
    columns: dict[Text, OwnColumnSection] = Field(default_factory=dict)

    @property
    def patterns(self) -> tuple[str, ...]:
        """Where the tables are; nowhere, where there are none yet."""
        if isinstance(self.data, str):
            return (self.data,)
        return tuple(self.data or ())


def dialect_of(source: ReadingSection, common: ReadingSection) -> Dialect:
    """How a source's files are written: its own keys, then those common to all."""
    settings: dict[str, object] = {}
    for name in ReadingSection.model_fields:
        value = getattr(source, name)
        if value is None:
            value = getattr(common, name)
        if isinstance(value, list):
            value = tuple(value)
        if value is not None:
            settings[name] = value
    return Dialect(**settings)  # type: ignore[arg-type]  # the section has the types of its fields


def delivery_of(
    source: SourceSection, common: ReadingSection, declared: Mapping[str, ColumnSection]
) -> Delivery:
    """How a source's tables come; of what does not fit together, nothing is told here.

    Args:
        source: What the configuration says of it.
        common: What it says of all files.
        declared: What columns are.
    """
    columns = []
    for name, own in source.columns.items():
        column = OwnColumn(
            name=name,
            named=own.named or "",
            constant=_plain_constant(own.constant),
            date_format=own.date_format or "",
        )
        unit = declared.get(name, ColumnSection()).unit
        if own.own_unit and unit:
            column = replace(column, own_unit=own.own_unit, unit=unit)
        columns.append(column)
    return Delivery(dialect=dialect_of(source.reading, common), columns=tuple(columns))


def _plain_constant(constant: str | float | bool | None) -> str | float | None:
    if isinstance(constant, bool):
        # As a spreadsheet would write it; text and numbers stand for themselves.
        return str(constant).lower()
    return constant


def delivery_problems(
    where: str,
    source: SourceSection,
    common: ReadingSection,
    *,
    declared: Mapping[str, ColumnSection],
) -> list[str]:
    """What does not fit together in how a source is read, each with where it stands.

    Args:
        where: The source, as the configuration has it.
        source: What the configuration says of it.
        common: What it says of all files.
        declared: What columns are.
    """
    dialect = dialect_of(source.reading, common)
    problems = [f"{where}, reading: {problem}" for problem in dialect.problems()]
    owners: dict[str, str] = {}
    for name, own in source.columns.items():
        at = f"{where}, columns, {cut(name)}"
        problems += [f"{at}: {text}" for text in _column_problems(name, own, declared.get(name))]
        if own.named is not None:
            other = owners.setdefault(own.named, name)
            if other != name:
                problems.append(
                    f'{at}: named "{cut(own.named)}" is also the header of "{cut(other)}"; one'
                    " header is one column"
                )
    return problems


def _column_problems(name: str, own: OwnColumnSection, declared: ColumnSection | None) -> list[str]:
    problems = []
    others = {"named": own.named, "from": own.own_unit, "date_format": own.date_format}
    given = [key for key, value in others.items() if value is not None]
    if own.constant is not None and given:
        words = ", ".join(given)
        problems.append(
            f"a constant, and {words}; a column that is not recorded has nothing to be read, so"
            " leave that out (a constant is in the collaboration's own unit)"
        )
    if isinstance(own.constant, str) and not own.constant:
        problems.append("the constant is empty; leave it out, or give a value")
    if own.own_unit is not None:
        if declared is None or declared.unit is None:
            problems.append(
                f'from "{own.own_unit}" needs to know into what; say unit = "..." in'
                f" [columns.{cut(name)}]"
            )
        else:
            try:
                conversion(own.own_unit, declared.unit)
            except ValueError as error:
                problems.append(f"from {error}")
    if own.date_format is not None and declared is not None and declared.kind not in (None, "date"):
        problems.append(f'date_format for kind = "{declared.kind}"; leave it out')
    return problems
