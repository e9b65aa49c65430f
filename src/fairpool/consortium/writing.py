"""Files put in their place all at once or not at all."""

import ctypes
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from fairpool.errors import DataError

AT_FDCWD, RENAME_EXCHANGE = -100, 2
"""Of Linux's renameat2: paths are relative to the working folder; swap the two."""


def refuse_output(out: Path, *, force: bool = False) -> None:
    """Refuse a place that cannot be written to, or that holds something, before computing.

    Args:
        out: The folder to write.
        force: Whether it may be replaced: even then only if a run of ours wrote it.
    """
    above = next(folder for folder in out.absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise DataError(
            f"{out}: cannot be written, as {above} is no folder to write in; give another --out"
        )
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not force:
        raise DataError(f"{out} exists already; give another --out, or --force to replace it")
    if not (out / "operator" / "result.json").is_file():
        raise DataError(
            f"{out} exists and is not the output of a run; --force replaces only that; give another"
            " --out"
        )


def write(files: Mapping[str, bytes], out: Path, *, force: bool = False) -> None:
    """Write files to a folder beside `out`, then put it in its place in one step.

    Args:
        files: What to write, by path relative to `out`.
        out: The folder; private to this user.
        force: Whether to replace the output of an earlier run.
    """
    out = Path(out)
    refuse_output(out, force=force)
    partial = out.parent / f".{out.name}.partial-{os.getpid()}"
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(out)
        partial.mkdir(mode=0o700)
        for path, content in files.items():
            _write_file(partial / path, content)
        _put_in_place(partial, out)
    except OSError as error:
        raise DataError(
            f"{out}: cannot be written ({error.strerror or error}); give another --out"
        ) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _write_file(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        # Else a power failure could leave empty files in a folder that is already in its place.
        os.fsync(file.fileno())


def _put_in_place(partial: Path, out: Path) -> None:
    """Move `partial` to `out`; what is there is swapped for it in one step, where that can be."""
    if not out.exists():
        os.rename(partial, out)
        return
    if not any(out.iterdir()):
        out.rmdir()
        os.rename(partial, out)
        return
    if not _exchange(partial, out):
        old = out.parent / f".{out.name}.old-{os.getpid()}"
        os.rename(out, old)
        os.rename(partial, out)
        shutil.rmtree(old, ignore_errors=True)


def _remove_leftovers(out: Path) -> None:
    """Remove what killed runs left beside `out`: folders that name a process which is no more."""
    for leftover in out.parent.glob(f".{out.name}.partial-*"):
        process = leftover.name.rpartition("-")[2]
        if process.isdigit() and not _is_running(int(process)):
            shutil.rmtree(leftover, ignore_errors=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return process != os.getpid()


def _exchange(a: Path, b: Path) -> bool:
    """Swap two folders atomically (Linux's renameat2); False where that cannot be done."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    return bool(rename(AT_FDCWD, os.fsencode(a), AT_FDCWD, os.fsencode(b), RENAME_EXCHANGE) == 0)
