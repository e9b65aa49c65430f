"""What will not fit into memory is refused before it starts, with the estimate and the way out."""

import os
import sys
from pathlib import Path

from fairpool.errors import DataError

USABLE = 0.8
"""The share of the machine's memory that one computation may plan with."""

LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where Linux says that a container has less than the machine."""


def machine_memory() -> int:
    """Bytes of memory that this process may use at most, as far as the system tells."""
    if hasattr(os, "sysconf"):
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    else:  # Windows does not tell
        physical = sys.maxsize
    sizes = [physical]
    for file in LIMITS:
        try:
            text = Path(file).read_text(encoding="utf-8").strip()
        except OSError:
            continue
        if text.isdigit():  # it is "max" where there is no limit
            sizes.append(int(text))
    return min(sizes)


def refuse_beyond_memory(needed: float, what: str, way_out: str) -> None:
    """Refuse what needs more bytes than there are.

    Args:
        needed: Bytes, estimated.
        what: What needs them, as the text's subject.
        way_out: What to do instead.
    """
    usable = USABLE * machine_memory()
    if needed > usable:
        raise DataError(
            f"{what} needs about {needed / 2**30:.3g} GiB of memory,"
            f" and there are {usable / 2**30:.3g} to use; {way_out}"
        )
