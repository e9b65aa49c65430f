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
from typing import Protocol

import numpy as np

from fairpool.information.reward_curve import DenseCurve
from fairpool.realisation.disclosure import files_together
from fairpool.realisation.hidden_covariance import Spread
from fairpool.realisation.label_noise import LabelNoise
from fairpool.realisation.level import Goal, level_at_end, level_between
from fairpool.realisation.model_reward import ModelReward
from fairpool.realisation.noise_variance import NoiseLevel
from fairpool.realisation.realise import Release, reward_of, spread_of, with_outlying_rows
from fairpool.rounds.held import Held, Noise, Unit
from fairpool.tables.arrays import FloatArray
from fairpool.values import InformationGain, tolerance_of

SMALL = 1e-6
"""A tau at which the slope of a curve at its beginning is taken."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Before:
    """What a recipient has from earlier rounds.

    Attributes:
        least: By part, the least noise variance that its rows were released with, in the model's
            units.
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

    def noise(self, wanted: Mapping[str, Sequence[float]]) -> Noise:
        """The noise of each wanted part at each wanted variance, in the model's units.

        It is given as the statistics of the unit take it: per label, or summed up with the
        features of the rows.
        """
        ...  # pragma: no cover


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
    releases = _releases(held, steps, released or {}, colluding)
    results = []
    for i, (step, one) in enumerate(zip(steps, before, strict=True)):
        due = float(rewards[i])
        model, etas = one.reward, dict[str, float]()
        if step.sent:
            model, etas = _new_model(
                held[i].active(), step, due, noise=noise, spread=spread, releases=releases
            )
        assert model is not None  # who has none is sent one
        result = RoundReward(
            model=model,
            due=due,
            held_before=step.held_before,
            holds=step.holds,
            sent=step.sent,
            etas=etas,
        )
        results.append(result)
    return _with_outlying_rows(game, results)


def _new_model(
    held: Held,
    step: _Step,
    due: float,
    *,
    noise: Noise,
    spread: tuple[Spread, ...] | None,
    releases: Mapping[str, int],
) -> tuple[ModelReward, dict[str, float]]:
    """A new model, and by part the noise variance of the others' rows in it.

    Args:
        held: What the recipient holds of the rows that take part.
        step: How much noise there is.
        due: r_i.
        noise: Drawn.
        spread: As `reward_of` takes it.
        releases: Of each party, how many files with its rows may be in the same hands.
    """
    etas = held.in_file(step.level.eta)
    trained = held.trained(etas, noise)
    release = Release(
        target=due,
        level=NoiseLevel(tau=step.level.tau, value=trained.worth, eta=step.level.eta),
        trained=trained,
        least_noise=float(min([step.level.eta, *etas])),
    )
    model = reward_of(
        held.game,
        held.i,
        release,
        mechanism=LabelNoise(),
        spread=spread,
        releases=releases,
        known_noise=False,
    )
    names = [unit.part for unit in held.units]
    return model, dict(zip(names, map(float, etas), strict=True))


def _held(game: InformationGain, i: int, units: Sequence[Unit], before: Before) -> Held:
    """What party i holds, and could hold: of its own rows it needs no release."""
    chosen = []
    for unit in units:
        is_held = unit.part in before.least
        if unit.party != game.names[i] and (unit.is_active or is_held):
            chosen.append(unit)
    return Held(
        game=game,
        i=i,
        units=tuple(chosen),
        least=np.array([before.least.get(unit.part, np.inf) for unit in chosen]),
    )


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
    if due <= alone + tolerance or total <= alone + tolerance:
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
    held: Sequence[Held],
    steps: Sequence[_Step],
    released: Mapping[str, int],
    colluding: int | None,
) -> dict[str, int]:
    """Of each party, how many files with its rows may be in the same hands, over all rounds."""
    holders: dict[str, int] = {}
    for one, step in zip(held, steps, strict=True):
        if step.sent:
            for name in one.active().parties_in_file(step.level.eta):
                holders[name] = holders.get(name, 0) + 1
    return {
        name: released.get(name, 0) + files_together(holders.get(name, 0), colluding)
        for name in held[0].game.names
    }


def _with_outlying_rows(
    game: InformationGain, results: Sequence[RoundReward]
) -> tuple[RoundReward, ...]:
    """Of new models, those who know which rows stand out in each, as far as rows are known."""
    models = with_outlying_rows(game, [result.model for result in results])
    return tuple(
        replace(result, model=model) for result, model in zip(results, models, strict=True)
    )
