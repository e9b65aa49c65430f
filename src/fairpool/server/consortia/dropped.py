"""A collaboration.toml that somebody drops in: without the places of parties' data, which it names.

Where data lie on somebody's own disk means nothing here, and a service that looked there would show
any file of its own. So lines that say it are taken out, and told.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fairpool.consortium.configuration import FILE_NAME
from fairpool.consortium.configuration_file import toml_values
from fairpool.errors import ConfigurationError, cut, printable

MOST_LOOKS = 10
"""So often an assignment that goes on over lines is read to see whether it ends."""

_HEADER = re.compile(r"\s*\[")
_PARTY = re.compile(r"""\s*\[\[\s*(parties|'parties'|"parties")\s*\]\]\s*(#.*)?""")
_DATA = re.compile(r"""\s*(data|'data'|"data")\s*=""")


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """What is kept of a file.

    Attributes:
        text: The file without the places of data.
        told: What was taken out, and what happens instead, in words.
    """

    text: str
    told: tuple[str, ...] = ()


def text_of_upload(content: bytes) -> str:
    """What a file says that somebody sent as a collaboration.toml."""
    try:
        # Some editors begin a file with a byte order mark.
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"{FILE_NAME}: no text in UTF-8 (byte {error.start + 1}); save it as UTF-8"
        ) from None


def without_data(text: str) -> Dropped:
    """Take out where parties' data lie; whatever else the text says stays as it is written.

    Args:
        text: A collaboration.toml.
    """
    values = toml_values(text, FILE_NAME)
    parties = [one for one in _parties(values) if "data" in one]
    if not parties:
        return Dropped(text=text)
    for party in parties:
        del party["data"]
    kept = _without_lines(text)
    if toml_values(kept, FILE_NAME) != values:
        raise ConfigurationError(
            f"{FILE_NAME}: data of [[parties]] cannot be taken out without changing anything else;"
            " take these lines out: parties send their data here"
        )
    names = ", ".join(f'"{cut(printable(str(party.get("name"))))}"' for party in parties[:5])
    more = f" and {len(parties) - 5} more" if len(parties) > 5 else ""
    return Dropped(
        text=kept,
        told=(f"Where the data of {names}{more} lie was taken out: parties send their data here.",),
    )


def _parties(values: dict[str, Any]) -> list[dict[str, Any]]:
    parties = values.get("parties")
    if not isinstance(parties, list):
        return []
    return [party for party in parties if isinstance(party, dict)]


def _without_lines(text: str) -> str:
    """The text without assignments to `data` below [[parties]], each of which may be many lines."""
    kept = []
    is_party = False
    lines = iter(text.splitlines(keepends=True))
    for line in lines:
        if _HEADER.match(line):
            is_party = _PARTY.fullmatch(line.rstrip("\r\n")) is not None
        if not (is_party and _DATA.match(line)):
            kept.append(line)
            continue
        looks = 0
        while not _is_whole(line) and looks < MOST_LOOKS:
            looks += 1
            end = _next_end(lines)
            if not end:
                break
            line += end
    return "".join(kept)


def _next_end(lines: Iterator[str]) -> str:
    """The lines to the next one in which a list may end; empty: there are no more."""
    coming = []
    for line in lines:
        coming.append(line)
        if "]" in line:
            break
    return "".join(coming)


def _is_whole(assignment: str) -> bool:
    """Whether an assignment ends here; a list may go on over many lines."""
    try:
        tomllib.loads(assignment)
    except ValueError:
        return False
    return True
