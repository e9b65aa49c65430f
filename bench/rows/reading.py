"""Reading tables as they come, against pyarrow alone on the same file: half a million rows.

Ours hashes every byte and gives batches with the collaboration's names and units. pyarrow reads the
columns as they are, in the quickest way that it has for the kind of file. Both use two threads.
"""

import gzip
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from bench.measure import FOLDER, Row, interleaved, quick, same
from fairpool.consortium.reading import Piece, Reading
from fairpool.tables.delivery import Delivery, OwnColumn
from fairpool.tables.dialect import Dialect

ROWS = 500_000
NUMBERS = [f"x{i}" for i in range(8)]
DATA = FOLDER / "data"
GERMAN = Dialect(separator=";", decimal=",")
FILES = {
    "plain CSV": "reading.csv",
    "semicolons, decimal commas": "reading-german.csv",
    "thousands": "reading-thousands.csv",
    "latin-1, inches": "reading-latin.csv",
    "gzipped CSV": "reading.csv.gz",
    "Parquet": "reading.parquet",
}
DELIVERIES = {
    "semicolons, decimal commas": Delivery(dialect=GERMAN),
    "thousands": Delivery(dialect=Dialect(separator=";", decimal=",", thousands=".")),
    "latin-1, inches": Delivery(
        dialect=Dialect(separator=";", decimal=",", encoding="iso8859-1"),
        columns=(OwnColumn(name="x0", own_unit="inch", unit="mm"),),
    ),
}
"""How the files are read that are not plain."""

DIRECT = [kind for kind in FILES if kind != "thousands"]
"""Those that pyarrow reads as well."""


def write() -> None:
    """The files, unless they are there."""
    if all((DATA / name).exists() for name in FILES.values()):
        return
    DATA.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    columns = {name: np.round(rng.normal(0, 1000, ROWS), 6) for name in NUMBERS}
    table = pa.table(columns | {"soil": rng.choice(["clay", "sand", "loam"], ROWS)})
    pq.write_table(table, DATA / FILES["Parquet"])
    pa_csv.write_csv(table, DATA / FILES["plain CSV"])
    plain = (DATA / FILES["plain CSV"]).read_bytes()
    (DATA / FILES["gzipped CSV"]).write_bytes(gzip.compress(plain, 6))
    german = plain.replace(b",", b";").replace(b".", b",")
    (DATA / FILES["semicolons, decimal commas"]).write_bytes(german)
    (DATA / FILES["latin-1, inches"]).write_bytes(german.replace(b"sand", b"s\xe4nd"))
    lines = ["x0;x1"]
    for first, second in zip(columns["x0"], columns["x1"], strict=True):
        german_line = f"{first:,.6f};{second:,.6f}"
        lines.append(german_line.translate({ord(","): ".", ord("."): ","}))
    (DATA / FILES["thousands"]).write_text("\n".join(lines) + "\n")


def ours(kind: str) -> float:
    """The sum of the first column."""
    is_whole = kind != "thousands"
    batches = Reading(
        piece=Piece(file=DATA / FILES[kind]),
        numbers=NUMBERS if is_whole else NUMBERS[:2],
        texts=["soil"] if is_whole else [],
        delivery=DELIVERIES.get(kind, Delivery()),
    )
    total = 0.0
    for batch in batches:
        total += float(batch.columns["x0"].to_numpy().sum())
    return total


def theirs(kind: str) -> float:
    """The same by pyarrow alone, batch by batch; inches stay inches."""
    file = DATA / FILES[kind]
    if kind == "Parquet":
        batches = pq.ParquetFile(file).iter_batches(1 << 17)
        return _sum(pa.Table.from_batches(list(batches)))
    is_plain = kind in ("plain CSV", "gzipped CSV")
    types = {name: pa.float64() for name in NUMBERS} | {"soil": pa.string()}
    encoding = "latin-1" if kind == "latin-1, inches" else "utf8"
    total = 0.0
    with pa_csv.open_csv(
        file,
        read_options=pa_csv.ReadOptions(block_size=1 << 22, encoding=encoding),
        parse_options=pa_csv.ParseOptions(
            delimiter="," if is_plain else ";", newlines_in_values=True
        ),
        convert_options=pa_csv.ConvertOptions(
            column_types=types, decimal_point="." if is_plain else ","
        ),
    ) as reader:
        for batch in reader:
            total += _sum(pa.Table.from_batches([batch]))
    return total


def _sum(table: pa.Table) -> float:
    return float(table["x0"].to_numpy().sum())


def theirs_by_hand() -> float:
    """Thousands, which pyarrow does not read: as text, and then without the signs."""
    reader = pa_csv.open_csv(
        DATA / FILES["thousands"],
        read_options=pa_csv.ReadOptions(block_size=1 << 22),
        parse_options=pa_csv.ParseOptions(delimiter=";", newlines_in_values=True),
        convert_options=pa_csv.ConvertOptions(column_types={"x0": pa.string(), "x1": pa.string()}),
    )
    total = 0.0
    for batch in reader:
        for name in ("x0", "x1"):
            texts = pc.replace_substring(batch.column(name), ".", "")
            numbers = pc.replace_substring(texts, ",", ".").cast(pa.float64())
            if name == "x0":
                total += float(numbers.to_numpy().sum())
    return total


def main() -> None:
    """One row for each kind of file."""
    write()
    pa.set_cpu_count(2)
    for kind, name in FILES.items():
        file: Path = DATA / name
        peer: Callable[[], float] = theirs_by_hand
        if kind in DIRECT:
            peer = partial(theirs, kind)
        peer()  # the file is in the system's cache for all
        repeats = 2 if quick() else 11
        seconds, found = interleaved({"ours": partial(ours, kind), "floor": peer}, repeats)
        factor = 25.4 if "inches" in kind else 1.0
        columns = 2 if kind == "thousands" else 9
        Row.timed(
            seconds,
            at_most=2,
            row=f"reading a table: {kind}",
            size=f"half a million rows, {columns} columns, {file.stat().st_size / 2**20:.0f} MiB",
            against=f"floor: pyarrow {pa.__version__} alone",
            equal=same(found["ours"], factor * found["floor"], 1e-9, "sum of a column"),
            note="ours is hashed",
        ).print()


if __name__ == "__main__":
    sys.exit(main())
