"""Results of long work, kept on disk until it is done, so that a run that was stopped can go on where it was."""

import hashlib
import io
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairpool.arrays import FloatArray
from fairpool.errors import DataError
from fairpool.files import write_atomically


@dataclass(frozen=True)
class Checkpoint:
    """A folder of arrays, each under the hash of all that it was computed from.

    What is asked for with other data or another model has another hash, and is not found.

    Attributes:
        folder: Where; made when something is kept, removed by `clear`.
        resume: Whether to use what is there already.
    """

    folder: Path
    resume: bool = True

    def load(self, digest: str, name: str) -> FloatArray | None:
        """The array kept under this hash and name, or None; a damaged file counts as none."""
        if not self.resume:
            return None
        try:
            found: FloatArray = np.load(self._path(digest, name), allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return None
        return found

    def keep(self, digest: str, name: str, array: FloatArray) -> None:
        """Keep an array."""
        path = self._path(digest, name)
        stream = io.BytesIO()
        np.save(stream, array, allow_pickle=False)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # all coalitions' values: not for every eye
            path.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise DataError(f"{path.parent}: cannot be made ({error.strerror}), to keep computed values in") from None
        write_atomically(path, stream.getvalue())

    def clear(self) -> None:
        """Forget everything."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, digest: str, name: str) -> Path:
        return self.folder / digest / f"{name}.npy"


def digest_of(*arrays: NDArray[np.generic]) -> str:
    """A hash of arrays: their shapes, types and every bit."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data if array.size else b"")
    return digest.hexdigest()
