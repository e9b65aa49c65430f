"""How a table is written: what separates its columns, how its numbers look, which tokens miss."""

import codecs
import difflib
import re
from dataclasses import dataclass

from fairpool.errors import shown

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "none", "#N/A")
"""What stands for a missing value in a CSV file or a spreadsheet, whatever else does."""

UTF_8 = "utf-8"

ENCODINGS = (
    UTF_8,
    *("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "ascii"),
    *(f"iso8859-{part}" for part in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16)),
    *(f"cp{page}" for page in range(1250, 1259)),
    *("cp437", "cp850", "cp852", "cp855", "cp858", "cp866", "cp874", "koi8-r", "koi8-u"),
    *("mac-roman", "shift_jis", "cp932", "euc_jp", "gb2312", "gbk", "gb18030", "big5"),
    *("euc_kr", "cp949"),
)
"""The encodings of text. Python knows others, which are no text or take forever to read."""

COMMON_NAMES = ("latin-1", "windows-1252", "utf-8", "utf-16", "shift_jis", "gbk")
"""What an operator may have meant, besides the names above."""

NEVER_SEPARATORS = '"\r\n\0'
NEVER_IN_NUMBERS = '+-eE"\r\n\0'

BLANKS = " \u00a0\u202f"
"""Blanks between thousands: the plain one, and two at which lines are not broken. They look alike,
so that each of them stands for all."""

MOST_LINES_ABOVE = 1000
"""So many lines may stand above the names of the columns."""


def known_encoding(name: str) -> str:
    """The encoding of this name, as Python calls it; a ValueError with the nearest one if none."""
    try:
        codec = codecs.lookup(name).name
    except (LookupError, ValueError):
        codec = ""
    if codec == "utf-8-sig":  # a byte order mark is skipped in any case
        codec = UTF_8
    if codec in {codecs.lookup(known).name for known in ENCODINGS}:
        return codec
    near = difflib.get_close_matches(name.lower(), [*COMMON_NAMES, *ENCODINGS], n=1)
    hint = f'did you mean "{near[0]}"?' if near else 'give one such as "utf-8" or "latin-1"'
    raise ValueError(f"{shown(name)} is no encoding that is read; {hint}")


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a table is written; a plain one has commas, decimal points and UTF-8.

    Attributes:
        separator: What stands between two columns.
        decimal: The sign between a number's whole part and its fraction.
        thousands: The sign between groups of three digits; empty: there is none.
        encoding: Of the text, as `known_encoding` gives it.
        missing: What stands for a missing value, besides `MISSING`.
        sheet: Of a workbook, the sheet that has the table; empty: it has only one.
        header: The line, or row of a sheet, that names the columns, from 1; what stands above it is
            not read.
    """

    separator: str = ","
    decimal: str = "."
    thousands: str = ""
    encoding: str = UTF_8
    missing: tuple[str, ...] = ()
    sheet: str = ""
    header: int = 1

    def problems(self) -> list[str]:
        """What is wrong with it, each with the key that is to be corrected."""
        problems = []
        if len(self.separator) != 1 or self.separator in NEVER_SEPARATORS:
            problems.append(f"separator {shown(self.separator)} is not one sign, such as ; or \\t")
        if self.decimal not in (".", ","):
            problems.append(f"decimal {shown(self.decimal)} is neither a point nor a comma")
        if self.thousands:
            is_sign = len(self.thousands) == 1 and not self.thousands.isalnum()
            if not is_sign or self.thousands in NEVER_IN_NUMBERS:
                problems.append(f"thousands {shown(self.thousands)} is not one sign, such as '")
            elif self.thousands == self.decimal:
                problems.append(f"thousands and decimal are both {shown(self.decimal)}")
        if not 1 <= self.header <= MOST_LINES_ABOVE + 1:
            problems.append(
                f"header {self.header} is no line from 1 to {MOST_LINES_ABOVE + 1}; give the line"
                " that names the columns"
            )
        try:
            known_encoding(self.encoding)
        except ValueError as error:
            problems.append(f"encoding {error}")
        return problems

    @property
    def missing_tokens(self) -> tuple[str, ...]:
        """All that stands for a missing value in a text file."""
        return (*MISSING, *(token for token in self.missing if token not in MISSING))

    @property
    def between_thousands(self) -> str:
        """A pattern of the signs that may stand between thousands."""
        if self.thousands in BLANKS:
            return f"[{BLANKS}]"
        return re.escape(self.thousands)

    @property
    def grouped(self) -> str:
        """A pattern that a number with thousands has; only then the signs may be taken out."""
        sign = self.between_thousands
        decimal = re.escape(self.decimal)
        return rf"^[+-]?\d{{1,3}}(?:{sign}\d{{3}})+(?:{decimal}\d*)?(?:[eE][+-]?\d+)?$"


PLAIN = Dialect()
