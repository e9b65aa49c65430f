"""The operator's file: read, and refused in words with everything that is not allowed in it."""

import difflib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import (
    BaseModel,
    ValidationError,
)

from fairpool.consortium.column_sections import ColumnSection, MissingSection, OwnColumnSection
from fairpool.consortium.configuration import (
    FILE_NAME,
    Configuration,
    DataSection,
    ModelSection,
    PartySection,
    RetentionSection,
    RewardsSection,
    TargetSection,
    ValuationSection,
    known_format,
    with_keys,
)
from fairpool.consortium.folders import nothing_there
from fairpool.consortium.limits import Limits
from fairpool.consortium.reading_sections import (
    ReadingSection,
    SourceSection,
)
from fairpool.errors import ConfigurationError, cut, shown
from fairpool.model_kinds import KINDS
from fairpool.targets import TARGETS

MOST_KEY_PARTS = 100
"""A key of so many parts is refused: Python's own reader takes minutes for one of thousands."""

# Parts that are long are few, so they need not be found; so nothing is looked at for long.
_PART = r"""(?:[\w-]{1,100}|"(?:[^"\\\n]|\\.){0,100}"|'[^'\n]{0,100}')"""
_ENDLESS_KEY = re.compile(rf"(?<![\w-])(?:{_PART}[ \t]*\.[ \t]*){{{MOST_KEY_PARTS}}}")


@dataclass(frozen=True)
class ConfigurationFile:
    """The operator's file.

    Attributes:
        configuration: What it says.
        text: As it was read, for the record: the file may change meanwhile.
        problems: What does not fit together in it, to be told together with the problems of the
            data.
    """

    configuration: Configuration
    text: str
    problems: tuple[str, ...]


def load_configuration(folder: Path) -> Configuration:
    """What a folder's `collaboration.toml`, or the file itself, says; refused with all problems."""
    file = read_configuration(folder)
    if file.problems:
        raise ConfigurationError(*file.problems)
    return file.configuration


def read_configuration(folder: Path) -> ConfigurationFile:
    """Read a folder's `collaboration.toml`, or the file itself.

    Values that are not allowed are refused, all at once.
    """
    path = folder / FILE_NAME if folder.is_dir() else folder
    try:
        # Some editors begin a file with a byte order mark.
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise nothing_there(path, "file" if folder.is_dir() else "folder") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read ({error})") from None
    return configuration_of(toml_values(text, str(path)), text=text, name=str(path))


def toml_values(text: str, name: str) -> dict[str, Any]:
    """What a text in TOML says, whether fairpool knows it or not.

    Args:
        text: The file's.
        name: What errors call it, such as the file's path.
    """
    if _ENDLESS_KEY.search(text):
        raise ConfigurationError(
            f"{name}: a key has more than {MOST_KEY_PARTS} parts, joined by dots; no key needs more"
            " than three"
        )
    try:
        return tomllib.loads(text)
    except ValueError as error:  # of a number of thousands of digits it is Python's own
        raise ConfigurationError(f"{name}: not valid TOML: {error}") from None
    except RecursionError:
        raise ConfigurationError(
            f"{name}: its arrays or tables are nested too deeply; no key needs more than three"
            " levels"
        ) from None


def configuration_of(values: dict[str, Any], *, text: str, name: str) -> ConfigurationFile:
    """The configuration that a file's values are.

    Values that are not allowed are refused, all at once.

    Args:
        values: What the file says.
        text: The file's.
        name: What errors call it, such as the file's path.
    """
    try:
        configuration = known_format().model_validate(values)
    except ValidationError as error:
        raise ConfigurationError(
            *(f"{name}: {_in_words(problem, values)}" for problem in error.errors())
        ) from None
    return ConfigurationFile(
        configuration, text, tuple(f"{name}: {text}" for text in configuration.problems())
    )


def _in_words(problem: Any, values: dict[str, Any]) -> str:
    location = _keys_on_the_way(problem, values)
    where = _where(location)
    match problem["type"]:
        case "extra_forbidden":
            known = _keys_at(location[:-1])
            near = difflib.get_close_matches(str(location[-1]), known, n=1, cutoff=0.5)
            hint = f'did you mean "{near[0]}"?' if near else f"known keys are {', '.join(known)}"
            return f"{where}: unknown key; {hint}"
        case "missing":
            return f"{where}: missing; give it a value"
        case "value_error":
            return (
                f"{where}: {problem['ctx']['error']}" if location else str(problem["ctx"]["error"])
            )
        case _:
            return f"{where}: {shown(problem['input'])} is not allowed; {problem['msg'].lower()}"


def _keys_on_the_way(problem: Any, values: dict[str, Any]) -> list[Any]:
    """Pydantic's location of a problem, less the parts that name an alternative instead of a key.

    These are told apart by the file itself, which has keys but no alternatives: a key may be called
    anything.
    """
    location = []
    here: Any = values
    *way, last = problem["loc"] or [None]
    for part in way:
        if _is_in(part, here):
            location.append(part)
            here = here[part]
    if _is_in(last, here) or problem["type"] == "missing":
        location.append(last)
    return location


def _is_in(key: Any, here: Any) -> bool:
    """Whether a table has a key, or an array such a place."""
    if isinstance(here, dict):
        return key in here
    return isinstance(here, list) and isinstance(key, int) and key < len(here)


def _where(location: list[Any]) -> str:
    """["parties", 1, "data"] as `parties 2, data`."""
    words: list[str] = []
    for part in location:
        if isinstance(part, int) and words:
            words[-1] += f" {part + 1}"
        else:
            words.append(cut(str(part)))
    return ", ".join(words) or "the file"


def _keys_at(location: list[Any]) -> list[str]:
    sections: dict[Any, type[BaseModel]] = {
        "target": with_keys(TargetSection, tuple(TARGETS.values())),
        "model": with_keys(ModelSection, tuple(KINDS.values())),
        "public": DataSection,
        "test": DataSection,
        "rewards": RewardsSection,
        "valuation": ValuationSection,
        "retention": RetentionSection,
        "limits": Limits,
        "parties": PartySection,
        "reading": ReadingSection,
        "columns": ColumnSection,
    }
    if location[:1] == ["columns"] and location[-1] == "missing":
        return list(MissingSection.model_fields)
    section = sections.get(location[0] if location else None, Configuration)
    # Within a source there are the same sections again, of its own.
    if issubclass(section, SourceSection) and "reading" in location[1:]:
        section = ReadingSection
    elif issubclass(section, SourceSection) and "columns" in location[1:]:
        section = OwnColumnSection
    keys = []
    for name, key in section.model_fields.items():
        keys.append(key.alias or name)
    return keys
