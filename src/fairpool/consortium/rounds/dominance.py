"""New batches that hide too little: in which one row dominates, or which have too few inputs.

Of a batch that comes or goes, whoever compares two files sees the sum over its rows of a_k e_k, a_k
the row's features and e_k its label less what the recipient's own data predict. Where one row makes
up more than half of it, the row could be located (`fairpool.realisation.outlying`). And where its
new rows have fewer different inputs than a batch needs rows, fewer numbers in it are unknown.
"""

from collections.abc import Sequence

import numpy as np

from fairpool.compute.workers import Workers
from fairpool.consortium.contents import refuse_changed
from fairpool.consortium.learning import Learning
from fairpool.consortium.reading import Reading
from fairpool.consortium.rounds.contribution import Contribution
from fairpool.consortium.rounds.distinct_inputs import DistinctInputs
from fairpool.consortium.rounds.part_sums import blocks_of, features_of
from fairpool.models import (
    Classifier,
    ClassPosterior,
    TrainedPosterior,
    WeightModel,
    WeightPosterior,
)
from fairpool.parties import ClassSummary, PartySummary, Told
from fairpool.parties.class_summary import ClassStatistics
from fairpool.realisation.outlying import LabelSums
from fairpool.tables.arrays import FloatArray
from fairpool.values import InformationGain

MOST_OF_BATCH = 0.5
"""Of what a batch tells, one row may make up this much."""

Sight = tuple[str, int]
"""A batch, and the class whose labels are seen; 0 where labels are numbers."""


def dominated_batches(
    game: InformationGain,
    contributions: Sequence[Contribution],
    learning: Learning,
    workers: Workers,
) -> dict[str, set[str]]:
    """The new batches that hide too little, by the party's permanent identity.

    Args:
        game: Of these contributions.
        contributions: Everybody's.
        learning: The model.
        workers: Who is told about it.
    """
    model = learning.built.model
    rewards = learning.preparation.configuration.rewards
    base = model.base if isinstance(model, Classifier) else model
    if rewards.share_inputs or game.n == 1 or not isinstance(base, WeightModel):
        return {}
    own = np.array([_weights(game, i) for i in range(game.n)])
    found = {}
    for j, contribution in enumerate(contributions):
        # The rows of sums are not here: their party looked at them.
        if contribution.assignment.new and not contribution.survey.arrived:
            others = np.delete(own, j, axis=0)
            dominated = _dominated(contribution, others, learning, workers)
            if dominated:
                found[contribution.id] = dominated
    return found


def _weights(game: InformationGain, i: int) -> list[FloatArray]:
    """The weights that party i has from its own data, of every class."""
    posterior = game.posterior([i])
    of_classes: tuple[TrainedPosterior, ...] = (posterior,)
    if isinstance(posterior, ClassPosterior):
        of_classes = posterior.of_classes
    weights = []
    for of_class in of_classes:
        assert isinstance(of_class, WeightPosterior)  # only models with weights are looked at
        weights.append(of_class.weights)
    return weights


def _dominated(
    contribution: Contribution,
    others: FloatArray,
    learning: Learning,
    workers: Workers,
) -> set[str]:
    """Of one party's new batches, those that hide too little, in anybody's eyes.

    Args:
        contribution: The party's.
        others: The weights that every other one has from its own data [recipients, classes, d].
        learning: The model.
        workers: Who is told about it.
    """
    assignment = contribution.assignment
    batch_of_place = {}
    fresh_places = set()
    for name in assignment.new:
        for part in assignment.batches.batches[name].parts:
            place = assignment.part_names.index(part)
            batch_of_place[place] = name
            if assignment.batches.parts[part].parent is None:
                fresh_places.add(place)
    inputs = {name: DistinctInputs(assignment.fewest) for name in assignment.new}
    seen = _sums_seen(contribution, others, learning)
    sights_of: dict[str, list[Sight]] = {}
    for sight in seen:
        sights_of.setdefault(sight[0], []).append(sight)
    largest = {sight: np.zeros(len(others)) for sight in seen}
    squares = {sight: np.zeros(len(others)) for sight in seen}
    encoding = learning.preparation.encoding
    model = learning.built.model
    assert isinstance(model, WeightModel | Classifier)  # others are not looked at
    groups_by_piece = contribution.identities.by_piece(contribution.groups)
    passages = []
    d = others.shape[-1]
    for number, piece in enumerate(contribution.identities.pieces):
        reading = Reading.labelled(piece, encoding, contribution.survey.source.delivery)
        for block in blocks_of(reading, encoding, d, parts=len(batch_of_place)):
            for place, rows in block.by_part(groups_by_piece[number]):
                if place not in batch_of_place:
                    continue
                X = block.X[rows]
                if place in fresh_places:
                    inputs[batch_of_place[place]].see(X)
                features = features_of(model, X)
                for sight in sights_of[batch_of_place[place]]:
                    c = sight[1]
                    y, weight = _labels(model, X, block.y[rows], c)
                    found, more = seen[sight].of_rows(features[c], y, weight)
                    largest[sight] = np.maximum(largest[sight], found)
                    squares[sight] += more
        passages.append(reading.passage)
        workers.progress(
            f"looking for rows of {contribution.data.name} that stand out",
            number + 1,
            len(contribution.identities.pieces),
        )
    refuse_changed(contribution.survey.source.owner, passages, contribution.survey.contents)
    dominated = {name for name, of_batch in inputs.items() if not of_batch.are_enough}
    for sight, label_sums in seen.items():
        if label_sums.shares(largest[sight], squares[sight]).max() > MOST_OF_BATCH:
            dominated.add(sight[0])
    return dominated


def _labels(
    model: object, X: FloatArray, y: FloatArray, c: int
) -> tuple[FloatArray, FloatArray | float]:
    """Labels as a latent function sees them, and what they count."""
    if isinstance(model, Classifier):
        return model.coding.targets(y, c), 1 / model.coding.noise(y, c)
    assert isinstance(model, WeightModel)
    return y - model.prior_mean_at(X), 1.0


def _sums_seen(
    contribution: Contribution, others: FloatArray, learning: Learning
) -> dict[Sight, LabelSums]:
    """What each other party would see of each new batch, without any noise."""
    assignment = contribution.assignment
    seen = {}
    for batch in assignment.new:
        parts = [contribution.parts[name] for name in assignment.batches.batches[batch].parts]
        for c in range(others.shape[1]):
            d = others.shape[-1]
            gram = np.zeros((d, d))
            moment = np.zeros(d)
            for part in parts:
                if isinstance(part, ClassSummary):
                    told = _told_of_class(part, learning.built.model, c)
                    gram = gram + told.precision
                    moment = moment + told.moment
                else:
                    assert isinstance(part, PartySummary)  # rows are shared by agreement
                    gram = gram + part.gram
                    moment = moment + part.moment
            seen[batch, c] = LabelSums.of(others[:, c], gram, moment)
    return seen


def _told_of_class(part: ClassSummary, model: object, c: int) -> Told:
    assert isinstance(model, Classifier)  # others have no summaries of classes
    inside, outside = part.level_sums(c)
    return ClassStatistics(inside=inside, outside=outside, coding=model.coding).told
