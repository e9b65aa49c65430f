"""A column that a public, frozen encoder reads: what columns of texts and of images share.

Nothing is learned from anybody's values: an embedding is brought to one length, so that its
features are as large as standardised numbers are (`fairpool.encoders.opening`), and reward files
name the encoder by its hash instead of holding it.
"""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairpool.columns.column import SHARE_MISSING, Column
from fairpool.columns.filling import (
    indicator,
    is_missing,
    refuse_lone_indicator,
    refuse_unknown,
    stored_flag,
)
from fairpool.columns.kind import Declared, SeenColumn
from fairpool.columns.rules import Rules
from fairpool.encoders import EncoderPin, OpenEncoder, find_encoder, pin_of
from fairpool.errors import ConfigurationError, EncoderError, RewardFileError, shown
from fairpool.stored import text
from fairpool.tables.arrays import FloatArray

ENCODER_KEYS = ("encoder", "encoder_sha256")
"""What [columns.NAME] may say of it."""

KEYS = {"name", "kind", "encoder", "fill", "indicator", "tokens"}
"""What a reward file may say of it."""

ANYTHING = Rules(blanks=True)
"""What is done to values first, where nothing else is said."""

TURNS = 64
"""Values take turns in being missing, among made-up ones."""


@dataclass(frozen=True)
class EncodedColumn:
    """A column with one feature per dimension of its encoder.

    Attributes:
        name: The column.
        pin: Which encoder it needs.
        rules: What is done to values first.
        indicates: Whether one more feature is 1 where there is no value.
        encoder: Where the encoder is; None: nobody looked for it yet. It is part of no file, and
            makes no difference between two columns.
    """

    name: str
    pin: EncoderPin
    _: KW_ONLY
    rules: Rules = ANYTHING
    indicates: bool = False
    encoder: OpenEncoder | None = field(default=None, compare=False, repr=False)

    kind: ClassVar[str]
    nothing: ClassVar[str]
    """What a missing value is taken to be, in words."""

    @property
    def features(self) -> tuple[str, ...]:
        """The dimensions of the embedding, and whether there is no value."""
        names = [f"{self.name} ({k})" for k in range(1, self.pin.dimensions + 1)]
        if self.indicates:
            names.append(indicator(self.name))
        return tuple(names)

    @property
    def filling(self) -> str:
        """What a missing value is taken to be."""
        return self.nothing if self.rules.imputes else ""

    def present(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """Values as the encoder reads them, null where there are none."""
        raise NotImplementedError

    def encode(self, column: pa.ChunkedArray, out: FloatArray) -> None:
        """Write the column into the rows of `out` [d or d + 1, m]."""
        if self.encoder is None:
            raise EncoderError(
                f'column "{self.name}": {self.pin} is needed; give --encoders (in Python:'
                " encoders=) its folder"
            )
        values = self.present(column)
        d = self.pin.dimensions
        # Each value once, however many rows have it.
        distinct = pc.unique(values).drop_null()
        vectors = np.zeros((len(distinct) + 1, d))
        vectors[:-1] = self.encoder.embed(distinct.to_pylist())
        if not self.rules.imputes:
            vectors[-1] = np.nan
        place = pc.fill_null(pc.index_in(values, value_set=distinct), len(distinct))
        out[:d] = vectors[place.to_numpy()].T
        if self.indicates:
            out[d] = is_missing(values)

    def unusable(self, column: pa.ChunkedArray) -> dict[int, str]:
        """Rows without a value."""
        if self.rules.imputes:
            return {}
        missing = np.flatnonzero(is_missing(self.present(column)))
        return {int(row): f"{self.name} is missing" for row in missing}

    def made_up(self, share: FloatArray) -> pa.Array | None:
        """Values that whoever has the encoder could make up, evenly."""
        if self.encoder is None:
            return None
        values = self.anything(share)
        if not self.indicates:
            return values
        turns = np.modf(share * TURNS)[0]
        return pc.if_else(pa.array(turns < SHARE_MISSING), pa.scalar(None, values.type), values)

    def anything(self, share: FloatArray) -> pa.Array:
        """Values of the column at some shares of the way through all that are made up."""
        raise NotImplementedError

    def entries(self) -> dict[str, Any]:
        """Its kind, name and encoder, and what is not as by default."""
        entries: dict[str, Any] = {"name": self.name, "kind": self.kind}
        entries["encoder"] = self.pin.entries()
        if self.rules.imputes:
            entries["fill"] = ""
        if self.indicates:
            entries["indicator"] = True
        return entries | self.rules.entries()

    @classmethod
    def of_entries(cls, entries: dict[str, Any]) -> Self:
        """The column with these entries, all of them checked; its encoder is still to be found."""
        refuse_unknown(entries, KEYS)
        refuse_lone_indicator(entries)
        if entries.get("fill", "") != "":
            raise RewardFileError(
                f"missing {cls.kind}s are taken to be {shown(entries['fill'])}; only no {cls.kind}"
                " is known"
            )
        return cls(
            name=text(entries["name"]),
            pin=pin_of(entries["encoder"]),
            rules=replace(Rules.of_entries(entries, of_numbers=False), blanks=True),
            indicates=stored_flag(entries, "indicator"),
        )

    @classmethod
    def fixed(cls, declared: Declared, seen: SeenColumn) -> Self:
        """The column with the encoder that the configuration names."""
        encoder = declared.encoder
        if encoder is None:
            raise ConfigurationError(
                f'column "{declared.name}": {cls.kind}s need an encoder; give one, or leave the'
                " column out"
            )
        return cls(
            name=declared.name,
            pin=encoder.pin,
            rules=declared.rules,
            indicates=declared.rules.imputes and seen.lacks_values,
            encoder=encoder,
        )


def with_encoders(columns: Iterable[Column], place: Path | None) -> tuple[Column, ...]:
    """Columns that know where their encoders are.

    Args:
        columns: Of any kind; those that need no encoder, or know it, stay as they are.
        place: Where to look for encoders; None: nowhere.
    """
    found: list[Column] = []
    known: dict[tuple[str, EncoderPin], OpenEncoder] = {}
    for column in columns:
        if isinstance(column, EncodedColumn) and column.encoder is None and place is not None:
            needed = (column.kind, column.pin)
            if needed not in known:
                known[needed] = _found(column, place)
            column = replace(column, encoder=known[needed])
        found.append(column)
    return tuple(found)


def _found(column: EncodedColumn, place: Path) -> OpenEncoder:
    try:
        return find_encoder(column.pin, place, reads=column.kind)
    except EncoderError as error:
        raise EncoderError(f'column "{column.name}": {error}') from None
