"""How somebody's tables come: in which dialect, under which headers, in which units.

The collaboration has one name and one unit for each column; everybody delivers their own.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property

from fairpool.errors import NO_NAME, DataError, cut, few, shown
from fairpool.tables.dates import DateForm, form_of
from fairpool.tables.dialect import PLAIN, Dialect
from fairpool.tables.units import Conversion, conversion

MOST_HEADERS = 20
"""So many of the headers of a table are named in an error."""


@dataclass(frozen=True, kw_only=True)
class OwnColumn:
    """How a table has one column of the collaboration.

    Attributes:
        name: What the collaboration calls it.
        named: What the table's own header calls it; empty: the same.
        own_unit: The unit of its numbers; empty: the collaboration's.
        unit: The collaboration's unit, where the own one is another.
        constant: The value of all rows, where the table does not have the column; None: it has.
        date_format: How its dates are written; empty: as they can be recognised.
    """

    name: str
    named: str = ""
    own_unit: str = ""
    unit: str = ""
    constant: str | float | None = None
    date_format: str = ""

    @property
    def header(self) -> str:
        """What the table's own header calls it."""
        return self.named or self.name

    @property
    def conversion(self) -> Conversion | None:
        """How its numbers become those of the collaboration; None: they are."""
        if self.own_unit == self.unit:
            return None
        return conversion(self.own_unit, self.unit)

    @property
    def date_form(self) -> DateForm | None:
        """How its dates are written; None: they are to be recognised."""
        if not self.date_format:
            return None
        return form_of(self.date_format)


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """How somebody's tables come.

    Attributes:
        dialect: How they are written.
        columns: What is special about columns; all others are as the collaboration has them.
    """

    dialect: Dialect = PLAIN
    columns: tuple[OwnColumn, ...] = field(default=())

    @cached_property
    def _by_name(self) -> dict[str, OwnColumn]:
        return {column.name: column for column in self.columns}

    @property
    def is_plain(self) -> bool:
        """Whether tables come with the collaboration's names and units, as plain files."""
        return self == Delivery()

    @property
    def in_words(self) -> str:
        """How tables come, in words: only what is not as agreed."""
        words = []
        if self.dialect != PLAIN:
            words.append("written in a dialect of their own")
        for column in self.columns:
            if column.constant is not None:
                words.append(f"{column.name} always {shown(column.constant)}")
            elif column.own_unit or column.named:
                unit = f" in {column.own_unit}" if column.own_unit else ""
                words.append(f'{column.name} as "{column.header}"{unit}')
        if not words:
            return "as agreed"
        return f"as the party's own: {', '.join(words)}"

    def column(self, name: str) -> OwnColumn:
        """How tables have a column of the collaboration."""
        return self._by_name.get(name) or OwnColumn(name=name)

    def header(self, name: str) -> str:
        """What tables call a column of the collaboration."""
        return self.column(name).header

    def described(self, name: str) -> str:
        """A column as errors call it: by the table's own header, and the collaboration's name."""
        header = self.header(name)
        if header == name:
            return f'column "{name}"'
        return f'column "{cut(header)}" ({name})'

    def value_text(self, name: str, value: float) -> str:
        """A number as it stands in the file and, where that is another unit, in the agreed one."""
        column = self.column(name)
        conversion = column.conversion
        if conversion is None:
            return f"{value:g}"
        own = (value - conversion.offset) / conversion.factor
        return f"{own:g} {column.own_unit} ({value:g} {column.unit})"

    def without(self, names: Collection[str]) -> "Delivery":
        """The same, but for some columns, which are not in the tables."""
        return replace(self, columns=tuple(c for c in self.columns if c.name not in names))

    def names_of(self, headers: Sequence[str], where: str) -> tuple[str, ...]:
        """The collaboration's names of a table's columns, constant ones at the end.

        Args:
            headers: The table's own.
            where: What errors call the table.
        """
        present = {*headers}
        renamed: dict[str, str] = {}
        constants = []
        problems = []
        for column in self.columns:
            if column.constant is not None:
                constants.append(column.name)
                if column.name in present:
                    problems.append(
                        f'{where}: it has a column "{cut(column.name)}", which is given as the'
                        " constant of all rows; leave the constant out, or rename the column"
                    )
            elif column.named and column.named not in present:
                problems.append(f"{where}: {_lacking(column, headers)}")
            elif column.named and column.name != column.named:
                renamed[column.named] = column.name
                if column.name in present and column.name not in self._headers_taken:
                    problems.append(
                        f'{where}: it has the columns "{cut(column.named)}", which is to be'
                        f' "{cut(column.name)}", and "{cut(column.name)}" itself; leave `named`'
                        " out, or rename one of them"
                    )
        if problems:
            raise DataError(*problems)
        names = [renamed.get(header, header) for header in headers]
        return (*names, *constants)

    @cached_property
    def _headers_taken(self) -> set[str]:
        """The headers that stand for columns of other names, so that two may be swapped."""
        return {column.named for column in self.columns if column.named}


def _lacking(column: OwnColumn, headers: Sequence[str]) -> str:
    text = (
        f'no column "{cut(column.named)}", which is to be "{cut(column.name)}"; it has'
        f" {few([cut(header) or NO_NAME for header in headers], MOST_HEADERS)}"
    )
    plain = {header.casefold().strip(): header for header in headers}
    near = get_close_matches(column.named.casefold().strip(), list(plain), n=1)
    if near:
        return f'{text} (is it "{cut(plain[near[0]])}"?)'
    return text


AS_AGREED = Delivery()
"""Tables with the collaboration's names and units, as plain files."""
