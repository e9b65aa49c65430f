"""The operator's own key, which signs plans, receipts and statements."""

from pathlib import Path

from fairpool.compute.files import make_private_folder
from fairpool.consortium.rounds.context import OPERATOR_KEY, STATE_FOLDER
from fairpool.signatures import SigningKey


def operator_key(folder: Path) -> SigningKey:
    """A collaboration's key; made where there is none yet.

    Args:
        folder: With collaboration.toml.
    """
    path = folder / STATE_FOLDER / OPERATOR_KEY
    if not path.exists() and not path.is_symlink():
        make_private_folder(path.parent)
        SigningKey.fresh().write(path)
    return SigningKey.read(path)
