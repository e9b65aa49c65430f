"""A person's own folder, beside every collaboration: where its key is."""

import os
from pathlib import Path

import platformdirs

from fairpool.errors import SecretError
from fairpool.signatures import SigningKey

HOME_VARIABLE = "FAIRPOOL_HOME"
"""The environment variable that names another folder."""

KEY_FILE = "signing.key"
"""The private half of the person's key."""


def home_folder() -> Path:
    """The folder of whoever runs this; it may not be there yet."""
    named = os.environ.get(HOME_VARIABLE)
    if named:
        return Path(named)
    return platformdirs.user_data_path("fairpool", appauthor=False)


def key_path() -> Path:
    """Where the person's key is, unless it was put elsewhere."""
    return home_folder() / KEY_FILE


def make_key(path: Path) -> SigningKey:
    """A new key in a new file, for this user alone; a key that is there already is an error.

    Args:
        path: The file; its folder is made, for this user alone, where it is lacking.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SecretError(
            f"{path.parent}: the folder for the key cannot be made ({error.strerror or error});"
            " give a path in a folder that you can write to"
        ) from None
    key = SigningKey.fresh()
    key.write(path)
    return key


def read_key(path: Path) -> SigningKey:
    """The person's key; where there is none, the error says how to make one."""
    if not path.exists() and not path.is_symlink():
        raise SecretError(
            f"{path}: there is no key; if you have one, give its file (--key), or set"
            f" {HOME_VARIABLE} to the folder that it lies in with all that you have contributed;"
            " make one only if you never had any: fairpool keys new"
        )
    return SigningKey.read(path)
