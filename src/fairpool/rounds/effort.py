"""How much work the states between two rounds are, counted beforehand and on any machine alike."""

import numpy as np

from fairpool.contributions import concept_of
from fairpool.contributions.shapley import how_many_evaluations
from fairpool.models import Classifier, Model, WeightModel
from fairpool.rounds.transition import Transition
from fairpool.values import EXACT_LIMIT

MOST_WORK = 1e12
"""So many operations are done at most: about two minutes on one core of a small machine."""

PER_COALITION = 2e4
"""What a coalition costs however small its matrix is, in operations."""

PER_SAMPLE = 3e5
"""What a coalition costs that is part of a sample, most of it for the surrogate."""

SAMPLINGS = 5
"""How many times everything is sampled, where it is: by their spread errors are known."""


def can_enumerate(transition: Transition) -> bool:
    """Whether every state is valued exactly: both rounds were, and that is not too much work."""
    before = len(transition.before.ids)
    after = len(transition.after.ids)
    return max(before, after) <= EXACT_LIMIT and enumeration_work(transition) <= MOST_WORK


def can_sample(transition: Transition) -> bool:
    """Whether the states can be sampled without too much work."""
    return sampling_work(transition) <= MOST_WORK


def enumeration_work(transition: Transition) -> float:
    """One table for every choice of data, with everybody of either round in it."""
    n = len(transition.everybody)
    coalitions = len(transition.data_choices) * 2.0**n
    # Coalitions of rows share work, see `fairpool.linear_algebra.elimination`.
    return coalitions * _per_coalition(transition, least=PER_COALITION, sharing=n)


def sampling_work(transition: Transition) -> float:
    """One sample for every choice of data, of joiners and of leavers, and that several times."""
    n = len(transition.everybody)
    games = len(transition.data_choices)
    for some in (transition.joiners, transition.leavers):
        if some:
            games *= 2
    evaluations = [
        _evaluations(terms.contributions, terms.evaluations, n)
        for terms in (transition.before.terms, transition.after.terms)
    ]
    per_coalition = _per_coalition(transition, least=PER_SAMPLE, sharing=1)
    return SAMPLINGS * games * max(evaluations) * per_coalition


def _evaluations(concept: str, wanted: int | None, n: int) -> int:
    """How many coalitions are valued; where nothing is ever sampled, one for each party."""
    fewest = concept_of(concept).fewest_evaluations
    if fewest is None:
        return n
    return how_many_evaluations(wanted, n, fewest(n))


def _per_coalition(transition: Transition, *, least: float, sharing: int) -> float:
    """Operations for one coalition, about a third of the cube of its matrix's rows."""
    model = transition.model
    width = _weights(model, transition.before.parties[0].inputs)
    if width is None:
        old = sum(len(party) for party in transition.before.parties)
        new = sum(len(party) for party in transition.after.parties)
        width = (old + new) // sharing
    return least + model.label_sets * width**3 / 3


def _weights(model: Model, inputs: int) -> int | None:
    """How many weights a model has; None for one without."""
    if isinstance(model, Classifier):
        return _weights(model.base, inputs)
    if isinstance(model, WeightModel):
        return int(model.whitened_features(np.zeros((0, inputs))).shape[1])
    return None
