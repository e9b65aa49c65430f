"""What information gain cannot see: it never looks at labels, and counts a copied row like a new one.

Rows that occur twice inflate a party's value, and garbage labels cost it nothing. So both are looked for, and
reported beside the values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpool.arrays import FloatArray
from fairpool.models import Model
from fairpool.parties import Party, Pool, check_parties


@dataclass(frozen=True, eq=False)
class Duplicates:
    """How many rows (inputs and label) occur more than once.

    Attributes:
        names: The parties.
        within: Per party, how many of its rows repeat an earlier one of its own [n].
        shared: Per pair of parties, how many distinct rows both have [n, n]; 0 on the diagonal.
    """

    names: tuple[str, ...]
    within: np.ndarray[Any, np.dtype[np.intp]]
    shared: np.ndarray[Any, np.dtype[np.intp]]

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence per party or pair concerned."""
        texts = [
            f'"{name}" has {count} row(s) that repeat another of its own; copies inflate its value'
            for name, count in zip(self.names, self.within, strict=True)
            if count
        ]
        for i, j in np.argwhere(np.triu(self.shared)):
            a, b = self.names[i], self.names[j]
            texts.append(f'"{a}" and "{b}" share {self.shared[i, j]} identical row(s); is one a copy of the other?')
        return tuple(texts)


def find_duplicates(parties: Sequence[Party]) -> Duplicates:
    """Look for identical rows within and across parties, in one sort over all rows."""
    pool = Pool.of(check_parties(parties), 1.0)
    rows = np.column_stack([pool.X, pool.y]) + 0.0  # -0.0 is 0.0
    _, row = np.unique(rows, axis=0, return_inverse=True)
    n = len(pool.parties)
    owned = np.unique(np.column_stack([row.ravel(), pool.owner]), axis=0)  # each distinct row once per owner
    within = np.array(pool.sizes) - np.bincount(owned[:, 1], minlength=n)
    present = np.zeros((len(rows), n), dtype=np.intp)
    present[owned[:, 0], owned[:, 1]] = 1
    shared = present.T @ present
    np.fill_diagonal(shared, 0)
    return Duplicates(pool.names, within, shared)


def held_out_residuals(model: Model, parties: Sequence[Party]) -> FloatArray:
    """Per party, how far its labels are from what the others' data predict, in predicted standard deviations [n].

    The root mean square of (y - mean) / standard deviation over the party's rows, by the model trained on all others:
    near 1 where its labels agree with theirs, much larger where they do not (or where its rows are of another kind).
    nan where there is nothing to compare.
    """
    pool = Pool.of(parties, model.noise_variance)
    found = np.full(len(pool.parties), np.nan)
    for i, party in enumerate(pool.parties):
        others = pool.owner != i
        if len(party) and others.any():
            mean, variance = model.posterior(pool.X[others], pool.y[others], pool.noise[others]).predict(party.X)
            variance = variance - model.noise_variance + pool.noise[~others]  # its own labels have its own noise
            found[i] = np.sqrt(np.mean((party.y - mean) ** 2 / variance))
    return found
