"""Statistics of a Parquet file of five million rows and 20 columns, against merely reading it.

It is pyarrow that reads, in the quickest of three ways to stream or load all columns. Both use two
threads. Peak memory is that of a process of its own.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from bench.games import regression
from bench.measure import FOLDER, Row, interleaved, quick, same
from fairpool.columns import NumberColumn
from fairpool.compute.workers import Workers
from fairpool.consortium.statistics import summarise_files
from fairpool.consortium.tables import Source
from fairpool.encoding import TableEncoding
from fairpool.parties import PartySummary
from fairpool.targets import NumberTarget

ROWS, COLUMNS, GROUPS = 5_000_000, 20, 50
FILE = FOLDER / "data" / "five-million-rows.parquet"
NAMES = [f"x{i}" for i in range(COLUMNS - 1)] + ["y"]


def write() -> None:
    """The file, unless it is there: standard normal float64, 50 row groups."""
    if FILE.exists():
        return
    FILE.parent.mkdir(parents=True, exist_ok=True)
    rng, partial = np.random.default_rng(0), FILE.with_suffix(".partial")
    schema = pa.schema([(name, pa.float64()) for name in NAMES])
    with pq.ParquetWriter(partial, schema) as writer:
        for _ in range(GROUPS):
            columns = [rng.normal(size=ROWS // GROUPS) for _ in NAMES]
            writer.write_table(pa.table(columns, schema=schema))
    partial.rename(FILE)


def ours() -> PartySummary:
    """fairpool's streaming statistics, by two threads that each read and sum up row groups."""
    encoding = TableEncoding(
        tuple(NumberColumn(name, 0.0, 1.0) for name in NAMES[:-1]), NumberTarget("y", 0.0, 1.0)
    )
    with ThreadPoolExecutor(2) as threads:
        return summarise_files(
            "all",
            Source("all", (FILE,)),
            encoding=encoding,
            model=regression(),
            workers=Workers(threads),
        )


def iter_batches() -> int:
    """Stream by `ParquetFile.iter_batches`."""
    return sum(
        batch.num_rows
        for batch in pq.ParquetFile(FILE).iter_batches(batch_size=1 << 17, use_threads=True)
    )


def dataset() -> int:
    """Stream by a dataset's scanner, its read-ahead limited so that it stays a stream."""
    batches = ds.dataset(FILE).to_batches(
        batch_size=1 << 17, fragment_readahead=1, batch_readahead=4
    )
    return sum(batch.num_rows for batch in batches)


def read_table() -> int:
    """Load the whole file."""
    return pq.read_table(FILE, use_threads=True).num_rows


def check(summary: PartySummary) -> str:
    """Fail unless the statistics are those of the rows, summed up plainly."""
    G = np.zeros((COLUMNS, COLUMNS))
    for batch in pq.ParquetFile(FILE).iter_batches():
        A = np.column_stack([column.to_numpy() for column in batch.columns])
        G += A.T @ A
    same(summary.moment, G[:-1, -1], 1e-9, "moment")
    return same(summary.gram, G[:-1, :-1], 1e-11, "Gram matrix")


def peak_memory() -> float:
    """KiB at most in a fresh process that does it once.

    Its own account of itself, not `ru_maxrss`: that begins with what the process had that started
    it.
    """
    command = [sys.executable, "-m", "bench.rows.statistics", "--memory"]
    status = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return next(float(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


def main() -> None:
    """Time and memory."""
    write()
    pa.set_cpu_count(2)
    ways = {
        "ours": ours,
        "iter_batches": iter_batches,
        "dataset": dataset,
        "read_table": read_table,
    }
    read_table()  # the file is in the system's cache for all
    seconds, found = interleaved(ways, 2 if quick() else 15)
    best = min(("iter_batches", "dataset", "read_table"), key=lambda way: np.median(seconds[way]))
    gib = peak_memory() / 2**20
    row = Row.timed(
        {"ours": seconds["ours"], "floor": seconds[best]},
        at_most=2,
        row="regression statistics of a Parquet file",
        size="5 million rows, 20 columns",
        against=f"floor: pyarrow {pa.__version__} merely reading it ({best})",
        target="at most 2x, below 1 GiB",
        equal=check(found["ours"]),
        note=f"peak memory {gib:.2f} GiB; two threads in both",
    )
    replace(row, met=row.met and gib < 1).print()


if __name__ == "__main__":
    if "--memory" in sys.argv:
        ours()
        print(Path("/proc/self/status").read_text())
    else:
        main()
