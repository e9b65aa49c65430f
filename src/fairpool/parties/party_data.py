"""What is known of a party: its rows, or sums over them.

To add a way for a party to take part, write a class with the members of `PartyData` in a file
beside this one; parties known in different ways can be mixed in one game.
"""

from math import inf
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from fairpool.tables.arrays import FloatArray

if TYPE_CHECKING:
    from fairpool.parties.party import Party


class FeatureBounds(NamedTuple):
    """What a model alone says about the whitened features a(x) of any row.

    Attributes:
        largest: The most that |a(x)|^2 can be; infinite where nothing bounds it.
        constant: The square of the last feature, where it is the same in every row; else None.
    """

    largest: float = inf
    constant: float | None = None


class Probed(Protocol):
    """A model by what its features are at a few inputs; a classifier is one as well."""

    @property
    def noise_variance(self) -> float:
        """s2, for rows that have none of their own."""
        ...  # pragma: no cover

    def probe(self, inputs: int) -> FloatArray:
        """Features at a few fixed inputs, by which models can be told apart."""
        ...  # pragma: no cover


class FeatureModel(Probed, Protocol):
    """What party data asks of a model with weights: y = prior mean + A u + noise, u ~ N(0, I)."""

    def whitened_features(self, X: FloatArray) -> FloatArray:
        """A [m, d]."""
        ...  # pragma: no cover

    def prior_mean_at(self, X: FloatArray) -> FloatArray:
        """Prior mean of the latent values at X [m]."""
        ...  # pragma: no cover

    def feature_bounds(self, inputs: int) -> FeatureBounds:
        """What the features of any row can be, of so many inputs."""
        ...  # pragma: no cover


class Told(NamedTuple):
    """What data tells about the whitened weights; the parties' add up.

    Attributes:
        precision: A^T D^-1 A [d, d].
        moment: A^T D^-1 (y - prior mean) [d], or [d, k] for k sets of labels.
    """

    precision: FloatArray
    moment: FloatArray


class UnequalRows(NamedTuple):
    """Rows whose noise variances differ, without their labels.

    Attributes:
        A: The rows' whitened features over the roots of their noise variances [m, d]; or, of rows
            with few levels of noise, their Gram matrices A^T A of each level [l, d, d].
        noise: Their noise variances [m], or [l].
    """

    A: FloatArray
    noise: FloatArray


class Statistics(Protocol):
    """What a model with weights learns from one party, and what noise on its labels would change.

    Where all rows have one noise variance s2, the precision is G / (s2 + eta) and the moment
    (q + noise) / (s2 + eta), for any variance eta of the noise added. Where they differ, only
    `weakened` knows.
    """

    @property
    def told(self) -> Told:
        """What the party's data tells as they are."""
        ...  # pragma: no cover

    @property
    def told_squares(self) -> float:
        """Sum of (y - prior mean)^2 over the rows' noise variances."""
        ...  # pragma: no cover

    @property
    def label_count(self) -> int:
        """How many labels these squares are of."""
        ...  # pragma: no cover

    @property
    def common_noise(self) -> float:
        """s2 of all rows that tell anything: nan where they differ, inf where there are none."""
        ...  # pragma: no cover

    @property
    def gram(self) -> FloatArray:
        """G = A^T A [d, d]."""
        ...  # pragma: no cover

    @property
    def moment(self) -> FloatArray:
        """q = A^T (y - prior mean) [d]."""
        ...  # pragma: no cover

    def disturbance(self, z: FloatArray) -> FloatArray:
        """What noise z on the labels, [label_draws] or [label_draws, k], adds to the moment q."""
        ...  # pragma: no cover

    def weakened(self, eta: float, z: FloatArray) -> Told:
        """What is told when noise z of variance eta is added to the labels."""
        ...  # pragma: no cover

    @property
    def unequal_rows(self) -> "UnequalRows | None":
        """The rows, where their noise variances differ, so that noise affects them differently."""
        ...  # pragma: no cover


@runtime_checkable
class PartyData(Protocol):
    """A party i, and what is known of its data D_i."""

    @property
    def name(self) -> str:
        """What to call it; unique within a collaboration."""
        ...  # pragma: no cover

    @property
    def inputs(self) -> int:
        """The number of input columns."""
        ...  # pragma: no cover

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of the input columns, if they are known."""
        ...  # pragma: no cover

    @property
    def shown_rows(self) -> "Party":
        """The rows that can be looked at: all of them, or none."""
        ...  # pragma: no cover

    @property
    def label_draws(self) -> int:
        """How many independent draws noise on its labels takes."""
        ...  # pragma: no cover

    def __len__(self) -> int:
        """How many rows went in, whether they can be looked at or not."""
        ...  # pragma: no cover

    def refuse_other_model(self, model: FeatureModel) -> None:
        """Refuse a model that this data was not made for."""
        ...  # pragma: no cover

    def statistics(self, model: FeatureModel) -> Statistics:
        """What a model with weights learns from it."""
        ...  # pragma: no cover
