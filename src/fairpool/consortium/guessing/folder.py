"""Whose tables a folder has: one file or subfolder per party, and perhaps test and public data."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fairpool.consortium.configuration import FILE_NAME, LONGEST_NAME
from fairpool.consortium.tables import SUFFIXES, is_table
from fairpool.errors import DataError, is_printable, shown

SECTION = re.compile(r"(?P<section>test|public)([\W_\d].*)?", re.IGNORECASE)
"""Files and folders of such names are no party's."""


@dataclass(frozen=True, kw_only=True)
class FoundSource:
    """Files of one owner.

    Attributes:
        name: The party's name; "test" or "public" for these.
        data: As the configuration names them, relative to where it is.
        files: All of them, sorted.
        is_party: Whether they are a party's.
    """

    name: str
    data: str
    files: tuple[Path, ...]
    is_party: bool


@dataclass(frozen=True)
class FoundFolder:
    """What a folder has: sources, the parties first, and names that are not used."""

    sources: tuple[FoundSource, ...]
    unused: tuple[str, ...]


def find_sources(folder: Path, out: Path) -> FoundFolder:
    """The sources in a folder.

    Args:
        folder: Where tables are, one file or subfolder per party.
        out: Where the configuration will be; its paths are relative to that.
    """
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        why = os.strerror(error.errno or 0)
        raise DataError(
            f"{folder}: cannot be looked at ({why}); give a folder that has one file or subfolder"
            " per party"
        ) from None
    sources: list[FoundSource] = []
    unused = []
    for entry in entries:
        # What begins with a point is hidden, and an earlier configuration is no table.
        if entry.name.startswith(".") or entry.name == FILE_NAME:
            continue
        if not is_printable(entry.name):
            raise DataError(
                f"the file name {shown(entry.name)} has a sign that cannot be shown; rename it"
            )
        files = _tables_of(entry)
        if files:
            sources.append(_source_of(entry, files, out=out, taken=sources))
        else:
            unused.append(entry.name)
    parties = [source for source in sources if source.is_party]
    if not parties:
        raise DataError(
            f"{folder}: no table of a party ({', '.join(SUFFIXES)}); give a folder that has one"
            " file or subfolder per party"
        )
    others = [source for source in sources if not source.is_party]
    return FoundFolder((*parties, *others), tuple(unused))


def _tables_of(entry: Path) -> list[Path]:
    """The tables in a subfolder, or the entry itself if it is one."""
    if not entry.is_dir():
        return [entry] if _is_table(entry) else []
    return sorted(file for file in entry.iterdir() if _is_table(file))


def _is_table(file: Path) -> bool:
    # What begins so only says that Excel has another file open.
    is_hidden = file.name.startswith((".", "~$"))
    return file.is_file() and is_table(file) and not is_hidden


def _source_of(
    entry: Path, files: Sequence[Path], *, out: Path, taken: Sequence[FoundSource]
) -> FoundSource:
    name = entry.name
    if not entry.is_dir():
        for ending in sorted(SUFFIXES, key=len, reverse=True):
            if name.lower().endswith(ending):
                name = name[: -len(ending)]
                break
    data = Path(os.path.relpath(entry, out)).as_posix()
    sections = {source.name for source in taken if not source.is_party}
    section = SECTION.fullmatch(name)
    if section is not None and section["section"].lower() not in sections:
        return FoundSource(
            name=section["section"].lower(), data=data, files=tuple(files), is_party=False
        )
    parties = [source.name for source in taken if source.is_party]
    return FoundSource(
        name=_party_name(name, parties), data=data, files=tuple(files), is_party=True
    )


def _party_name(name: str, taken: Sequence[str]) -> str:
    """A name that no other party has, of a length that is allowed."""
    plain = " ".join(name.split())[: LONGEST_NAME - 4] or "party"
    known = {other.casefold() for other in taken}
    unique = plain
    number = 2
    while unique.casefold() in known:
        unique = f"{plain} {number}"
        number += 1
    return unique
