"""The key of uploads: 32 bytes in a file for one user alone, which no backup of data needs."""

import secrets

from fairpool.compute.files import make_private_folder
from fairpool.compute.key_files import LENGTH, KeyFile
from fairpool.errors import SecretError
from fairpool.server.settings import Settings

_FILE = KeyFile(
    form="fairpool-uploads-key-1",
    what="key of uploads",
    why_kept="uploads are encrypted with it; use it",
)


def upload_key(settings: Settings) -> bytes:
    """The key of an installation; made at its first start.

    Args:
        settings: Where the key and the uploads are.
    """
    path = settings.key_file
    if not path.exists() and not path.is_symlink():
        if settings.uploads.is_dir() and any(settings.uploads.iterdir()):
            raise SecretError(
                f"{path}: the key of uploads is gone, and there are uploads in {settings.uploads};"
                " restore the key from your copy: without it nobody can read them"
            )
        make_private_folder(path.parent)
        try:
            _FILE.write(path, secrets.token_bytes(LENGTH))
        except SecretError:
            if not path.exists():  # otherwise a worker began at the same moment, and wrote it
                raise
    return _FILE.read(path)
