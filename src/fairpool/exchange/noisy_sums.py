"""Contributions whose party put noise on its sums: how much, and which ones cannot be so.

Both sides know how much by the plan: how long a row's features and how large its labels can be.
Sums with noise need be no sums of any rows; still noise is seldom beyond a few deviations.
"""

from dataclasses import replace

import numpy as np

from fairpool.differential_privacy.gaussian import mu_of
from fairpool.differential_privacy.row_bounds import Deviations, RowBounds
from fairpool.errors import ContributionError, PrivacyError
from fairpool.exchange.contribution_file import Arrays, ContributionFile, Privacy
from fairpool.exchange.plan import Plan
from fairpool.linear_algebra.shrinkage import noise_edge
from fairpool.linear_algebra.spectrum import eigenvalues
from fairpool.models import Classifier
from fairpool.parties import NoisySummary, NoisySums
from fairpool.tables.arrays import FloatArray

FAR = 6.0
"""Noise is beyond so many deviations once in a thousand million numbers."""

SAME = 1e-9
"""What both sides compute by one formula differs by rounding."""


def row_bounds_of(plan: Plan) -> RowBounds:
    """What one row can be under a plan, refused where nobody knows."""
    if plan.feature_bound is None:
        raise PrivacyError(
            "the plan does not say how long a row's features can be (feature_bound), so that nobody"
            " knows how much noise would hide a row; ask the operator for a model that bounds them:"
            ' kind = "sparse_gp" or "fourier" with a stationary kernel, or "blr" with ranges'
        )
    model = plan.model
    if isinstance(model, Classifier):
        coding = model.coding
        return RowBounds(
            features=plan.feature_bound,
            labels=max(abs(coding.inside.target), abs(coding.outside.target)),
            weights=plan.weights,
            classes=coding.classes,
            own_features=not model.shared,
        )
    if plan.label_bound is None:
        raise PrivacyError(
            "the plan does not say how large labels can be (label_bound), so that nobody knows how"
            " much noise would hide a row; ask the operator to declare a range of the target"
        )
    return RowBounds(features=plan.feature_bound, labels=plan.label_bound, weights=plan.weights)


def noise_for(plan: Plan, epsilon: float, delta: float) -> Privacy:
    """How much noise hides a row so well."""
    bounds = row_bounds_of(plan)
    noise = bounds.sensitivity / mu_of(epsilon, delta)
    return Privacy(epsilon=epsilon, delta=delta, noise=noise)


def noisy_summary_of(file: ContributionFile, name: str, plan: Plan) -> NoisySummary:
    """A contribution's sums as a party of a game that knows of their noise.

    Args:
        file: Its manifest says how much noise there is.
        name: Of the party.
        plan: Under which it was made.
    """
    privacy = file.manifest.privacy
    assert privacy is not None  # others are possible sums of rows
    return NoisySummary(
        name=name,
        sums=(noisy_sums_of(file.arrays, plan, privacy.noise, rows=file.manifest.rows),),
        noise_variance=plan.model.noise_variance,
        inputs=plan.inputs,
        probe=plan.model.probe(plan.inputs),
    )


def noisy_sums_of(arrays: Arrays, plan: Plan, noise: float, *, rows: int) -> NoisySums:
    """Sums and how much noise is on each.

    Args:
        arrays: gram, moment and squares.
        plan: Under which they were made.
        noise: The deviation of that on a diagonal entry of a Gram matrix.
        rows: How many rows there are, with noise.
    """
    deviations = row_bounds_of(plan).deviations(noise)
    moment = np.asarray(arrays["moment"])
    on_each = np.empty((*moment.shape[:-1], 2))
    on_each[..., 0] = deviations.gram
    on_each[..., 1] = deviations.moment
    return NoisySums(
        gram=np.asarray(arrays["gram"]),
        moment=moment,
        squares=np.asarray(arrays["squares"]),
        noise=on_each,
        squares_noise=np.asarray(deviations.squares),
        rows=rows,
    )


def refuse_other_noise(file: ContributionFile, where: str, plan: Plan) -> None:
    """Refuse a contribution whose noise is not what it says, or that no rows and noise give."""
    privacy = file.manifest.privacy
    if privacy is None:
        return
    try:
        needed = noise_for(plan, privacy.epsilon, privacy.delta).noise
    except PrivacyError as error:
        raise ContributionError(f"{where}: {error}") from None
    if not abs(privacy.noise - needed) <= SAME * needed:
        raise ContributionError(
            f"{where}: it says that its noise has the deviation {privacy.noise:.6g}, and epsilon"
            f" {privacy.epsilon:g} with delta {privacy.delta:g} needs {needed:.6g} under this plan;"
            " have the party contribute again"
        )
    problem = _impossible(file, row_bounds_of(plan), row_bounds_of(plan).deviations(needed))
    if problem:
        raise ContributionError(
            f"{where}: {problem}, and no rows with this noise give that; have the party contribute"
            " again"
        )


# Made-up numbers may be so large that what is computed of them is infinite, and then refused.
@np.errstate(over="ignore", invalid="ignore")
def _impossible(file: ContributionFile, bounds: RowBounds, noise: Deviations) -> str:
    """What is beyond all rows and noise; nothing: it may be so."""
    squares = np.asarray(file.arrays["squares"])
    if (squares < -FAR * noise.squares).any():
        return f"squares is {squares.min():.6g}"
    if bounds.classes:
        told = float(np.maximum(squares, 0.0).sum())
        if not abs(told - file.manifest.rows) <= 1 + SAME * file.manifest.rows:
            return f"squares sum to {told:.6g} row(s), where {file.manifest.rows} are said"
        counts = squares + FAR * noise.squares
        pairs = np.column_stack([counts, counts.sum() - counts])
        rows = pairs if bounds.own_features else counts
        label = 1.0
    else:
        rows = np.asarray(file.manifest.rows + FAR * noise.rows)
        label = bounds.labels
        most = float(rows) * label**2 + FAR * noise.squares
        if squares > most:
            return f"squares is {float(squares):.6g}, above {most:.6g}"
    for place in np.ndindex(rows.shape):
        gram = np.asarray(file.arrays["gram"])[place]
        moment = np.asarray(file.arrays["moment"])[place]
        problem = _impossible_sums(
            gram, moment, rows=float(rows[place]), bounds=replace(bounds, labels=label), noise=noise
        )
        if problem:
            return problem
    return ""


def _impossible_sums(
    gram: FloatArray, moment: FloatArray, *, rows: float, bounds: RowBounds, noise: Deviations
) -> str:
    d = len(moment)
    if not np.array_equal(gram, gram.T):
        return "gram is not symmetric"
    most = rows * bounds.features + FAR * noise.gram * np.sqrt(d)
    if np.trace(gram) > most:
        return f"the trace of gram is {np.trace(gram):.6g}, above {most:.6g}"
    largest = float(np.abs(gram).max())
    if largest > most:  # before eigenvalues, which of huge numbers cannot be computed
        return f"gram has an entry of size {largest:.6g}, above {most:.6g}"
    least = -noise.gram * (noise_edge(d) + FAR)
    if eigenvalues(gram)[0] < least:
        return f"gram has an eigenvalue of {eigenvalues(gram)[0]:.6g}, below {least:.6g}"
    longest = rows * np.sqrt(bounds.features) * bounds.labels
    longest += noise.moment * (np.sqrt(d) + FAR)
    if np.sqrt(moment @ moment) > longest:
        return f"moment has the length {np.sqrt(moment @ moment):.6g}, above {longest:.6g}"
    return ""
