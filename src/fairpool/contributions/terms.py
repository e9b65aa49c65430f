"""The terms of the surrogate, and how each differs between coalitions with a party and without.

For a coalition S of size k the surrogate is a sum of terms, each with a coefficient:

    u(S) = a function of k  +  sum over j in S of b_j(k)  +  sum over pairs j, l in S of p_jl(k)

The b_j are multiples of what party j adds alone and as the last, and, where there are samples
enough, free for every party. The p_jl are multiples of products of what j and l add. All of them
are smooth in k. Every class below is one kind of term; the chapter docs/sampling.md derives them.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fairpool.contributions.bands import Bands
from fairpool.contributions.estimates import Marginals, Memberships
from fairpool.tables.arrays import FloatArray

SAMPLES_PER_COEFFICIENT = 12
"""A group of terms takes part where there are this many samples for every coefficient."""

MOST_COEFFICIENTS = 1000
"""With more, least squares would take longer than valuing more samples."""

SIZE_FUNCTIONS = 3
"""How many functions of the size every coefficient is a combination of."""


@dataclass(frozen=True, eq=False)
class LevelTerms:
    """A function of the size alone: for every band a constant, for wide ones also a parabola.

    It has no contrasts: coalitions of one size have the same level, with a party or without it.

    Attributes:
        bands: The bands of sizes.
    """

    bands: Bands

    @property
    def count(self) -> int:
        """One for each band, and two more for each of several sizes."""
        wide = int((self.bands.widths > 1).sum())
        return self.bands.count + 2 * wide

    def columns(self, sizes: NDArray[np.int64]) -> FloatArray:
        """1 in the coalition's own band; there, where the size lies in it, and that squared."""
        band = self.bands.of_sizes(sizes)
        position = (sizes - self.bands.starts[band]) / self.bands.widths[band]
        constant = band[:, None] == np.arange(self.bands.count)
        wide = constant[:, self.bands.widths > 1]
        linear = wide * position[:, None]
        quadratic = wide * position[:, None] ** 2
        return np.column_stack([constant, linear, quadratic]).astype(np.float64)


class TermGroup(Protocol):
    """Further terms of the surrogate, which take part together or not at all."""

    @property
    def count(self) -> int:
        """How many terms there are, each with a coefficient."""
        ...  # pragma: no cover

    def columns(self, members: FloatArray, sizes: NDArray[np.int64]) -> FloatArray:
        """The terms [N, count] of coalitions given as 0 and 1 [N, n] and by their sizes [N]."""
        ...  # pragma: no cover

    def additive(self, coefficients: FloatArray, sizes: NDArray[np.int64]) -> FloatArray:
        """Values b_j that, summed over a coalition's members, have the same contrasts.

        They are averages over the sizes, one row for each kind of term [rows, n]; the group's b_j
        are the sum of the rows.
        """
        ...  # pragma: no cover


@dataclass(frozen=True, eq=False)
class SumTerms:
    """What the members add alone, summed, and what they add as the last, summed.

    Attributes:
        marginals: What each party adds alone and as the last, scaled.
    """

    marginals: Marginals

    @property
    def count(self) -> int:
        """Two sums."""
        return 2 * SIZE_FUNCTIONS

    def columns(self, members: FloatArray, sizes: NDArray[np.int64]) -> FloatArray:
        """Each sum times each function of the size."""
        functions = size_functions(sizes, members.shape[1])
        alone = members @ self.marginals.alone
        last = members @ self.marginals.last
        return np.column_stack([alone[:, None] * functions, last[:, None] * functions])

    def additive(self, coefficients: FloatArray, sizes: NDArray[np.int64]) -> FloatArray:
        """A multiple of what each party adds alone, and one of what it adds as the last."""
        functions = size_functions(sizes, len(self.marginals.alone)).mean(axis=0)
        of_alone, of_last = coefficients.reshape(2, SIZE_FUNCTIONS)
        return np.stack(
            [
                self.marginals.alone * (of_alone @ functions),
                self.marginals.last * (of_last @ functions),
            ]
        )


class Product(NamedTuple):
    """The factors of a product of what two parties add [n each]."""

    first: FloatArray
    second: FloatArray


@dataclass(frozen=True, eq=False)
class PairTerms:
    """What two members add, multiplied, and summed over all pairs of different members.

    There are three such products: alone with alone, alone with last, last with last.

    Attributes:
        marginals: What each party adds alone and as the last, scaled.
    """

    marginals: Marginals

    @property
    def count(self) -> int:
        """Three products."""
        return 3 * SIZE_FUNCTIONS

    def products(self) -> list[Product]:
        """The three products."""
        alone = self.marginals.alone
        last = self.marginals.last
        return [Product(alone, alone), Product(alone, last), Product(last, last)]

    def columns(self, members: FloatArray, sizes: NDArray[np.int64]) -> FloatArray:
        """Each sum over pairs times each function of the size."""
        functions = size_functions(sizes, members.shape[1])
        columns = []
        for first, second in self.products():
            # The product of two sums has every member paired with itself, too.
            all_pairs = (members @ first) * (members @ second)
            different = all_pairs - members @ (first * second)
            columns.append(different[:, None] * functions)
        return np.column_stack(columns)

    def additive(self, coefficients: FloatArray, sizes: NDArray[np.int64]) -> FloatArray:
        """2 (k-1) / (n-2) times the sum of a party's pairs with all others, for each product."""
        n = len(self.marginals.alone)
        in_pairs = 2 * (sizes - 1) / (n - 2)
        functions = (size_functions(sizes, n) * in_pairs[:, None]).mean(axis=0)
        of_products = coefficients.reshape(3, SIZE_FUNCTIONS) @ functions
        rows = []
        for (first, second), of_product in zip(self.products(), of_products, strict=True):
            as_first = first * (second.sum() - second)
            as_second = second * (first.sum() - first)
            rows.append(of_product * (as_first + as_second) / 2)
        return np.stack(rows)


@dataclass(frozen=True, eq=False)
class PartyTerms:
    """A value for every member that is free: it need not be a multiple of anything known.

    Attributes:
        n: The number of parties.
    """

    n: int

    @property
    def count(self) -> int:
        """For every party as many as there are functions of the size."""
        return SIZE_FUNCTIONS * self.n

    def columns(self, members: FloatArray, sizes: NDArray[np.int64]) -> FloatArray:
        """Each party's membership, times each function of the size."""
        functions = size_functions(sizes, self.n)
        return np.column_stack([members * function[:, None] for function in functions.T])

    def additive(self, coefficients: FloatArray, sizes: NDArray[np.int64]) -> FloatArray:
        """The free values themselves."""
        functions = size_functions(sizes, self.n).mean(axis=0)
        return np.asarray(functions @ coefficients.reshape(SIZE_FUNCTIONS, self.n))[None]


def size_functions(sizes: NDArray[np.int64], n: int) -> FloatArray:
    """1 / k, 1 and k / n of sizes k [N, 3]: what every coefficient is a combination of."""
    return np.column_stack([1 / sizes, np.ones(len(sizes)), sizes / n])


def additive_contrast(values: FloatArray) -> FloatArray:
    """b_i less the mean of the others' b_j [n], which is (b_i - mean of all) n / (n-1).

    Of a sum of b_j over the members this is, for any size, the mean over coalitions with party i
    less the mean over those without.
    """
    n = len(values)
    return np.asarray((values - values.mean()) * n / (n - 1))


@dataclass(frozen=True, eq=False)
class Terms:
    """All terms of the surrogate for one game.

    Attributes:
        n: The number of parties.
        levels: The terms that always take part.
        groups: Those for which there are samples enough.
    """

    n: int
    levels: LevelTerms
    groups: tuple[TermGroup, ...]

    @classmethod
    def of(cls, marginals: Marginals, bands: Bands, samples: int) -> "Terms":
        """As many groups of terms as there are samples to tell the coefficients of."""
        n = len(marginals.alone)
        levels = LevelTerms(bands)
        scaled = marginals.scaled()
        candidates: list[TermGroup] = [SumTerms(scaled), PairTerms(scaled), PartyTerms(n)]
        groups: list[TermGroup] = []
        coefficients = levels.count
        for group in candidates:
            coefficients += group.count
            # Each group builds on those before: where one cannot take part, no later one does.
            too_few_samples = samples < SAMPLES_PER_COEFFICIENT * coefficients
            if too_few_samples or coefficients > MOST_COEFFICIENTS:
                break
            groups.append(group)
        return cls(n, levels, tuple(groups))

    @property
    def bands(self) -> Bands:
        """The bands of sizes."""
        return self.levels.bands

    @property
    def count(self) -> int:
        """How many coefficients the surrogate has."""
        return self.levels.count + sum(group.count for group in self.groups)

    def columns(self, memberships: Memberships) -> FloatArray:
        """The terms [N, count] of coalitions [N, n]."""
        members = memberships.astype(np.float64)
        sizes = memberships.sum(axis=1)
        levels = self.levels.columns(sizes)
        others = [group.columns(members, sizes) for group in self.groups]
        return np.column_stack([levels, *others])

    def contrasts(self, band: int, coefficients: FloatArray) -> FloatArray:
        """For each party, the surrogate's mean with it less its mean without it [n].

        The means are over all coalitions of one size, the result is averaged over the band's sizes.
        """
        sizes = self.bands.sizes_in(band)
        additive = np.zeros(self.n)
        start = self.levels.count
        for group in self.groups:
            end = start + group.count
            for row in group.additive(coefficients[start:end], sizes):
                additive += row
            start = end
        return additive_contrast(additive)
