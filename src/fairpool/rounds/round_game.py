"""A round: who took part, with which data, and by which terms rewards were given."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from fairpool.compute.workers import Workers
from fairpool.contributions import Contributions, concept_of
from fairpool.errors import DataError, shown
from fairpool.models import Model
from fairpool.parties import PartyData
from fairpool.rewards.scheme import SilentScheme
from fairpool.tables.arrays import TINY, FloatArray, as_numbers, read_only
from fairpool.values import Game

SAMPLING_SEED = 0
"""That of every run: so a round's contributions are found again as they were."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What was agreed on: how contributions are measured, and how rewards follow them.

    Attributes:
        rho: As asked, a number or a word. A word is looked up anew in every game.
        contributions: The concept's name.
        evaluations: How many coalitions a sample has at most; None: as many as is usual.
        precision: At which share of the average contribution sampling stops; None: never.
    """

    rho: float | str
    contributions: str = "shapley"
    evaluations: int | None = None
    precision: float | None = None

    def measure(self, game: Game, *, seed: int, workers: Workers) -> Contributions:
        """The contributions, as a run measures them."""
        target = None
        if self.precision is not None:
            target = max(self.precision * game.total / game.n, TINY)
        return concept_of(self.contributions).measure(
            game,
            rng=seed,
            evaluations=self.evaluations,
            target_standard_error=target,
            workers=workers,
        )

    def scheme(self, game: Game, *, seed: int, workers: Workers) -> SilentScheme:
        """Theorem 1 for a game."""
        return SilentScheme(game, self.measure(game, seed=seed, workers=workers))


@dataclass(frozen=True, kw_only=True, eq=False)
class RoundGame:
    """All that the rewards of a round follow from.

    Attributes:
        number: The round's.
        model: The model; its hyperparameters are part of it.
        parties: What is known of each party, rows or sums.
        ids: Their permanent ids, in the same order: names may change between rounds.
        rho: As asked, a number or a word.
        contributions: The name of the concept.
        kept: s [n], how much each party keeps of what a reward adds to its own data; None: all.
            See `fairpool.rewards.discount`.
        evaluations: As the round's own, where contributions were sampled.
        precision: Likewise.
        encoding: A fingerprint of how tables became numbers; empty where they were numbers. Rounds
            whose fingerprints differ cannot be compared.
    """

    number: int
    model: Model
    parties: tuple[PartyData, ...]
    ids: tuple[str, ...]
    rho: float | str
    contributions: str = "shapley"
    kept: FloatArray | None = None
    evaluations: int | None = None
    precision: float | None = None
    encoding: str = ""

    def __post_init__(self) -> None:
        where = f"round {self.number}"
        if len(self.ids) != len(self.parties):
            raise DataError(
                f"{where} has {len(self.parties)} parties and {len(self.ids)} ids; give every party"
                " one"
            )
        twice = [id_ for id_, count in Counter(self.ids).items() if count > 1]
        if twice:
            raise DataError(
                f"{where}: two parties have the id {shown(twice[0])}; ids are permanent, and differ"
            )
        concept_of(self.contributions)
        if self.kept is not None:
            kept = as_numbers(self.kept, len(self.parties), f"{where}: kept")
            if not ((kept >= 0) & (kept <= 1)).all():
                raise DataError(
                    f"{where}: kept is {shown(kept.tolist())}; what a party keeps is a share in"
                    " 0 .. 1"
                )
            object.__setattr__(self, "kept", read_only(kept))

    @property
    def terms(self) -> Terms:
        """What was agreed on, the same for every party."""
        return Terms(
            rho=self.rho,
            contributions=self.contributions,
            evaluations=self.evaluations,
            precision=self.precision,
        )

    @property
    def by_id(self) -> dict[str, PartyData]:
        """Each party's data."""
        return dict(zip(self.ids, self.parties, strict=True))

    def kept_by(self, party: str) -> float:
        """How much the party of this id keeps: all, where nothing was discounted."""
        if self.kept is None:
            return 1.0
        return float(self.kept[self.ids.index(party)])

    @property
    def kept_by_all(self) -> FloatArray:
        """The same of every party [n]."""
        if self.kept is None:
            return np.ones(len(self.parties))
        return self.kept
