"""What a model with weights needs to know of a party instead of its rows."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fairpool.errors import DataError, shown
from fairpool.linear_algebra.spectrum import spectrum
from fairpool.parties.party import Party
from fairpool.parties.party_data import FeatureModel, Probed, Told
from fairpool.parties.plausibility import (
    REMEDY,
    as_squares,
    refuse_sums_beyond,
    refuse_sums_of_no_rows,
)
from fairpool.tables.arrays import (
    FloatArray,
    as_count,
    as_numeric,
    positive,
    read_only,
)

MOST = {"rows": 2**53, "inputs": 1_000_000}
"""Beyond these, a number is no count of rows that somebody has, or of columns."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PartySummary:
    """A party's sufficient statistics for a weight-space model; two of the same party add up.

    Paper: App. E.5, with the sums over rows done beforehand.

    Sums that no rows have are refused: here those that no rows of any model have, and by a game
    those that no rows of its model have (`refuse_other_model`). What remains is believed: whether
    there are such rows, and so many, what their labels are, and the noise variance.

    Attributes:
        name: The party.
        gram: G = A^T A over its rows' whitened features A [d, d].
        moment: A^T (y - prior mean) [d].
        squares: Sum of (y - prior mean)^2, by which the moment is checked.
        noise_variance: Variance of its labels' noise.
        rows: How many rows went in.
        inputs: Number p of input columns.
        probe: What the model's features are at a few fixed inputs, to tell summaries of different
            models apart.
    """

    name: str
    gram: FloatArray
    moment: FloatArray
    squares: float
    noise_variance: float
    rows: int
    inputs: int
    probe: FloatArray

    def __post_init__(self) -> None:
        where = f'the summary of "{self.name}"'
        if not isinstance(self.name, str) or not self.name.strip():
            raise DataError(
                f"a summary's party is named {shown(self.name)}; give it a name that is not empty"
            )
        for field in ("gram", "moment", "probe"):
            values = read_only(as_numeric(getattr(self, field), f"{where}: {field}"))
            if not np.isfinite(values).all():
                raise DataError(f"{where}: {field} has values that are not finite")
            object.__setattr__(self, field, values)
        d = len(self.moment) if self.moment.ndim == 1 else -1
        if self.gram.shape != (d, d) or self.probe.ndim != 2:
            raise DataError(
                f"{where}: gram {self.gram.shape} and moment {self.moment.shape} do not fit: [d, d]"
                " and [d]"
            )
        object.__setattr__(
            self, "noise_variance", positive(self.noise_variance, f"{where}: noise_variance")
        )
        for field, most in MOST.items():
            count = as_count(getattr(self, field), f"{where}: {field}", 0)
            if count > most:
                raise DataError(f"{where}: {field} {shown(count)} is above {most}; {REMEDY}")
            object.__setattr__(self, field, count)
        object.__setattr__(self, "squares", as_squares(self.squares, f"{where}: squares"))
        refuse_sums_of_no_rows(self)

    @property
    def columns(self) -> None:
        """Sums have no names of columns."""
        return

    @property
    def shown_rows(self) -> Party:
        """No row can be looked at."""
        return Party(self.name, np.empty((0, self.inputs)), np.empty(0))

    @property
    def label_draws(self) -> int:
        """As many as weights, since noise N(0, eta I) on labels is N(0, eta G) on the moment."""
        return len(self.moment)

    def refuse_other_model(self, model: FeatureModel) -> None:
        """Refuse a model that has other features, or of which no rows have these sums."""
        self.refuse_other_probe(model.probe(self.inputs))
        refuse_sums_beyond(self, model.feature_bounds(self.inputs))

    def statistics(self, model: FeatureModel) -> "PartySummary":  # noqa: ARG002 -- of that model
        """They are what it is."""
        return self

    @property
    def told(self) -> Told:
        """What the rows told, as they were."""
        return Told(self.gram / self.noise_variance, self.moment / self.noise_variance)

    @property
    def told_squares(self) -> float:
        """Sum of (y - prior mean)^2 over the noise variance."""
        return self.squares / self.noise_variance

    @property
    def label_count(self) -> int:
        """How many rows there are."""
        return self.rows

    @property
    def common_noise(self) -> float:
        """The rows' noise variance."""
        return self.noise_variance

    @cached_property
    def _root(self) -> FloatArray:
        """R [d, d], symmetric, with R R = G: the one root that does not depend on how it is found.

        The same noise is then made of the same draws, whoever computes it.
        """
        eigenvalues, vectors = spectrum(self.gram)
        return np.asarray(vectors * np.sqrt(np.maximum(eigenvalues, 0.0)) @ vectors.T)

    def disturbance(self, z: FloatArray) -> FloatArray:
        """What noise on the labels adds to the moment: R z, for z of [d] or [d, k]."""
        return np.asarray(np.einsum("kl,l...->k...", self._root, z))

    def weakened(self, eta: float, z: FloatArray) -> Told:
        """What is told when noise of variance eta, made of z, is added to the labels."""
        weight = 1 / (self.noise_variance + eta)
        return Told(weight * self.gram, weight * (self.moment + self.disturbance(z).T).T)

    @property
    def unequal_rows(self) -> None:
        """All rows have one noise variance."""
        return

    def refuse_other_probe(self, probe: FloatArray) -> None:
        """Refuse the features of another model, by their values at a few fixed inputs."""
        if not is_same_probe(self.probe, probe):
            raise DataError(
                f'the summary of "{self.name}" was made with another model; summarise all with the'
                " same one"
            )

    def under(self, model: Probed) -> "PartySummary":
        """The same rows' sums for a model whose features are a multiple of these.

        So are those of a model whose prior was scaled by learning from sums. The noise variance is
        that model's, too: the party need not be asked again.
        """
        probe = model.probe(self.inputs)
        factor = scaling_between(self.probe, probe)
        scaled = replace(
            self,
            gram=factor**2 * self.gram,
            moment=factor * self.moment,
            noise_variance=model.noise_variance,
            probe=with_scaled_features(self.probe, factor),
        )
        scaled.refuse_other_probe(probe)
        return replace(scaled, probe=probe)

    def __add__(self, other: "PartySummary") -> "PartySummary":
        if not isinstance(other, PartySummary):
            return NotImplemented  # sums with noise know how to add these
        if self.name != other.name:
            raise DataError(f'summaries of "{self.name}" and "{other.name}" are not of one party')
        other.refuse_other_probe(self.probe)
        if not self.rows or not other.rows:  # an empty batch says nothing, of its noise neither
            return self if self.rows else other
        if self.noise_variance != other.noise_variance:
            raise DataError(
                f'batches of "{self.name}" have noise variances {self.noise_variance} and'
                f" {other.noise_variance}"
            )
        return replace(
            self,
            gram=self.gram + other.gram,
            moment=self.moment + other.moment,
            squares=self.squares + other.squares,
            rows=self.rows + other.rows,
        )

    def __repr__(self) -> str:
        return f"PartySummary({self.name!r}, {self.rows} rows, {len(self.moment)} weights)"

    def __len__(self) -> int:
        return self.rows


class SummedRows(PartySummary):
    """Sums over rows that are still at hand: noise on their labels is summed up over them.

    The noise of a row is the same in every sum that the row is part of; d draws for the sum would
    be others in every sum.
    """

    def disturbance(self, z: FloatArray) -> FloatArray:
        """What noise on the labels adds to the moment: A^T noise, which is what z is."""
        return z


def is_same_probe(one: FloatArray, other: FloatArray) -> bool:
    """Whether two probes [3, d + 1] are of the same features."""
    if one.shape != other.shape:
        return False
    # Per feature, since each has a unit of its own.
    allowed = 1e-6 * np.abs(other) + 1e-9 * np.abs(other).max(axis=0)
    return bool((np.abs(one - other) <= allowed).all())


def scaling_between(old: FloatArray, new: FloatArray) -> float:
    """By what factor features grew, as seen in two probes [3, d + 1]; 1 where that cannot be said.

    Whether they are multiples at all is for whoever asks to check.
    """
    if old.shape != new.shape:
        return 1.0
    before = old[:, :-1].ravel()
    length = float(np.abs(before).max(initial=0.0))
    if not length:
        return 1.0
    unit = before / length  # squares of tiny features would be lost
    return float(unit @ new[:, :-1].ravel() / (unit @ unit) / length)


def with_scaled_features(probe: FloatArray, factor: float) -> FloatArray:
    """A probe [3, d + 1] with other features; the prior mean, its last column, stays."""
    scaled = factor * probe
    scaled[:, -1] = probe[:, -1]
    return scaled
