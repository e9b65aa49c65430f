"""The noise on the labels of each part: from the rows' own paths, or as earlier files have it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from fairpool.compute.workers import Workers
from fairpool.consortium.learning import Learning
from fairpool.consortium.rounds.context import RoundContext
from fairpool.consortium.rounds.contribution import Contribution
from fairpool.consortium.rounds.part_data import rows_of_part
from fairpool.consortium.rounds.part_sums import LabelPaths, sum_noise
from fairpool.consortium.rounds.standing import pin_at
from fairpool.consortium.rounds.sums import coordinate_noise
from fairpool.keyed_noise.paths import Paths
from fairpool.models import Classifier, WeightModel
from fairpool.parties import ClassSummary, NoisySummary, PartySummary
from fairpool.tables.arrays import FloatArray


@dataclass(eq=False, kw_only=True)
class PartNoise:
    """Where the noise of a round comes from; not frozen, since it remembers what it gave.

    Attributes:
        learning: The model.
        context: The secret that paths are made of, and what is kept of earlier files.
        contributions: Everybody's.
        workers: Who is told about it.
        pins: What was given, by part and variance in squared units of the target.
    """

    learning: Learning
    context: RoundContext
    contributions: tuple[Contribution, ...]
    workers: Workers
    pins: dict[str, dict[float, FloatArray]] = field(default_factory=dict)

    @cached_property
    def _paths(self) -> Paths:
        """The same for all parties, since their noise is at the same variances."""
        return Paths(self.context.secret)

    def noise(self, wanted: Mapping[str, Sequence[float]]) -> dict[tuple[str, float], FloatArray]:
        """The noise of each wanted part at each wanted variance, in the model's units.

        What earlier files have is taken from what is kept: of a part that lost rows there is no
        other way to know it.
        """
        scale = self.learning.preparation.encoding.target.noise_scale
        drawn: dict[tuple[str, float], FloatArray] = {}
        for one in self.contributions:
            missing: dict[int, list[float]] = {}
            for place, part in enumerate(one.assignment.part_names):
                pins = {}
                if self.context.agreement is not None and wanted.get(part):
                    pins = self.context.kept.pins(part, self.context.agreement_digest)
                for eta in wanted.get(part, ()):
                    pin = pin_at(pins, eta * scale**2)
                    if pin is None:
                        missing.setdefault(place, []).append(eta)
                    else:
                        drawn[part, eta] = pin
            if missing:
                for (place, eta), noise in self._drawn(one, missing).items():
                    drawn[one.assignment.part_names[place], eta] = noise
        for (part, eta), noise in drawn.items():
            self.pins.setdefault(part, {})[eta * scale**2] = noise
        return drawn

    def _drawn(
        self, contribution: Contribution, wanted: Mapping[int, Sequence[float]]
    ) -> dict[tuple[int, float], FloatArray]:
        """From the paths of the rows, which are all there."""
        names = contribution.assignment.part_names
        assert not any(names[place] in contribution.assignment.standing for place in wanted)
        encoding = self.learning.preparation.encoding
        if contribution.survey.arrived:
            return self._drawn_for_sums(contribution, wanted)
        model = self.learning.built.model
        if "X" not in next(iter(contribution.arrays.values())):
            assert isinstance(model, WeightModel | Classifier)  # other models need rows
            return sum_noise(
                contribution.survey,
                contribution.identities,
                contribution.groups,
                wanted=wanted,
                encoding=encoding,
                model=model,
                paths=self._paths,
                workers=self.workers,
            )
        labels = LabelPaths(paths=self._paths, scale=encoding.target.noise_scale, model=model)
        noise = {}
        for place, etas in wanted.items():
            rows = rows_of_part(contribution.identities, contribution.assignment, place)
            for eta, z in labels.at(contribution.identities.ids[rows], etas):
                noise[place, eta] = z.reshape(-1)
        return noise

    def _drawn_for_sums(
        self, contribution: Contribution, wanted: Mapping[int, Sequence[float]]
    ) -> dict[tuple[int, float], FloatArray]:
        """From the paths of a contribution's weights."""
        scale = self.learning.preparation.encoding.target.noise_scale
        noise = {}
        for place, etas in wanted.items():
            part = contribution.assignment.part_names[place]
            data = contribution.parts[part]
            assert isinstance(data, PartySummary | ClassSummary | NoisySummary)  # see `take_sums`
            drawn = coordinate_noise(part, data, np.array(etas), paths=self._paths, scale=scale)
            for eta, z in zip(etas, drawn, strict=True):
                noise[place, eta] = z
        return noise
