"""How class labels become numbers that a Gaussian model learns from, with a noise of their own.

Milios et al., "Dirichlet-based Gaussian Processes for Large-Scale Calibrated Classification",
NeurIPS 2018. A label y_i of k classes is taken for one draw from
probabilities that are Dirichlet a posteriori, alpha_ic = [y_i = c] + a; each class's Gamma variable
is approximated by a log-normal one of the same mean and variance. So every class c has a latent
function with the labels and noise variances

    s2_ic = log(1 + 1 / alpha_ic),    t_ic = log alpha_ic - s2_ic / 2

of which there are two levels each: of rows of the class (+), and of all others (-).

Differs from Milios et al.: labels are given less their mean over classes, (t+ + (k-1) t-) / k,
which everybody knows. It is the same for every class, so that probabilities do not change where
there are no data, and a prior of mean 0 is in the middle of what labels can be.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairpool.errors import DataError, shown
from fairpool.tables.arrays import FloatArray, as_count, positive

MOST_CLASSES = 1000
"""More would take a latent function each, and are no classes that anybody counts."""


class Level(NamedTuple):
    """What the labels of a class's latent function are in some rows.

    Attributes:
        target: t, less its mean over the classes.
        noise: s2.
    """

    target: float
    noise: float


@dataclass(frozen=True, kw_only=True)
class ClassCoding:
    """k classes, numbered from 0.

    Attributes:
        classes: k.
        concentration: a. The smaller, the surer a single label makes a model; fixed in advance, and
            the same for everybody.
        label_blind: Whether all rows have one noise variance, the mean of both levels, so that
            values and covariances do not depend on labels.
    """

    classes: int
    concentration: float = 0.01
    label_blind: bool = False

    def __post_init__(self) -> None:
        count = as_count(self.classes, "classes", 2)
        if count > MOST_CLASSES:
            raise DataError(f"{count} classes are more than {MOST_CLASSES}; merge some of them")
        object.__setattr__(self, "classes", count)
        a = positive(self.concentration, "concentration")
        object.__setattr__(self, "concentration", a)
        if not isinstance(self.label_blind, bool):
            raise DataError(f"label_blind {shown(self.label_blind)} is neither True nor False")

    @property
    def inside(self) -> Level:
        """Of rows of the class."""
        return self._levels[0]

    @property
    def outside(self) -> Level:
        """Of all other rows."""
        return self._levels[1]

    @property
    def _levels(self) -> tuple[Level, Level]:
        alpha = np.array([1 + self.concentration, self.concentration])
        s2 = np.log1p(1 / alpha)
        t = np.log(alpha) - s2 / 2
        mean = (t[0] + (self.classes - 1) * t[1]) / self.classes
        if self.label_blind:
            s2 = np.full(2, s2.mean())
        return Level(float(t[0] - mean), float(s2[0])), Level(float(t[1] - mean), float(s2[1]))

    def check(self, y: FloatArray, where: str) -> None:
        """Refuse labels that are no classes."""
        wrong = np.flatnonzero(~np.isin(y, np.arange(self.classes)))
        if len(wrong):
            raise DataError(
                f"{where}, row {wrong[0]} (counting from 0): the label {y[wrong[0]]:g} is no class;"
                f" classes are numbered from 0 to {self.classes - 1}"
            )

    def targets(self, y: FloatArray, c: int) -> FloatArray:
        """Labels of class c's latent function [m], of classes y [m]."""
        return np.where(y == c, self.inside.target, self.outside.target)

    def noise(self, y: FloatArray, c: int) -> FloatArray:
        """Their noise variances [m]."""
        return np.where(y == c, self.inside.noise, self.outside.noise)

    def counts(self, y: FloatArray) -> FloatArray:
        """How many rows there are of each class [k]."""
        return np.array([float((y == c).sum()) for c in range(self.classes)])
