"""What was found in an upload: for its own party alone, and so kept as its upload is, encrypted.

In the database stands what others may know, or what is decided by: how many problems and rows there
are, and the digests of a contribution. Problems in words have values in them, and so have the first
rows: of these the database knows where they lie.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from fairpool.server.settings import Settings
from fairpool.server.store.tables import Submission
from fairpool.server.work.vault import Stored, Vault

TERMS = "terms"
PROBLEMS = "problems"
CONTRIBUTION = "contribution"
SEEN = "seen"
"""Entries of what stands in the database: under which terms it was looked at, how many problems
there are, what a contribution says of itself, and where the rest is."""

_PLAIN = ("kind", "rows", "left_out", CONTRIBUTION)


@dataclass(frozen=True, kw_only=True)
class Found:
    """What was found in an upload.

    Attributes:
        problems: All that is wrong, the worst first; empty: it can take part.
        notes: What is good to know.
        kind: "rows" or "sums"; empty: nothing could be read.
        rows: Complete ones.
        left_out: Others, which do not count.
        columns: The names of a table's columns, as far as they are shown.
        more_columns: How many more there are.
        first: Its first rows, as texts.
        table: Of each column that is used, what values it has.
        words: Of a contribution, entry by entry.
        receipt: Of a contribution, the operator's signed word that it came; empty: none.
    """

    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()
    kind: str = ""
    rows: int = 0
    left_out: int = 0
    columns: tuple[str, ...] = ()
    more_columns: int = 0
    first: tuple[tuple[str, ...], ...] = ()
    table: tuple[dict[str, Any], ...] = ()
    words: dict[str, str] = field(default_factory=dict)
    receipt: str = ""


def stored(settings: Settings, found: dict[str, Any]) -> Stored:
    """Put away what was found; there is no record of it yet.

    Args:
        settings: Where uploads are.
        found: As `fairpool.server.work.one_file` gives it.
    """
    return Vault(settings).store_bytes(json.dumps(found).encode())


def plain(found: dict[str, Any], terms_id: str, seen: Stored) -> dict[str, Any]:
    """What stands in the database.

    Args:
        found: As `fairpool.server.work.one_file` gives it.
        terms_id: Under which terms it was looked at.
        seen: Where all of it is.
    """
    entries = {name: found[name] for name in _PLAIN if name in found}
    return {**entries, PROBLEMS: len(found[PROBLEMS]), TERMS: terms_id, SEEN: seen.id}


def found_in(settings: Settings, submission: Submission) -> Found | None:
    """What was found; None: it was not looked at yet, or it is erased.

    Args:
        settings: Where uploads are.
        submission: What was looked at.
    """
    identity = submission.findings.get(SEEN)
    if identity is None:
        return None
    said = json.loads(b"".join(Vault(settings).open(identity)))
    return Found(
        problems=tuple(said[PROBLEMS]),
        notes=tuple(said.get("notes", ())),
        kind=said.get("kind", ""),
        rows=said.get("rows", 0),
        left_out=said.get("left_out", 0),
        columns=tuple(said.get("columns", ())),
        more_columns=said.get("more_columns", 0),
        first=tuple(tuple(row) for row in said.get("first", ())),
        table=tuple(said.get("table", ())),
        words=said.get("words", {}),
        receipt=said.get("receipt", ""),
    )
