"""Files in any dialect, packed ones too, are never in memory as a whole."""

import gzip
import tracemalloc

import pyarrow as pa
import pytest

from fairpool.consortium import hashing_stream, reading
from fairpool.consortium.reading import Piece, Reading
from fairpool.tables.delivery import Delivery, OwnColumn
from fairpool.tables.dialect import Dialect

DELIVERY = Delivery(
    dialect=Dialect(
        separator=";", decimal=",", thousands=".", encoding="iso8859-1", missing=("-",), header=2
    ),
    columns=(OwnColumn(name="rain", named="Regen", own_unit="inch", unit="mm"),),
)
LINES = "".join(f"{k % 28 + 1}.{k % 12 + 1}.2024;{k % 9 + 1}.234,5;größer\n" for k in range(1000))


def write(file, thousands):
    """A file of so many thousand lines; dates are told apart by the first ones."""
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "wt", encoding="latin-1") as stream:
        stream.write("Ein Titel\nsown;Regen;soil\n31.1.2024;-;-\n")
        for _ in range(thousands):
            stream.write(LINES)
    return file


def peak_of(file):
    """The most bytes that were taken at once while a file was read: Python's, and Arrow's."""
    arrow = pa.proxy_memory_pool(pa.default_memory_pool())
    before = pa.default_memory_pool()
    pa.set_memory_pool(arrow)
    tracemalloc.start()
    try:
        one = Reading(
            piece=Piece(file=file),
            numbers=("rain",),
            texts=("soil",),
            dates=("sown",),
            delivery=DELIVERY,
            threads=False,
        )
        rows = sum(batch.columns.num_rows for batch in one)
        return rows, tracemalloc.get_traced_memory()[1] + arrow.max_memory()
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_twice_the_rows_take_hardly_more_memory(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(hashing_stream, "SMALL_FILE", 1 << 18)
    monkeypatch.setattr(reading, "CSV_BLOCK", 1 << 18)
    few, peak_of_few = peak_of(write(tmp_path / f"few{suffix}", 500))
    many, peak_of_many = peak_of(write(tmp_path / f"many{suffix}", 1000))
    assert (few, many) == (500_001, 1_000_001)
    # Arrow reads some blocks ahead, which both files have. The larger one has 15 MB more, and its
    # columns would take as much again.
    assert peak_of_many - peak_of_few < 1 << 20, (peak_of_few, peak_of_many)
