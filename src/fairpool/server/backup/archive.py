"""The file of a backup: a plain zip archive whose manifest has the SHA-256 of everything in it."""

import hashlib
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from fairpool.errors import DataError, shown

FORM = "fairpool-backup-1"
MANIFEST = "manifest.json"
ROWS = "database.jsonl"
KEY = "uploads.key"
UPLOADS = "uploads/"
COLLABORATIONS = "collaborations/"

PIECE = 1 << 20
LONGEST_MANIFEST = 1 << 28

_UPLOAD = re.compile(r"uploads/[A-Za-z0-9_-]{1,32}")
_FILE = re.compile(r"collaborations/[A-Za-z0-9_-]{1,32}(/[^/\\\0]{1,255})+")


class Content(BaseModel):
    """What a file of the archive must be."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    sha256: str
    bytes: int


class Manifest(BaseModel):
    """What a backup is, and what is in it.

    Attributes:
        form: `FORM`.
        made: When, in UTC.
        program: Which version took it.
        revision: Up to which migration the tables are.
        key_mark: By which the key of uploads is known to be the right one, and not found out.
        files: All that is in it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    form: str
    made: str
    program: str
    revision: str
    key_mark: str
    files: dict[str, Content]


@dataclass(frozen=True, kw_only=True)
class Writer:
    """An archive that is being written; `files` grows."""

    archive: zipfile.ZipFile
    files: dict[str, Content]

    def add(self, name: str, pieces: Iterable[bytes]) -> None:
        """Add a file.

        Args:
            name: In the archive.
            pieces: Its content.
        """
        digest = hashlib.sha256()
        size = 0
        information = zipfile.ZipInfo(name)
        information.external_attr = 0o600 << 16
        with self.archive.open(information, "w", force_zip64=True) as file:
            for piece in pieces:
                digest.update(piece)
                size += len(piece)
                file.write(piece)
        self.files[name] = Content(sha256=digest.hexdigest(), bytes=size)

    def finish(self, **what: Any) -> None:
        """Write the manifest.

        Args:
            **what: Of `Manifest`, but for the files.
        """
        manifest = Manifest(form=FORM, files=self.files, **what)
        self.archive.writestr(MANIFEST, manifest.model_dump_json(indent=1))


def pieces_of(path: Path) -> Iterator[bytes]:
    """A file, piece by piece."""
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


@dataclass(frozen=True, kw_only=True)
class Reader:
    """An archive that somebody gives, of which every byte is compared with the manifest."""

    path: Path
    archive: zipfile.ZipFile
    manifest: Manifest

    def pieces(self, name: str) -> Iterator[bytes]:
        """A file of it; that it is the right one is known after the last piece.

        Args:
            name: In the archive.
        """
        expected = self.manifest.files[name]
        digest = hashlib.sha256()
        size = 0
        try:
            with self.archive.open(name) as file:
                while piece := file.read(PIECE):
                    digest.update(piece)
                    size += len(piece)
                    yield piece
        except (zipfile.BadZipFile, OSError, EOFError):
            raise damaged(self.path, name) from None
        if (digest.hexdigest(), size) != (expected.sha256, expected.bytes):
            raise damaged(self.path, name)

    def lines(self) -> Iterator[bytes]:
        """The rows of the database."""
        rest = b""
        for piece in self.pieces(ROWS):
            *whole, rest = (rest + piece).split(b"\n")
            yield from whole

    def verify(self) -> None:
        """Look at all of it, before anything is made of it."""
        for name in self.manifest.files:
            for _ in self.pieces(name):
                pass


@contextmanager
def opened_archive(path: Path) -> Iterator[Reader]:
    """A backup to be read.

    Args:
        path: The file.
    """
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file; give the file of a backup") from None
    except (zipfile.BadZipFile, OSError) as error:
        raise DataError(
            f"{path}: is no backup that is there as a whole ({error}); give a file that `fairpool"
            " server backup` wrote"
        ) from None
    with archive:
        yield Reader(path=path, archive=archive, manifest=_manifest(path, archive))


def _manifest(path: Path, archive: zipfile.ZipFile) -> Manifest:
    try:
        if archive.getinfo(MANIFEST).file_size > LONGEST_MANIFEST:
            raise damaged(path, MANIFEST)
        manifest = Manifest.model_validate(json.loads(archive.read(MANIFEST)))
    except (KeyError, ValueError, ValidationError, zipfile.BadZipFile, RecursionError):
        raise DataError(
            f"{path}: has no manifest of a backup that can be read; give a file that `fairpool"
            " server backup` wrote, from another copy"
        ) from None
    if manifest.form != FORM:
        raise DataError(
            f"{path}: is of the form {shown(manifest.form)}, and this program reads {FORM};"
            " restore it with the version of fairpool that wrote it"
        )
    entries = archive.infolist()
    names = [entry.filename for entry in entries if entry.filename != MANIFEST]
    if sorted(names) != sorted(manifest.files) or ROWS not in manifest.files:
        raise DataError(
            f"{path}: has other files than its manifest names; take another copy of the backup"
        )
    for entry in entries:
        is_plain = entry.compress_type == zipfile.ZIP_STORED and entry.flag_bits & 1 == 0
        if not is_plain or not _is_fit(entry.filename):
            raise DataError(
                f"{path}: {shown(entry.filename)} is nothing that a backup has; give a file that"
                " `fairpool server backup` wrote"
            )
    return manifest


def _is_fit(name: str) -> bool:
    """Whether a name stays in the folder that it is written to."""
    if name in (MANIFEST, ROWS, KEY) or _UPLOAD.fullmatch(name):
        return True
    return bool(_FILE.fullmatch(name)) and not {".", ".."} & {*name.split("/")}


def damaged(path: Path, name: str) -> DataError:
    """What is said of a backup of which something is not as it was."""
    return DataError(
        f"{path}: {shown(name)} is not what was backed up; the file was damaged or changed: take"
        " another copy, or an older backup"
    )
