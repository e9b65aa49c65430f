"""What is kept of the rows that took part: who they are, sums over them, and a sketch of each.

By the sketch a row is recognised that comes again, written otherwise: few numbers which, where
there are few columns, are the row's own. An exact Gaussian process needs the rows themselves, and
then they are kept. All files are for this user alone.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy
from safetensors import SafetensorError

from fairpool.audit.known_rows import KnownRows
from fairpool.compute.files import make_private_folder, write_atomically
from fairpool.errors import DataError
from fairpool.rounds.batches import Keys, Part, ids_of, keys_of
from fairpool.tables.arrays import FloatArray

Arrays = Mapping[str, FloatArray]
"""Sums over rows by name: gram, moment and squares; or the rows: X and y."""

SKETCH = "sketch"
"""What the file with the sketches of a part's rows ends with, instead of a model's digest."""


@dataclass(frozen=True)
class Kept:
    """A folder with files of identities and sketches for each part, and of sums for each model.

    Attributes:
        folder: Where.
        seal: The key that sums are sealed with, so that nobody else can change them unnoticed.
    """

    folder: Path
    seal: bytes = field(repr=False)

    def keys(self, part: str, party: str) -> Keys:
        """The rows of a part, refused where they are not what its name says."""
        path = self.folder / f"{part}.rows"
        try:
            stored = safetensors.numpy.load(path.read_bytes())
            keys = keys_of(stored["ids"])
        except FileNotFoundError:
            raise DataError(
                f"{path}: there is no such file, so that known rows cannot be told from new ones;"
                " restore the folder .fairpool from a backup"
            ) from None
        except (OSError, SafetensorError, KeyError, ValueError) as error:
            raise DataError(f"{path}: damaged ({error}); restore it from a backup") from None
        if Part.of(party, keys).name != part:
            raise DataError(f"{path}: not as it was written; restore it from a backup")
        return keys

    def arrays(self, part: str, agreement: str, *, is_trusted: bool = False) -> Arrays | None:
        """What is kept of a part for a model; None: nothing, or it is damaged.

        Args:
            part: Its name.
            agreement: Of the model.
            is_trusted: Whether the seal is not looked at, as when its key is lost.
        """
        try:
            stored = safetensors.numpy.load(self._sums(part, agreement).read_bytes())
        except (OSError, SafetensorError, ValueError):
            return None
        seal = bytes(stored.pop("sha256", np.zeros(0, np.uint8)))
        is_ours = hmac.compare_digest(seal, self._digest(stored, part, agreement))
        return stored if is_ours or is_trusted else None

    def write_keys(self, part: Part) -> None:
        """Keep who the rows of a part are."""
        make_private_folder(self.folder)
        path = self.folder / f"{part.name}.rows"
        if not path.exists():
            write_atomically(path, safetensors.numpy.save({"ids": ids_of(part.keys)}))

    def write_arrays(self, part: str, agreement: str, arrays: Arrays) -> None:
        """Keep sums over the rows of a part, or the rows."""
        make_private_folder(self.folder)
        stored = {name: np.array(array, order="C") for name, array in arrays.items()}
        seal = np.frombuffer(self._digest(stored, part, agreement), np.uint8)
        content = safetensors.numpy.save({**stored, "sha256": seal})
        write_atomically(self._sums(part, agreement), content)

    def sketches(self, part: str) -> KnownRows | None:
        """What rows of a part are recognised by; None: it was erased."""
        path = self._sums(part, SKETCH)
        if not path.exists():
            return None
        arrays = self.arrays(part, SKETCH)
        if arrays is None:
            raise DataError(f"{path}: not as it was written; restore it from a backup")
        return KnownRows.of_arrays(arrays)

    def write_sketches(self, part: str, rows: KnownRows) -> None:
        """Keep what rows of a part are recognised by."""
        if not self._sums(part, SKETCH).exists():
            self.write_arrays(part, SKETCH, rows.to_arrays())

    def erase_sums(self, part: str) -> bool:
        """Forget all sums over the rows of a part, and their sketches; whether there were some."""
        found = [path for path in self.folder.glob(f"{part}.*") if path.suffix != ".rows"]
        for path in found:
            path.unlink()
        return bool(found)

    def erase(self, part: str) -> None:
        """Forget a part: who its rows are, their sketches, and all sums over them."""
        for path in self.folder.glob(f"{part}.*"):
            path.unlink()

    def _sums(self, part: str, agreement: str) -> Path:
        return self.folder / f"{part}.{agreement[:16]}"

    def _digest(self, arrays: Arrays, part: str, agreement: str) -> bytes:
        digest = hmac.new(self.seal, f"{part} {agreement}\n".encode(), hashlib.sha256)
        for name in sorted(arrays):
            digest.update(f"{name} {arrays[name].shape}\n".encode())
            digest.update(np.array(arrays[name], order="C").tobytes())
        return digest.digest()
