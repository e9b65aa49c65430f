"""A whole outcome as one file, to go on with it later: for the operator alone.

It holds all parties' rows or sums, every coalition's value, and every party's model.
"""

from fairpool.archive.file import ABOUT, ENTRY, archive_bytes, read_archive

__all__ = ["ABOUT", "ENTRY", "archive_bytes", "read_archive"]
