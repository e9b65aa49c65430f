"""Sec. 4.3: train every party's reward model on its own labels and the others' noisy ones."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from fairpool.information import KernelSpace
from fairpool.models import KernelPosterior, SparseGaussianProcess, TrainedPosterior, WeightModel
from fairpool.realisation.model_reward import ModelReward
from fairpool.realisation.noise import label_noise
from fairpool.realisation.noise_variance import NoiseLevel, noise_levels
from fairpool.tables.arrays import TINY, FloatArray, as_count, as_generator
from fairpool.values import Game, InformationGain

MOST_FACTOR_BYTES = 1 << 30
"""The parties' models keep their factors up to this much together; beyond, they are computed when
predicting.
"""


def realise(
    game: Game,
    rewards: Any,
    rng: np.random.Generator | int | None,
    *,
    noise: str = "nested",
    draws: int | None = None,
) -> tuple[ModelReward, ...]:
    """One model per party, worth just its reward: noise of the right variance hides part of the
    others' data.

    Paper: Sec. 4.3. Party i's model is trained on D_i^r: its own labels with their noise variance
    s2, and the others' labels plus N(0, eta_i), with s2 + eta_i. Hyperparameters stay as they are;
    predictions add s2, never eta.

    Args:
        game: An `InformationGain`, of parties or of their summaries.
        rewards: The rewards r* [n], each between v_i and v_N.
        rng: Seed or generator of the noise. Keep it secret where models are handed out: who knows
            it can remove the noise. None takes fresh entropy.
        noise: "nested" (see `fairpool.realisation.noise`), or "standardised" for the paper's sweeps
            over rho.
        draws: Train on this many draws of the noise at once, for evaluation: predicted means are
            then [t, draws].

    Returns:
        One `ModelReward` per party, in the parties' order.
    """
    levels = noise_levels(game, rewards)
    assert isinstance(game, InformationGain)  # noise_levels refuses any other
    shape = () if draws is None else (as_count(draws, "draws", 1),)
    rng = as_generator(rng)
    train = _from_summaries if game.pool is None else _from_rows
    posteriors = dict(train(game, levels, noise, shape, rng))
    columns = game.pool.columns if game.pool else None
    return tuple(
        ModelReward(
            party=name,
            target=float(target),
            value=level.value,
            eta=level.eta,
            tau=level.tau,
            posterior=replace(posteriors[i], columns=columns),
            holds_inputs_of_others=_shows_others(game, i, posteriors[i]),
            for_evaluation=draws is not None or noise != "nested",
        )
        for i, (name, target, level) in enumerate(
            zip(game.names, np.asarray(rewards), levels, strict=True)
        )
    )


def _from_rows(
    game: InformationGain,
    levels: Sequence[NoiseLevel],
    kind: str,
    draws: tuple[int, ...],
    rng: np.random.Generator,
) -> Iterator[tuple[int, TrainedPosterior]]:
    assert game.pool is not None
    pool = game.pool
    y = np.broadcast_to(pool.y.reshape(-1, *[1] * len(draws)), (len(pool.y), *draws))
    for i, z in label_noise(kind, [level.eta for level in levels], y.shape, rng):
        own = pool.owner == i
        labels = np.where(own.reshape(-1, *[1] * len(draws)), y, y + z)
        noise = np.where(own, pool.noise, pool.noise + levels[i].eta)
        yield i, _train(game, labels, noise)
    for i, level in enumerate(levels):
        if np.isinf(level.eta):  # not a row of the others takes part
            own = pool.owner == i
            yield i, game.model.posterior(pool.X[own], y[own], pool.noise[own])


def _train(game: InformationGain, y: FloatArray, noise: FloatArray) -> TrainedPosterior:
    """The posterior on all rows; a Gaussian process's covariance is known from the values."""
    assert game.pool is not None
    if isinstance(game.model, WeightModel):
        return game.model.posterior(game.pool.X, y, noise)
    assert isinstance(game.space, KernelSpace)
    with np.errstate(invalid="ignore"):
        left = np.where(np.isinf(game.pool.noise), 0.0, game.pool.noise / noise)
    keep = 8 * game.n * len(noise) ** 2 <= MOST_FACTOR_BYTES
    return game.model.posterior_from_factor(
        game.pool.X, y, 1 / np.sqrt(noise), game.space.factor(left), keep
    )


def _from_summaries(
    game: InformationGain,
    levels: Sequence[NoiseLevel],
    kind: str,
    draws: tuple[int, ...],
    rng: np.random.Generator,
) -> Iterator[tuple[int, TrainedPosterior]]:
    """From sufficient statistics alone: noise N(0, eta I) on a party's labels is N(0, eta G) on its moment A^T y."""
    model, summaries = game.model, game.summaries
    assert isinstance(model, WeightModel)
    s2 = np.array([s.noise_variance for s in summaries])
    grams = np.array([s.gram for s in summaries])
    roots = np.array([_root(s.gram) for s in summaries])  # [n, d, d]
    moments = np.array([s.moment for s in summaries])
    moments = np.broadcast_to(
        moments.reshape(*moments.shape, *[1] * len(draws)), (*moments.shape, *draws)
    )

    def train(i: int, noisy: FloatArray, eta: float) -> TrainedPosterior:
        weight = 1 / np.where(np.arange(len(s2)) == i, s2, s2 + eta)
        return model.posterior_from_moments(
            np.tensordot(weight, grams, axes=1),
            np.tensordot(weight, noisy, axes=1),
            summaries[0].inputs,
        )

    for i, z in label_noise(kind, [level.eta for level in levels], moments.shape, rng):
        noise = np.einsum("jkl,jl...->jk...", roots, z)
        noise[i] = 0.0
        yield i, train(i, moments + noise, levels[i].eta)
    for i, level in enumerate(levels):
        if np.isinf(level.eta):
            yield i, train(i, moments, np.inf)


def _root(G: FloatArray) -> FloatArray:
    """R with R R^T = G, for G positive semi-definite."""
    eigenvalues, vectors = np.linalg.eigh(G)
    return np.asarray(vectors * np.sqrt(np.maximum(eigenvalues, 0.0)))


def _shows_others(game: InformationGain, i: int, posterior: TrainedPosterior) -> bool:
    """Whether a posterior contains a row of another party's inputs.

    As training data (exact Gaussian process), as an inducing point, or as all that the precision
    was made of: with a single row a, B - I - P_i is a multiple of a a^T. (Summaries show no rows to
    compare inducing points with.)
    """
    if isinstance(posterior, KernelPosterior):
        return len(posterior.X) > game.rows[i]
    if sum(game.rows) - game.rows[i] == 1:
        return True
    if game.pool is None or not isinstance(posterior.model, SparseGaussianProcess):
        return False
    others = game.pool.X[game.pool.owner != i]
    scale = np.maximum(game.pool.X.std(axis=0), TINY)
    # Not to the byte: the centre of a cluster of one row is that row only up to rounding.
    return bool(
        len(others)
        and (cdist(posterior.model.inducing_points / scale, others / scale) < 1e-6).any()
    )
