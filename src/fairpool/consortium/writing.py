"""Files put in their place all at once or not at all, for this user alone.

The values of all groups are the operator's, and what is in a party's folder is that
party's. So everything is private as it is made, whatever the umask, until it is handed out.
"""

import glob
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from fairpool.compute.files import PRIVATE_FOLDER, create, make_private_folder
from fairpool.errors import DataError


def refuse_output(out: Path) -> None:
    """Refuse a place that cannot be written to, or that holds something, before computing."""
    refuse_link(out)
    above = next(folder for folder in out.absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise DataError(
            f"{out}: cannot be written, as {above} is no folder to write in; give another place"
        )
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    raise DataError(
        f"{out} exists already, and is never replaced; remove it, or give another place"
    )


def refuse_link(out: Path) -> None:
    """Refuse a link: what is written in its place would leave what it stands for as it is.

    Nor is it followed, since whoever may write beside it could send the output anywhere.
    """
    if out.is_symlink():
        raise DataError(
            f"{out} is a link to {os.readlink(out)}, and is not followed; remove it, or give that"
            " folder itself"
        )


def write(files: Mapping[str, bytes], out: Path) -> None:
    """Write files to a folder beside `out`, then put it in its place in one step.

    Args:
        files: What to write, by path relative to `out`.
        out: The folder, which is new; it and all in it are private to this user.
    """
    out = Path(out)
    refuse_output(out)
    partial = out.parent / f".{out.name}.partial-{os.getpid()}"
    try:
        make_private_folder(out.parent)
        _remove_leftovers(out)
        partial.mkdir(mode=PRIVATE_FOLDER)
        for path, content in files.items():
            _write_file(partial / path, content)
        _put_in_place(partial, out)
    except OSError as error:
        raise DataError(
            f"{out}: cannot be written ({error.strerror or error}); give another place"
        ) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _write_file(path: Path, content: bytes) -> None:
    make_private_folder(path.parent)
    with create(path) as file:
        file.write(content)
        file.flush()
        # Else a power failure could leave empty files in a folder that is already in its place.
        os.fsync(file.fileno())


def _put_in_place(partial: Path, out: Path) -> None:
    """Move `partial` to `out`, where nothing is, or an empty folder."""
    if out.exists():
        out.rmdir()
    os.rename(partial, out)


def _remove_leftovers(out: Path) -> None:
    """Remove what killed runs left beside `out`: folders that name a process which is no more."""
    for leftover in out.parent.glob(f".{glob.escape(out.name)}.partial-*"):
        process = leftover.name.rpartition("-")[2]
        if process.isascii() and process.isdecimal() and not _is_running(int(process)):
            shutil.rmtree(leftover, ignore_errors=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):  # no process can have so large a number
        return False
    except PermissionError:
        return True
    return process != os.getpid()
