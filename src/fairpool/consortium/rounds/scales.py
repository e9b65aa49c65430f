"""The noise variance and the scale of the prior, learned from everybody's sums alone.

The marginal likelihood of a model with weights needs no more (`fairpool.models.evidence`). What is
learned is rounded, since it goes into every reward file. Sums are then scaled, not made again.
"""

from collections.abc import Sequence
from dataclasses import replace

from fairpool.consortium.learning import Learning
from fairpool.consortium.model_building import described
from fairpool.consortium.rounds.contribution import Contribution
from fairpool.consortium.rounds.part_data import data_of
from fairpool.consortium.rounds.sums import arrays_under, summary_of
from fairpool.model_kinds.weights import round_number
from fairpool.models import Classifier, WeightModel
from fairpool.notes import Note
from fairpool.parties import ClassSummary, NoisySummary, PartySummary
from fairpool.parties.summary import scaling_between

FROM_SUMS = "noise and prior scale from everybody's sums"


def learn_scales(
    learning: Learning, contributions: Sequence[Contribution]
) -> tuple[Learning, tuple[Contribution, ...]]:
    """The model with the scales that make all labels most likely, and contributions for it.

    Args:
        learning: The model of the plan.
        contributions: Everybody's, for that model.
    """
    model = learning.built.model
    assert isinstance(model, WeightModel | Classifier)  # a plan has no other
    telling = [one.data for one in contributions if not isinstance(one.data, NoisySummary)]
    if not telling:
        text = (
            "noise and prior scale are those of the plan: every party put noise on its sums, and"
            " what is left of labels is hidden by that"
        )
        note = Note(code="scales not learned", text=text)
        return replace(learning, built=replace(learning.built, notes=(note,))), tuple(contributions)
    learned = model.learn_from_sums(telling)
    inputs = len(learning.preparation.encoding.features)
    scaled = with_rounded_scales(model, learned.model, inputs)
    settings = described(
        scaled, learning.preparation.configuration.model, learning.preparation.encoding
    )
    built = replace(
        learning.built,
        model=scaled,
        learned=True,
        origin=f"{learning.built.origin}; {FROM_SUMS}",
        rows=f"{learning.built.rows}; {FROM_SUMS}",
        settings=settings,
        notes=learned.notes,
    )
    after = tuple(_under(one, scaled, inputs) for one in contributions)
    return replace(learning, built=built), after


def with_rounded_scales(
    before: WeightModel | Classifier, learned: WeightModel | Classifier, inputs: int
) -> WeightModel | Classifier:
    """What was learned, to three digits; the features are otherwise as they were."""
    if isinstance(before, Classifier):
        assert isinstance(learned, Classifier)
        pairs = zip(before.of_classes, learned.of_classes, strict=True)
        of_classes = []
        for old, new in pairs:
            assert isinstance(old, WeightModel)
            assert isinstance(new, WeightModel)
            of_classes.append(_with_rounded_factor(old, new, inputs))
        if before.shared:
            return replace(before, model=of_classes[0])
        return replace(before, model=tuple(of_classes))
    assert isinstance(learned, WeightModel)
    scaled = _with_rounded_factor(before, learned, inputs)
    return scaled.with_noise(round_number(learned.noise_variance))


def _with_rounded_factor(before: WeightModel, learned: WeightModel, inputs: int) -> WeightModel:
    factor = scaling_between(before.probe(inputs), learned.probe(inputs)) ** 2
    return before.with_prior_scaled(round_number(factor))


def _under(
    contribution: Contribution, model: WeightModel | Classifier, inputs: int
) -> Contribution:
    """The same rows' sums for the model that was learned."""
    data = contribution.data
    assert isinstance(data, PartySummary | ClassSummary | NoisySummary)
    arrays = {}
    parts = {}
    for part, before in contribution.parts.items():
        assert isinstance(before, PartySummary | ClassSummary | NoisySummary)
        arrays[part] = arrays_under(before, model)
        make = summary_of if contribution.survey.arrived else data_of
        parts[part] = make(arrays[part], model, name=data.name, rows=len(before), inputs=inputs)
    present = contribution.present
    return replace(
        contribution,
        data=data.under(model),
        parts=parts,
        arrays=arrays,
        present=None if present is None else present.under(model),
    )
