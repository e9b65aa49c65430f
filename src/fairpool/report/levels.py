"""How much of the others' data is in each party's model, as tables of a report tell it."""

from fairpool.outcome import Outcome
from fairpool.realisation import ModelReward
from fairpool.report.held import is_sent
from fairpool.targets import LABELS, Target

KEPT = "–"
"""Of a party that is sent no new model."""


def level_in_table(outcome: Outcome, i: int) -> str:
    """How the others' data were weakened in party i's new model."""
    if not is_sent(outcome, i):
        return KEPT
    model = outcome.models[i]
    return model.mechanism.words.figure(model.level, _target_of(model))


def unit_of(outcome: Outcome) -> str:
    """What these figures are, below the table; empty: that is plain."""
    for i, model in enumerate(outcome.models):
        if is_sent(outcome, i):
            return model.mechanism.words.unit(_target_of(model))
    return ""


def _target_of(model: ModelReward) -> Target:
    """What a model predicts; one that knows no columns has learned from labels as they came."""
    return LABELS if model.encoding is None else model.encoding.target
