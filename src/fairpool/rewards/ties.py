"""Ties by tolerance: in floating point, two parties with the same data differ by 4e-16."""

import numpy as np
from numpy.typing import NDArray

from fairpool.contributions.estimates import Z_95
from fairpool.tables.arrays import FloatArray


def snap_ties(phi: FloatArray, tolerance: float) -> FloatArray:
    """phi [n] with values closer than the tolerance made equal, and those within it of 0 made 0.

    >>> snap_ties(np.array([3.0, 1e-17, 3.0000000000000004]), 1e-9)
    array([3., 0., 3.])
    """
    snapped = np.where(np.abs(phi) <= tolerance, 0.0, phi)
    order = np.argsort(snapped, kind="stable")
    gaps = np.flatnonzero(np.diff(snapped[order]) > tolerance)
    for group in np.split(order, gaps + 1):
        # One of them serves for all: a mean would move those that are 0.
        if (snapped[group] == 0).any():
            snapped[group] = 0.0
        else:
            snapped[group] = snapped[group].min()
    return snapped


def parties_up_to(
    i: int, phi: FloatArray, *, errors: FloatArray, tolerance: float
) -> tuple[int, ...]:
    """C_i = {j: phi_j <= phi_i}, with every j that may be as small within sampling errors [n]."""
    return _members(phi <= phi[i] + tolerance + _margin(i, errors))


def parties_surely_up_to(
    i: int, phi: FloatArray, *, errors: FloatArray, tolerance: float
) -> tuple[int, ...]:
    """The parties that contribute at most as much as party i, even if errors are against it."""
    return _members(phi + _margin(i, errors) <= phi[i] + tolerance)


def _margin(i: int, errors: FloatArray) -> FloatArray:
    """How far each party's estimate may be off, relative to party i's [n].

    Whatever the correlation of two estimates, their difference's standard error is at most the sum
    of theirs.
    """
    return np.where(np.arange(len(errors)) == i, 0.0, Z_95 * (errors + errors[i]))


def _members(chosen: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(np.flatnonzero(chosen).tolist())
