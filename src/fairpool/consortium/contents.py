"""What was valued is what was looked at: a file that changes in between stops the run.

Every reading must find the SHA-256 and the number of rows that the first one found (`Content`).

The images that a table names are part of what it holds: every reading hashes them as well.

Of a CSV file the bytes that are hashed are the very bytes that become rows, so that nothing goes
unnoticed. A Parquet file is read here and there, by several tasks or machines, and hashed once per
reading, from the file that the first task has open. A file that was replaced before a reading is
noticed; one that is replaced while a task has it open does no harm, since the task goes on with the
old one. For changes between tasks, or in place, every task tells which file it read, and when that
was last changed (`FileState`). What remains unnoticed: a file changed in place within the few
milliseconds that the file system's clock takes to tick, or with its time set back; and, on a
cluster, another machine's copy that differs from the first task's, and has as many rows.
"""

import hashlib
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from fairpool.errors import DataError

HASH_BYTES = 256
"""Of the hash of a row's image. Hashes are added up, so that it does not matter who reads which
rows; of fewer bytes, somebody could find other images with the same sum."""


@dataclass(frozen=True, kw_only=True)
class Content:
    """What a reading found in a whole file.

    Attributes:
        sha256: The hash of its bytes.
        rows: How many rows it has, complete or not.
        images: A hash of the images that it names; empty: it names none.
    """

    sha256: str
    rows: int
    images: str = ""


class FileState(NamedTuple):
    """Which file a path stood for on some machine, and when that was last changed."""

    machine: str
    inode: int
    size: int
    nanoseconds: int

    @classmethod
    def of(cls, stream: pa.NativeFile, path: Path) -> "FileState":
        """The state of an open file.

        Args:
            stream: The file.
            path: Its path, for Arrow before 25, whose files do not tell their descriptor: what
                is there then is what was opened, unless it is exchanged twice meanwhile.
        """
        try:
            status = os.fstat(stream.fileno())
        except AttributeError:
            status = path.stat()
        return cls(
            machine=platform.node(),
            inode=status.st_ino,
            size=status.st_size,
            nanoseconds=status.st_mtime_ns,
        )


@dataclass(frozen=True, kw_only=True)
class Passage:
    """What one task read of a file.

    Attributes:
        file: The file.
        rows: How many rows were read.
        sha256: The hash of the whole file; None where another task sees to it.
        states: Of a Parquet file, its state when it was opened, and when all was read.
        images: The sum of the hashes of images that these rows name: see `image_files`.
    """

    file: Path
    rows: int
    sha256: str | None
    states: frozenset[FileState]
    images: int = 0


def contents_of(owner: str, passages: Iterable[Passage]) -> dict[Path, Content]:
    """What each file holds, from all that was read of it.

    Args:
        owner: Whose files they are, for the error where one was changed between two tasks.
        passages: What the tasks read; of a file with faults some may be lacking, and then the file
            may be lacking, too.
    """
    by_file: dict[Path, list[Passage]] = {}
    for passage in passages:
        by_file.setdefault(passage.file, []).append(passage)
    _refuse(owner, [file for file, parts in by_file.items() if _changed_meanwhile(parts)])
    contents = {}
    for file, parts in by_file.items():
        for part in parts:
            if part.sha256 is not None:
                rows = sum(p.rows for p in parts)
                images = _hash_of_images(parts)
                contents[file] = Content(sha256=part.sha256, rows=rows, images=images)
    return contents


def _hash_of_images(parts: Sequence[Passage]) -> str:
    digest = sum(part.images for part in parts) % (1 << (8 * HASH_BYTES))
    if not digest:
        return ""
    return hashlib.sha256(digest.to_bytes(HASH_BYTES)).hexdigest()


def _changed_meanwhile(parts: Sequence[Passage]) -> bool:
    states: set[FileState] = set()
    for part in parts:
        states |= part.states
    # Each machine may have a copy of its own, but only one.
    return len(states) > len({state.machine for state in states})


def refuse_changed(
    owner: str, passages: Iterable[Passage], expected: Mapping[Path, Content]
) -> None:
    """Refuse to go on where a file is not what was looked at: results would be of other data.

    Args:
        owner: Whose files they are.
        passages: What was read now.
        expected: What was found when the files were looked at.
    """
    changed: list[Path | str] = []
    for file, content in contents_of(owner, passages).items():
        if replace(content, images=expected[file].images) != expected[file]:
            changed.append(file)
        elif content != expected[file]:
            changed.append(f"an image that {file} names")
    _refuse(owner, changed)


def _refuse(owner: str, changed: Sequence[Path | str]) -> None:
    if changed:
        raise DataError(
            *(
                f"{owner}: {file} was changed while it was read; leave it alone and run again"
                for file in changed
            )
        )
