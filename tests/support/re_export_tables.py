"""Rows that come again, written otherwise: what is recognised, as tables of `docs/rounds.md`.

`python -m tests.support.re_export_tables` prints them.
"""

import sys
from itertools import pairwise

import numpy as np

from fairpool.audit.known_rows import KnownRows, with_few_digits
from fairpool.audit.re_exports import find_re_export
from fairpool.audit.sketches import Folding
from fairpool.consortium.sample import row_keys
from fairpool.paper.datasets import diabetes, friedman
from tests.support.copies import HONEST, altered, rounded


def coordinates(kind, rng):
    """An honest table: X [m, p] and y [m]."""
    if kind == "diabetes":
        data = diabetes()
        return data.X, data.y
    if kind == "friedman":
        data = friedman(1500, rng)
        return data.X, data.y
    return HONEST[kind](rng)


def known_rows(X, y, like=None):
    """What is remembered of rows, in units of others; and the coordinates' names."""
    X_like, y_like = like or (X, y)
    folding = Folding.of([f"column {k}" for k in range(X.shape[1])], "y")
    scale = np.where(X_like.std(axis=0) > 0, X_like.std(axis=0), 1.0)
    sketch = folding.sketch(
        (X - X_like.mean(axis=0)) / scale, (y - y_like.mean()) / (y_like.std() or 1.0)
    )
    rows = KnownRows(
        sketch=sketch,
        labels=np.asarray(y, float),
        coarse=row_keys(with_few_digits(X), with_few_digits(y)),
        names=np.empty(0, np.uint64),
        noise=np.zeros(len(y), np.uint64),
    )
    return rows, [" or ".join(members) for members in folding.members]


def of_label(change):
    return lambda rows, _rng: np.column_stack([rows[:, :-1], change(rows[:, -1])])


ALTERED = {f"{k} digits": lambda rows, _rng, k=k: rounded(rows, k) for k in (2, 3, 4, 5, 6)}
for _what in ("exact", "jitter 0.000001", "jitter 0.001", "jitter 0.01"):
    ALTERED[_what] = altered(_what)
for _what in ("column + 0.1", "column x 1.8 + 32"):
    ALTERED[_what] = altered(_what)
ALTERED["label, 3 digits"] = of_label(lambda y: rounded(y, 3))
ALTERED["label x 2 + 1"] = of_label(lambda y: 2 * y + 1)


def tables_of(kind, alter, share, seed):
    """Known rows, new ones, the coordinates' names, and how many of the new ones come again."""
    rng = np.random.default_rng(seed)
    X, y = coordinates(kind, rng)
    rows = rng.permutation(np.column_stack([X, y]))
    old, fresh = np.split(rows, [int(0.6 * len(rows))])
    again = round(share * len(old))
    new = np.concatenate([alter(old[:again], rng), fresh])
    like = old[:, :-1], old[:, -1]
    known, names = known_rows(*like)
    return known, known_rows(new[:, :-1], new[:, -1], like=like)[0], names, again


def recognised(draws):
    kinds = ("diabetes", "friedman", "skewed", "weather, rounded", "whole numbers")
    print("| data | what was done | 5% | 50% | 100% |\n|---|---|---|---|---|")
    for kind in kinds:
        for what, alter in ALTERED.items():
            cells = []
            for share in (0.05, 0.5, 1.0):
                shares = []
                for seed in range(draws):
                    known, new, names, again = tables_of(kind, alter, share, seed)
                    finding = find_re_export(known, new, names=names)
                    if finding is not None:
                        shares.append((finding.new < again).sum() / again)
                rows = f" ({np.mean(shares):.0%})" if shares else ""
                cells.append(f"{len(shares)} of {draws}{rows}")
            print(f"| {kind} | {what} | {' | '.join(cells)} |", flush=True)


def suspected(draws):
    print("| honest table | at random | in order |\n|---|---|---|")
    for kind in [*HONEST, "diabetes", "friedman"]:
        cells = []
        for in_order in (False, True):
            alarms = 0
            for seed in range(draws):
                rng = np.random.default_rng(seed)
                X, y = coordinates(kind, rng)
                X, y = X[:10_000], y[:10_000]
                order = np.arange(len(y)) if in_order else rng.permutation(len(y))
                if in_order and kind.startswith("300 units"):
                    order = np.argsort(X[:, 3], kind="stable")
                rows, names = known_rows(X[order], y[order])
                ends = np.linspace(0, len(y), 13).astype(int)
                for start, end in pairwise(ends[1:]):
                    known = rows.some(np.arange(start))
                    new = rows.some(np.arange(start, end))
                    alarms += find_re_export(known, new, names=names) is not None
            cells.append(f"{alarms} of {11 * draws}")
        print(f"| {kind} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    DRAWS = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    suspected(DRAWS)
    print()
    recognised(DRAWS)
