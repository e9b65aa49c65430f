"""Every part of a round as the model learns from it: contributions, or sums that were kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from fairpool.consortium.auditing.opened import OpenedRound
from fairpool.consortium.rounds.kept import Arrays
from fairpool.consortium.rounds.part_data import data_of
from fairpool.consortium.rounds.standing import pin_at
from fairpool.consortium.rounds.sums import (
    arrays_under,
    coordinate_noise_at,
    part_name,
    summary_of,
    summary_of_several,
)
from fairpool.consortium.verification.finding import is_close
from fairpool.keyed_noise.paths import Paths
from fairpool.models import Classifier, WeightModel
from fairpool.parties import ClassSummary, NoisySummary, PartyData, PartySummary
from fairpool.rounds.held import Noise
from fairpool.rounds.history import Participation
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts:
    """What is known of the parts of a round.

    Attributes:
        opened: The round.
        model: That of the round.
        arrays: Sums by part, as far as there are some.
        of_rows: The parts whose sums the operator made, of rows that nobody shows.
        misnamed: Parts that the ledger calls otherwise than their contributions are called.
    """

    opened: OpenedRound
    model: WeightModel | Classifier
    arrays: dict[str, Arrays] = field(repr=False)
    of_rows: frozenset[str]
    misnamed: tuple[str, ...]

    @property
    def inputs(self) -> int:
        """p."""
        return len(self.opened.agreement.encoding.features)

    def of_party(self, participation: Participation) -> list[str]:
        """The parts of a party that took part."""
        batches = self.opened.after.batches
        return [part for batch in participation.batches for part in batches[batch].parts]

    def is_known(self, participation: Participation) -> bool:
        """Whether there are sums over all that a party took part with."""
        return all(part in self.arrays for part in self.of_party(participation))

    def data(self, participation: Participation) -> PartyData:
        """All that a party took part with, as the model learns from it."""
        return summary_of_several(
            [(self.arrays[part], self.rows(part)) for part in self.of_party(participation)],
            self.model,
            name=participation.name,
            inputs=self.inputs,
        )

    def unit_data(self, part: str, name: str) -> PartyData:
        """A part; noise on labels is made of draws for each weight, or of rows and summed up."""
        make = data_of if part in self.of_rows else summary_of
        return make(
            self.arrays[part], self.model, name=name, rows=self.rows(part), inputs=self.inputs
        )

    def rows(self, part: str) -> int:
        """How many rows a part has."""
        return self.opened.after.parts[part].rows


def parts_of(opened: OpenedRound) -> Parts:
    """Every part that the round knows of, as far as there are sums over it."""
    model = opened.agreement.built.model
    assert isinstance(model, WeightModel | Classifier)  # see `fairpool.consortium.auditing.audit`
    arrays: dict[str, Arrays] = {}
    of_rows = set()
    misnamed = []
    for name, record in opened.after.parts.items():
        if record.contribution:
            one = opened.arrived.get(record.contribution)
            if one is None:
                continue
            arrays[name] = arrays_under(one.data, model)
            if opened.secret is not None and record.key == opened.secret.fingerprint:
                called = part_name(opened.secret, record.party, record.contribution)
                if called != name:
                    misnamed.append(name)
            continue
        of_rows.add(name)
        kept = None
        if opened.kept is not None:
            kept = opened.kept.arrays(name, opened.past.agreement)
        if kept is not None and "X" not in kept:
            arrays[name] = kept
    return Parts(
        opened=opened,
        model=model,
        arrays=arrays,
        of_rows=frozenset(of_rows),
        misnamed=tuple(misnamed),
    )


@dataclass(eq=False, kw_only=True)
class AuditedNoise:
    """The noise of a round, from the secret that the operator shows; it remembers what it lacks.

    Attributes:
        parts: Sums over every part.
        missing: Parts whose noise depends on rows, and was not kept.
    """

    parts: Parts
    missing: set[str] = field(default_factory=set)

    @cached_property
    def _paths(self) -> Paths | None:
        """The same for all parts, since their noise is at the same variances; None: not shown."""
        secret = self.parts.opened.secret
        return None if secret is None else Paths(secret)

    def noise(self, wanted: Mapping[str, Sequence[float]]) -> Noise:
        """As `fairpool.rounds.release.NoiseSource` says; zero where it is not known.

        Another machine may round a variance otherwise, and noise is a rough function of it. So it
        is taken at the variance that was recorded, where that is the same but for rounding.
        """
        scale = self.parts.opened.agreement.encoding.target.noise_scale
        drawn: dict[tuple[str, float], FloatArray] = {}
        for part, etas in wanted.items():
            for eta in etas:
                drawn[part, eta] = self._noise_of(part, self._recorded(part, eta * scale**2))
        return drawn

    def _recorded(self, part: str, eta: float) -> float:
        """The variance that was recorded, in squared units of the target."""
        for participation in self.parts.opened.past.parties:
            recorded = participation.etas.get(part)
            if recorded is not None and is_close(recorded / eta, 1.0):
                return recorded
        return eta

    def _noise_of(self, part: str, eta: float) -> FloatArray:
        """The noise of a part at a variance in squared units of the target."""
        opened = self.parts.opened
        data = self.parts.unit_data(part, part)
        found: FloatArray | None = None
        if self._paths is not None and part not in self.parts.of_rows:
            assert isinstance(data, PartySummary | ClassSummary | NoisySummary)
            scale = opened.agreement.encoding.target.noise_scale
            (found,) = coordinate_noise_at(part, data, [eta], paths=self._paths, scale=scale)
        elif opened.kept is not None:
            found = pin_at(opened.kept.pins(part, opened.past.agreement), eta)
        if found is None:
            self.missing.add(part)
            return np.zeros(self.parts.model.label_sets * data.label_draws)
        return found
