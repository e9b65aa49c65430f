"""The tables of docs/trust.md about near copies: `python -m tests.support.copy_tables`.

The California data are looked for in $FAIRPOOL_DATA. It takes about half an hour.
"""

import sys
from functools import cache, partial

import numpy as np

import fairpool as fp
from fairpool.paper.datasets import california, diabetes, friedman
from tests.support.copies import HONEST, altered, honest_parties, jittered, split

LOADERS = {
    "diabetes": diabetes,
    "Friedman": lambda: friedman(1500, np.random.default_rng(1)),
    "California": california,
}


@cache
def data_set(name):
    """Loaded when it is needed: the California data may not be there."""
    return LOADERS[name]()


SHARES = (0.05, 0.2, 1.0)
WHAT = (
    "exact",
    "3 digits",
    "2 digits",
    "jitter 1e-6",
    "jitter 1e-3",
    "jitter 1e-2",
    "column + 0.1",
    "column + 3 sd",
    "column x 1.8",
    "column x 1.8 + 32",
    "other labels",
)


def data_parties(name, seed, how, n):
    """An honest split of a data set."""
    rng = np.random.default_rng(seed)
    return split(data_set(name).X, data_set(name).y, rng, how, n)


def false_alarms(draws):
    """How many honest tables have a finding."""
    print("| honest table | three parties | sorted | ten parties |\n|---|---|---|---|")
    makers = {name: partial(data_parties, name) for name in LOADERS}
    makers |= {kind: partial(honest_parties, kind) for kind in HONEST}
    for name, make in makers.items():
        counts = []
        for how, n in (("random", 3), ("sorted", 3), ("random", 10)):
            # Sorted by a column, a data set splits in one way alone.
            seeds = 1 if name in LOADERS and how == "sorted" else draws
            found = [fp.find_near_copies(make(seed, how, n)) for seed in range(seeds)]
            counts.append(f"{sum(bool(f.repeated or f.shared) for f in found)} of {seeds}")
        print(f"| {name} | {' | '.join(counts)} |", flush=True)


def with_copies(data, alter, share, seed):
    """Three parties; the second has copies of the first's rows for so many of its own."""
    rng = np.random.default_rng(seed)
    first, second, third = split(data.X, data.y, rng)
    count = min(round(share * len(second)), len(first))
    table = np.column_stack([first.X, first.y])
    copied = alter(table[rng.choice(len(first), count, replace=False)], rng)
    own = np.column_stack([second.X, second.y])[count:]
    rows = rng.permutation(np.concatenate([copied, own]))
    return [first, fp.Party("B", rows[:, :-1], rows[:, -1]), third], count


def detected(data, alter, share, draws):
    """In how many draws the copies are found, and which share of them."""
    shares = []
    for seed in range(draws):
        parties, count = with_copies(data, alter, share, 1000 + seed)
        found = fp.find_near_copies(parties)
        shares += [f.rows[1] / count for f in found.shared if (f.first, f.second) == (0, 1)]
    if not shares:
        return f"0 of {draws}"
    return f"{len(shares)} of {draws} ({np.mean(shares):.0%})"


def repeated(data, times, jitter, draws):
    """In how many draws repeated rows are found."""
    hits = 0
    for seed in range(draws):
        rng = np.random.default_rng(2000 + seed)
        first, second, third = split(data.X, data.y, rng)
        table = np.repeat(np.column_stack([second.X, second.y]), times, axis=0)
        rows = rng.permutation(jittered(table, jitter, rng))
        parties = [first, fp.Party("B", rows[:, :-1], rows[:, -1]), third]
        hits += any(f.party == 1 for f in fp.find_near_copies(parties).repeated)
    return f"{hits} of {draws}"


def detection(draws):
    """Which copies are found, by how many of a party's rows are copies."""
    print("\n| data | what was done | 5% | 20% | 100% |\n|---|---|---|---|---|")
    for name in LOADERS:
        data = data_set(name)
        for what in WHAT:
            found = [detected(data, altered(what), share, draws) for share in SHARES]
            print(f"| {name} | {what} | {' | '.join(found)} |", flush=True)
    print("\n| data | every row | jitter 1e-6 | 1e-3 | 1e-2 |\n|---|---|---|---|---|")
    for name in LOADERS:
        data = data_set(name)
        for times in (2, 10):
            found = [repeated(data, times, jitter, draws) for jitter in (1e-6, 1e-3, 1e-2)]
            print(f"| {name} | {times} times | {' | '.join(found)} |", flush=True)


if __name__ == "__main__":
    if "detection" not in sys.argv:
        false_alarms(50)
    if "false-alarms" not in sys.argv:
        detection(20)
