"""What coalitions of 2 .. n-2 parties contribute to Shapley values, from a sample of them.

Only these sizes are sampled. The chapter docs/sampling.md derives every step.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairpool.contributions.bands import Bands, Sample
from fairpool.contributions.estimates import Marginals, Memberships, largest_magnitude, widening
from fairpool.contributions.surrogate import Surrogate, fold_of_samples
from fairpool.contributions.terms import Terms
from fairpool.tables.arrays import TINY, FloatArray

ENOUGH_SAMPLES = 64
"""With this many samples of a band, its own variance is trusted alone."""

NEIGHBOURS = 2
"""How many bands on either side tell about a band's variance, too."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MiddleSizes:
    """What a sample tells about the sizes 2 .. n-2.

    Attributes:
        contributions: What they contribute to phi [n].
        standard_errors: [n].
        priorities: In which proportion samples of each band help most, at what they cost [bands].
        samples: How many coalitions were valued for it.
    """

    contributions: FloatArray
    standard_errors: FloatArray
    priorities: FloatArray
    samples: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Strata:
    """The sample, band by band.

    Attributes:
        counts: How many samples each band has [bands].
        contributions: What all bands together contribute to phi [n].
        variances: Of what one sample says its band contributes to each party's phi [bands, n].
    """

    counts: NDArray[np.int64]
    contributions: FloatArray
    variances: FloatArray


def middle_sizes(
    sample: Sample, *, marginals: Marginals, bands: Bands, costs: FloatArray
) -> MiddleSizes:
    """Estimate what the sizes 2 .. n-2 contribute to every party's phi.

    1. Divide the values by the largest: squares must neither overflow nor vanish.
    2. Fit the surrogate.
    3. Band by band, average what the samples say, and note how much they differ.
    4. Where samples are few, let the neighbouring bands tell about the variance as well.
    5. From the variances follow the standard errors, and where further samples help most.

    Args:
        sample: Coalitions of the middle sizes, and their values.
        marginals: What each party adds alone and as the last.
        bands: The bands of sizes.
        costs: What it costs to value a coalition of each band, relative to others [bands].
    """
    unit = largest_magnitude(sample.values)
    sample = Sample(memberships=sample.memberships, values=sample.values / unit)
    terms = Terms.of(marginals, bands, len(sample))
    surrogate = Surrogate.fitted(terms, sample, _weights(sample, bands))
    strata = _strata(sample, bands, surrogate)
    variances = _pooled_where_few(strata)
    return MiddleSizes(
        contributions=unit * strata.contributions,
        standard_errors=unit * _standard_errors(variances, strata.counts),
        priorities=_priorities(variances, costs),
        samples=len(sample),
    )


def _weights(sample: Sample, bands: Bands) -> FloatArray:
    """The samples' weights in the fit: how much their errors count in the end [N]."""
    band = bands.of_sizes(sample.sizes)
    counts = np.bincount(band, minlength=bands.count)
    share = sample.shares
    # A residual is multiplied by (1[i in S] - p) / (p (1 - p)): that is 1 over this, in root mean
    # square.
    deviation_of_membership = np.sqrt(share * (1 - share))
    return np.asarray(bands.widths[band] / (counts[band] * deviation_of_membership))


def _strata(sample: Sample, bands: Bands, surrogate: Surrogate) -> Strata:
    n = sample.n
    band_of_sample = bands.of_sizes(sample.sizes)
    fold_of_sample = fold_of_samples(len(sample))
    share_of_sample = sample.shares
    residuals = surrogate.residuals(sample)
    explained = surrogate.contrasts()
    contributions = np.zeros(n)
    variances = np.empty((bands.count, n))
    for band, width in enumerate(bands.widths):
        own = np.flatnonzero(band_of_sample == band)
        contrasts = _sampled_contrasts(
            residuals[own], memberships=sample.memberships[own], shares=share_of_sample[own]
        )
        # What the surrogate explained was subtracted from the values; its contrast, which is known
        # exactly whatever the coefficients are, is added again. In place: these arrays are large.
        contrasts += explained[fold_of_sample[own], band]
        # All sizes of a band are as likely, so the sum over them is their number times the mean.
        contributions += width * contrasts.mean(axis=0) / n
        variances[band] = contrasts.var(axis=0, ddof=1) * (width / n) ** 2
    counts = np.bincount(band_of_sample, minlength=bands.count)
    return Strata(counts=counts, contributions=contributions, variances=variances)


def _sampled_contrasts(
    values: FloatArray, *, memberships: Memberships, shares: FloatArray
) -> FloatArray:
    """Numbers whose mean, over all coalitions of a size, is every party's contrast [N, n].

    With p = |S| / n, which is how likely a random S of this size has party i,

        E[v : i in S] - E[v : i not in S]  =  E[v (1[i in S] - p)] / (p (1 - p))
    """
    centred = memberships - shares[:, None]
    variance_of_membership = shares * (1 - shares)
    return np.asarray(values[:, None] * centred / variance_of_membership[:, None])


def _pooled_where_few(strata: Strata) -> FloatArray:
    """The bands' variances [bands, n], those of few samples at least as large as around them.

    Few samples tell little about their band's own variance, and may be alike by chance.
    """
    few = (strata.counts < ENOUGH_SAMPLES)[:, None]
    pooled = np.maximum(strata.variances, _mean_of_neighbours(strata.variances))
    return np.where(few, pooled, strata.variances)


def _mean_of_neighbours(rows: FloatArray) -> FloatArray:
    """The mean of each row with its neighbours on either side [bands, n].

    Beyond the ends, the first and the last row are repeated.
    """
    padded = np.pad(rows, ((NEIGHBOURS, NEIGHBOURS), (0, 0)), mode="edge")
    shifted = [padded[shift : shift + len(rows)] for shift in range(2 * NEIGHBOURS + 1)]
    return np.asarray(np.mean(shifted, axis=0))


def _standard_errors(variances: FloatArray, counts: NDArray[np.int64]) -> FloatArray:
    """Those of the contributions [n], widened where the variances come from few samples.

    The degrees of freedom of a sum of variances, each estimated from its own samples, are Welch's
    and Satterthwaite's.
    """
    of_means = variances / counts[:, None]
    variance = of_means.sum(axis=0)
    uncertainty = (of_means**2 / (counts - 1)[:, None]).sum(axis=0)
    with np.errstate(invalid="ignore"):
        # Without any variance this is 0 / 0, and there is nothing to widen.
        factor = np.nan_to_num(widening(variance**2 / uncertainty), nan=1.0)
    return np.asarray(np.sqrt(variance) * factor)


def _priorities(variances: FloatArray, costs: FloatArray) -> FloatArray:
    """In proportion to a band's standard deviation, over the root of the cost (Neyman) [bands]."""
    # Smoothed over neighbours, so that a band that looked alike by chance is not left out; TINY, so
    # that some proportion is left where no band has any variance.
    deviation = np.sqrt(_mean_of_neighbours(variances).mean(axis=1) + TINY)
    return np.asarray(deviation / np.sqrt(costs))
