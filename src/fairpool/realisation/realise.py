"""Sec. 4.3: one model per party, worth exactly its reward."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fairpool.errors import GameError, RewardError, cut, shown
from fairpool.models import TrainedPosterior, WeightModel, WeightPosterior
from fairpool.realisation.disclosure import Exposure, files_together
from fairpool.realisation.hidden_covariance import Spread, hidden
from fairpool.realisation.label_noise import LabelNoise
from fairpool.realisation.level import Level, check_targets
from fairpool.realisation.mechanism import Mechanism
from fairpool.realisation.mechanisms import mechanism_of
from fairpool.realisation.model_reward import ModelReward
from fairpool.realisation.outlying import OutlyingRow, View, outlying_rows
from fairpool.tables.arrays import FloatArray, as_count, as_generator
from fairpool.values import Game, InformationGain

COVARIANCES = ("hidden", "full")


def realise(
    game: Game,
    rewards: Any,
    rng: np.random.Generator | int | None = None,
    *,
    noise: str = "nested",
    draws: int | None = None,
    mechanism: str | Mechanism | None = None,
    covariance: str = "hidden",
    colluding: int | None = None,
    public: FloatArray | None = None,
    declared: FloatArray | None = None,
) -> tuple[ModelReward, ...]:
    """One model per party, worth exactly its reward: part of the others' data is hidden by noise.

    Paper: Sec. 4.3. Party i's model is trained on D_i^r: its own labels with their noise variance
    s2, and the others' labels plus N(0, eta_i), with s2 + eta_i. Hyperparameters stay as they are;
    predictions add s2, never eta.

    Args:
        game: An `InformationGain`, of parties or of their summaries.
        rewards: The rewards r* [n], each between v_i and v_N.
        rng: Of the noise. None: fresh, and nobody knows it. A seed or generator makes models
            repeatable; whoever knows it can remove the noise, so such models are for yourself
            (`ModelReward.known_noise`).
        noise: "nested" (see `fairpool.realisation.noise`), or "standardised" for the paper's sweeps
            over rho.
        draws: Train on this many draws of the noise at once, for evaluation: predicted means are
            then [t, draws].
        mechanism: Another way to weaken rewards than noise on labels, see
            `fairpool.realisation.mechanism`.
        covariance: Of a model with weights: "hidden" tells little of the others' inputs (see
            `fairpool.realisation.hidden_covariance`), "full" is as trained, and as in the paper.
        colluding: How many recipients may put their files together to compute another party's rows
            (see `fairpool.realisation.disclosure`); None: all of them.
        public: Public inputs [m, p] that tell how data are spread, for a hidden covariance; without
            them it is guessed, for standardised inputs.
        declared: Inputs [m, p] spread evenly over ranges that everybody knows, for the same.

    Returns:
        One `ModelReward` per party, in the parties' order.
    """
    chosen = _chosen_mechanism(mechanism, noise)
    if not isinstance(game, InformationGain):
        check_targets(game, rewards)
        raise GameError(f"{shown(game)} has no data to make models of; realise an InformationGain")
    levels = chosen.levels(game, rewards)
    draws = None if draws is None else as_count(draws, "draws", 1)
    colluding = None if colluding is None else as_count(colluding, "colluding", 1)
    spread = _spread(game, covariance, public=public, declared=declared)
    trained = chosen.release(game, levels, rng=as_generator(rng), draws=draws)
    for_evaluation = draws is not None or chosen.for_evaluation
    releases = _releases(game, levels, colluding)
    models = []
    for i, (target, level) in enumerate(zip(np.asarray(rewards), levels, strict=True)):
        written = _as_written(game, i, trained=trained[i], value=level.value, spread=spread)
        posterior = written.posterior
        exposure = None
        if level.tau and not for_evaluation:  # otherwise nothing is told, or nothing is handed out
            exposure = _exposure(
                game,
                i,
                trained=trained[i],
                level=level,
                posterior=posterior,
                releases=releases,
            )
        models.append(
            ModelReward(
                party=game.names[i],
                target=float(target),
                level=level,
                mechanism=chosen,
                posterior=posterior,
                holds_inputs_of_others=posterior.shows_rows_of_others(game.pool, i),
                exposure=exposure,
                covariance_price=written.price,
                for_evaluation=for_evaluation,
                known_noise=rng is not None,
            )
        )
    return tuple(_with_outlying_rows(game, models))


def _chosen_mechanism(mechanism: str | Mechanism | None, noise: str) -> Mechanism:
    if mechanism is None:
        return LabelNoise(noise)
    if noise != "nested":
        raise RewardError("noise is a setting of noise on labels; give it, or another mechanism")
    return mechanism_of(mechanism)


def _spread(
    game: InformationGain,
    covariance: str,
    *,
    public: FloatArray | None,
    declared: FloatArray | None,
) -> Spread | None:
    """What a hidden covariance is made of; None where it stays as trained."""
    if covariance not in COVARIANCES:
        raise RewardError(f'no covariance "{cut(str(covariance))}"; there are "hidden" and "full"')
    if covariance == "full" or not isinstance(game.model, WeightModel):
        return None
    return Spread.of(game.model, game.pool.inputs, public, declared=declared)


class _Written(NamedTuple):
    """A model as it would be written, and what it costs in nats that its covariance is hidden."""

    posterior: TrainedPosterior
    price: float


def _as_written(
    game: InformationGain,
    i: int,
    *,
    trained: TrainedPosterior,
    value: float,
    spread: Spread | None,
) -> _Written:
    """Party i's model with the covariance that it receives; without a spread, as it was trained."""
    if spread is None:
        return _Written(posterior=trained, price=0.0)
    assert isinstance(trained, WeightPosterior)  # what a model with weights learns
    own = game.pool.statistics[i].told
    covered = hidden(trained, own=own, M=spread.gram(own), value=value)
    return _Written(posterior=covered.posterior, price=covered.price)


def _releases(
    game: InformationGain, levels: Sequence[Level], colluding: int | None
) -> dict[str, int]:
    """Of each party, how many models that hold its data may be in the same hands."""
    releases = {}
    for j, name in enumerate(game.names):
        holders = [i for i, level in enumerate(levels) if level.tau and i != j]
        releases[name] = files_together(len(holders), colluding)
    return releases


def _exposure(
    game: InformationGain,
    i: int,
    *,
    trained: TrainedPosterior,
    level: Level,
    posterior: TrainedPosterior,
    releases: Mapping[str, int],
) -> Exposure:
    """What a file would tell of each other party.

    Args:
        game: The parties' data.
        i: The recipient.
        trained: Its model as trained.
        level: How much of the others is in it.
        posterior: Its model as it would be written.
        releases: From `_releases`.
    """
    rows = {}
    for j, party in enumerate(game.pool.parties):
        if j == i or not len(party):
            continue
        shown = game.pool.rows[j]
        rows[party.name] = len(np.unique(shown.X, axis=0)) if len(shown) else len(party)
    exposure = Exposure(
        rows=rows,
        releases=releases,
        weights=posterior.weight_count,
        inputs=game.pool.inputs,
        hidden=posterior.others is not None,
    )
    if not isinstance(trained, WeightPosterior):
        return exposure
    view = View.of(
        trained,
        own=game.pool.statistics[i].told,
        # A mechanism that adds no noise to labels hides none of them.
        eta=getattr(level, "eta", 0.0),
        hidden=exposure.hidden,
    )
    return replace(exposure, view=view)


def _with_outlying_rows(game: InformationGain, models: list[ModelReward]) -> list[ModelReward]:
    """The rewards, knowing which rows stand out in each, as far as rows can be looked at."""
    views = {}
    for model in models:
        if model.exposure is not None and model.exposure.view is not None:
            views[model.party] = model.exposure.view
    if not views:
        return models
    assert isinstance(game.model, WeightModel)  # only its rewards have a view
    outlying: dict[str, dict[str, OutlyingRow]] = {name: {} for name in game.names}
    for party in game.pool.rows:
        of_others = {name: view for name, view in views.items() if name != party.name}
        for recipient, row in outlying_rows(game.model, party, of_others).items():
            outlying[recipient][party.name] = row
    return [model.with_outlying(outlying[model.party]) for model in models]
