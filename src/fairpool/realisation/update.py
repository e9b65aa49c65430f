"""A recipient brings its reward up to date with rows of its own, without asking anybody.

A file with a hidden covariance holds what stands for the others' data, kappa M and
h = Bt mu - q_i. The recipient's own part of the model, P_i and q_i, is known to it anyway, so it
can be exchanged for that of more rows:

    precision = I + P_i + kappa M,   mean = precision^-1 (q_i + h)

Nothing new is released. Were the operator to make a new file whenever the recipient's rows change,
the recipient could solve for the others' Gram matrix after d + 1 of them.
"""

from dataclasses import replace
from typing import TypeVar

import numpy as np

from fairpool.errors import KernelError, RewardFileError
from fairpool.linear_algebra.cholesky import lower_factor
from fairpool.models import ClassPosterior, TrainedPosterior, WeightPosterior
from fairpool.parties import PartyData, Pool, Told
from fairpool.realisation.level import Level
from fairpool.realisation.model_reward import ModelReward, Update
from fairpool.tables.arrays import FloatArray

ROUNDING = 1e-9
"""Of a precision's diagonal: how exactly the recipient's own part of a file is known."""

AnyLevel = TypeVar("AnyLevel", bound=Level)


def update(
    reward: ModelReward, own: PartyData, *, add: bool = False, corrected: bool = False
) -> ModelReward:
    """The reward with other rows of its recipient's own; what is of the others stays as it is.

    The same as if it had been realised with these rows, kappa M and h. Its worth, the information
    gain of the new model, is computed anew; what it was due (`target`) is not.

    Args:
        reward: A model with weights.
        own: All rows that the recipient has, old and new. They replace those in the reward, so that
            it makes no difference how often this is done.
        add: `own` holds new rows alone. That is the only way for a covariance = "full", in which
            own rows cannot be told from the others'. Rows that are added twice count twice.
        corrected: Old rows were corrected or left out: do not insist that all are in `own`. Of a
            recipient that put noise on what it sent nobody insists: no rows are in the reward.
    """
    posterior = updatable(reward)
    _refuse_other_inputs(posterior, own)
    pool = Pool.of([own], posterior.model)
    posterior.model.check(pool)
    corrected = corrected or reward.own_noise
    trained: WeightPosterior | ClassPosterior
    if isinstance(posterior, ClassPosterior):
        of_classes = []
        for before, of_class in zip(posterior.of_classes, pool.of_classes, strict=True):
            assert isinstance(before, WeightPosterior)  # see `updatable`
            told = of_class.statistics[0].told
            of_classes.append(_exchanged(before, told, add=add, corrected=corrected))
        trained = replace(posterior, of_classes=tuple(of_classes))
    else:
        told = pool.statistics[0].told
        trained = _exchanged(posterior, told, add=add, corrected=corrected)
    return replace(
        reward,
        posterior=trained,
        level=_worth(reward.level, trained.worth),
        updated=_update_of(reward, len(own), add=add),
        own_noise=reward.own_noise and add,
    )


def _exchanged(
    posterior: WeightPosterior, told: Told, *, add: bool, corrected: bool
) -> WeightPosterior:
    """The posterior with what more rows tell, or with what other rows tell in place of before."""
    if add:
        trained = _with_more(posterior, told)
    else:
        trained = _with_all(posterior, told, corrected=corrected)
    return replace(trained, others=posterior.others, columns=posterior.columns)


def updatable(reward: ModelReward) -> WeightPosterior | ClassPosterior:
    """The model of a reward, refused where rows cannot be added to it."""
    posterior = reward.posterior
    of_classes: tuple[TrainedPosterior, ...] = (posterior,)
    if isinstance(posterior, ClassPosterior):
        of_classes = posterior.of_classes
    for of_class in of_classes:
        if not isinstance(of_class, WeightPosterior):
            raise RewardFileError(
                f'the reward of "{reward.party}" is an exact Gaussian process, which holds rows'
                " instead of sums over them, and would have to be trained anew on all of them; ask"
                " the operator for a model with weights"
            )
        if of_class.weights.ndim > 1:
            raise RewardFileError(
                f'the reward of "{reward.party}" was trained on several draws of the noise, for'
                " evaluation; realise it again without draws"
            )
    assert isinstance(posterior, WeightPosterior | ClassPosterior)
    return posterior


def _refuse_other_inputs(posterior: TrainedPosterior, own: PartyData) -> None:
    if own.inputs != posterior.inputs:
        raise RewardFileError(
            f'party "{own.name}" has {own.inputs} columns, the model was trained on'
            f" {posterior.inputs}; give the same ones, in order"
        )
    if own.columns and posterior.columns and own.columns != posterior.columns:
        raise RewardFileError(
            f'party "{own.name}" has columns {", ".join(own.columns)}; the model needs'
            f" {', '.join(posterior.columns)}, in order"
        )


def _with_more(posterior: WeightPosterior, new: Told) -> WeightPosterior:
    """The precision and moment of everything so far, and those of the new rows."""
    B = posterior.factor @ posterior.factor.T
    precision = B - np.eye(len(B)) + new.precision
    return _trained(posterior, Told(precision, B @ posterior.weights + new.moment))


def _with_all(posterior: WeightPosterior, own: Told, *, corrected: bool) -> WeightPosterior:
    """What stands for the others, and the recipient's own rows in place of those before."""
    others = posterior.others
    if others is None:
        raise RewardFileError(
            'the reward has covariance = "full", in which the rows of its recipient cannot be told'
            " from the others'; give new rows alone, to be added (--add, or add=True)"
        )
    if not corrected and not _contains(own.precision, posterior, others):
        raise RewardFileError(
            "the rows that the reward was made from are not among these, but its own rows are"
            " replaced by them; give all rows, old and new; or, if these are new rows alone, have"
            " them added (--add, or add=True); or, if old rows were corrected or left out, say so"
            " (--corrected, or corrected=True)"
        )
    total = Told(own.precision + others.precision, own.moment + others.moment)
    return _trained(posterior, total)


def _contains(P: FloatArray, posterior: WeightPosterior, others: Told) -> bool:
    """Whether own rows with the precision P can have been all of those in the file, and more.

    Where they were, P - P_before is a sum over the new rows, and has no negative eigenvalue.
    """
    B = posterior.factor @ posterior.factor.T
    P_before = B - np.eye(len(B)) - others.precision
    # Each column's own size is what rounding in it is measured by: units may differ widely.
    allowed = ROUNDING * (np.diag(B) + np.diag(P))
    try:
        lower_factor(P - P_before + np.diag(allowed))
    except KernelError:
        return False
    return True


def _trained(posterior: WeightPosterior, told: Told) -> WeightPosterior:
    try:
        return posterior.model.posterior_from_moments(told.precision, told.moment, posterior.inputs)
    except KernelError:
        raise RewardFileError(
            "the reward holds sums that are of no rows; ask the operator for it again"
        ) from None


def _worth(level: AnyLevel, value: float) -> AnyLevel:
    return replace(level, value=value)


def _update_of(reward: ModelReward, rows: int, *, add: bool) -> Update:
    """What the file will say of it; rows that are added count on top of those before."""
    before = reward.updated
    if before is None:
        before = Update(rows=0, rows_are_all=False, awarded=reward.value)
    if add:
        return replace(before, rows=before.rows + rows)
    return replace(before, rows=rows, rows_are_all=True)
