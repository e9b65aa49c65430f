"""A column of free text: the features are what a public, frozen encoder makes of it.

Nothing is learned from anybody's texts: an embedding is brought to one length, so that its features
are as large as standardised numbers are (`fairpool.encoders.opening`), and reward files name the
encoder by its hash instead of holding it.
"""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any

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
from fairpool.columns.kind import ColumnKind, Declared, SeenColumn
from fairpool.columns.rules import Rules, without_blanks
from fairpool.encoders import EncoderPin, OpenEncoder, find_encoder, pin_of
from fairpool.errors import ConfigurationError, EncoderError, RewardFileError, shown
from fairpool.stored import text
from fairpool.tables.arrays import FloatArray

KEYS = {"name", "kind", "encoder", "fill", "indicator", "tokens"}
"""What a reward file may say of it."""

FREE_TEXT = Rules(blanks=True)
"""What is done to texts first, where nothing else is said."""

TURNS = 64
"""Words take turns in being missing, among made-up ones."""


@dataclass(frozen=True)
class TextColumn:
    """A column of free text, one feature per dimension of its encoder.

    Attributes:
        name: The column.
        pin: Which encoder it needs.
        rules: What is done to values first.
        indicates: Whether one more feature is 1 where there is no text.
        encoder: Where the encoder is; None: nobody looked for it yet. It is part of no file, and
            makes no difference between two columns.
    """

    name: str
    pin: EncoderPin
    _: KW_ONLY
    rules: Rules = FREE_TEXT
    indicates: bool = False
    encoder: OpenEncoder | None = field(default=None, compare=False, repr=False)

    kind = "text"

    @property
    def features(self) -> tuple[str, ...]:
        """The dimensions of the embedding, and whether there is no text."""
        names = [f"{self.name} ({k})" for k in range(1, self.pin.dimensions + 1)]
        if self.indicates:
            names.append(indicator(self.name))
        return tuple(names)

    @property
    def filling(self) -> str:
        """What a missing text is taken to be."""
        return "a text without words" if self.rules.imputes else ""

    def encode(self, column: pa.ChunkedArray, out: FloatArray) -> None:
        """Write the column into the rows of `out` [d or d + 1, m]."""
        if self.encoder is None:
            raise EncoderError(
                f'column "{self.name}": {self.pin} is needed; give --encoders (in Python:'
                " encoders=) its folder"
            )
        texts = _present(column)
        d = self.pin.dimensions
        # Each text once, however many rows have it.
        distinct = pc.unique(texts).drop_null()
        vectors = np.zeros((len(distinct) + 1, d))
        vectors[:-1] = self.encoder.embed(distinct.to_pylist())
        if not self.rules.imputes:
            vectors[-1] = np.nan
        place = pc.fill_null(pc.index_in(texts, value_set=distinct), len(distinct))
        out[:d] = vectors[place.to_numpy()].T
        if self.indicates:
            out[d] = is_missing(texts)

    def unusable(self, column: pa.ChunkedArray) -> dict[int, str]:
        """Rows without a text."""
        if self.rules.imputes:
            return {}
        missing = np.flatnonzero(is_missing(_present(column)))
        return {int(row): f"{self.name} is missing" for row in missing}

    def made_up(self, share: FloatArray) -> pa.Array | None:
        """Words of the encoder's vocabulary, evenly: whoever has the encoder knows them."""
        if self.encoder is None:
            return None
        words = pa.array(self.encoder.words(share), pa.string())
        if not self.indicates:
            return words
        turns = np.modf(share * TURNS)[0]
        return pc.if_else(pa.array(turns < SHARE_MISSING), pa.scalar(None, pa.string()), words)

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
    def of_entries(cls, entries: dict[str, Any]) -> "TextColumn":
        """The column with these entries, all of them checked; its encoder is still to be found."""
        refuse_unknown(entries, KEYS)
        refuse_lone_indicator(entries)
        if entries.get("fill", "") != "":
            raise RewardFileError(
                f"missing texts are taken to be {shown(entries['fill'])}; only no text is known"
            )
        return cls(
            name=text(entries["name"]),
            pin=pin_of(entries["encoder"]),
            rules=replace(Rules.of_entries(entries, of_numbers=False), blanks=True),
            indicates=stored_flag(entries, "indicator"),
        )

    @classmethod
    def fixed(cls, declared: Declared, seen: SeenColumn) -> "TextColumn":
        """The column with the encoder that the configuration names."""
        encoder = declared.encoder
        if encoder is None:
            raise ConfigurationError(
                f'column "{declared.name}": texts need an encoder; give one, or leave the column'
                " out"
            )
        return cls(
            name=declared.name,
            pin=encoder.pin,
            rules=declared.rules,
            indicates=declared.rules.imputes and seen.lacks_values,
            encoder=encoder,
        )


def _present(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts with nulls where there are but blanks."""
    return without_blanks(column.cast(pa.string()))


def with_encoders(columns: Iterable[Column], place: Path | None) -> tuple[Column, ...]:
    """Columns that know where their encoders are.

    Args:
        columns: Of any kind; those that need no encoder, or know it, stay as they are.
        place: Where to look for encoders; None: nowhere.
    """
    found: list[Column] = []
    known: dict[EncoderPin, OpenEncoder] = {}
    for column in columns:
        if isinstance(column, TextColumn) and column.encoder is None and place is not None:
            if column.pin not in known:
                known[column.pin] = _found(column, place)
            column = replace(column, encoder=known[column.pin])
        found.append(column)
    return tuple(found)


def _found(column: TextColumn, place: Path) -> OpenEncoder:
    try:
        return find_encoder(column.pin, place)
    except EncoderError as error:
        raise EncoderError(f'column "{column.name}": {error}') from None


TEXT = ColumnKind(
    name=TextColumn.kind,
    read_as="text",
    fix=TextColumn.fixed,
    decode=TextColumn.of_entries,
    keys=("encoder", "encoder_sha256"),
    is_free_text=True,
)
