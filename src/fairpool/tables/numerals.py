"""Numbers as people write them: decimal commas, and signs between thousands."""

import re

import pyarrow as pa
import pyarrow.compute as pc

from fairpool.tables.dialect import BLANKS, Dialect


def number_in(text: str, dialect: Dialect) -> float | None:
    """The number that a text stands for; None: it is no number.

    A sign between thousands must stand between groups of three digits: 1.5 is not 15.

    >>> number_in("1.234,5", Dialect(decimal=",", thousands="."))
    1234.5
    """
    text = text.strip()
    if dialect.thousands and re.search(dialect.between_thousands, text):
        if not re.match(dialect.grouped, text):
            return None
        text = re.sub(dialect.between_thousands, "", text)
    if dialect.decimal != ".":
        if "." in text:
            return None
        text = text.replace(dialect.decimal, ".")
    # Python reads 1_000 and digits of other scripts as numbers, but Arrow does not.
    if "_" in text or not text.isascii():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def numbers_in(column: pa.ChunkedArray, dialect: Dialect) -> pa.ChunkedArray:
    """A column of texts as float64, missing values as nulls, by `number_in`'s rules.

    Raises:
        pa.ArrowInvalid: A text is no number.
    """
    texts = pc.utf8_trim_whitespace(column)
    if dialect.thousands:
        texts = _without_thousands(texts, dialect)
    if dialect.decimal != ".":
        if pc.any(pc.match_substring(texts, ".")).as_py():
            raise pa.ArrowInvalid(f"a number with a point, where decimal is {dialect.decimal}")
        texts = pc.replace_substring(texts, dialect.decimal, ".")
    return texts.cast(pa.float64())


def _without_thousands(texts: pa.ChunkedArray, dialect: Dialect) -> pa.ChunkedArray:
    sign = dialect.thousands
    if sign in BLANKS:
        sign = BLANKS[0]
        for other in BLANKS[1:]:
            texts = pc.replace_substring(texts, other, sign)
    has_sign = pc.match_substring(texts, sign)
    if not pc.any(has_sign).as_py():
        return texts
    is_grouped = pc.match_substring_regex(texts, dialect.grouped)
    if pc.any(pc.and_not(has_sign, is_grouped)).as_py():
        raise pa.ArrowInvalid(f"{dialect.thousands} is not between groups of three digits")
    return pc.replace_substring(texts, sign, "")
