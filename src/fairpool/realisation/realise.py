"""Sec. 4.3: one model per party, worth exactly its reward."""

from typing import Any

import numpy as np

from fairpool.errors import GameError, RewardError, shown
from fairpool.realisation.label_noise import LabelNoise
from fairpool.realisation.level import check_targets
from fairpool.realisation.mechanism import Mechanism
from fairpool.realisation.mechanisms import mechanism_of
from fairpool.realisation.model_reward import ModelReward
from fairpool.tables.arrays import as_count, as_generator
from fairpool.values import Game, InformationGain


def realise(
    game: Game,
    rewards: Any,
    rng: np.random.Generator | int | None,
    *,
    noise: str = "nested",
    draws: int | None = None,
    mechanism: str | Mechanism | None = None,
) -> tuple[ModelReward, ...]:
    """One model per party, worth exactly its reward: part of the others' data is hidden by noise.

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
        mechanism: Another way to weaken rewards than noise on labels, see
            `fairpool.realisation.mechanism`.

    Returns:
        One `ModelReward` per party, in the parties' order.
    """
    if mechanism is not None and noise != "nested":
        raise RewardError("noise is a setting of noise on labels; give it, or another mechanism")
    chosen = LabelNoise(noise) if mechanism is None else mechanism_of(mechanism)
    if not isinstance(game, InformationGain):
        check_targets(game, rewards)
        raise GameError(f"{shown(game)} has no data to make models of; realise an InformationGain")
    levels = chosen.levels(game, rewards)
    draws = None if draws is None else as_count(draws, "draws", 1)
    posteriors = chosen.release(game, levels, rng=as_generator(rng), draws=draws)
    models = []
    for i, (target, level) in enumerate(zip(np.asarray(rewards), levels, strict=True)):
        models.append(
            ModelReward(
                party=game.names[i],
                target=float(target),
                level=level,
                mechanism=chosen,
                posterior=posteriors[i],
                holds_inputs_of_others=posteriors[i].shows_rows_of_others(game.pool, i),
                for_evaluation=draws is not None or chosen.for_evaluation,
            )
        )
    return tuple(models)
