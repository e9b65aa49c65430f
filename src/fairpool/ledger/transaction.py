"""A release in three steps, so that a run which is killed in between leaves no half of one.

1. `begin` records the intent: which folder, and which files with which hashes will be in it.
2. The files are written beside their place, and the folder is put there in one step.
3. `finish` records the release.

After a kill, the next run calls `recover`, which looks at what is there: the folder in its place
with all its files means that parties may have them, so the release is recorded; otherwise what is
left of it is removed, and the ledger says that nothing was released. Runs must exclude each other
(`fairpool.ledger.lock.exclusive`).
"""

import glob
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from fairpool.compute.files import sync_folder
from fairpool.errors import LedgerError, shown
from fairpool.ledger.ledger import Ledger
from fairpool.ledger.opening import reason_of, sha256_on_disk
from fairpool.ledger.record import Record, is_hash

INTENT = "intent"
RELEASE = "release"
UNDONE = "undone"

KILLED = "the run was killed before its folder was in place"


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """What `recover` did.

    Attributes:
        intent: What a killed run had begun.
        record: The release or the undoing that is recorded now.
        finished: Whether it is the release.
        removed: The files that were removed, relative to the root.
        foreign: Files in the same folders that the intent does not know, left as they are.
    """

    intent: Record
    record: Record
    finished: bool
    removed: tuple[str, ...]
    foreign: tuple[str, ...]


def begin(ledger: Ledger, body: Mapping[str, Any]) -> Record:
    """Record what is about to be put in place.

    Args:
        ledger: Where.
        body: At least `folder`, the path of the folder relative to the root, and `files`, the
            SHA-256 of every file in it by its path relative to that folder.
    """
    _check_paths(body)
    waiting = unfinished(ledger)
    if waiting is not None:
        raise LedgerError(
            f"{ledger.path}: record {waiting.number} was begun and neither finished nor undone;"
            " recover it first"
        )
    return ledger.append(INTENT, body)


def finish(ledger: Ledger, intent: Record, body: Mapping[str, Any]) -> Record:
    """Record that the intent's folder is in its place; a second time is refused.

    Args:
        ledger: Where.
        intent: What `begin` returned.
        body: What to record about the release.
    """
    _refuse_settled(ledger, intent)
    return ledger.append(RELEASE, {**body, "intent": intent.hash})


def undo(ledger: Ledger, intent: Record, why: str) -> Record:
    """Record that nothing of an intent was released.

    Args:
        ledger: Where.
        intent: What `begin` returned.
        why: The reason, for people.
    """
    _refuse_settled(ledger, intent)
    summary = f"{intent.body['folder']} was not released: {why}"
    return ledger.append(UNDONE, {"intent": intent.hash, "why": why, "summary": summary})


def unfinished(ledger: Ledger) -> Record | None:
    """The intent that was neither released nor undone, if there is one."""
    waiting: dict[str, Record] = {}
    for record in ledger.records:
        if record.kind == INTENT:
            waiting[record.hash] = record
        elif record.kind in (RELEASE, UNDONE):
            waiting.pop(str(record.body.get("intent")), None)
    return next(iter(waiting.values()), None)


def recover(ledger: Ledger, root: Path) -> Recovery | None:
    """Finish or undo what a killed run has left; None where nothing is left.

    Args:
        ledger: Whose intent it is.
        root: The folder that the intent's folder is relative to.
    """
    intent = unfinished(ledger)
    if intent is None:
        return None
    _check_paths(intent.body)
    try:
        return _recover(ledger, intent, Path(root))
    except OSError as error:
        raise LedgerError(
            f"{error.filename or root}: what a killed run has left cannot be put right:"
            f" {reason_of(error)}"
        ) from None


def _recover(ledger: Ledger, intent: Record, root: Path) -> Recovery:
    folder = root / intent.body["folder"]
    hashes: dict[str, str] = intent.body["files"]
    if _stands(folder, hashes):
        foreign = _foreign(folder, hashes, root=root)
        record = finish(ledger, intent, intent.body)
        return Recovery(intent=intent, record=record, finished=True, removed=(), foreign=foreign)
    removed: list[str] = []
    foreign_left: list[str] = []
    for leftover, is_partial in _leftovers(folder):
        removed += _remove(leftover, hashes, root=root, is_partial=is_partial)
        foreign_left += _foreign(leftover, {}, root=root)
    sync_folder(_nearest(folder.parent))
    record = undo(ledger, intent, KILLED)
    return Recovery(
        intent=intent,
        record=record,
        finished=False,
        removed=tuple(removed),
        foreign=tuple(foreign_left),
    )


def _stands(folder: Path, hashes: Mapping[str, str]) -> bool:
    """Whether all files are in their place; if so, they are on the disk as well.

    The run may have been killed before all of that was written out, and a release must not be
    recorded that a power failure could still take away.
    """
    if folder.is_symlink() or not folder.is_dir():
        return False
    for path, digest in hashes.items():
        if _leads_through_link(folder, path) or sha256_on_disk(folder / path) != digest:
            return False
    for place, _, _ in os.walk(folder):
        sync_folder(Path(place))
    sync_folder(folder.parent)
    return True


def _leftovers(folder: Path) -> Iterator[tuple[Path, bool]]:
    """The folder itself, and those beside it in which it was being written."""
    partials = sorted(folder.parent.glob(f".{glob.escape(folder.name)}.partial-*"))
    for place in (folder, *partials):
        if place.is_dir() and not place.is_symlink():
            yield place, place != folder


def _remove(folder: Path, hashes: Mapping[str, str], *, root: Path, is_partial: bool) -> list[str]:
    """Remove the intent's files, and folders that are empty then.

    In the folder itself only files with the right hash are the intent's: it was put there as a
    whole, so another one is somebody else's. In one that was being written, a file may be half
    written.
    """
    removed = []
    for path, digest in hashes.items():
        file = folder / path
        if _leads_through_link(folder, path) or not file.is_file():
            continue
        if is_partial or sha256_on_disk(file) == digest:
            file.unlink()
            removed.append(file.relative_to(root).as_posix())
    for place, _, _ in os.walk(folder, topdown=False):
        if not any(Path(place).iterdir()):
            Path(place).rmdir()
    return removed


def _foreign(folder: Path, hashes: Mapping[str, str], *, root: Path) -> tuple[str, ...]:
    """Files in a folder that are not among these."""
    found = []
    for place, folders, files in os.walk(folder):
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        for name in files + links:
            path = Path(place) / name
            if path.relative_to(folder).as_posix() not in hashes:
                found.append(path.relative_to(root).as_posix())
    return tuple(sorted(found))


def _nearest(folder: Path) -> Path:
    """The folder, or the first one above it that exists."""
    while not folder.is_dir():
        folder = folder.parent
    return folder


def _leads_through_link(folder: Path, path: str) -> bool:
    """Whether anything on the way from the folder, the end included, is a link."""
    place = folder
    for part in PurePosixPath(path).parts:
        place = place / part
        if place.is_symlink():
            return True
    return False


def _refuse_settled(ledger: Ledger, intent: Record) -> None:
    waiting = unfinished(ledger)
    if waiting is None or waiting.hash != intent.hash:
        raise LedgerError(
            f"{ledger.path}: record {intent.number} is no intent that waits to be finished; a"
            " release is recorded once"
        )


def _check_paths(body: Mapping[str, Any]) -> None:
    """Refuse an intent that does not say what it will put in place, or that leads elsewhere."""
    for name in ("folder", "files"):
        if name not in body:
            raise LedgerError(f"an intent needs `{name}`")
    files = body["files"]
    if not isinstance(files, Mapping) or not files:
        raise LedgerError(f"files {shown(files)} are not hashes by path")
    for path in (body["folder"], *files):
        _check_path(path)
    for path, digest in files.items():
        if not is_hash(digest):
            raise LedgerError(f"file {shown(path)}: {shown(digest)} is not a SHA-256")


def _check_path(path: object) -> None:
    if isinstance(path, str) and "\\" not in path and "\0" not in path and not Path(path).drive:
        parts = path.split("/")
        if all(part not in ("", ".", "..") for part in parts):
            return
    raise LedgerError(f"path {shown(path)} is not one below a folder, such as rounds/0001")
