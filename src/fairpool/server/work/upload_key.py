"""The key of uploads: 32 bytes in a file for one user alone, which no backup of data needs."""

import re
import secrets
from contextlib import suppress

from fairpool.compute.files import make_private_folder
from fairpool.compute.private_files import private_content, write_new
from fairpool.errors import SecretError
from fairpool.server.settings import Settings

LENGTH = 32
FORMAT = "fairpool-uploads-key-1"
"""How its file begins."""

_LINE = re.compile(FORMAT.encode() + rb" ([0-9a-f]{64})\r?\n?")


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
        with suppress(FileExistsError):  # by a worker that began at the same moment
            write_new(path, f"{FORMAT} {secrets.token_bytes(LENGTH).hex()}\n".encode())
    found = _LINE.fullmatch(private_content(path, "the key of uploads"))
    if found is None:
        raise SecretError(
            f'{path}: holds no key of uploads, which is one line: "{FORMAT}", a blank and'
            f" {2 * LENGTH} digits (0-9, a-f); restore it from your copy"
        )
    return bytes.fromhex(found[1].decode())
