"""Honest tables of many kinds, and what may be done to copied rows."""

from string import ascii_uppercase

import numpy as np

import fairpool as fp


def integers(rng):
    X = rng.integers(0, 10, (3000, 4)).astype(float)
    return X, X.sum(axis=1) + rng.integers(-2, 3, 3000)


def exact_sums(rng):
    X = rng.integers(0, 10, (3000, 3)).astype(float)
    return X, X.sum(axis=1)


def categories(rng):
    X = (rng.random((3000, 12)) < 0.3).astype(float)
    return X, (X[:, :3].sum(axis=1) > 1).astype(float)


def grid(rng):
    points = np.stack(np.meshgrid(*[np.arange(12.0)] * 3), -1).reshape(-1, 3)
    X = np.concatenate([points, points])
    return X, X.sum(axis=1) + rng.normal(size=len(X))


def curve(rng):
    t = rng.uniform(0, 1, 3000)
    return np.column_stack([t, t**2, np.sin(5 * t)]), np.cos(7 * t)


def one_input(rng):
    x = rng.normal(size=(20_000, 1))
    return x, np.sin(3 * x[:, 0]) + 0.1 * rng.normal(size=len(x))


def dense(rng):
    X = rng.normal(size=(50_000, 3))
    return X, X.sum(axis=1) + rng.normal(size=len(X))


def mostly_zero(rng):
    X = rng.exponential(size=(4000, 6)) * (rng.random((4000, 6)) < 0.2)
    return X, X.sum(axis=1)


def sites(rng):
    places = rng.normal(size=(60, 8))
    site = rng.integers(0, 60, 3000)
    return places[site], places[site, 0] + rng.normal(size=3000)


def ratings_of_sites(rng):
    X, y = sites(rng)
    return X, np.clip(np.round(3 + y), 1, 5)


def few_factors(rng):
    factors = rng.normal(size=(2000, 3))
    X = factors @ rng.normal(size=(3, 60)) + 0.05 * rng.normal(size=(2000, 60))
    return X, factors[:, 0] + 0.05 * rng.normal(size=2000)


def clusters(rng):
    centres = rng.normal(size=(20, 6))
    own = rng.integers(0, 20, 3000)
    X = centres[own] + 0.02 * rng.normal(size=(3000, 6))
    return X, centres[own, 0] + 0.02 * rng.normal(size=3000)


def skewed(rng):
    return np.exp(2 * rng.normal(size=(4000, 5))), np.exp(rng.normal(size=4000))


def walk(rng):
    path = np.cumsum(rng.normal(size=(4000, 5)), axis=0)
    return path[:, :4], path[:, 4]


def units_measured_again(rng):
    units = np.repeat(rng.normal(size=(300, 4)), 10, axis=0)
    measured = units + 0.003 * rng.normal(size=units.shape)
    time = np.tile(np.arange(10.0), 300)
    return np.column_stack([measured[:, :3], time]), measured[:, 3]


def weather(rng):
    days = np.arange(3000)
    season = np.sin(2 * np.pi * days / 365)
    temperature = 10 + 8 * season + 2 * rng.normal(size=3000)
    rain = np.round(np.maximum(rng.gamma(0.3, 5, 3000) - 1, 0), 1)
    humidity = np.round(70 - 10 * season + 5 * rng.normal(size=3000))
    wind = np.round(5 * np.abs(rng.normal(size=3000)))
    X = np.column_stack([np.round(temperature, 1), rain, humidity, wind])
    return X, np.round(2 * temperature + 0.1 * rain + rng.normal(size=3000))


HONEST = {
    "whole numbers": integers,
    "whole numbers with an exact sum": exact_sums,
    "twelve yes-no columns and two classes": categories,
    "a grid, measured twice": grid,
    "a curve": curve,
    "one input": one_input,
    "many rows of three inputs": dense,
    "mostly zeros": mostly_zero,
    "60 sites, measured often": sites,
    "60 sites, rated 1 to 5": ratings_of_sites,
    "60 columns of 3 factors": few_factors,
    "20 tight clusters": clusters,
    "skewed": skewed,
    "a random walk": walk,
    "300 units, measured ten times with noise": units_measured_again,
    "weather, rounded": weather,
}
"""Kinds of tables in which rows agree by chance, or nearly."""


def split(X, y, rng, how="random", n=3):
    """Parties of the same size: at random, or sorted by the first column."""
    order = rng.permutation(len(y))
    if how == "sorted":
        order = np.argsort(X[:, 0], kind="stable")
    parts = zip(ascii_uppercase[:n], np.array_split(order, n), strict=True)
    return [fp.Party(name, X[rows], y[rows]) for name, rows in parts]


def honest_parties(kind, seed, how="random", n=3):
    rng = np.random.default_rng(seed)
    X, y = HONEST[kind](rng)
    return split(X, y, rng, how, n)


def altered(what):
    """What is done to copied rows [s, c], the label last: a function of them and a generator."""
    first, _, second = what.partition(" ")
    if first == "jitter":
        return lambda rows, rng: jittered(rows, float(second), rng)
    return ALTERATIONS[what]


def jittered(rows, size, rng):
    """Rows with normal jitter of so many standard deviations."""
    return rows + size * rows.std(axis=0) * rng.normal(size=rows.shape)


def in_column_1(change):
    def alter(rows, _rng):
        rows = rows.copy()
        rows[:, 1] = change(rows[:, 1])
        return rows

    return alter


def rounded(rows, digits):
    """Numbers with so many significant digits."""
    size = np.where(rows == 0, 1.0, np.abs(rows))
    power = 10.0 ** (digits - 1 - np.floor(np.log10(size)))
    return np.round(rows * power) / power


def other_labels(rows, rng):
    return np.column_stack([rows[:, :-1], rng.permutation(rows[:, -1])])


ALTERATIONS = {
    "exact": lambda rows, _rng: rows,
    "3 digits": lambda rows, _rng: rounded(rows, 3),
    "2 digits": lambda rows, _rng: rounded(rows, 2),
    "column + 0.1": in_column_1(lambda column: column + 0.1),
    "column + 3 sd": in_column_1(lambda column: column + 3 * column.std()),
    "column x 1.8": in_column_1(lambda column: 1.8 * column),
    "column x 1.8 + 32": in_column_1(lambda column: 1.8 * column + 32),
    "other labels": other_labels,
}
