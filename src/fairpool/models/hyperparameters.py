"""Maximum likelihood: kernel parameters and noise variance, searched in their logarithms."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from fairpool.errors import DataError, shown
from fairpool.linear_algebra.cholesky import NotComputable
from fairpool.models.descent import Descent, minimise
from fairpool.models.kernels import check_dimensions
from fairpool.notes import Note
from fairpool.tables.arrays import TINY, FloatArray, as_count, as_generator

NOISE_BOUNDS = (1e-5, 1e5)
"""Where the noise variance is searched, the same as scikit-learn's WhiteKernel."""

GRADIENT_PER_ROW = 1e-3
"""At an optimum, the log likelihood changes by no more than this per row and unit.

The unit is that of any parameter's logarithm. Where a search got stuck or was cut short the change
was 0.2 and more; where it ended well, 1e-5 and less, but for rounding.
"""

BEYOND_BOUND_PER_ROW = 1e-2
"""A kernel parameter's bound matters where the log likelihood would rise more per row beyond it.

Below it, widening the bounds was seen to change the noise variance by a few per cent at most.
"""

SMALL_GAIN_PER_ROW = 1e-9
"""A step by which the log likelihood rises less than this per row does not matter."""

FEW_ROWS = 500
"""Up to this many rows informed starts are always tried.

The likelihood of few rows often has several optima, and costs little.
"""

INFORMED_LENGTHS = (0.3, 3.0)
"""Length scales of informed starts.

They are in units of the inputs' deviations times the root of their number.
"""

SMALL_MATRIX = 4_000_000
"""Up to this many entries one BLAS thread is quicker than several.

Several mostly wait for each other. One is six times as quick for the 350 x 40 of three parties, and
still by a quarter for 1500 x 1500.
"""


class Likelihood(Protocol):
    """What is maximised, such as `fairpool.models.likelihoods.gp_likelihood`."""

    def __call__(
        self, kernel: Any, noise: float, X: FloatArray, *, y: FloatArray
    ) -> tuple[float, FloatArray]:
        """Its value, and its gradient by the kernel's theta and log noise."""
        ...  # pragma: no cover


class Learned(NamedTuple):
    """A model with hyperparameters that were learned.

    Attributes:
        model: The model.
        notes: Why the hyperparameters may not be the best ones; none where an optimum within the
            bounds was reached.
    """

    model: Any
    notes: tuple[Note, ...]


@dataclass(frozen=True, kw_only=True)
class Fit:
    """The hyperparameters of the largest likelihood found.

    Attributes:
        kernel: The kernel with its parameters.
        noise_variance: The noise variance.
        log_likelihood: What they achieve.
        evaluations: How often the likelihood was computed.
        notes: Why they may not be the best ones; none where an optimum within the bounds was
            reached.
    """

    kernel: Any
    noise_variance: float
    log_likelihood: float
    evaluations: int
    notes: tuple[Note, ...]


def maximise_likelihood(
    likelihood: Likelihood,
    kernel: Any,
    noise: float,
    X: FloatArray,
    y: FloatArray,
    *,
    rng: np.random.Generator | int | None = None,
    restarts: int = 0,
    noise_bounds: tuple[float, float] = NOISE_BOUNDS,
    entries: int,
) -> Fit:
    """The kernel and noise variance of the largest likelihood found.

    The first search starts at the given values, `restarts` others uniformly within the bounds (in
    logarithms). Where there are few rows, or the first search's end is doubtful (see
    `_is_doubtful`), two more start at values informed by the data. If the first one was well
    behaved, these are not followed to where there is no noise, or nothing else: few and noisy
    labels can always be interpolated, and the likelihood may prefer that.

    Args:
        likelihood: What to maximise.
        kernel: Where to start.
        noise: Where to start.
        X: Inputs [m, p].
        y: Labels [m].
        rng: Of the random starts.
        restarts: How many of them.
        noise_bounds: Where to search the noise variance.
        entries: Of the largest matrix that a likelihood needs.
    """
    check_noise_bounds(noise_bounds)
    check_dimensions(kernel, X.shape[1])
    search = _Search(likelihood=likelihood, kernel=kernel, X=X, y=y, noise_bounds=noise_bounds)
    starts = _Starts(
        given=np.clip(np.append(kernel.theta, np.log(noise)), *search.bounds.T),
        random=_random_starts(search.bounds, as_count(restarts, "restarts", 0), as_generator(rng)),
        informed=_informed_starts(search),
    )
    with threadpool_limits(1 if entries <= SMALL_MATRIX else None, "blas"):
        ends = _search_from(starts, search)
    best = _best_of(ends, search.bounds)
    kernel = search.kernel_at(best.x)
    every_end = ends.given + ends.random + ends.informed
    return Fit(
        kernel=kernel,
        noise_variance=float(np.exp(best.x[-1])),
        log_likelihood=-best.value,
        evaluations=sum(end.evaluations for end in every_end),
        notes=_notes(best, kernel, bounds=search.bounds, noise_bounds=noise_bounds, rows=len(y)),
    )


class LikelihoodOfSets(Protocol):
    """Of several sets of labels with known noise, see `likelihoods.gp_likelihood_of_sets`."""

    def __call__(
        self, kernel: Any, X: FloatArray, Y: FloatArray, noise: FloatArray
    ) -> tuple[float, FloatArray]:
        """Its value, and its gradient by the kernel's theta."""
        ...  # pragma: no cover


def maximise_likelihood_of_sets(
    likelihood: LikelihoodOfSets,
    kernel: Any,
    *,
    X: FloatArray,
    Y: FloatArray,
    noise: FloatArray,
    rng: np.random.Generator | int | None = None,
    restarts: int = 0,
    entries: int,
) -> Fit:
    """The kernel of the largest likelihood of several sets of labels, whose noise is known.

    Args:
        likelihood: What to maximise.
        kernel: Where to start.
        X: Inputs [m, p].
        Y: Labels [m, k].
        noise: Their noise variances [m, k].
        rng: Of the random starts.
        restarts: How many of them.
        entries: Of the largest matrix that a likelihood needs.
    """
    known = noise

    def with_idle_noise(
        kernel: Any,
        noise: float,  # noqa: ARG001 -- it is idle
        X: FloatArray,
        *,
        y: FloatArray,
    ) -> tuple[float, FloatArray]:
        value, gradient = likelihood(kernel, X, y.reshape(Y.shape), noise=known)
        return value, np.append(gradient, 0.0)

    # The search has a noise variance as its last number, which here changes nothing and stays.
    return maximise_likelihood(
        with_idle_noise,
        kernel=kernel,
        noise=1.0,
        X=X,
        y=Y.ravel(),
        rng=rng,
        restarts=restarts,
        entries=entries,
    )


class _Starts(NamedTuple):
    """Where searches start; each is a point [n].

    Attributes:
        given: At the given values, within the bounds.
        random: Anywhere within the bounds.
        informed: At values informed by the data.
    """

    given: FloatArray
    random: list[FloatArray]
    informed: list[FloatArray]


class _Ends(NamedTuple):
    """Where searches ended.

    Attributes:
        given: The one from the given values; none where the likelihood cannot be computed there.
        random: Those from random starts.
        informed: Those from informed starts; none where they were not needed.
    """

    given: list[Descent]
    random: list[Descent]
    informed: list[Descent]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Search:
    """Searches of one likelihood, each from a start [n].

    A start is the kernel's theta, with the noise's logarithm last.
    """

    likelihood: Likelihood
    kernel: Any
    X: FloatArray
    y: FloatArray
    noise_bounds: tuple[float, float]

    @cached_property
    def bounds(self) -> FloatArray:
        """The least and the largest logarithm of every parameter [n, 2]."""
        with np.errstate(divide="ignore"):  # a bound of 0 has no finite logarithm, and needs none
            return np.vstack([self.kernel.bounds.reshape(-1, 2), np.log(self.noise_bounds)])

    def ends(self, starts: list[FloatArray]) -> list[Descent]:
        """Where searches end; those whose very start has no likelihood are left out."""
        ends = []
        for start in starts:
            try:
                end = minimise(
                    self.minus_likelihood,
                    start,
                    self.bounds,
                    tolerance=GRADIENT_PER_ROW * len(self.y),
                    small_fall=SMALL_GAIN_PER_ROW * len(self.y),
                )
            except NotComputable:  # the covariance of the start itself cannot be factorised
                continue
            ends.append(end)
        return ends

    def minus_likelihood(self, x: FloatArray) -> tuple[float, FloatArray]:
        """What is minimised, and its gradient [n]."""
        noise = float(np.exp(x[-1]))
        value, gradient = self.likelihood(self.kernel_at(x), noise, self.X, y=self.y)
        return -value, -gradient

    def kernel_at(self, x: FloatArray) -> Any:
        """A new kernel with the parameters of a point [n]."""
        return self.kernel.clone_with_theta(x[:-1])


def _search_from(starts: _Starts, search: _Search) -> _Ends:
    """Search from the given and the random starts, and where that may not do from informed ones."""
    given = search.ends([starts.given])
    random = search.ends(starts.random)
    informed: list[Descent] = []
    few_rows = len(search.y) <= FEW_ROWS
    if not given or few_rows or _is_doubtful(given[0], search.y, search.bounds):
        informed = search.ends(starts.informed)
    return _Ends(given=given, random=random, informed=informed)


def _best_of(ends: _Ends, bounds: FloatArray) -> Descent:
    """The end of the largest likelihood, among those that can be trusted."""
    informed = ends.informed
    if ends.given and _is_settled(ends.given[0], bounds):
        # Otherwise few and noisy labels may be interpolated: see `maximise_likelihood`.
        informed = [end for end in informed if _is_settled(end, bounds)]
    candidates = ends.given + ends.random + informed
    if not candidates:
        raise DataError(
            "the likelihood cannot be computed at the start: the kernel matrix is not positive"
            " definite, or numbers are too large; start from a larger noise variance or shorter"
            " length scales, and standardise inputs and labels"
        )
    return min(candidates, key=lambda end: end.value)


def _random_starts(bounds: FloatArray, count: int, rng: np.random.Generator) -> list[FloatArray]:
    if count and not np.isfinite(bounds).all():
        raise DataError("random restarts need finite bounds for every parameter of the kernel")
    return [np.asarray(rng.uniform(*bounds.T)) for _ in range(count)]


def _informed_starts(search: _Search) -> list[FloatArray]:
    """Starts that fit the data's scale.

    Half the labels' variance is noise, and length scales are short, or long.
    """
    X = search.X
    free = [parameter for parameter in search.kernel.hyperparameters if not parameter.fixed]
    amplitudes = sum(parameter.name.endswith("constant_value") for parameter in free)
    variance = max(float(np.mean(search.y**2)), TINY)
    deviations = X.std(axis=0)
    deviations[deviations == 0] = 1.0
    ends = np.cumsum([parameter.n_elements for parameter in free])
    given = np.split(search.kernel.theta, ends[:-1])
    starts = []
    for length in INFORMED_LENGTHS:
        theta = []
        # Not strict: where all parameters are fixed, splitting nothing gives one empty piece.
        for parameter, values in zip(free, given, strict=False):
            if parameter.name.endswith("length_scale"):
                unit = deviations if parameter.n_elements > 1 else deviations.mean()
                theta.append(np.atleast_1d(np.log(length * np.sqrt(X.shape[1]) * unit)))
            elif parameter.name.endswith("constant_value"):
                theta.append(np.log([variance / amplitudes]))
            else:
                theta.append(values)
        theta.append(np.log([variance / 2]))
        starts.append(np.clip(np.concatenate(theta), *search.bounds.T))
    return starts


def _is_settled(end: Descent, bounds: FloatArray) -> bool:
    """Whether a search reached an optimum, with a noise variance inside its range."""
    return end.reached and not _is_at_end(end.x[-1], bounds[-1])


def _is_doubtful(end: Descent, y: FloatArray, bounds: FloatArray) -> bool:
    """Whether a search should be tried from elsewhere.

    It should where it reached no optimum; where the noise variance is at the end of its range; and
    where the kernel explains so little that its parameters are not worth their number (Akaike's
    criterion, against noise alone): such likelihoods have several maxima, and which one is found
    depends on the start.
    """
    if not _is_settled(end, bounds):
        return True
    # The best noise variance of labels that are noise alone, as far as it may be searched.
    s2 = float(np.clip(np.mean(y**2), *np.exp(bounds[-1])))
    of_noise_alone = -0.5 * (y @ y / s2 + len(y) * np.log(2 * np.pi * s2))
    return bool(-end.value - of_noise_alone < len(end.x) - 1)


def _notes(
    end: Descent, kernel: Any, *, bounds: FloatArray, noise_bounds: tuple[float, float], rows: int
) -> tuple[Note, ...]:
    """Why the end of a search may not be the best there is."""
    notes: tuple[Note, ...] = ()
    if not end.reached:
        steepest = np.abs(end.projected).max()
        most = GRADIENT_PER_ROW * rows
        text = (
            "the search for hyperparameters ended without reaching an optimum:"
            f" the log likelihood still changes by {steepest:.3g} nats per unit of a parameter's"
            f" logarithm, where at most {most:.3g} counts as an optimum;"
            " standardise inputs and labels, or start from other values"
        )
        notes += (Note(code="no optimum", text=text),)
    of_noise = noise_notes(float(np.exp(end.x[-1])), noise_bounds)
    if of_noise:
        # Kernel parameters often are at their bounds as well then; one note is enough.
        return notes + of_noise
    return notes + _kernel_notes(end, kernel, bounds=bounds, most=BEYOND_BOUND_PER_ROW * rows)


def _kernel_notes(
    end: Descent, kernel: Any, *, bounds: FloatArray, most: float
) -> tuple[Note, ...]:
    """Which kernel parameters are held by a bound that matters.

    That of a feature without effect does not.
    """
    held = []
    position = 0
    for parameter in kernel.hyperparameters:
        if parameter.fixed:
            continue
        for _ in range(parameter.n_elements):
            value = end.x[position]
            matters = abs(end.gradient[position]) > most
            if matters and _is_at_end(value, bounds[position]):
                # scikit-learn's name is a path into the expression, such as k1__k2__length_scale.
                name = parameter.name.rpartition("__")[2].replace("_", " ")
                held.append(f"{name} {np.exp(value):.3g}")
            position += 1
    if not held:
        return ()
    text = (
        "the likelihood would rise beyond the range searched for the kernel's parameters"
        f" ({', '.join(held)}); standardise inputs and labels, or use another kernel"
    )
    return (Note(code="kernel at its bound", text=text),)


def check_noise_bounds(bounds: tuple[float, float]) -> None:
    """Refuse bounds that no noise variance can lie between."""
    if not 0 < bounds[0] < bounds[1] < np.inf:
        raise DataError(
            f"noise_bounds {shown(bounds)} must be two finite numbers above 0, the smaller first"
        )


def noise_notes(noise: float, bounds: tuple[float, float]) -> tuple[Note, ...]:
    """What to say where the best noise variance is at the end of what was searched.

    The labels' scale is then unusual.
    """
    if not _is_at_end(np.log(noise), np.log(bounds)):
        return ()
    text = (
        f"the best noise variance found, {noise:.3g}, is at the end of the range searched;"
        f" standardise the labels, or give other noise_bounds than {bounds}"
    )
    return (Note(code="noise at its bound", text=text),)


def _is_at_end(value: float, bounds: FloatArray) -> bool:
    return bool(min(value - bounds[0], bounds[1] - value) < 1e-4)
