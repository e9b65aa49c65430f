"""What the journal has of one contribution, and how that is written."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from numpy.typing import NDArray
from safetensors import SafetensorError

from fairpool.audit.known_rows import KnownRows
from fairpool.compute.tensor_pieces import as_pieces
from fairpool.errors import ContributionError, FairpoolError
from fairpool.exchange.contribution_file import ContributionFile
from fairpool.exchange.plan import SignedPlan
from fairpool.rounds.row_keys import Keys, ids_of, keys_of

ENTRY = "fairpool-journal"
REMEMBERED = "remembered."
"""How the names of arrays begin that tell what is kept of rows."""

VERSION = 2
"""Of entries: from this on, rows have the same hashes whatever party they are contributed for."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JournalEntry:
    """A contribution that was made.

    Attributes:
        number: Which one of this home, from 1.
        content: The file.
        place: Where it was written.
        fewest: How many rows a contribution needed under its plan.
        known_by: The columns that its rows are known by.
        ids: Who its rows are, sorted.
        members: Its rows by all that they say, sorted: a row that was corrected is another one.
        names: What names each of its rows, in the order of ids; None: their inputs do.
        remembered: What is kept of its rows, or of a share of them; None: nothing.
        file: What it says.
        plan: Under which it was made.
    """

    number: int
    content: bytes = field(repr=False)
    place: Path
    fewest: int
    known_by: tuple[str, ...]
    ids: Keys = field(repr=False)
    members: Keys = field(repr=False)
    names: NDArray[np.uint64] | None = field(repr=False)
    remembered: KnownRows | None = field(repr=False)
    file: ContributionFile
    plan: SignedPlan = field(repr=False)

    @property
    def is_hidden(self) -> bool:
        """Whether noise hides its rows, whatever else is known."""
        return self.file.manifest.is_hidden

    @property
    def name(self) -> str:
        """What its file in the journal is called, but for the end."""
        return f"{self.number:06d}-{self.file.name}"

    def to_pieces(self) -> Iterator[memoryview]:
        """The entry as a file, piece by piece: of millions of rows, nothing is copied."""
        said = {
            "version": VERSION,
            "place": os.fspath(self.place),
            "fewest": self.fewest,
            "known_by": list(self.known_by),
        }
        arrays: dict[str, NDArray[Any]] = {
            "contribution": np.frombuffer(self.content, np.uint8),
            "plan": np.frombuffer(self.plan.document.content, np.uint8),
            "ids": ids_of(self.ids),
        }
        if self.members is not self.ids:
            arrays["members"] = ids_of(self.members)
        if self.names is not None:
            arrays["names"] = self.names
        if self.remembered is not None:
            for name, array in self.remembered.to_arrays().items():
                arrays[REMEMBERED + name] = np.ascontiguousarray(array)
        return as_pieces(arrays, {ENTRY: json.dumps(said)})

    @classmethod
    def read(cls, path: Path) -> "JournalEntry":
        """The entry in a file."""
        try:
            return cls._read(path)
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            what = error.problems[0] if isinstance(error, FairpoolError) else str(error)
            raise ContributionError(
                f"{path}: this entry of your journal cannot be used ({what}); restore it from your"
                " copy: without it fairpool cannot tell which rows were contributed before"
            ) from None

    @classmethod
    def _read(cls, path: Path) -> "JournalEntry":
        with safetensors.safe_open(path, framework="numpy") as stored:
            said = json.loads((stored.metadata() or {})[ENTRY])
            if said["version"] != VERSION:
                raise ValueError(
                    f"it has version {said['version']}, and this fairpool reads {VERSION}"
                )
            content = stored.get_tensor("contribution").tobytes()
            file = ContributionFile.of_bytes(content, os.fspath(path))
            arrays = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
        plan = SignedPlan.of_content(arrays["plan"].tobytes(), f"{path}: its plan")
        ids = keys_of(arrays["ids"])
        return cls(
            number=int(path.name.split("-")[0]),
            content=content,
            place=Path(said["place"]),
            fewest=int(said["fewest"]),
            known_by=tuple(said["known_by"]),
            ids=ids,
            members=keys_of(arrays["members"]) if "members" in arrays else ids,
            names=arrays.get("names"),
            remembered=_remembered(arrays),
            file=file,
            plan=plan,
        )


def _remembered(arrays: Mapping[str, NDArray[Any]]) -> KnownRows | None:
    kept = {}
    for name, array in arrays.items():
        if name.startswith(REMEMBERED):
            kept[name.removeprefix(REMEMBERED)] = array
    return KnownRows.of_arrays(kept) if kept else None
