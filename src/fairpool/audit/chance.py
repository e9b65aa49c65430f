"""How many cells parties share, and how many of these chance explains.

Honest rows share cells, too: many where there are few columns, few values or many rows. Two things
tell copies from chance, whatever the distribution of honest rows is.

*Rows that agree by chance have neighbours that nearly do.* Take cells eight times as wide, or one
column less: of the pairs that agree so, few agree in the finer cells as well. For rows that vary in
one direction alone it is one in eight, or in crowded cells of one party two in nine, and fewer for
all others. Of copies it is nearly all.

*Independent parties share no more cells than they share with themselves.* With f and g the shares
of two parties' rows in every cell, sum f g <= sqrt(sum f^2 sum g^2), by Cauchy and Schwarz.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from fairpool.audit.cells import Keys
from fairpool.tables.arrays import FloatArray

WIDENINGS = {3: (0.25, 0.16), 2: (0.45, 0.3)}
"""Of pairs that agree in cells wider by so many bits, the share that agrees in fine ones is smaller
than this by chance: of one party, and of two. For rows along a line it would be 2 / 9 and 1 / 8
with cells eight times as wide, 2 / 5 and 1 / 4 with cells four times as wide."""

FALSE_ALARMS = 0.01
"""The chance that any finding of a run is one of honest rows, if pairs were independent."""

LEEWAY = 1.2
"""Labels at one place vary less than all labels do."""

EXCESS = 1.5
"""Two parties must share so many times as many cells as independent ones would."""


def shares(within: float, across: float, n: int) -> FloatArray:
    """Shares that chance may explain, of one party and of two [n, n]."""
    table = np.full((n, n), across)
    np.fill_diagonal(table, within)
    return table


def shares_of_labels(labels: Keys, n: int) -> FloatArray:
    """Of rows with the same inputs, measured again and again, how many agree by chance [n, n].

    Where labels have few values, as classes have, such rows agree wholly: of u labels in a crowded
    cell of one party, u cells agree and u (u - 1) / 2 pairs do not; of two parties, u and u^2 - u.

    Args:
        labels: The cell of every row's label [m].
        n: The number of parties.
    """
    counts = np.unique(labels, return_counts=True)[1].astype(float)
    u = float(counts.sum() ** 2 / (counts**2).sum())
    least_within, least_across = WIDENINGS[3]
    within = np.clip(LEEWAY * 2.0 / (u + 1.0), least_within, 0.9)
    across = np.clip(LEEWAY / u, least_across, 0.9)
    return shares(float(within), float(across), n)


def fewest_unlikely(tests: int) -> int:
    """With fewer agreeing cells than this, nothing is ever unlikely."""
    least = min(min(pair) for pair in WIDENINGS.values())
    return int(np.ceil(np.log(FALSE_ALARMS / tests) / np.log(least)))


def unlikely(
    agreeing: FloatArray, nearly: FloatArray, share: FloatArray, *, tests: int
) -> NDArray[np.bool_]:
    """Which numbers of agreeing cells chance does not explain [n, n].

    Args:
        agreeing: Cells that agree.
        nearly: Pairs of cells that nearly do.
        share: The share of both together that agrees by chance, at most.
        tests: How many numbers are looked at in all.
    """
    is_odd = agreeing >= fewest_unlikely(tests)  # of a thousand parties, hardly any
    some = agreeing[is_odd]
    tail = binom.sf(some - 1, some + nearly[is_odd], share[is_odd])
    is_odd[is_odd] = tail < FALSE_ALARMS / tests
    return is_odd


def dependent(votes: FloatArray, *, tests: int) -> NDArray[np.bool_]:
    """Which two parties share more cells than independent parties can [n, n].

    With votes x and y of each party's own pairs, independent parties have at most 2 sqrt(x y) of
    pairs of both, which is at most half of all. Where neither has any, nothing explains the others.

    Args:
        votes: Of pairs of rows in one cell, the shares of each two parties; see `Occupied.votes`.
        tests: How many numbers are looked at in all.
    """
    own = np.diag(votes)
    root = np.sqrt(own + 1.0)
    are_more = votes > EXCESS * 2.0 * np.outer(root, root)
    both = own[:, None] + own[None, :]
    some = are_more & (np.rint(both) > 0)
    ab = np.rint(votes[some])
    tail = binom.sf(ab - 1, ab + np.rint(both[some]), 0.5)
    are_more[some] = tail < FALSE_ALARMS / tests
    return np.asarray(are_more)
