"""Every id's noise: a Brownian path in eta that is a function of the secret and the id.

`docs/rounds.md` has what this proves and why. The path is computed where it is asked for and stored
nowhere; each of its normal variables is AES, with a key for the position, of the id.
"""

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fairpool.errors import DataError, RewardError, shown
from fairpool.keyed_noise.block_cipher import BlockCipher, Blocks
from fairpool.keyed_noise.bridge import Step, steps_to
from fairpool.keyed_noise.secret import Secret
from fairpool.tables.arrays import FloatArray, as_count

ROWS_AT_ONCE = 8192
"""So many rows' arrays stay in the processor's cache."""

MOST_KNOWN = 1024
"""The steps to so many etas are kept: a few megabytes."""

UNUSED_BITS = np.uint64(12)
"""Of 64 bits, 52 make a uniform variable: with one more, the largest would round to 1."""

ONE_AS_BITS = np.uint64(0x3FF0_0000_0000_0000)
"""1.0 as it is stored: with 52 bits after it, a number from 1 to below 2."""


Ways = list[tuple[tuple[Step, ...], list[int]]]
"""The steps to each eta, smallest first, and its places among those that were asked for."""


@dataclass(frozen=True)
class Paths:
    """The noise of every id.

    W_id(eta) is normal with mean 0 and Cov(W(a), W(b)) = min(a, b); paths of different ids, streams
    and secrets are independent of each other, for whoever does not have the secret.

    Attributes:
        secret: The collaboration's.
    """

    secret: Secret

    def at(self, ids: Blocks, eta: float, *, stream: int = 0) -> FloatArray:
        """W_id(eta) for each id [m].

        Args:
            ids: From `fairpool.keyed_noise.identity` [m, 2].
            eta: The noise variance, in squared raw units of the target; 0 is no noise.
            stream: Each has paths of its own, such as one for every class.
        """
        return self.at_many(ids, [eta], stream=stream).reshape(-1)

    def at_many(self, ids: Blocks, etas: Sequence[float], *, stream: int = 0) -> FloatArray:
        """W_id(eta) for several etas and each id [len(etas), m], the same as one after the other.

        Positions that several etas need are drawn once.

        Args:
            ids: From `fairpool.keyed_noise.identity` [m, 2].
            etas: The noise variances.
            stream: Each has paths of its own.
        """
        return self.to(etas, stream=stream).at(ids)

    def to(self, etas: Sequence[float], *, stream: int = 0) -> "Courses":
        """The paths as far as some etas: what they need besides ids is derived once.

        Args:
            etas: The noise variances.
            stream: Each has paths of its own.
        """
        ways = _ways_to(etas)
        number = as_count(stream, "stream", 0)
        ciphers = {}
        for steps, _ in ways:
            for step in steps:
                if step.position not in ciphers:
                    ciphers[step.position] = self._cipher(number, step.position)
        return Courses(count=len(etas), ways=ways, ciphers=ciphers)

    def _cipher(self, stream: int, position: float) -> BlockCipher:
        """What makes the normal variables of a position."""
        known = self._ciphers.get((stream, position))
        if known is None:
            place = (stream.to_bytes(8, "big"), struct.pack(">d", position))
            known = BlockCipher(self.secret.subkey("noise at a position", *place))
            self._ciphers[stream, position] = known
        return known

    @cached_property
    def _ciphers(self) -> dict[tuple[int, float], BlockCipher]:
        """Those that were needed so far: every party's noise is at nearly the same positions."""
        return {}


@dataclass(frozen=True, eq=False)
class Courses:
    """Every id's path as far as some etas, for ids that come in pieces.

    Attributes:
        count: How many etas were asked for.
        ways: How to get to each of them.
        ciphers: For each position, what makes its normal variables.
    """

    count: int
    ways: Ways
    ciphers: Mapping[float, BlockCipher] = field(repr=False)

    def at(self, ids: Blocks) -> FloatArray:
        """W_id(eta) for all etas and each id [etas, m].

        Args:
            ids: From `fairpool.keyed_noise.identity` [m, 2].
        """
        _refuse_other_than_ids(ids)
        noise = np.zeros((self.count, len(ids)))
        for begin in range(0, len(ids), ROWS_AT_ONCE):
            end = begin + ROWS_AT_ONCE
            _draw(ids[begin:end], self.ways, self.ciphers, noise[:, begin:end])
        return noise


def uniforms(words: NDArray[np.uint64]) -> FloatArray:
    """Uniform variables of 52 bits, (k + 1/2) / 2^52: never 0, never 1, and symmetric about 1/2.

    Args:
        words: 64 random bits each [m].
    """
    bits = words >> UNUSED_BITS
    bits |= ONE_AS_BITS
    numbers = bits.view(np.float64)  # 1 + k / 2^52
    numbers -= 1.0 - 2.0**-53  # exact, as the result has 53 bits
    return numbers


def _refuse_other_than_ids(ids: Blocks) -> None:
    is_array = isinstance(ids, np.ndarray) and ids.dtype == np.uint64
    if not is_array or ids.ndim != 2 or ids.shape[1] != 2:
        raise DataError(
            f"ids {shown(ids)} are not an array of uint64 with two columns; take them from"
            " row_ids or coordinate_ids"
        )


def _ways_to(etas: Sequence[float]) -> Ways:
    places: dict[float, list[int]] = {}
    for place, eta in enumerate(etas):
        number = float(eta)
        if not 0 <= number < math.inf:
            raise RewardError(
                f"noise variance eta {shown(eta)} is not a finite number from 0; where it is"
                " infinite nothing is released"
            )
        places.setdefault(number, []).append(place)
    return [(_steps_to(eta), places[eta]) for eta in sorted(places) if eta > 0]


_steps_to = lru_cache(maxsize=MOST_KNOWN)(steps_to)
"""A recipient's eta is the same on every party's rows: the same steps are asked for often."""


def _draw(ids: Blocks, ways: Ways, ciphers: Mapping[float, BlockCipher], noise: FloatArray) -> None:
    """Write W of some ids at all etas into noise [len(etas), m]."""
    origin = np.zeros(len(ids))
    known: dict[float, FloatArray] = {}
    for steps, places in ways:
        # Of the etas before, the next one in size shares positions with the last, if with any.
        values = {0.0: origin}
        for step in steps:
            value = known.get(step.position)
            if value is None:
                value = ndtri(uniforms(ciphers[step.position].encrypt(ids)[:, 0]))
                _bridge(value, step, values)
            values[step.position] = value
        noise[places] = values[steps[-1].position]
        known = values


def _bridge(normal: FloatArray, step: Step, values: dict[float, FloatArray]) -> None:
    """Make W at a step's position of a normal variable, in place."""
    normal *= step.deviation
    way = values[step.upper] - values[step.lower]
    way *= step.weight
    normal += way
    normal += values[step.lower]
