"""Something that does not belong together, and what to do about it."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What was found.

    Attributes:
        text: What it is, and where.
        remedy: What to do.
        path: What may be removed, as nobody needs it; None: nothing.
    """

    text: str
    remedy: str
    path: Path | None = None
