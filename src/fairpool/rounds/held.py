"""What one recipient holds in a round, as a function of the noise on what is released now."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairpool.information.space import Space
from fairpool.models import TrainedPosterior
from fairpool.parties import PartyData, Pool
from fairpool.tables.arrays import FloatArray
from fairpool.values import InformationGain

Noise = Mapping[tuple[str, float], FloatArray]
"""The noise that was drawn, by part and variance."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Unit:
    """Rows of one party that have one noise in a release: a part, as the model learns from it.

    Attributes:
        part: Its name.
        party: The name of the party whose rows these are.
        data: The rows, or sums over them.
        batch: The rows that come and go with these: in a file all of them have the same noise.
            Empty: there are none.
        is_active: Whether the rows are in this round's files; otherwise somebody holds them from
            an earlier one.
        stands: Whether they take part as they did, since some of them are gone: nothing new can be
            told about them, and who was sent none of them is sent none.
    """

    part: str
    party: str
    data: PartyData
    batch: str = ""
    is_active: bool = True
    stands: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Held:
    """What a recipient holds, as a function of the noise on what is released now.

    Attributes:
        game: The values.
        i: The recipient.
        units: The others' parts: those that are active, and those that it holds from before.
        least: The least noise variance of the rows of each so far [units].
    """

    game: InformationGain
    i: int
    units: tuple[Unit, ...]
    least: FloatArray

    @cached_property
    def _pool(self) -> Pool:
        own = self.game.pool.parties[self.i]
        return Pool((own, *(unit.data for unit in self.units)), self.game.model)

    @cached_property
    def _space(self) -> Space:
        return self.game.model.space(self._pool)

    def etas(self, eta: float) -> FloatArray:
        """The least noise variance of each unit after a release with eta [units]."""
        is_told = np.array([unit.is_active and not unit.stands for unit in self.units], dtype=bool)
        return np.where(is_told, np.minimum(self.least, eta), self.least)

    def in_file(self, eta: float) -> FloatArray:
        """The noise variance of each unit in a file that is released with eta [units].

        It is that of the rows of its batch which the recipient knows least of. With less on rows
        that return with new ones, files would tell the two apart, and rows come and go in whole
        batches only for those who cannot. So a batch that stands has what it had in a file before:
        its newest rows were in no other.
        """
        etas = self.etas(eta)
        of_batches: dict[str, float] = {}
        for unit, eta_of_unit in zip(self.units, etas, strict=True):
            batch = unit.batch or unit.part
            of_batches[batch] = max(of_batches.get(batch, 0.0), float(eta_of_unit))
        return np.array([of_batches[unit.batch or unit.part] for unit in self.units])

    def parties_in_file(self, eta: float) -> set[str]:
        """Whose rows are in a file that is released with eta."""
        etas = self.in_file(eta)
        return {
            unit.party for unit, of_unit in zip(self.units, etas, strict=True) if of_unit < np.inf
        }

    def trained(self, etas: FloatArray, noise: Noise | None = None) -> TrainedPosterior:
        """The model of own rows and all units with noise; without noise drawn: zero.

        Args:
            etas: The noise variance of each unit [units].
            noise: Drawn for every unit whose noise variance is finite.
        """
        z = [self._nothing(self._pool.parties[0])]
        for unit, eta_of_unit in zip(self.units, etas, strict=True):
            if noise is None or not np.isfinite(eta_of_unit) or not eta_of_unit:
                z.append(self._nothing(unit.data))
            else:
                z.append(noise[unit.part, float(eta_of_unit)])
        model = self.game.model
        return model.posterior_with_noise(
            self._pool, self._space, eta=np.concatenate([[0.0], etas]), z=z
        )

    def _nothing(self, data: PartyData) -> FloatArray:
        return np.zeros(self.game.model.label_sets * data.label_draws)

    def worth(self, eta: float) -> float:
        """V_i(eta)."""
        return self.trained(self.etas(eta)).worth

    def active(self) -> "Held":
        """The same of the rows that take part in this round alone: what a new file is made of."""
        chosen = [k for k, unit in enumerate(self.units) if unit.is_active]
        if len(chosen) == len(self.units):
            return self
        return Held(
            game=self.game,
            i=self.i,
            units=tuple(self.units[k] for k in chosen),
            least=self.least[chosen],
        )
