"""How a reward is weakened until it is worth exactly what a party is due.

To add a mechanism, write a class with the members of `Mechanism` in a file beside this one, and add
a line to `MECHANISMS` in `fairpool.realisation.mechanisms`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from fairpool.models import TrainedPosterior
from fairpool.realisation.level import Level
from fairpool.targets import Target
from fairpool.values import InformationGain


@runtime_checkable
class Mechanism(Protocol):
    """A way to weaken rewards: which level suits a reward, the release, and what it discloses."""

    @property
    def name(self) -> str:
        """What collaboration.toml and reward files call it."""
        ...  # pragma: no cover

    @property
    def for_evaluation(self) -> bool:
        """Whether its models must not leave the central party."""
        ...  # pragma: no cover

    def levels(self, game: InformationGain, rewards: Any) -> tuple[Level, ...]:
        """For every party the level at which its reward is worth its target in `rewards` [n]."""
        ...  # pragma: no cover

    def release(
        self,
        game: InformationGain,
        levels: Sequence[Level],
        *,
        rng: np.random.Generator,
        draws: int | None,
    ) -> tuple[TrainedPosterior, ...]:
        """Every party's model, trained at its level.

        Args:
            game: The values, and the data.
            levels: From `levels`.
            rng: Of whatever is random about it.
            draws: Train on this many draws at once, for evaluation; None: on one.
        """
        ...  # pragma: no cover

    def encode(self, level: Level) -> dict[str, Any]:
        """A level as entries of a reward file's description and of result.json."""
        ...  # pragma: no cover

    def decode(self, entries: dict[str, Any]) -> Level:
        """The level that `encode` described, which also has the entry "value"; all is checked."""
        ...  # pragma: no cover

    @property
    def words(self) -> "MechanismWords":
        """What people are told."""
        ...  # pragma: no cover


class Explained(NamedTuple):
    """Something with a name, and what there is to say of it."""

    name: str
    text: str


class MechanismWords(Protocol):
    """A mechanism in words: in tables, in letters, by `fairpool inspect`."""

    @property
    def heading(self) -> str:
        """What it does, as a plan and the report's terms call it."""
        ...  # pragma: no cover

    @property
    def short_heading(self) -> str:
        """Of a column of levels in tables."""
        ...  # pragma: no cover

    def term(self, target: Target) -> "Explained":
        """A term of the report, and what it means."""
        ...  # pragma: no cover

    def figure(self, level: Level, target: Target) -> str:
        """A level in a table."""
        ...  # pragma: no cover

    def unit(self, target: Target) -> str:
        """What such figures are, below the table; empty: that is plain."""
        ...  # pragma: no cover

    def received(self, level: Level, target: Target, *, own: str) -> str:
        """What a party receives, as a sentence of its letter.

        Args:
            level: How much of the others' data is left.
            target: What is predicted.
            own: What of the party's is in its model, in words.
        """
        ...  # pragma: no cover

    def labels(self, level: Level) -> str:
        """How the others' labels are contained in a model that holds rows."""
        ...  # pragma: no cover

    def sums(self, level: Level) -> str:
        """What to say of sums over all rows, after a comma; nothing where they are as they are."""
        ...  # pragma: no cover

    @property
    def secret(self) -> str:
        """What nobody can repeat, as a sentence of a letter; empty if nothing is random."""
        ...  # pragma: no cover

    def inspected(self, level: Level, target: Target) -> "Explained":
        """An entry of `fairpool inspect`, and its text."""
        ...  # pragma: no cover
