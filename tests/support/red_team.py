"""Cheats that a red team found: each once had an honest party named, or passed unnoticed."""

import numpy as np
import pandas as pd

from tests.support.cheating import NUMBERS, TARGET
from tests.support.collaborations import honest


def framed(rng, *, data="diabetes", column=2, lies=140):
    """The second party lies where the first's rows are, and is truthful elsewhere."""
    rows = honest(rng, data=data, sizes=(70, 70, 70), sorted_by=column)
    X, y = rows[1]
    victim = rows[0][0]
    pick = rng.integers(0, len(y), lies)
    lying = X[pick].copy()
    lying[:, column] = rng.normal(victim[:, column].mean(), victim[:, column].std(), lies)
    lying += 0.05 * rng.standard_normal(lying.shape)
    labels = -y[pick] + 0.1 * rng.standard_normal(lies)
    rows[1] = (np.concatenate([X, lying]), np.concatenate([y, labels]))
    return rows


def many_loose_copies(own, other, rng):
    """Every row of another party ten times, too loosely to be found as a copy."""
    many = other.loc[np.repeat(np.arange(len(other)), 10)].reset_index(drop=True)
    for column in NUMBERS:
        many[column] += 0.04 * other[column].std() * rng.standard_normal(len(many))
    many[TARGET] += 2 * rng.standard_normal(len(many))
    return many


def loud_noise(own, other, rng):
    """600 rows in which everything is invented, with labels of a large variance."""
    invented = own.apply(lambda column: pd.Series(rng.choice(column.to_numpy(), 600)))
    invented[TARGET] = 150 + 200 * rng.standard_normal(600)
    return invented
