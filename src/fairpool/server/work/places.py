"""Where parties' data lie in the folder of a collaboration, and how its collaboration.toml says so.

A draft and terms say nothing of that: there, nobody has any data.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from fairpool.consortium.folders import folder_names
from fairpool.errors import ConfigurationError
from fairpool.exchange.contribution_file import SUFFIX

DATA_FOLDER = "data"
"""Of tables in the clear, beside collaboration.toml."""

_PARTY = re.compile(r"\s*\[\[\s*(parties|'parties'|\"parties\")\s*\]\]\s*(#.*)?")


@dataclass(frozen=True, kw_only=True)
class PartyFiles:
    """What a party has in a round.

    Attributes:
        party: Its permanent identity.
        uploads: The identity of each upload, and what its name ends with, in order.
    """

    party: str
    uploads: tuple[tuple[str, str], ...]

    @property
    def sends_sums(self) -> bool:
        """Whether these are contributions instead of tables."""
        return any(suffix == SUFFIX for _, suffix in self.uploads)


def configuration_with(toml: str, data: Mapping[str, str]) -> str:
    """A collaboration.toml that says where parties' data lie; all else in it stays as it is.

    Args:
        toml: Without anybody's data.
        data: Where they are, by a party's permanent identity; parties that are not named have none.
    """
    parties = _parties_in(toml)
    wanted = [data.get(str(party.get("id", party.get("name")))) for party in parties]
    lines = []
    number = 0
    for line in toml.splitlines(keepends=True):
        lines.append(line)
        if not _PARTY.fullmatch(line.rstrip("\r\n")):
            continue
        if not line.endswith("\n"):
            lines.append("\n")
        if number < len(wanted) and wanted[number] is not None:
            lines.append(f"data = {json.dumps(wanted[number], ensure_ascii=False)}\n")
        number += 1
    text = "".join(lines)
    if not _says(text, parties, wanted):
        raise ConfigurationError(
            "parties: they cannot be told apart in this text; give each a section of its own that"
            " begins with the line [[parties]], and no data"
        )
    return text


def _parties_in(toml: str) -> list[dict[str, object]]:
    try:
        parties = tomllib.loads(toml).get("parties", [])
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"not valid TOML: {error}") from None
    return [party for party in parties if isinstance(party, dict)]


def _says(text: str, parties: list[dict[str, object]], wanted: list[str | None]) -> bool:
    """Whether a text has these parties with these data: lines may also be part of a long text."""
    with_data = []
    for party, where in zip(parties, wanted, strict=True):
        with_data.append(party if where is None else {**party, "data": where})
    try:
        return bool(tomllib.loads(text).get("parties", []) == with_data)
    except tomllib.TOMLDecodeError:
        return False


def places_of(parties: tuple[PartyFiles, ...]) -> dict[str, str]:
    """Where each party's data lie, as collaboration.toml says it."""
    names = folder_names([one.party for one in parties])
    places = {}
    for one, name in zip(parties, names, strict=True):
        place = f"{DATA_FOLDER}/{name}"
        places[one.party] = f"{place}/*{SUFFIX}" if one.sends_sums else place
    return places
