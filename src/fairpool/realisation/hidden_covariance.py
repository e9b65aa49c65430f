"""A covariance that tells little of the others' inputs, and is worth exactly as much.

The precision of a model with weights is B = I + P_i + P_others, and noise on labels does not touch
P_others: whoever receives B subtracts what is its own, and has the others' Gram matrix, from which
rows of small parties can be computed. So the precision that is handed out is

    Bt = I + P_i + kappa M

with M a Gram matrix that the recipient could have made up itself (`Spread`), and kappa such that
the information gain 1/2 log|Bt| is r_i. The weights' mean stays that of the model trained on D_i^r.

Differs from the paper: there, the recipient sees D_i^r itself. The price is that predicted
variances are those of data spread as M says: KL = (tr(Bt B^-1) - d) / 2 nats.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from fairpool.linear_algebra.cholesky import lower_factor
from fairpool.linear_algebra.log_determinant import (
    half_log_determinant,
    half_log_determinant_by_factor,
)
from fairpool.linear_algebra.pencil import pencil_eigenvalues
from fairpool.linear_algebra.solving import solve_factorised, solve_lower
from fairpool.models import Classifier, ClassPosterior, Model, WeightModel, WeightPosterior
from fairpool.notes import Note
from fairpool.parties import Told
from fairpool.realisation.model_reward import ModelReward
from fairpool.tables.arrays import FloatArray
from fairpool.tables.made_up import HALF_WIDTH, evenly_spread

AROUND = 0.7
"""How far made-up inputs lie from inducing points, in deviations of the points themselves.

On the example's data anything from 0.5 to 1 costs about the same.
"""

LEAST_TAIL = 1e-4
"""No made-up input is further out than one in so many normal numbers."""

SHARE_OF_MADE_UP = 0.02
"""Of made-up inputs, where the recipient's own rows tell better how columns go together."""

NO_FEATURES = 1e-12
"""The mean square of features below which they tell nothing of made-up inputs."""

ROUNDING = 1e-12
"""What two ways to compute a log-determinant may differ by, as a share of it."""

NEWTON_STEPS = 3
"""That make kappa exact; each doubles the number of right digits."""

LONGEST_STEP = 0.5
"""Of such a step, in the logarithm of kappa."""

HIGH_PRICE = 0.05
"""Beside what a party gains: beyond it, the operator is told what hiding costs. It may be more than
all of the gain: variances can be farther from the trained ones than those of the own data are."""


@dataclass(frozen=True, eq=False, kw_only=True)
class HiddenCovariance:
    """A posterior to be handed out.

    Attributes:
        posterior: The same mean, with a covariance that tells little of the others' inputs.
        price: How much worse it is, in nats (KL from the posterior that was trained).
    """

    posterior: WeightPosterior | ClassPosterior
    price: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Spread:
    """How data may be spread, by what a recipient knows anyway.

    Attributes:
        public: The mean Gram matrix of inputs that anybody could have made up [d, d].
        share: How much of M is that; the rest is the mean Gram matrix of the recipient's own rows.
    """

    public: FloatArray
    share: float

    @classmethod
    def of(
        cls,
        model: WeightModel,
        inputs: int,
        public: FloatArray | None,
        *,
        declared: FloatArray | None = None,
    ) -> "Spread":
        """From public data where there are some, or from inducing points: the file has them.

        A model without either knows nothing of how its inputs go together, but the recipient's own
        rows do: with made-up inputs alone, a linear model of correlated columns would lose more
        than the recipient gains. Where ranges are declared, the made-up inputs are spread over
        them; inducing points tell more than ranges do, and come first.

        Args:
            model: The model.
            inputs: Number p of input columns.
            public: Public inputs [m, p], if there are some.
            declared: Inputs spread evenly over declared ranges [m, p], if all columns have one.
        """
        if public is not None and len(public):
            return cls(public=_mean_gram(model, public), share=1.0)
        unit = evenly_spread(inputs)
        within = model.inputs_within
        if len(within) > 1:
            # Around each inducing point, as wide as there are gaps between them.
            deviation = AROUND * within.std(axis=0)
            places = within[np.arange(len(unit)) % len(within)]
            cloud = places + deviation * ndtri(np.clip(unit, LEAST_TAIL, 1 - LEAST_TAIL))
            return cls(public=_mean_gram(model, cloud), share=1.0)
        if declared is None:
            declared = (2 * unit - 1) * HALF_WIDTH
        return cls(public=_mean_gram(model, declared), share=SHARE_OF_MADE_UP)

    def gram(self, own: Told) -> FloatArray:
        """M for a recipient [d, d], by what its own data tell."""
        told = float(np.trace(own.precision))
        if not float(np.trace(self.public)) > NO_FEATURES:
            # Features that vanish wherever nobody has data: any M will do that hides as little.
            return np.eye(len(self.public))
        if not told or self.share == 1:
            return self.public
        own_gram = own.precision / told * np.trace(self.public)
        return np.asarray((1 - self.share) * own_gram + self.share * self.public)


def _mean_gram(model: WeightModel, X: FloatArray) -> FloatArray:
    """A^T A / m of some inputs' whitened features A [d, d]."""
    A = model.whitened_features(X)
    return A.T @ A / len(A)


def hidden(
    posterior: WeightPosterior, *, own: Told, M: FloatArray, value: float
) -> HiddenCovariance:
    """The same mean, and a precision made of the recipient's own data and M alone.

    Args:
        posterior: Trained on D_i^r.
        own: What the recipient's own data tell.
        M: From `Spread`.
        value: r_i, what the reward is worth.
    """
    kappa = _kappa([Pencil.of(own, M)], value)
    return _covered(posterior, own=own, M=M, kappa=kappa)


def hidden_classes(
    posterior: ClassPosterior, *, own: Sequence[Told], M: Sequence[FloatArray], value: float
) -> HiddenCovariance:
    """The same of a classifier: one kappa for the precisions of all classes.

    The class of a row enters the weight that it has in each precision, so that the precisions as
    trained would tell labels, whatever noise is on them.

    Args:
        posterior: Trained on D_i^r.
        own: What the recipient's own data tell, of every class.
        M: From `Spread`, of every class.
        value: r_i, what the reward is worth.
    """
    kappa = _kappa([Pencil.of(*pair) for pair in zip(own, M, strict=True)], value)
    covered = []
    for c, of_class in enumerate(posterior.of_classes):
        assert isinstance(of_class, WeightPosterior)  # what a model with weights learns
        covered.append(_covered(of_class, own=own[c], M=M[c], kappa=kappa))
    of_classes = tuple(one.posterior for one in covered)
    return HiddenCovariance(
        posterior=replace(posterior, of_classes=of_classes),
        price=sum(one.price for one in covered),
    )


def _covered(
    posterior: WeightPosterior, *, own: Told, M: FloatArray, kappa: float
) -> HiddenCovariance:
    """The posterior with the precision I + P_i + kappa M."""
    others = kappa * M
    factor = lower_factor(np.eye(len(M)) + own.precision + others)
    moment = factor @ (factor.T @ posterior.weights) - _as_wide(own.moment, posterior.weights)
    ratio = solve_lower(posterior.factor, factor)
    return HiddenCovariance(
        posterior=replace(
            posterior,
            factor=factor,
            others=Told(others, moment),
            trained_factor=posterior.factor,
        ),
        price=0.5 * (float(np.square(ratio).sum()) - len(M)),
    )


class Pencil(NamedTuple):
    """R + kappa M, the precision that is handed out as a function of kappa; both [d, d]."""

    R: FloatArray
    M: FloatArray

    @classmethod
    def of(cls, own: Told, M: FloatArray) -> "Pencil":
        """R is what the recipient knows of itself."""
        return cls(np.eye(len(M)) + own.precision, M)


def _kappa(pencils: Sequence[Pencil], value: float) -> float:
    """kappa with sum 1/2 log|R + kappa M| = value: the left side increases without bound."""
    more = value - sum(half_log_determinant(pencil.R) for pencil in pencils)
    # What rounding alone may have made, of two ways to compute one log-determinant, is nothing: its
    # kappa would be nothing but rounding, and steps towards it go anywhere.
    if more <= ROUNDING * max(value, 1.0):
        return 0.0
    spectra = [pencil_eigenvalues(pencil.M, pencil.R) for pencil in pencils]
    eigenvalues = np.maximum(np.concatenate(spectra), 0.0)

    def excess(log_kappa: float) -> float:
        return 0.5 * float(np.log1p(np.exp(log_kappa) * eigenvalues).sum()) - more

    # 1/2 log(1 + kappa l) of the largest eigenvalue alone would be enough, or the sum of all too
    # little: kappa lies between.
    largest = float(np.log(eigenvalues.max()))
    high = 2 * more - largest + 1
    low = np.log(2 * more / eigenvalues.sum()) - 1
    kappa = float(np.exp(brentq(excess, low, high, xtol=1e-15, rtol=4 * np.finfo(float).eps)))
    # Small eigenvalues are not exact where units differ much; the log-determinant itself is.
    for _ in range(NEWTON_STEPS):
        too_much = -value
        slope = 0.0
        for R, M in pencils:
            L = lower_factor(R + kappa * M)
            too_much += half_log_determinant_by_factor(L)
            slope += 0.5 * kappa * float(solve_factorised(L, M).trace())
        # A step corrects; where it is long, the difference is rounding over a flat curve.
        kappa *= float(np.exp(np.clip(-too_much / slope, -LONGEST_STEP, LONGEST_STEP)))
    return kappa


def _as_wide(moment: FloatArray, weights: FloatArray) -> FloatArray:
    """A moment [d] for each of k sets of labels, where there are several."""
    return moment if weights.ndim == 1 else moment[:, None]


def ranges_would_help(
    model: Model, *, public: FloatArray | None, declared: FloatArray | None
) -> bool:
    """Whether declared ranges would be used, if there were any."""
    if isinstance(model, Classifier):
        model = model.base
    if public is not None or declared is not None or not isinstance(model, WeightModel):
        return False
    return len(model.inputs_within) <= 1


def price_notes(
    models: Sequence[ModelReward], alone: FloatArray, *, propose_ranges: bool = False
) -> list[Note]:
    """Where hiding the others' inputs costs more than a small part of what a party gains.

    Args:
        models: The rewards.
        alone: v_i [n].
        propose_ranges: Whether declared ranges would make it cheaper.
    """
    remedy = 'Use covariance = "full" if all parties are large enough, or fewer weights'
    if any(isinstance(model.posterior, ClassPosterior) for model in models):
        remedy = "Use fewer weights"  # a full covariance would tell labels
    if propose_ranges:
        remedy += "; or declare the range of every column, [columns.NAME] range = [0, 100]"
    notes = []
    for model, v_i in zip(models, alone, strict=True):
        gain = model.value - float(v_i)
        if gain > 0 and model.covariance_price > HIGH_PRICE * gain:
            text = (
                f'the model of "{model.party}" hides where the others\' data are, so that how sure'
                f" it says it is differs by {model.covariance_price:.3g} nats (KL divergence) from"
                f" the model as it was trained: much, beside the {gain:.3g} nats that it has more"
                f" than its party's own data. What it predicts is as it was trained. {remedy}"
            )
            notes.append(Note(code="costly covariance", party=model.party, text=text))
    return notes
