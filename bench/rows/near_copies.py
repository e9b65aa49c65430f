"""Near copies among a million rows of ten inputs and a label, against one sort of the table.

The floor is numpy's lexsort of the rows, which would bring exact copies together and nothing else.
A tenth of one party's rows are copies of another's, with one column shifted. Peak memory is that of
a process of its own.
"""

import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np

import fairpool as fp
from bench.measure import Row, interleaved, quick, same
from fairpool.audit.near_copies import NearCopies

ROWS, INPUTS, PARTIES = 1_000_000, 10, 3
MOST = {
    "ten inputs": 5,
    "two inputs: most rows agree by chance": 30,
    "ten inputs, whole numbers 0 to 9": 40,
}
"""How many times as long as the floor it may take."""

KINDS = tuple(MOST)


def parties(kind: str, rows: int) -> list[fp.Party]:
    """The tables of a kind; of the first one, a tenth of the second party's rows are copied."""
    rng = np.random.default_rng(0)
    inputs = 2 if kind == KINDS[1] else INPUTS
    X = rng.normal(size=(rows, inputs))
    y = X[:, 0] + rng.normal(size=rows)
    if kind == KINDS[2]:
        X = rng.integers(0, 10, (rows, inputs)).astype(float)
        y = X[:, :3].sum(axis=1)
    if kind == KINDS[0]:
        copied = rows // PARTIES // 10
        X[1 : 1 + PARTIES * copied : PARTIES] = X[: PARTIES * copied : PARTIES]
        X[1 : 1 + PARTIES * copied : PARTIES, 4] += 0.1
        y[1 : 1 + PARTIES * copied : PARTIES] = y[: PARTIES * copied : PARTIES]
    return [fp.Party(f"party {i}", X[i::PARTIES], y[i::PARTIES]) for i in range(PARTIES)]


def lexsort(table: np.ndarray) -> np.ndarray:
    """The floor."""
    return np.lexsort(table.T)


def found_copies(found: NearCopies) -> int:
    """Rows of the second party that are copies."""
    return found.shared[0].rows[1] if found.shared else 0


def peak_memory(kind: str) -> float:
    """GiB that the search takes at most beside the tables, in a fresh process."""
    command = [sys.executable, "-m", "bench.rows.near_copies", "--memory", kind]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    before, after = done.stdout.split()
    return (float(after) - float(before)) / 2**20


def print_memory(kind: str) -> None:
    """KiB at most, before and after the search."""
    tables = parties(kind, ROWS)
    for search in (lambda: None, partial(fp.find_near_copies, tables)):
        search()
        status = Path("/proc/self/status").read_text()
        print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def against_sorting(kind: str) -> None:
    """One kind of table."""
    tables = parties(kind, ROWS)
    pooled = np.concatenate([np.column_stack([table.X, table.y]) for table in tables])
    ways = {"ours": partial(fp.find_near_copies, tables), "floor": partial(lexsort, pooled)}
    seconds, found = interleaved(ways, 1 if quick() else 5)
    expected = ROWS // PARTIES // 10 if kind == KINDS[0] else 0
    Row.timed(
        seconds,
        at_most=MOST[kind],
        row=f"near copies: {kind}",
        size=f"1 million rows, {PARTIES} parties",
        against=f"floor: numpy {np.__version__} lexsort of the table",
        equal=same(1 + found_copies(found["ours"]), 1 + expected, 1e-3, "copied rows found"),
        note=f"{peak_memory(kind):.2f} GiB beside the table",
    ).print()


def growth() -> None:
    """Four times the rows."""
    sizes = (ROWS // 4, ROWS)
    tables = {str(rows): parties(KINDS[0], rows) for rows in sizes}
    ways = {rows: partial(fp.find_near_copies, own) for rows, own in tables.items()}
    seconds, found = interleaved(ways, 1 if quick() else 5)
    work = [found[str(rows)].sorted_rows / rows for rows in sizes]
    Row.timed(
        {"ours": seconds[str(ROWS)], "theirs": seconds[str(ROWS // 4)]},
        at_most=5,
        row="near copies: growth",
        size="250,000 to 1 million rows",
        against="itself with a quarter of the rows",
        # A little more where more rows agree by chance, which is looked at more closely.
        equal=same(work[1], work[0], 0.25, "rows sorted per row"),
    ).print()


if __name__ == "__main__":
    if "--memory" in sys.argv:
        print_memory(sys.argv[-1])
    else:
        for kind in KINDS:
            against_sorting(kind)
        growth()
