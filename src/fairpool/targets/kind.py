"""What a kind of target is: its labels in the parties' tables, and its targets in reward files.

To add a kind, write a file beside this one that ends with a `TargetKind`, and add a line to
`TARGETS` in `fairpool.targets`. It goes through three hands: the kind makes `Labels` of what the
configuration says, these make a `Target` of what was seen in everybody's tables, and from then on
that is what is asked.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairpool.columns.rules import Rules
from fairpool.keys import Key
from fairpool.tables.moments import Moments
from fairpool.targets.target import Target


@dataclass(frozen=True, kw_only=True, eq=False)
class SeenLabels:
    """What the first look at a source's complete rows tells of their labels.

    Attributes:
        owner: Whose they are, as error texts call it.
        moments: Of labels that are read as numbers.
        levels: How often each label occurs, where they are read as text; of an endless number of
            them, those that came first.
    """

    owner: str
    moments: Moments
    levels: Mapping[str, int]


class Labels(Protocol):
    """A column of labels as the configuration wants it, before its encoding is fixed.

    It is sent to workers, and so can be pickled.
    """

    @property
    def name(self) -> str:
        """The column."""
        ...  # pragma: no cover

    @property
    def type(self) -> pa.DataType:
        """As what the column is read, and looked at.

        As float64: values that are no numbers are refused, moments are taken, and values far from
        all others are told of. As string: each label is counted.
        """
        ...  # pragma: no cover

    @property
    def in_words(self) -> str:
        """What a label must be, as errors say it: "a number"."""
        ...  # pragma: no cover

    def wrong(self, column: pa.ChunkedArray) -> NDArray[np.bool_]:
        """Which labels cannot be used though they were read [m]; a missing one is not wrong."""
        ...  # pragma: no cover

    def fix(self, parties: Sequence[SeenLabels], public: SeenLabels | None) -> Target:
        """The target, with its encoding fixed; refused where there is nothing to learn.

        Args:
            parties: What was seen of each party's labels.
            public: And of public data, if there are some: then the encoding comes from them alone.
        """
        ...  # pragma: no cover


@dataclass(frozen=True, kw_only=True, eq=False)
class TargetKind:
    """A kind of target, from the configuration to the reward file.

    Attributes:
        name: What collaboration.toml calls it.
        labels: Makes labels of the [target] section, which has a `column` and this kind's keys.
        more_labels: Labels of a target whose encoding is fixed, in tables that come later.
        decode: The target with some entries of a reward file, all of them checked.
        keys: Its own keys of [target]; two kinds may share one `Key`, then the same object.
        declared: The labels with what [columns.NAME] says of their values: a range, a logarithm,
            tokens of missing ones. None: of this kind nothing can be said there.
        listed: The labels where [columns.NAME] lists their levels. None: this kind has none.
        of_numbers: Whether labels are numbers, which can have a range and a logarithm.
        noise_is_learned: Whether the labels' noise is learned, and does not follow from them.
    """

    name: str
    labels: Callable[[Any], Labels]
    more_labels: Callable[[Any], Labels]
    decode: Callable[[dict[str, Any]], Target]
    keys: Mapping[str, Key] = field(default_factory=dict)
    declared: Callable[[Any, Rules], Labels] | None = None
    listed: Callable[[Any, Sequence[str]], Labels] | None = None
    of_numbers: bool = True
    noise_is_learned: bool = True
