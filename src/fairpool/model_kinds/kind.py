"""What a kind of model is: how it is configured, learned, stored, described, and what it discloses.

To add a kind, write a class with the members of `ModelKind` in a file beside this one, and add a
line to `KINDS` in `fairpool.model_kinds`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from fairpool.encoding import TableEncoding
from fairpool.keys import Key
from fairpool.models import Model, TrainedPosterior
from fairpool.notes import Note
from fairpool.tables.arrays import FloatArray


class Stored(NamedTuple):
    """A model or posterior as it stands in a reward file.

    Attributes:
        description: What JSON can hold.
        tensors: The rest, by name.
    """

    description: dict[str, Any]
    tensors: dict[str, FloatArray]


@dataclass(frozen=True, kw_only=True)
class Disclosure:
    """What files of a kind of model tell about the rows that went in.

    Attributes:
        holds_rows: Whether a file contains everybody's rows, and so needs everybody's consent.
        learned: What is always learned from all parties' rows where there is no public data, in
            words; hyperparameters are, too, unless they are given.
        from_labels: What else is then learned from all labels without noise, as a sentence.
        from_nobody: What is not learned from any row, where one might think so, as a sentence.
        note: What the operator is told of that.
    """

    holds_rows: bool = False
    learned: tuple[str, ...] = ("scaling",)
    from_labels: str | None = None
    from_nobody: str | None = None
    note: Note | None = None


@dataclass(frozen=True, kw_only=True)
class LearningData:
    """What a model is made from: public rows, or else the pool's.

    Attributes:
        X: Inputs [m, p].
        y: Labels [m]; of k classes, whether a row is of each, 1 or 0 [m, k].
        public: Whether they are public. If not, what is learned from them is rounded, since it goes
            into every reward file: from exact sums a party could subtract its own rows.
        noise: Where the search for the noise variance starts, or the variance itself.
        encoding: What the columns are, and with them what anybody could make up of them.
    """

    X: FloatArray
    y: FloatArray
    public: bool
    noise: float
    encoding: TableEncoding


class ModelKind(Protocol):
    """A kind of model, from the configuration to the reward file."""

    @property
    def name(self) -> str:
        """What collaboration.toml calls it."""
        ...  # pragma: no cover

    @property
    def title(self) -> str:
        """What it is, in words."""
        ...  # pragma: no cover

    @property
    def keys(self) -> dict[str, Key]:
        """Its own keys of [model]; two kinds may share one `Key`, which then is the same object."""
        ...  # pragma: no cover

    @property
    def learning_rows(self) -> int:
        """From how many rows it is learned at most; more would take long and change little."""
        ...  # pragma: no cover

    @property
    def needs_rows(self) -> bool:
        """Whether values need every row, and not sums over rows alone."""
        ...  # pragma: no cover

    @property
    def disclosure(self) -> Disclosure:
        """What its files tell, as it is configured by default."""
        ...  # pragma: no cover

    def disclosed(self, settings: Any, encoding: TableEncoding) -> Disclosure:
        """What its files tell, as it is configured.

        Args:
            settings: The [model] section.
            encoding: What the columns are.
        """
        ...  # pragma: no cover

    def problems(self, settings: Any, encoding: TableEncoding, *, public: bool) -> list[str]:
        """What of its settings cannot be done with these columns, in words.

        Args:
            settings: The [model] section.
            encoding: What the columns are.
            public: Whether there are public data.
        """
        ...  # pragma: no cover

    def weights(self, settings: Any, *, inputs: int, rows: int) -> int:
        """How many weights it will have at most; 0 if it has none.

        Args:
            settings: The [model] section.
            inputs: How many input columns the model sees.
            rows: From how many rows it will be made.
        """
        ...  # pragma: no cover

    def build(self, settings: Any, data: LearningData) -> Model:
        """The model before its hyperparameters are learned.

        Args:
            settings: The [model] section, with at least this kind's keys.
            data: What to make it from.
        """
        ...  # pragma: no cover

    def rounded(self, model: Any) -> Model:
        """The model with its hyperparameters to three digits."""
        ...  # pragma: no cover

    def describe(self, model: Any, settings: Any, encoding: TableEncoding) -> dict[str, str]:
        """Its hyperparameters by name, in words, without the noise."""
        ...  # pragma: no cover

    def refuse_too_many_rows(self, sizes: Sequence[int], workers: int) -> None:
        """Refuse so many rows of each party where memory would not do, before they are read."""
        ...  # pragma: no cover

    def suits(self, model: Model) -> bool:
        """Whether a model is of this kind."""
        ...  # pragma: no cover

    def encode(self, posterior: Any) -> Stored:
        """A trained model of this kind, for a file; its description has a "kind"."""
        ...  # pragma: no cover

    def recognises(self, description: dict[str, Any]) -> bool:
        """Whether a description in a file is of this kind."""
        ...  # pragma: no cover

    def decode(self, stored: Stored) -> TrainedPosterior:
        """What `encode` stored, with everything checked."""
        ...  # pragma: no cover
