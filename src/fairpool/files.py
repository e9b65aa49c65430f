"""Files that are there as a whole or not at all."""

import os
import tempfile
from pathlib import Path

from fairpool.errors import RewardFileError


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that it is there as a whole or not at all."""
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise RewardFileError(f"{path}: cannot be written ({error.strerror})") from None
    try:
        os.chmod(temporary, 0o644)  # as an ordinary file would be: it is to be handed out
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except IsADirectoryError:
        raise RewardFileError(f"{path}: is a folder; give a file's name") from None
    finally:
        Path(temporary).unlink(missing_ok=True)
