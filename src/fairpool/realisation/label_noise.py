"""Sec. 4.3: noise on the others' labels, the paper's way to weaken a reward."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpool.errors import RewardError
from fairpool.keyed_noise.identity import coordinate_ids, row_digests, row_ids
from fairpool.keyed_noise.paths import Paths
from fairpool.keyed_noise.secret import Secret
from fairpool.models import TrainedPosterior
from fairpool.parties import ClassSummary, NoisySummary, PartyData, PartySummary
from fairpool.realisation.level import Level
from fairpool.realisation.mechanism import Explained
from fairpool.realisation.noise import label_noise
from fairpool.realisation.noise_variance import NoiseLevel, noise_levels
from fairpool.stored import number
from fairpool.tables.arrays import FloatArray
from fairpool.targets import Target
from fairpool.values import InformationGain


@dataclass(frozen=True)
class LabelNoise:
    """Party i's model is trained on its own labels, and on the others' with noise N(0, eta_i).

    Paper: Sec. 4.3. The others' rows have the noise variance s2 + eta_i, so that the model knows
    how much its labels are worth; tau = s2 / (s2 + eta).

    Attributes:
        noise: "nested" (see `fairpool.realisation.noise`), or "standardised" for the paper's sweeps
            over rho.
        secret: Makes the noise of every row a function of itself and the row, the same whenever it
            is released (`fairpool.keyed_noise`); None: it is drawn.
    """

    noise: str = "nested"
    secret: Secret | None = None

    name = "label_noise"

    @property
    def for_evaluation(self) -> bool:
        """Noise that is not nested tells too much to whoever holds two models."""
        return self.noise != "nested"

    @property
    def words(self) -> "LabelNoiseWords":
        """What people are told."""
        return LabelNoiseWords()

    def levels(self, game: InformationGain, rewards: Any) -> tuple[NoiseLevel, ...]:
        """The noise variances that realise the rewards."""
        return noise_levels(game, rewards)

    def release(
        self,
        game: InformationGain,
        levels: Sequence[Level],
        *,
        rng: np.random.Generator,
        draws: int | None,
    ) -> tuple[TrainedPosterior, ...]:
        """Train every party's model on its own labels and the others' noisy ones."""
        etas = [eta_of(level) for level in levels]
        if self.secret is not None:
            return self._keyed(game, etas, self.secret)
        size = sum(_draws(game))
        shape = (size,) if draws is None else (size, draws)
        posteriors = {}
        # One recipient after the other: noise on everybody's labels takes as much memory as they.
        for i, noise in label_noise(self.noise, etas, shape, rng=rng):
            posteriors[i] = _trained(game, i, etas[i], noise=noise)
        for i, eta in enumerate(etas):
            if np.isinf(eta):  # it sees no label of the others', and needs no noise on them
                posteriors[i] = _trained(game, i, eta, noise=np.zeros(shape))
        return tuple(posteriors[i] for i in range(game.n))

    def _keyed(
        self, game: InformationGain, etas: Sequence[float], secret: Secret
    ) -> tuple[TrainedPosterior, ...]:
        """The same with each row's own noise, or, of sums, each coordinate's."""
        paths = Paths(secret)
        ids = [_ids(party, secret) for party in game.pool.parties]
        posteriors = []
        for i, eta in enumerate(etas):
            noise = []
            for of_party in ids:
                for stream in range(game.model.label_sets):
                    if np.isinf(eta):  # it sees no label of the others', and needs no noise
                        noise.append(np.zeros(len(of_party)))
                    else:
                        noise.append(paths.at(of_party, eta, stream=stream))
            posteriors.append(_trained(game, i, eta, noise=np.concatenate(noise)))
        return tuple(posteriors)

    def encode(self, level: Level) -> dict[str, Any]:
        """Eta, None where it is infinite, and tau."""
        eta = eta_of(level)
        return {"eta": eta if np.isfinite(eta) else None, "tau": level.tau}

    def decode(self, entries: dict[str, Any]) -> NoiseLevel:
        """The level with these entries."""
        eta = entries["eta"]
        return NoiseLevel(
            value=number(entries["value"], "value", least=0),
            eta=np.inf if eta is None else number(eta, "eta", least=0),
            tau=number(entries["tau"], "tau", least=0, most=1),
        )


def _ids(party: PartyData, secret: Secret) -> NDArray[np.uint64]:
    """Who the rows of a party are, or the coordinates of sums over them [draws, 2]."""
    rows = party.shown_rows
    if len(rows) == len(party):
        columns = {f"input {k}": column for k, column in enumerate(rows.X.T)}
        return row_ids(secret, row_digests(secret, party.name, {**columns, "label": rows.y}))
    if isinstance(party, PartySummary):
        sums = [party.gram, party.moment]
    elif isinstance(party, ClassSummary):
        sums = [party.grams, party.sums]
    elif isinstance(party, NoisySummary):
        sums = [array for one in party.sums for array in (one.gram, one.moment)]
    else:
        raise RewardError(
            f'party "{party.name}": noise that is made of a secret is for rows and for summaries'
        )
    digest = hashlib.sha256(party.name.encode())
    for array in sums:
        digest.update(np.array(array, order="C").tobytes())
    return coordinate_ids(secret, digest.hexdigest(), party.label_draws)


def _draws(game: InformationGain) -> list[int]:
    """How many numbers of noise each party's labels take."""
    return [game.model.label_sets * party.label_draws for party in game.pool.parties]


def _trained(game: InformationGain, i: int, eta: float, *, noise: FloatArray) -> TrainedPosterior:
    """Party i's model: its own labels are as they are, the others' have this noise."""
    of_parties = np.split(noise, np.cumsum(_draws(game))[:-1])
    of_parties[i] = np.zeros_like(of_parties[i])
    etas = np.full(game.n, eta)
    etas[i] = 0.0
    return game.model.posterior_with_noise(game.pool, game.space, eta=etas, z=of_parties)


UNUSED = "others unused"
"""In a table, of a model that has nothing of the others' data."""


class LabelNoiseWords:
    """Noise on labels, in words."""

    heading = "noise on others' labels"
    short_heading = "noise"
    secret = (
        "The noise on a row is the same in every round, made of a secret that the operator alone"
        " has, so that several files do not average it out."
    )

    def term(self, target: Target) -> Explained:
        """What noise is for, and in which unit it is told."""
        return Explained(
            name=self.heading,
            text="What was added to the other parties' labels before a party's model was trained,"
            f" so that the model is worth exactly its reward: its {target.noise_unit}. (η of the"
            " method is its square, on labels as the model sees them.)",
        )

    def figure(self, level: Level, target: Target) -> str:
        """The noise's standard deviation."""
        eta = eta_of(level)
        if eta == 0:
            return "none"
        return target.noise_figure(eta) if np.isfinite(eta) else UNUSED

    def unit(self, target: Target) -> str:
        """That it is a standard deviation, and of what."""
        return f"Noise on the others' labels: {target.noise_unit}."

    def received(self, level: Level, target: Target, *, own: str) -> str:
        """What the model was trained on."""
        if eta_of(level) == 0:
            return "It is the best model: trained on all data, without added noise."
        if level.tau == 0:
            return f"It is trained on {own}: that is what your reward is worth."
        noise = target.noise_in_words(eta_of(level))
        return (
            f"It is trained on {own} as they are, and on the other parties' data with noise on"
            f" their labels, so that it is worth exactly that. The noise has {noise}."
        )

    def labels(self, level: Level) -> str:
        """How the others' labels are contained in a model that holds rows."""
        return "as they are" if eta_of(level) == 0 else "with noise"

    def sums(self, level: Level) -> str:
        """What to say of sums over all rows."""
        return "" if eta_of(level) == 0 else ", with noise on the other parties' labels"

    def inspected(self, level: Level, target: Target) -> Explained:
        """How much noise there is."""
        eta = eta_of(level)
        if eta == 0:
            text = "none: it is the best model"
        elif np.isfinite(eta):
            text = target.noise_in_words(eta)
        else:
            text = "all: none of the others' rows went in, beyond features and hyperparameters"
        return Explained(name="noise on others", text=text)


def eta_of(level: Level) -> float:
    """The noise variance of a level of this mechanism."""
    assert isinstance(level, NoiseLevel)
    return level.eta
