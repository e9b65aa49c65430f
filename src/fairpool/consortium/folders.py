"""What the folders and files of a run are called."""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from fairpool.errors import ConfigurationError

REWARD_FILE = "reward.safetensors"
CARD_FILE = "model-card.md"

STATE_FOLDER = ".fairpool"
"""Beside collaboration.toml: the secret, and what is kept of rows."""

LONGEST_FOLDER_NAME = 80

MOST_FOLDER_BYTES = 230
"""Most systems allow 255 bytes, and a number or a word may be added to a name."""

RESERVED = {
    "CON",
    "PRN",
    "AUX",
    "NUL",
    *(f"{kind}{k}" for kind in ("COM", "LPT") for k in range(1, 10)),
}
"""Names that some systems do not allow."""


def nothing_there(path: Path, what: str = "folder") -> ConfigurationError:
    """What to say where a collaboration's folder or file should be."""
    return ConfigurationError(
        f"{path}: there is no such {what}; `fairpool init my-project` writes an example to start"
        " from"
    )


def folder_names(names: Sequence[str]) -> list[str]:
    """A folder name for every party: safe on any system, distinct, and recognisable.

    >>> folder_names(["Hospital A", "../x", "hospital a"])
    ['Hospital-A', 'x', 'hospital-a-2']
    """
    folders: list[str] = []
    taken: set[str] = set()
    for name in names:
        plain = unicodedata.normalize("NFKC", name)
        slug = _cut(re.sub(r"[^\w.-]+", "-", plain).strip("-._")) or "party"
        if slug.split(".")[0].upper() in RESERVED:
            slug = f"party-{slug}"
        unique = slug
        number = 2
        while unique.casefold() in taken:
            unique = f"{slug}-{number}"
            number += 1
        folders.append(unique)
        taken.add(unique.casefold())
    return folders


def _cut(slug: str) -> str:
    """The beginning of a name, short enough in characters and in bytes."""
    short = slug[:LONGEST_FOLDER_NAME].encode()[:MOST_FOLDER_BYTES]
    return short.decode(errors="ignore")  # a letter that was cut in two is left out
