"""Sec. 4.3: train every party's reward model on its own labels and the others' noisy ones."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fairpool.arrays import FloatArray
from fairpool.errors import RewardError
from fairpool.models import (
    KernelPosterior,
    Posterior,
    SparseGaussianProcess,
    WeightModel,
    WeightPosterior,
)
from fairpool.parties import Pool
from fairpool.realisation.model_reward import ModelReward
from fairpool.realisation.noise import label_noise
from fairpool.realisation.noise_variance import NoiseLevel, noise_levels
from fairpool.values import Game, InformationGain


def realise(
    game: Game,
    rewards: Any,
    rng: np.random.Generator | int | None,
    *,
    noise: str = "nested",
    draws: int | None = None,
) -> tuple[ModelReward, ...]:
    """One model per party, worth just its reward: noise of the right variance hides part of the others' data.

    Paper: Sec. 4.3. Party i's model is trained on D_i^r: its own labels with their noise variance s2, and the others'
    labels plus N(0, eta_i), with s2 + eta_i. Hyperparameters stay as they are; predictions add s2, never eta.

    Args:
        game: An `InformationGain`, of parties or of their summaries.
        rewards: The rewards r* [n], each between v_i and v_N.
        rng: Seed or generator of the noise. Keep it secret where models are handed out: who knows it can remove the
            noise. None takes fresh entropy.
        noise: "nested" (see `fairpool.realisation.noise`), or "standardised" for the paper's sweeps over rho.
        draws: Train on this many draws of the noise at once, for evaluation: predicted means are then [t, draws].

    Returns:
        One `ModelReward` per party, in the parties' order.
    """
    levels = noise_levels(game, rewards)
    assert isinstance(game, InformationGain)  # noise_levels refuses any other
    if draws is not None and draws < 1:
        raise RewardError(f"draws {draws} must be at least 1")
    rng = np.random.default_rng(rng)
    train = _from_summaries if game.pool is None else _from_rows
    posteriors = dict(train(game, levels, noise, () if draws is None else (draws,), rng))
    return tuple(
        ModelReward(
            name,
            float(target),
            level.value,
            level.eta,
            level.tau,
            posteriors[i],
            _shows_others(game, i, posteriors[i]),
        )
        for i, (name, target, level) in enumerate(zip(game.names, np.asarray(rewards), levels, strict=True))
    )


def _from_rows(
    game: InformationGain,
    levels: Sequence[NoiseLevel],
    kind: str,
    draws: tuple[int, ...],
    rng: np.random.Generator,
) -> Iterator[tuple[int, Posterior]]:
    assert game.pool is not None
    pool = game.pool
    y = np.broadcast_to(pool.y.reshape(-1, *[1] * len(draws)), (len(pool.y), *draws))
    for i, z in label_noise(kind, [level.eta for level in levels], y.shape, rng):
        own = pool.owner == i
        labels = np.where(own.reshape(-1, *[1] * len(draws)), y, y + z)
        yield i, game.model.posterior(pool.X, labels, np.where(own, pool.noise, pool.noise + levels[i].eta))
    for i, level in enumerate(levels):
        if np.isinf(level.eta):  # not a row of the others takes part
            own = pool.owner == i
            yield i, game.model.posterior(pool.X[own], y[own], pool.noise[own])


def _from_summaries(
    game: InformationGain,
    levels: Sequence[NoiseLevel],
    kind: str,
    draws: tuple[int, ...],
    rng: np.random.Generator,
) -> Iterator[tuple[int, Posterior]]:
    """From sufficient statistics alone: noise N(0, eta I) on a party's labels is N(0, eta G) on its moment A^T y."""
    model, summaries = game.model, game.summaries
    assert isinstance(model, WeightModel)
    s2 = np.array([s.noise_variance for s in summaries])
    grams = np.array([s.gram for s in summaries])
    roots = np.array([_root(s.gram) for s in summaries])  # [n, d, d]
    moments = np.array([s.moment for s in summaries])
    moments = np.broadcast_to(moments.reshape(*moments.shape, *[1] * len(draws)), (*moments.shape, *draws))

    def train(i: int, noisy: FloatArray, eta: float) -> Posterior:
        weight = 1 / np.where(np.arange(len(s2)) == i, s2, s2 + eta)
        return model.posterior_from_moments(
            np.tensordot(weight, grams, axes=1), np.tensordot(weight, noisy, axes=1), summaries[0].inputs
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


def _shows_others(game: InformationGain, i: int, posterior: Posterior) -> bool:
    """Whether a posterior contains a row of another party's inputs: as training data, or as an inducing point."""
    if game.pool is None:
        return False
    if isinstance(posterior, KernelPosterior):
        return len(posterior.X) > len(game.pool.parties[i])
    if isinstance(posterior, WeightPosterior) and isinstance(posterior.model, SparseGaussianProcess):
        return not _rows(posterior.model.inducing_points).isdisjoint(_others_rows(game.pool, i))
    return False


def _others_rows(pool: Pool, i: int) -> set[bytes]:
    return _rows(pool.X[pool.owner != i])


def _rows(X: FloatArray) -> set[bytes]:
    return {row.tobytes() for row in np.ascontiguousarray(X + 0.0)}
