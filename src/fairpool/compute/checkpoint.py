"""Results of long work, kept on disk until it is done.

A run that was stopped can then go on where it was.
"""

import hashlib
import io
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairpool.__about__ import __version__
from fairpool.compute.files import write_atomically
from fairpool.errors import FairpoolError
from fairpool.notes import Note
from fairpool.tables.arrays import FloatArray


@dataclass(eq=False)
class Checkpoint:
    """A folder of arrays, each under the hash of all that it was computed from.

    Other data, another model or another version of the library give another hash, so that an array
    is never taken for one that it is not.

    A checkpoint is not frozen: it remembers which hashes it has kept or loaded, so that `clear`
    removes its own arrays and no others, and whether it has already said that it cannot write.

    Attributes:
        folder: Where the arrays are; it is made when the first one is kept.
        resume: Whether to use the arrays that are there already.
    """

    folder: Path
    resume: bool = True
    _used: set[str] = field(default_factory=set, init=False, repr=False)
    _said_that_it_cannot_write: bool = field(default=False, init=False, repr=False)

    def load(self, digest: str, name: str) -> FloatArray | None:
        """The array kept under this hash and name, or None; a damaged file counts as none."""
        if not self.resume:
            return None
        try:
            array: FloatArray = np.load(self._path(digest, name), allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return None
        self._used.add(digest)  # even of a damaged one, which `clear` removes as well
        if array.ndim != 1 or not np.isfinite(array).all():
            return None
        return array

    def keep(self, digest: str, name: str, array: FloatArray) -> tuple[Note, ...]:
        """Keep an array; where that cannot be done, note it the first time and go on."""
        path = self._path(digest, name)
        stream = io.BytesIO()
        np.save(stream, array, allow_pickle=False)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.folder.chmod(0o700)  # all coalitions' values: not for every eye
            path.parent.mkdir(exist_ok=True)
            write_atomically(path, stream.getvalue(), mode=0o600)
            self._used.add(digest)
        except (OSError, FairpoolError) as error:
            # A full disk fails for every array: one note is enough.
            if self._said_that_it_cannot_write:
                return ()
            self._said_that_it_cannot_write = True
            text = (
                f"values cannot be kept in {self.folder} ({error}); a stopped run would begin anew"
            )
            return (Note(code="not kept", text=text),)
        return ()

    @property
    def used(self) -> bool:
        """Whether something was kept here, or taken from here."""
        return bool(self._used)

    def clear(self) -> None:
        """Forget what was kept or used by this one; what others keep in the same folder stays."""
        own_folders = [self.folder / digest for digest in self._used]
        for folder in own_folders:
            for file in folder.glob("*"):  # what a killed process left half-written, too
                file.unlink(missing_ok=True)
        for folder in (*own_folders, self.folder):
            with suppress(OSError):  # not there, or not empty: somebody else's
                folder.rmdir()

    def _path(self, digest: str, name: str) -> Path:
        return self.folder / digest / f"{name}.npy"


def digest_of(*arrays: NDArray[np.generic]) -> str:
    """A hash of arrays, their shapes, types and every bit, and of this version of the library."""
    digest = hashlib.blake2b(__version__.encode(), digest_size=16)
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        if array.size:  # the memory of an empty array cannot be viewed
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
