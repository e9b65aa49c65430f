"""Tables written as people write them."""

import csv
import gzip
import io
from datetime import date, datetime, timedelta

import openpyxl

EPOCH = datetime(1970, 1, 1)


def number_as(value, decimal=".", thousands=""):
    """A number with every digit, as somebody writes it."""
    text = repr(float(value))
    if "e" in text:
        return text.replace(".", decimal)
    whole, _, fraction = text.partition(".")
    if thousands:
        whole = format(int(whole), ",").replace(",", thousands) if whole != "-0" else whole
    return f"{whole}{decimal}{fraction}"


def date_as(days, form):
    return (EPOCH + timedelta(days=days)).strftime(form)


def text_file(
    columns,
    *,
    separator=",",
    decimal=".",
    thousands="",
    encoding="utf-8",
    missing="",
    line="\n",
    dates=(),
    form="%Y-%m-%d",
):
    """The bytes of a CSV file; numbers are floats, texts are texts, None is missing."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=separator, lineterminator=line)
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        cells = []
        for name, value in zip(columns, row, strict=True):
            if value is None:
                cells.append(missing)
            elif name in dates:
                cells.append(date_as(value, form))
            elif isinstance(value, float):
                cells.append(number_as(value, decimal, thousands))
            else:
                cells.append(value)
        writer.writerow(cells)
    return stream.getvalue().encode(encoding)


def workbook(columns, *, dates=(), sheet="Data"):
    """The bytes of an Excel file with one table."""
    book = openpyxl.Workbook()
    book.active.title = sheet
    book.active.append(list(columns))
    for row in zip(*columns.values(), strict=True):
        cells = []
        for name, value in zip(columns, row, strict=True):
            is_date = name in dates and value is not None
            cells.append(EPOCH + timedelta(days=value) if is_date else value)
        book.active.append(cells)
    return saved(book)


def saved(book):
    """A workbook's bytes."""
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def packed(content):
    return gzip.compress(content, mtime=0)


def as_date(days):
    return date(1970, 1, 1) + timedelta(days=days)
