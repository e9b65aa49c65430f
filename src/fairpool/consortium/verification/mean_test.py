"""Are the recipient's own labels in the mean of its model? A test that needs no other's data.

Let own data have precision P = A^T A / s2 and moment h = A^T y / s2, others' data P_o and h_o, all
about weights u ~ N(0, I), and let B = I + P + P_o. If the own data are in the mean
mu = B^-1 (h + h_o), then

    g = h - P mu,   E[g] = 0,   Cov[g] = P - P B^-1 P <= P,

whatever P_o is, and whatever noise was put on the others' labels. So g^T P^+ g is at most as large
as a chi-square variable of as many degrees as P has dimensions. If they were left out, with
B_o = I + P_o,

    Cov[g] = P + P B_o^-1 P,

which is larger by as much as the own data add to the others'. B itself is hidden, and not needed.

Labels with more noise than the model's are no reason for an alarm: the residuals of the own rows'
least squares say how much there is, and the ratio is at most as large as a variable of the F
distribution.
"""

from dataclasses import dataclass

from scipy.stats import f as f_distribution

from fairpool.linear_algebra.spectrum import spectrum
from fairpool.models import WeightPosterior
from fairpool.parties import PartySummary

FALSE_ALARMS = 0.001
"""How often, at most, a model that has the recipient's labels in it is called suspicious."""

NEGLIGIBLE = 1e-9
"""Of the largest eigenvalue: directions that the own rows tell nothing of but rounding."""


@dataclass(frozen=True, kw_only=True)
class MeanTest:
    """What the test found.

    Attributes:
        statistic: How far the mean is from the own labels, per dimension.
        threshold: Beyond which it is suspicious.
        p_value: How often a model with the own labels is as far or farther, at most.
    """

    statistic: float
    threshold: float
    p_value: float

    @property
    def is_suspicious(self) -> bool:
        """Whether the own labels seem not to be in the mean."""
        return self.statistic > self.threshold


def mean_test(
    posterior: WeightPosterior, own: PartySummary, *, false_alarms: float = FALSE_ALARMS
) -> MeanTest:
    """Compare a model's mean with its recipient's own labels.

    Args:
        posterior: The model.
        own: Sums over the recipient's rows, of which there are more than weights.
        false_alarms: How often a model with these labels may be called suspicious, at most.
    """
    told = own.told
    eigenvalues, vectors = spectrum(told.precision)
    kept = eigenvalues > NEGLIGIBLE * eigenvalues.max()
    eigenvalues, vectors = eigenvalues[kept], vectors[:, kept]
    dimensions = len(eigenvalues)
    g = vectors.T @ (told.moment - told.precision @ posterior.weights)
    distance = float((g**2 / eigenvalues).sum()) / dimensions
    explained = float(((vectors.T @ told.moment) ** 2 / eigenvalues).sum())
    freedom = len(own) - dimensions
    noise = max((own.told_squares - explained) / freedom, 1.0)
    distribution = f_distribution(dimensions, freedom)
    statistic = distance / noise
    return MeanTest(
        statistic=statistic,
        threshold=float(distribution.isf(false_alarms)),
        p_value=float(distribution.sf(statistic)),
    )
