"""A game that is like the sampled one, and whose average over coalitions of one size, with or
without i, is known.

What is known exactly need not be sampled: of v only the part that the surrogate leaves has to be,
and that is small. For a coalition S of size k, with x_j = v_j (alone) and z_j = v_N - v_{N without
j} (the last to come), it is

    u(S) = a function of k  +  sum over j in S of b_j(k)  +  q(k) . (X^2, XZ, Z^2),   X = sum over S
    of x_j, Z of z_j

The b_j are multiples of x_j and z_j and, where there are samples enough, free for every party; all
coefficients are smooth in k. They are found by least squares from samples other than those they are
used on.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairpool.tables.arrays import TINY, FloatArray

FOLDS = 10
"""The samples are split into so many parts; what is used on one is fitted on the others."""

SAMPLES_PER_COEFFICIENT = 12
"""A group of terms takes part where there are this many samples for every coefficient."""

MOST_COEFFICIENTS = 1000
"""Beyond, least squares would take longer than more samples."""

SMOOTH = 3
"""How many functions of k every coefficient is a combination of."""

BLOCK = 400 * FOLDS
"""Samples whose terms are in memory at a time: a multiple of FOLDS."""

RIDGE = 1e-13
"""Of the largest: keeps features that say the same from having huge coefficients of opposite sign.
"""


@dataclass(frozen=True, eq=False)
class Bands:
    """The sizes 2 .. n-2 in bands of consecutive ones: each size by itself where there are few.

    Attributes:
        starts: The first size of each band, and n-1 [bands + 1].
    """

    starts: NDArray[np.int64]

    @classmethod
    def of(cls, n: int, most: int) -> "Bands":
        """At most about `most` bands, the wider the larger the sizes: values of small coalitions differ most."""
        if n - 3 <= most:
            return cls(np.arange(2, max(n, 3)))
        return cls(
            np.unique(np.append(np.geomspace(2, n - 2, most).round().astype(np.int64), n - 1))
        )

    @property
    def widths(self) -> NDArray[np.int64]:
        """How many sizes each band has."""
        return np.diff(self.starts)

    def of_sizes(self, k: NDArray[np.int64]) -> NDArray[np.int64]:
        """The band that each size is in."""
        return np.searchsorted(self.starts, k, side="right") - 1


@dataclass(frozen=True, eq=False)
class Features:
    """The surrogate's terms for one game.

    Attributes:
        x: v_j [n], scaled.
        z: v_N - v_{N without j} [n], scaled.
        bands: Each has a function of k of its own.
        groups: How many groups of terms there are samples for: sums, products, free coefficients.
    """

    x: FloatArray
    z: FloatArray
    bands: Bands
    groups: int

    @classmethod
    def of(cls, x: FloatArray, z: FloatArray, bands: Bands, samples: int) -> "Features":
        """As many terms as so many samples can tell the coefficients of."""
        levels = len(bands.widths) + 2 * int((bands.widths > 1).sum())
        needed = levels + np.cumsum([2 * SMOOTH, 3 * SMOOTH, SMOOTH * len(x)])
        groups = int(
            ((SAMPLES_PER_COEFFICIENT * needed <= samples) & (needed <= MOST_COEFFICIENTS)).sum()
        )
        x, z = (b / max(float(np.abs(b).max()), TINY) for b in (x, z))
        return cls(x, z, bands, groups)

    def __call__(self, S: NDArray[np.bool_]) -> FloatArray:
        """The terms [N, q] of coalitions given as memberships [N, n]."""
        k = S.sum(axis=1)
        M = S.astype(np.float64)
        X, Z = M @ self.x, M @ self.z
        smooth = self._smooth(k)
        terms = [self._levels(k)]
        if self.groups >= 1:
            terms += [t[:, None] * smooth for t in (X, Z)]
        if self.groups >= 2:
            products = X * X - M @ self.x**2, X * Z - M @ (self.x * self.z), Z * Z - M @ self.z**2
            terms += [t[:, None] * smooth for t in products]
        if self.groups >= 3:
            terms += [M * smooth[:, [t]] for t in range(SMOOTH)]
        return np.column_stack(terms)

    def contrasts(self, band: int, c: FloatArray) -> FloatArray:
        """For each i, the surrogate's mean over coalitions with i less that over those without,
        same size [n].

        Averaged over the band's sizes; exactly. Of the sum of the members' b_j it is (b_i - mean of
        b) n / (n-1). Of a sum over pairs, it is as if b_i were 2 (k-1) / (n-2) times the sum of i's
        pairs with all others.
        """
        n, k = len(self.x), np.arange(*self.bands.starts[band : band + 2])
        smooth = self._smooth(k)
        once, pairs = smooth.mean(axis=0), (smooth * (2 * (k - 1) / (n - 2))[:, None]).mean(axis=0)
        c = c[self._levels(k[:1]).shape[1] :]
        b = np.zeros(n)
        if self.groups >= 1:
            b += self.x * (c[:SMOOTH] @ once) + self.z * (c[SMOOTH : 2 * SMOOTH] @ once)
        if self.groups >= 2:
            products = (self.x, self.x), (self.x, self.z), (self.z, self.z)
            for (e, f), q in zip(
                products, c[2 * SMOOTH : 5 * SMOOTH].reshape(3, SMOOTH) @ pairs, strict=True
            ):
                b += q * (e * (f.sum() - f) + f * (e.sum() - e)) / 2
        if self.groups >= 3:
            b += once @ c[5 * SMOOTH :].reshape(SMOOTH, n)
        return contrast(b)

    def _smooth(self, k: NDArray[np.int64]) -> FloatArray:
        """What every coefficient is a combination of, as a function of k [N, 3]."""
        return np.column_stack([1 / k, np.ones(len(k)), k / len(self.x)])

    def _levels(self, k: NDArray[np.int64]) -> FloatArray:
        """For every band a constant; for those of several sizes also a parabola [N, 3 bands]."""
        band = self.bands.of_sizes(k)
        within = (k - self.bands.starts[band]) / self.bands.widths[band]
        of_band = band[:, None] == np.arange(len(self.bands.widths))
        wide = self.bands.widths > 1
        return np.column_stack(
            [of_band, of_band[:, wide] * within[:, None], of_band[:, wide] * within[:, None] ** 2]
        ).astype(np.float64)


def contrast(b: FloatArray) -> FloatArray:
    """b_i less the mean of the others' [n]."""
    return np.asarray((b - b.mean()) * len(b) / (len(b) - 1))


@dataclass(frozen=True, eq=False)
class Surrogate:
    """The game that is like the sampled one: FOLDS of them, each for the samples that it was not
    fitted to.

    Sample s belongs to fold s % FOLDS. The terms of many samples would take much memory: they are
    made block by block.

    Attributes:
        features: The terms.
        coefficients: [FOLDS, q].
    """

    features: Features
    coefficients: FloatArray

    @classmethod
    def fitted(
        cls, features: Features, S: NDArray[np.bool_], v: FloatArray, weight: FloatArray
    ) -> "Surrogate":
        """By weighted least squares, fold f from all samples but its own."""
        q = features(S[:1]).shape[1]
        H, h = np.zeros((FOLDS, q, q)), np.zeros((FOLDS, q))
        for block in _blocks(len(v)):
            A, b = features(S[block]) * weight[block, None], v[block] * weight[block]
            for f in range(FOLDS):
                H[f] += A[f::FOLDS].T @ A[f::FOLDS]
                h[f] += A[f::FOLDS].T @ b[f::FOLDS]
        scale = np.sqrt(H.sum(axis=0).diagonal())
        scale = np.where(scale == 0, 1.0, scale)
        H, h = H / np.outer(scale, scale), h / scale
        ridge = RIDGE * np.eye(len(scale))
        return cls(
            features,
            np.linalg.solve(H.sum(axis=0) - H + ridge, (h.sum(axis=0) - h)[..., None])[..., 0]
            / scale,
        )

    def leaves(self, S: NDArray[np.bool_], v: FloatArray) -> FloatArray:
        """What it does not explain of the samples' values [N], each by its own fold."""
        left = np.empty(len(v))
        for block in _blocks(len(v)):
            fold = np.arange(len(v[block])) % FOLDS
            left[block] = v[block] - np.einsum(
                "sq,sq->s", self.features(S[block]), self.coefficients[fold]
            )
        return left

    def contrasts(self) -> FloatArray:
        """What it contributes to every party's contrast: by fold, band and party [FOLDS, bands, n]."""
        bands = range(len(self.features.bands.widths))
        return np.array(
            [[self.features.contrasts(band, c) for band in bands] for c in self.coefficients]
        )


def _blocks(samples: int) -> list[slice]:
    return [slice(start, start + BLOCK) for start in range(0, samples, BLOCK)]
