"""What is kept of the rows that took part: who they are, sums over them, and a sketch of each.

And of every party's files a record.

By the sketch a row is recognised that comes again, written otherwise: few numbers which, where
there are few columns, are the row's own. An exact Gaussian process needs the rows themselves, and
then they are kept. All files are for this user alone.
"""

import hashlib
import hmac
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError

from fairpool.audit.known_rows import KnownRows
from fairpool.compute.files import make_private_folder, write_atomically
from fairpool.errors import DataError
from fairpool.rounds.party_batches import Part, part_name
from fairpool.rounds.row_keys import Keys, ids_of, keys_of
from fairpool.tables.arrays import FloatArray

Arrays = Mapping[str, FloatArray]
"""Sums over rows by name: gram, moment and squares; or the rows: X and y."""

SKETCH = "sketch"
"""What the file with the sketches of a part's rows ends with, instead of a model's digest."""

NOISE = "noise-"
"""What the file with the noise of a part in released files ends with, before a model's digest."""

Pins = Mapping[float, FloatArray]
"""The noise of a part as files have it, by its variance in squared units of the target."""

Words = dict[str, Any]
"""Whatever can be JSON."""

AnyArrays = Mapping[str, NDArray[Any]]

RECORD = ".record"
WORDS = "words"
TURNED = "turned"
SEAL_BYTES = 32
HEADER = 8
TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "U64": "<u8",
    "I64": "<i8",
    "I32": "<i4",
    "U8": "<u1",
}
"""What a record is made of: its words, its seal, and as a safetensors file the numbers."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Record:
    """What is kept of a party's files.

    Attributes:
        words: All that is no array.
        arrays: The rest, as they lie in memory.
    """

    words: Words
    arrays: AnyArrays


@dataclass(frozen=True)
class Kept:
    """A folder with files of identities and sketches for each part, sums for each model, records.

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
            name = part_name(party, keys)
        except FileNotFoundError:
            raise DataError(
                f"{path}: there is no such file, so that known rows cannot be told from new ones;"
                " restore the folder .fairpool from a backup"
            ) from None
        except (OSError, SafetensorError, KeyError, ValueError) as error:
            raise DataError(f"{path}: damaged ({error}); restore it from a backup") from None
        if name != part:
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

    def pins(self, part: str, agreement: str) -> dict[float, FloatArray]:
        """The noise of a part in files that were released with a model."""
        arrays = self.arrays(part, _noise_of(agreement)) or {}
        return {float.fromhex(eta): array for eta, array in arrays.items()}

    def write_pins(self, part: str, agreement: str, pins: Pins) -> None:
        """Keep the noise of a part in files, besides what is kept of it."""
        known = self.pins(part, agreement)
        if not pins.keys() <= known.keys():
            arrays = {eta.hex(): array for eta, array in {**known, **pins}.items()}
            self.write_arrays(part, _noise_of(agreement), arrays)

    def record(self, party: str) -> Record | None:
        """What is kept of a party's files; None: nothing, or it is not as it was written."""
        try:
            sealed = self._record(party).read_bytes()
        except OSError:
            return None
        content = memoryview(sealed)[:-SEAL_BYTES]
        seal = sealed[-SEAL_BYTES:]
        if not hmac.compare_digest(seal, self._seal_of_record(party, content)):
            return None
        arrays = _views(content)
        words = json.loads(arrays.pop(WORDS).tobytes())
        return Record(words=words, arrays=_as_they_lay(arrays, words.pop(TURNED)))

    def write_record(self, party: str, record: Record) -> None:
        """Keep what was seen of a party's files, instead of what was kept before."""
        make_private_folder(self.folder)
        arrays, turned = _with_order(record.arrays)
        text = json.dumps({**record.words, TURNED: turned}, ensure_ascii=True)
        words = np.frombuffer(text.encode(), np.uint8)
        content = safetensors.numpy.save({**arrays, WORDS: words})
        seal = self._seal_of_record(party, memoryview(content))
        write_atomically(self._record(party), content + seal)

    def erase_record(self, party: str) -> None:
        """Forget what is kept of a party's files."""
        self._record(party).unlink(missing_ok=True)

    def erase_other_records(self, parties: Collection[str]) -> None:
        """Forget what is kept of the files of all but some parties."""
        staying = {self._record(party) for party in parties}
        for path in self.folder.glob(f"*{RECORD}"):
            if path not in staying:
                path.unlink()

    def digest_of(self, part: str, agreement: str, arrays: Arrays) -> str:
        """What tells sums over the rows of a part from others, to the last bit."""
        return self._digest(arrays, part, agreement).hex()

    def _record(self, party: str) -> Path:
        return self.folder / f"{hashlib.sha256(party.encode()).hexdigest()[:32]}{RECORD}"

    def _seal_of_record(self, party: str, content: memoryview) -> bytes:
        seal = hmac.new(self.seal, f"record of {party}\n".encode(), hashlib.sha256)
        seal.update(content)
        return seal.digest()

    def has_sums(self, part: str) -> bool:
        """Whether anything is kept of a part but who its rows are."""
        return any(path.suffix != ".rows" for path in self.folder.glob(f"{part}.*"))

    def erase_sums(self, part: str) -> bool:
        """Forget all sums over the rows of a part, and their sketches; whether there were some.

        Those over the noise on their labels as well.
        """
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


def _noise_of(agreement: str) -> str:
    return f"{NOISE}{agreement[:10]}"


def _views(content: memoryview) -> dict[str, NDArray[Any]]:
    """The arrays of a safetensors file as they lie in it, uncopied: they may have a hundred MB.

    Of a file that is sealed, that is: it was written by this program, and nothing is checked.
    """
    length = int.from_bytes(content[:HEADER], "little")
    header = json.loads(bytes(content[HEADER : HEADER + length]))
    data = content[HEADER + length :]
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        array = np.frombuffer(data[begin:end], TYPES[entry["dtype"]])
        arrays[name] = array.reshape(entry["shape"])
    return arrays


def _with_order(arrays: AnyArrays) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Arrays whose rows lie side by side, and the names of those whose columns did.

    Sums over an array are rounded as it lies in memory.
    """
    stored = {}
    turned = []
    for name, array in arrays.items():
        if array.ndim == 2 and array.flags.f_contiguous and not array.flags.c_contiguous:
            turned.append(name)
            array = array.T
        stored[name] = np.ascontiguousarray(array)
    return stored, turned


def _as_they_lay(arrays: AnyArrays, turned: list[str]) -> dict[str, NDArray[Any]]:
    """What `_with_order` was given."""
    return {name: array.T if name in turned else array for name, array in arrays.items()}
