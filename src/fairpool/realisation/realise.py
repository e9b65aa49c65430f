"""Sec. 4.3: one model per party, worth exactly its reward."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fairpool.errors import GameError, RewardError, cut, shown
from fairpool.keyed_noise.secret import Secret
from fairpool.models import (
    Classifier,
    ClassPosterior,
    Model,
    TrainedPosterior,
    WeightModel,
    WeightPosterior,
)
from fairpool.parties import NoisySummary, Told
from fairpool.realisation.disclosure import FEWEST_ROWS, Exposure, RareClass, files_together
from fairpool.realisation.hidden_covariance import Spread, hidden, hidden_classes
from fairpool.realisation.label_noise import LabelNoise
from fairpool.realisation.level import Level, check_targets
from fairpool.realisation.mechanism import Mechanism
from fairpool.realisation.mechanisms import mechanism_of
from fairpool.realisation.model_reward import ModelReward
from fairpool.realisation.models import Models
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
    secret: Secret | None = None,
    mechanism: str | Mechanism | None = None,
    covariance: str = "hidden",
    colluding: int | None = None,
    public: FloatArray | None = None,
    declared: FloatArray | None = None,
) -> Models:
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
        secret: Makes the noise a function of itself and each row: the same rows have the same noise
            whenever they are released, so that several releases do not average it out
            (`docs/rounds.md`). Keep it, and keep it secret. None: the noise is drawn.
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
        One `ModelReward` per party, in the parties' order; also by name.
    """
    chosen = _chosen_mechanism(mechanism, noise, secret)
    _refuse_keyed_draws(secret, rng, draws)
    if not isinstance(game, InformationGain):
        check_targets(game, rewards)
        raise GameError(f"{shown(game)} has no data to make models of; realise an InformationGain")
    levels = chosen.levels(game, rewards)
    draws = None if draws is None else as_count(draws, "draws", 1)
    colluding = None if colluding is None else as_count(colluding, "colluding", 1)
    spread = spread_of(game, covariance, public=public, declared=declared)
    trained = chosen.release(game, levels, rng=as_generator(rng), draws=draws)
    for_evaluation = draws is not None or chosen.for_evaluation
    releases = releases_of(game, levels, colluding)
    models = []
    for i, (target, level) in enumerate(zip(np.asarray(rewards), levels, strict=True)):
        release = Release(target=float(target), level=level, trained=trained[i])
        models.append(
            reward_of(
                game,
                i,
                release,
                mechanism=chosen,
                spread=spread,
                releases=None if for_evaluation else releases,
                known_noise=rng is not None,
            )
        )
    return Models(with_outlying_rows(game, models))


class Release(NamedTuple):
    """A model that was trained for one party.

    Attributes:
        target: r_i*, what it is due.
        level: How much of the others' data is in it, and what it is worth.
        trained: The model, with its own covariance.
        least_noise: The least variance of the noise on anybody's labels in it, where that is not
            the level's: rows of earlier rounds may have less.
    """

    target: float
    level: Level
    trained: TrainedPosterior
    least_noise: float | None = None


def reward_of(
    game: InformationGain,
    i: int,
    release: Release,
    *,
    mechanism: Mechanism,
    spread: tuple[Spread, ...] | None,
    releases: Mapping[str, int] | None,
    known_noise: bool,
) -> ModelReward:
    """Party i's reward: the model with the covariance that is handed out, and what it would tell.

    Args:
        game: The parties' data.
        i: The recipient.
        release: What was trained for it.
        mechanism: How it was weakened.
        spread: What a hidden covariance is made of; None: it stays as trained.
        releases: Of each party, how many models with its data may be in the same hands; None: the
            model is for evaluation, and must not leave the central party.
        known_noise: Whether the noise came from an rng that somebody gave.
    """
    level = release.level
    written = _as_written(game, i, trained=release.trained, value=level.value, spread=spread)
    posterior = written.posterior
    exposure = None
    if level.tau and releases is not None:  # otherwise nothing is told, or nothing is handed out
        exposure = _exposure(
            game,
            i,
            release=release,
            posterior=posterior,
            releases=releases,
        )
    return ModelReward(
        party=game.names[i],
        target=release.target,
        level=level,
        mechanism=mechanism,
        posterior=posterior,
        holds_inputs_of_others=posterior.shows_rows_of_others(game.pool, i),
        exposure=exposure,
        covariance_price=written.price,
        for_evaluation=releases is None,
        known_noise=known_noise,
        own_noise=isinstance(game.pool.parties[i], NoisySummary),
    )


def _refuse_keyed_draws(
    secret: Secret | None, rng: np.random.Generator | int | None, draws: int | None
) -> None:
    """Refuse to draw noise that is not drawn."""
    if secret is not None and (rng is not None or draws is not None):
        raise RewardError("noise that is made of a secret is not drawn; leave rng and draws out")


def _chosen_mechanism(
    mechanism: str | Mechanism | None, noise: str, secret: Secret | None
) -> Mechanism:
    if secret is not None and (noise != "nested" or mechanism is not None):
        raise RewardError("a secret is for noise on labels that is nested; give it alone")
    if mechanism is None:
        return LabelNoise(noise, secret)
    if noise != "nested":
        raise RewardError("noise is a setting of noise on labels; give it, or another mechanism")
    return mechanism_of(mechanism)


def spread_of(
    game: InformationGain,
    covariance: str,
    *,
    public: FloatArray | None,
    declared: FloatArray | None,
) -> tuple[Spread, ...] | None:
    """What a hidden covariance is made of, for every class; None where it stays as trained."""
    if covariance not in COVARIANCES:
        raise RewardError(f'no covariance "{cut(str(covariance))}"; there are "hidden" and "full"')
    if covariance == "full":
        return None
    model = game.model
    if isinstance(model, WeightModel):
        return (Spread.of(model, game.pool.inputs, public, declared=declared),)
    if not isinstance(model, Classifier) or not model.has_weights:
        return None
    spreads: dict[Model, Spread] = {}
    for of_class in model.of_classes:
        if of_class not in spreads:  # mostly all classes share one
            assert isinstance(of_class, WeightModel)
            spreads[of_class] = Spread.of(of_class, game.pool.inputs, public, declared=declared)
    return tuple(spreads[of_class] for of_class in model.of_classes)


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
    spread: tuple[Spread, ...] | None,
) -> _Written:
    """Party i's model with the covariance that it receives; without a spread, as it was trained."""
    if spread is None:
        return _Written(posterior=trained, price=0.0)
    own = _own(game, i)
    M = [of_class.gram(told) for of_class, told in zip(spread, own, strict=True)]
    if isinstance(trained, ClassPosterior):
        covered = hidden_classes(trained, own=own, M=M, value=value)
    else:
        assert isinstance(trained, WeightPosterior)  # what a model with weights learns
        covered = hidden(trained, own=own[0], M=M[0], value=value)
    return _Written(posterior=covered.posterior, price=covered.price)


def _own(game: InformationGain, i: int) -> list[Told]:
    """What party i's own data tell, for every class if there are classes."""
    pools = [game.pool]
    if isinstance(game.model, Classifier):
        pools = list(game.pool.of_classes)
    return [pool.statistics[i].told for pool in pools]


def releases_of(
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
    release: Release,
    posterior: TrainedPosterior,
    releases: Mapping[str, int],
) -> Exposure:
    """What a file would tell of each other party.

    Args:
        game: The parties' data.
        i: The recipient.
        release: Its model as trained, and how much of the others is in it.
        posterior: Its model as it would be written.
        releases: From `releases_of`.
    """
    rows = {}
    for j, party in enumerate(game.pool.parties):
        # Whatever is made of sums with noise tells no more of a row than these do.
        if j == i or not len(party) or isinstance(party, NoisySummary):
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
    trained = release.trained
    eta = release.least_noise
    if eta is None:  # a mechanism that adds no noise to labels hides none of them
        eta = getattr(release.level, "eta", 0.0)
    of_classes: tuple[TrainedPosterior, ...] = (trained,)
    if isinstance(trained, ClassPosterior):
        of_classes = trained.of_classes
        exposure = _with_classes(exposure, game, i)
    views = []
    for c, of_class in enumerate(of_classes):
        if isinstance(of_class, WeightPosterior):
            own = _own(game, i)[c]
            views.append(View.of(of_class, own=own, eta=eta, hidden=exposure.hidden))
    return replace(exposure, views=tuple(views))


def _with_classes(exposure: Exposure, game: InformationGain, i: int) -> Exposure:
    """What a file would tell of each other party's classes."""
    model = game.model
    assert isinstance(model, Classifier)
    rare = {}
    for j, party in enumerate(game.pool.parties):
        counts = model.counts_of(party)
        some = np.flatnonzero((counts > 0) & (counts < FEWEST_ROWS))
        if j != i and len(some):
            c = int(some[np.argmin(counts[some])])
            rare[party.name] = RareClass(str(c), int(counts[c]))
    return replace(
        exposure,
        classes=model.label_sets,
        rare=rare,
        tells_labels=not exposure.hidden and not model.label_blind,
    )


def with_outlying_rows(game: InformationGain, models: list[ModelReward]) -> list[ModelReward]:
    """The rewards, knowing which rows stand out in each, as far as rows can be looked at."""
    views = {}
    for model in models:
        if model.exposure is not None and model.exposure.views:
            views[model.party] = model.exposure.views
    if not views:
        return models
    pools = [game.pool]
    if isinstance(game.model, Classifier):
        pools = list(game.pool.of_classes)
    outlying: dict[str, dict[str, OutlyingRow]] = {name: {} for name in game.names}
    for c, pool in enumerate(pools):
        assert isinstance(pool.model, WeightModel)  # only its rewards have a view
        for party in pool.rows:
            of_others = {name: view[c] for name, view in views.items() if name != party.name}
            for recipient, row in outlying_rows(pool.model, party, of_others).items():
                known = outlying[recipient].get(party.name)
                if known is None or row.share > known.share:
                    outlying[recipient][party.name] = row
    return [model.with_outlying(outlying[model.party]) for model in models]
