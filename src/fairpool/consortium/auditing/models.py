"""What a model was trained with, beside its file and what was committed to."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fairpool.consortium.auditing.opened import OpenedRound
from fairpool.consortium.auditing.recompute import Recomputed
from fairpool.consortium.folders import REWARD_FILE
from fairpool.consortium.rounds.stating import salt_of
from fairpool.consortium.verification.finding import (
    Finding,
    false,
    same_number,
    unknown,
    verified,
)
from fairpool.errors import FairpoolError
from fairpool.exchange.statement import Statement
from fairpool.models import (
    ClassPosterior,
    TrainedPosterior,
    WeightPosterior,
)
from fairpool.realisation import ModelReward
from fairpool.realisation.commitment import is_kept
from fairpool.realisation.reward_file import decode_reward
from fairpool.tables.arrays import FloatArray

SAME_WEIGHTS = 1e-6
"""Of the largest weight: what two machines may differ by."""


def check_model(
    opened: OpenedRound, anew: Recomputed, i: int, place: Path, said: Statement
) -> Iterator[Finding]:
    """What a model was trained with: the weights in the file, and what was committed to."""
    one = opened.past.parties[i]
    about = "model"
    result = anew.results[i]
    if not result.sent:
        return  # see `check_etas`
    if opened.secret is None:
        yield unknown(about, f"{one.name}: the noise in it, since the secret is not shown")
        return
    if not anew.can_tell_model_of(i):
        yield unknown(about, f"{one.name}: it has noise on rows that nobody shows")
        return
    trained = result.model.posterior
    try:
        path = place / REWARD_FILE
        handed_out: ModelReward = decode_reward(path.read_bytes(), str(path))
    except (OSError, FairpoolError):
        return  # see `_file`
    yield same_number(about, f"{one.name}: its worth", said=handed_out.value, found=trained.worth)
    difference = _difference(handed_out.posterior, trained)
    if difference <= SAME_WEIGHTS:
        yield verified(about, f"{one.name}: its weights are those of the sums and the noise")
    else:
        yield false(
            about,
            f"{one.name}: its weights differ from those of the sums and the noise by"
            f" {difference:.3g} of the largest, where {SAME_WEIGHTS:g} is rounding",
        )
    commitment = None if said.model is None else said.model.commitment
    if commitment is None:
        yield unknown("commitment", f"{one.name}: there is none")
        return
    salt = salt_of(opened.secret, number=opened.past.number, party=one.id)
    if is_kept(commitment, trained, salt):
        yield verified(
            "commitment", f"{one.name}: it is to the precision and moment of the sums and the noise"
        )
    else:
        yield false(
            "commitment",
            f"{one.name}: {commitment.digest} was committed to, and precision and moment of the"
            " sums and the noise have another hash",
        )


def _difference(one: TrainedPosterior, other: TrainedPosterior) -> float:
    """Of two models' weights, as a share of the largest."""
    w, expected = _weights(one), _weights(other)
    if w.shape != expected.shape:
        return float("inf")
    return float(np.abs(w - expected).max() / max(float(np.abs(expected).max()), 1e-300))


def _weights(posterior: TrainedPosterior) -> FloatArray:
    if isinstance(posterior, ClassPosterior):
        return np.concatenate([_weights(one) for one in posterior.of_classes])
    assert isinstance(posterior, WeightPosterior)  # see `fairpool.consortium.auditing.audit`
    return posterior.weights
