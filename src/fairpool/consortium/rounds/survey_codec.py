"""What was seen of a party's files, as words and arrays to be kept, and back; nothing is left out.

Files are known by their place among the party's, so that a folder may be moved. Counts are lists of
pairs, since their order is part of what was seen.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from fairpool.consortium.contents import Content
from fairpool.consortium.faults import Fault, Faults
from fairpool.consortium.rounds.kept import AnyArrays, Words
from fairpool.consortium.surveys import (
    Extreme,
    Present,
    Range,
    RowSample,
    Survey,
    UnknownLevels,
)
from fairpool.consortium.tables import Place, Source
from fairpool.tables.dialect import PLAIN
from fairpool.tables.moments import Moments


def words_of(survey: Survey) -> Words:
    """What was seen, but for the arrays."""
    files = {file: number for number, file in enumerate(survey.source.files)}
    extremes = []
    for name, ends in survey.extremes.items():
        extremes.append([name, *([end.value, files[end.file], end.row] for end in ends)])
    unknown = []
    for name, levels in survey.unknown.items():
        unknown.append([name, _place(levels.first, files), levels.rows, _pairs(levels.counts)])
    faults = []
    for fault in survey.faults.found.values():
        place = _place(fault.first, files)
        faults.append([fault.kind, fault.column, place, fault.value, fault.count])
    contents = [survey.contents[file] for file in survey.source.files]
    return {
        "contents": [[content.sha256, content.rows, content.images] for content in contents],
        "rows": survey.rows,
        "dropped": survey.dropped,
        "imputed": _pairs(survey.imputed),
        "clipped": _pairs(survey.clipped),
        "faults": faults,
        "levels": [[name, _pairs(counts)] for name, counts in survey.levels.items()],
        "present": [[name, _pairs(counts)] for name, counts in survey.present.levels.items()],
        "unknown": unknown,
        "extremes": extremes,
        "counting": [[name, sorted(starts)] for name, starts in survey.counting.items()],
    }


def arrays_of(survey: Survey) -> dict[str, NDArray[Any]]:
    """The arrays."""
    return {
        "survey.count": survey.moments.count,
        "survey.mean": survey.moments.mean,
        "survey.squares": survey.moments.squares,
        "survey.sample.keys": survey.sample.keys,
        "survey.sample.values": survey.sample.values,
        "survey.present.keys": survey.present.sample.keys,
        "survey.present.values": survey.present.sample.values,
    }


def survey_of(words: Words, arrays: AnyArrays, source: Source) -> Survey:
    """What `words_of` and `arrays_of` told.

    Args:
        words: From `words_of`.
        arrays: From `arrays_of`, and others.
        source: The same files, wherever they are.
    """
    files = source.files
    contents = {}
    for file, (sha256, rows, images) in zip(files, words["contents"], strict=True):
        contents[file] = Content(sha256=sha256, rows=rows, images=images)
    faults = Faults()
    for kind, column, place, value, count in words["faults"]:
        first = _placed(place, source)
        faults.note(Fault(kind=kind, column=column, first=first, value=value, count=count))
    unknown = {}
    for name, place, rows, counts in words["unknown"]:
        unknown[name] = UnknownLevels(_placed(place, source), rows, Counter(dict(counts)))
    extremes = {}
    for name, *ends in words["extremes"]:
        lowest, highest = (Extreme(value, files[number], row) for value, number, row in ends)
        extremes[name] = Range(lowest, highest)
    return Survey(
        source=source,
        contents=contents,
        rows=words["rows"],
        dropped=words["dropped"],
        imputed=Counter(dict(words["imputed"])),
        clipped=Counter(dict(words["clipped"])),
        faults=faults,
        moments=Moments(arrays["survey.count"], arrays["survey.mean"], arrays["survey.squares"]),
        sample=RowSample(arrays["survey.sample.keys"], arrays["survey.sample.values"]),
        present=Present(
            sample=RowSample(arrays["survey.present.keys"], arrays["survey.present.values"]),
            levels={name: Counter(dict(counts)) for name, counts in words["present"]},
        ),
        levels={name: Counter(dict(counts)) for name, counts in words["levels"]},
        unknown=unknown,
        extremes=extremes,
        counting={name: set(starts) for name, starts in words["counting"]},
    )


def _pairs(counts: Mapping[str, int]) -> list[list[Any]]:
    return [[name, int(count)] for name, count in counts.items()]


def _place(place: Place, files: Mapping[Path, int]) -> list[Any]:
    return [files[place.file], place.row, place.line, place.dialect == PLAIN]


def _placed(place: list[Any], source: Source) -> Place:
    number, row, line, is_plain = place
    dialect = PLAIN if is_plain else source.delivery.dialect
    return Place(source.files[number], row, line, dialect)
