"""The images of tables: files that cells name, or bytes that they hold, opened as rows go by.

A cell names a file in the table's own folder or below: with any other path, a party that sends
tables could have the operator's own files opened. Files are hashed, row by row, so that the same
images must be found by every reading.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PureWindowsPath
from typing import Any

import pyarrow as pa

from fairpool.compute.files import NotPlainError, plain_content
from fairpool.consortium.contents import HASH_BYTES
from fairpool.consortium.tables import Batch
from fairpool.encoders.pictures import (
    ANY_IMAGE,
    ImageLimits,
    image_problem,
    refuse_long,
)
from fairpool.errors import DataError, shown

IMAGE_ROWS = 8
"""So many rows are in a batch, since images are large."""

NO_IMAGE = b""
"""Stands for an image that cannot be used, where that was noted."""

NoteImage = Callable[[Batch, int, str, str], None]
"""Takes what is wrong: the batch, the row in it (from 0), the column, and the problem in words."""


@dataclass(kw_only=True)
class ImageFiles:
    """Images on their way; not frozen, since it hashes what goes by.

    Attributes:
        columns: Those with images.
        limits: What an image may be at most; None: all were looked at before, and are not decoded.
        digest: The sum of the rows' hashes so far, of images in files of their own.
    """

    columns: Sequence[str] = ()
    limits: ImageLimits | None = None
    digest: int = 0

    def opened(self, batches: Iterable[Batch], note: NoteImage) -> Iterator[Batch]:
        """Batches with the bytes of images in place of their names.

        Args:
            batches: As tables have them.
            note: Takes what is wrong; where it comes back, `NO_IMAGE` stands for the image.
        """
        for batch in batches:
            for part in batch.parts(IMAGE_ROWS):
                table = part.columns
                for place, name in enumerate(table.column_names):
                    if name in self.columns:
                        contents = pa.array(self._contents(part, name, note), pa.large_binary())
                        table = table.set_column(place, name, contents)
                yield replace(part, columns=table)

    def _contents(self, batch: Batch, column: str, note: NoteImage) -> Iterator[bytes | None]:
        numbers = batch.row_numbers.tolist()
        folder = batch.file.parent
        for row, value in enumerate(batch.columns[column].to_pylist()):
            image = _Image.of(value)
            if image is None:
                yield None
                continue
            try:
                content = self._opened(image, folder)
            except DataError as error:
                note(batch, row, column, f"{image.shown}: {error}")
                content = NO_IMAGE
            if image.content is None:
                self._count(f"{column}\0{numbers[row]}\0{image.name}\0", content)
            yield content

    def _opened(self, image: "_Image", folder: Path) -> bytes:
        limits = self.limits or ANY_IMAGE
        content = image.content
        if content is None:
            content = read_image(image.name, folder, limits)
        if self.limits is not None:
            problem = image_problem(content, limits)
            if problem is not None:
                raise DataError(problem)
        return content

    def _count(self, where: str, content: bytes) -> None:
        row = hashlib.shake_256(where.encode() + hashlib.sha256(content).digest())
        more = int.from_bytes(row.digest(HASH_BYTES))
        self.digest = (self.digest + more) % (1 << (8 * HASH_BYTES))


@dataclass(frozen=True, kw_only=True)
class _Image:
    """What a cell says of an image: its bytes, or where they are."""

    name: str = ""
    content: bytes | None = None

    @classmethod
    def of(cls, value: Any) -> "_Image | None":
        """The image of a cell; None: there is none."""
        name = value
        content = value
        if isinstance(value, dict):  # as data-set tools write it
            name = value.get("path")
            content = value.get("bytes")
        if isinstance(content, bytes) and content:
            return cls(content=content)
        if isinstance(name, str) and name.strip():
            return cls(name=name)
        return None

    @property
    def shown(self) -> str:
        """As errors name it."""
        if self.content is not None:
            return f"an image of {len(self.content)} bytes"
        return shown(self.name)


def read_image(name: str, folder: Path, limits: ImageLimits) -> bytes:
    """The content of a file that a table names.

    Args:
        name: As the table has it; folders may be separated as on Windows.
        folder: The table's own.
        limits: What an image may be at most.

    Raises:
        DataError: There is no such file, or it may not be opened.
    """
    path = PureWindowsPath(name)
    if path.anchor or ".." in path.parts:
        raise DataError("a path that leads out of the table's folder; name a file in it")
    home = folder.resolve()
    try:
        file = home.joinpath(*path.parts).resolve()
        content = None
        if file.is_relative_to(home):
            content = plain_content(file, limits.size)
    except NotPlainError:
        raise DataError("not a plain file; name an image") from None
    except FileNotFoundError:
        raise DataError("there is no such file; names are relative to the table's folder") from None
    except (OSError, ValueError, RuntimeError):  # such as names that no file can have
        raise DataError("cannot be opened; correct the name, or make it readable") from None
    if content is None:
        raise DataError("a link out of the table's folder; put the file itself there")
    if not content:
        raise DataError("an empty file; send it again")
    refuse_long(content, limits)
    return content
