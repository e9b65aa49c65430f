"""Files that are there as a whole or not at all."""

import os
import tempfile
from pathlib import Path

from fairpool.errors import RewardFileError


def write_atomically(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Write a file so that it is there as a whole or not at all.

    Args:
        path: The file, in a folder that exists.
        content: All of it.
        mode: Who may read it; by default everybody, as with an ordinary file.
    """
    # In the same folder, because a file moves in one step only within a file system.
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise RewardFileError(f"{path}: cannot be written ({error.strerror or error})") from None
    try:
        os.chmod(temporary, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            # Otherwise a power cut could leave the new name with half of the content.
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except IsADirectoryError:
        raise RewardFileError(f"{path}: is a folder; give a file's name") from None
    except OSError as error:
        raise RewardFileError(f"{path}: cannot be written ({error.strerror or error})") from None
    finally:
        Path(temporary).unlink(missing_ok=True)
