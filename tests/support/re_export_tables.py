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
    return {**HONEST, **LATER}[kind](rng)


def census(rng):
    """Whole numbers of many sizes, and a rate in classes of 5."""
    age = rng.integers(18, 80, 4000).astype(float)
    years = np.clip(np.round(rng.normal(12, 3, 4000)), 0, 20)
    hours = rng.choice([20.0, 35.0, 38.0, 40.0, 45.0], 4000, p=[0.1, 0.2, 0.2, 0.4, 0.1])
    sex = rng.integers(0, 2, 4000).astype(float)
    wage = np.round((5 + years + 0.1 * age + rng.normal(0, 4, 4000)) / 5) * 5
    return np.column_stack([age, years, hours, sex]), wage


def prices(rng):
    """Prices that end in 9, weights in steps, and a shop."""
    weight = rng.choice([0.25, 0.5, 1.0, 2.5, 5.0], 4000)
    shop = rng.integers(0, 12, 4000).astype(float)
    base = np.round(np.exp(rng.normal(2, 0.7, 4000)) * weight**0.8) + 0.99
    before = np.round(base * rng.choice([1.0, 1.1, 1.25], 4000)) + 0.99
    return np.column_stack([weight, shop, before]), base


def sensors(rng):
    """Four sensors of one place, read every hour with one decimal: neighbours in time are alike."""
    path = np.zeros((5, 4000))
    for hour in range(1, 4000):
        path[:, hour] = 0.97 * path[:, hour - 1] + rng.normal(0, 0.6, 5)
    return np.round(path[:4].T + 20, 1), np.round(path[:4].mean(axis=0) + path[4] + 20, 1)


def patients(rng):
    """200 patients every month: what they are stays, what is measured moves by a third of it."""
    constant = np.repeat(rng.normal(size=(1, 200, 5)), 20, axis=0)
    own = constant[:, :, 0] + rng.normal(0, 0.35, (20, 200))
    month = np.repeat(np.arange(20.0)[:, None], 200, axis=1)
    X = np.concatenate([constant, month[:, :, None]], axis=2)
    return X.reshape(-1, 6), own.reshape(-1)


LATER = {
    "census, whole numbers": census,
    "prices that end in 9": prices,
    "sensors, hour after hour": sensors,
    "200 patients, month after month": patients,
}
"""Honest tables that nobody had looked at when the rules were made."""


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
    for kind in [*HONEST, "diabetes", "friedman", *LATER]:
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
