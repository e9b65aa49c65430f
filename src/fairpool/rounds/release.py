"""One model per party in a round, so that all it then holds is worth exactly its reward.

What was released stays released. With each row's noise one path in eta, all releases together tell
no more about labels than the rows with the least noise each was released with; but that can be more
than any single release. So the noise variance eta is solved for the worth of everything that the
recipient then holds,

    V_i(eta) = I(theta; own rows, the others' rows with noise of variance min(eta, least so far)),

where rows of parties that have left count with the noise they were released with. A recipient that
holds as much as its reward already gets nothing new, and nothing worse.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from fairpool.information.reward_curve import DenseCurve
from fairpool.information.space import Space
from fairpool.models import TrainedPosterior
from fairpool.parties import PartyData, Pool
from fairpool.realisation.disclosure import files_together
from fairpool.realisation.label_noise import LabelNoise
from fairpool.realisation.level import Goal, level_at_end, level_between
from fairpool.realisation.model_reward import ModelReward
from fairpool.realisation.noise_variance import NoiseLevel
from fairpool.realisation.realise import Release, reward_of, spread_of, with_outlying_rows
from fairpool.tables.arrays import FloatArray
from fairpool.values import InformationGain, tolerance_of

SMALL = 1e-6
"""A tau at which the slope of a curve at its beginning is taken."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Unit:
    """Rows of one party that have one noise in a release: a part, as the model learns from it.

    Attributes:
        part: Its name.
        party: The name of the party whose rows these are.
        data: The rows, or sums over them.
        batch: The rows that come and go with these: in a file all of them have the same noise.
            Empty: there are none.
        is_active: Whether the rows take part in this round; otherwise somebody holds them from an
            earlier one.
    """

    part: str
    party: str
    data: PartyData
    batch: str = ""
    is_active: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class Before:
    """What a recipient has from earlier rounds.

    Attributes:
        least: By part, the least noise variance that it was released with, in the model's units.
        reward: The last model that it received; None: none yet.
        only_own_changed: Whether nothing but its own rows changed since then. A new file would be a
            new equation about the others' rows each time, so that it gets none, and brings its own
            up to date itself.
    """

    least: Mapping[str, float] = field(default_factory=dict)
    reward: ModelReward | None = None
    only_own_changed: bool = False


class NoiseSource(Protocol):
    """Where the noise on labels comes from, once it is known how much."""

    def noise(self, wanted: Mapping[str, Sequence[float]]) -> "Noise":
        """The noise of each wanted part at each wanted variance, in the model's units.

        It is given as the statistics of the unit take it: per label, or summed up with the
        features of the rows.
        """
        ...  # pragma: no cover


Noise = Mapping[tuple[str, float], FloatArray]
"""By part and variance."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RoundReward:
    """What a party receives in a round.

    Attributes:
        model: Its model: a new one, or the one that it has.
        due: r_i, its reward of this round.
        held_before: What all that it held before is worth with its rows of today, in nats.
        holds: What all that it holds after this round is worth.
        sent: Whether the model is new.
        etas: Of a new model, the noise variance of each part of the others' rows in it.
    """

    model: ModelReward
    due: float
    held_before: float
    holds: float
    sent: bool
    etas: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Step:
    """How much noise there will be for one recipient, before any is drawn."""

    level: NoiseLevel
    held_before: float
    holds: float
    sent: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Held:
    """What a recipient holds, as a function of the noise on what is released now.

    Attributes:
        game: The values.
        i: The recipient.
        units: The others' parts: those that are active, and those that it holds from before.
        least: The least noise variance of each so far [units].
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
        is_active = np.array([unit.is_active for unit in self.units], dtype=bool)
        return np.where(is_active, np.minimum(self.least, eta), self.least)

    def in_file(self, eta: float) -> FloatArray:
        """The noise variance of each unit in a file that is released with eta [units].

        It is that of the rows of its batch which the recipient knows least of. With less on rows
        that return with new ones, files would tell the two apart, and rows come and go in whole
        batches only for those who cannot.
        """
        etas = self.etas(eta)
        of_batches: dict[str, float] = {}
        for unit, eta_of_unit in zip(self.units, etas, strict=True):
            batch = unit.batch or unit.part
            of_batches[batch] = max(of_batches.get(batch, 0.0), float(eta_of_unit))
        return np.array([of_batches[unit.batch or unit.part] for unit in self.units])

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


def realise_round(
    game: InformationGain,
    rewards: FloatArray,
    *,
    units: Sequence[Unit],
    before: Sequence[Before],
    source: NoiseSource,
    covariance: str = "hidden",
    colluding: int | None = None,
    released: Mapping[str, int] | None = None,
    public: FloatArray | None = None,
    declared: FloatArray | None = None,
) -> tuple[RoundReward, ...]:
    """One reward per party, so that everything it then holds is worth r_i.

    Args:
        game: The values of the rows that take part.
        rewards: r [n].
        units: All parts that take part, and those that somebody holds from before.
        before: What each recipient has [n].
        source: Of the noise.
        covariance: As in `fairpool.realisation.realise`.
        colluding: As there.
        released: By party, how many files with its rows in them may be in the same hands already.
        public: As in `fairpool.realisation.realise`.
        declared: As there.
    """
    spread = spread_of(game, covariance, public=public, declared=declared)
    held = [_held(game, i, units, one) for i, one in enumerate(before)]
    steps = []
    for i, one in enumerate(before):
        steps.append(_step(held[i], float(rewards[i]), one))
    noise = source.noise(_wanted(held, steps))
    releases = _releases(game, steps, released or {}, colluding)
    mechanism = LabelNoise()
    results = []
    for i, (step, one) in enumerate(zip(steps, before, strict=True)):
        etas: dict[str, float] = {}
        model = one.reward
        if step.sent:
            taking_part = held[i].active()
            etas_in_file = taking_part.in_file(step.level.eta)
            trained = taking_part.trained(etas_in_file, noise)
            level = NoiseLevel(tau=step.level.tau, value=trained.worth, eta=step.level.eta)
            release = Release(target=float(rewards[i]), level=level, trained=trained)
            model = reward_of(
                game,
                i,
                release,
                mechanism=mechanism,
                spread=spread,
                releases=releases,
                known_noise=False,
            )
            for unit, eta in zip(taking_part.units, etas_in_file, strict=True):
                etas[unit.part] = float(eta)
        assert model is not None  # who has none is sent one
        results.append(
            RoundReward(
                model=model,
                due=float(rewards[i]),
                held_before=step.held_before,
                holds=step.holds,
                sent=step.sent,
                etas=etas,
            )
        )
    return _with_outlying_rows(game, results)


def _held(game: InformationGain, i: int, units: Sequence[Unit], before: Before) -> Held:
    """What party i holds, and could hold: of its own rows it needs no release."""
    chosen = []
    least = []
    for unit in units:
        least_so_far = before.least.get(unit.part, np.inf)
        if unit.party != game.names[i] and (unit.is_active or np.isfinite(least_so_far)):
            chosen.append(unit)
            least.append(least_so_far)
    return Held(game=game, i=i, units=tuple(chosen), least=np.array(least))


def _step(held: Held, due: float, before: Before) -> _Step:
    """How much noise makes everything that is held worth what is due."""
    tolerance = tolerance_of(held.game)
    alone = held.worth(np.inf)
    nothing = NoiseLevel(tau=0.0, value=alone, eta=np.inf)
    stays = _Step(level=nothing, held_before=alone, holds=alone, sent=before.reward is None)
    if before.only_own_changed and before.reward is not None:
        return stays
    total = max(held.worth(0.0), alone)
    goal = Goal(target=due, alone=alone, total=total, tolerance=tolerance)
    if due <= alone + tolerance:
        return stays
    end = level_at_end(goal)
    if end is not None:
        eta = 0.0 if end.tau else np.inf
        level = NoiseLevel(tau=end.tau, value=end.value, eta=eta)
        # Two ways to compute one log-determinant: people see that they are the same.
        holds = due if abs(end.value - due) <= tolerance else end.value
        return _Step(level=level, held_before=alone, holds=holds, sent=True)
    s2 = held.game.model.noise_variance

    def worth(tau: float) -> float:
        return held.worth(s2 * (1 - tau) / tau)

    curve = DenseCurve(
        evaluate=worth, slope=max((worth(SMALL) - alone) / SMALL, 0.0), noise_variance=s2
    )
    found = level_between(goal, curve)
    level = NoiseLevel(tau=found.tau, value=found.value, eta=s2 * (1 - found.tau) / found.tau)
    return _Step(level=level, held_before=alone, holds=found.value, sent=True)


def _wanted(held: Sequence[Held], steps: Sequence[_Step]) -> dict[str, list[float]]:
    """Of each part, the noise variances that somebody is sent."""
    wanted: dict[str, list[float]] = {}
    for one, step in zip(held, steps, strict=True):
        if not step.sent:
            continue
        taking_part = one.active()
        for unit, eta in zip(taking_part.units, taking_part.in_file(step.level.eta), strict=True):
            of_part = wanted.setdefault(unit.part, [])
            if np.isfinite(eta) and eta > 0 and float(eta) not in of_part:
                of_part.append(float(eta))
    return wanted


def _releases(
    game: InformationGain,
    steps: Sequence[_Step],
    released: Mapping[str, int],
    colluding: int | None,
) -> dict[str, int]:
    """Of each party, how many files with its rows may be in the same hands, over all rounds."""
    releases = {}
    for j, name in enumerate(game.names):
        holders = [i for i, step in enumerate(steps) if step.sent and step.level.tau and i != j]
        releases[name] = released.get(name, 0) + files_together(len(holders), colluding)
    return releases


def _with_outlying_rows(
    game: InformationGain, results: Sequence[RoundReward]
) -> tuple[RoundReward, ...]:
    """Of new models, those who know which rows stand out in each, as far as rows are known."""
    models = with_outlying_rows(game, [result.model for result in results])
    return tuple(
        replace(result, model=model) for result, model in zip(results, models, strict=True)
    )
