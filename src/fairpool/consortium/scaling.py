"""How every table becomes numbers: scaling and levels, fixed before any data is valued."""

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from fairpool.consortium.columns import MOST_WARNED
from fairpool.consortium.configuration import Configuration
from fairpool.consortium.levels import choose_levels, level_problems, level_warnings
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import PUBLIC
from fairpool.encoding import TableEncoding
from fairpool.errors import ConfigurationError
from fairpool.notes import Note, notes_of
from fairpool.tables.columns import CategoryColumn, NumberColumn
from fairpool.tables.moments import Moments, scaling_of
from fairpool.targets import Labels, SeenLabels, Target


class FixedEncoding(NamedTuple):
    """How tables become numbers, and what the operator should know about that."""

    encoding: TableEncoding
    notes: list[Note]


def fix_encoding(
    configuration: Configuration, features: Sequence[str], surveys: dict[str, Survey]
) -> FixedEncoding:
    """Fix the encoding from public data, or else from all parties'; test rows never take part.

    Args:
        configuration: What the operator decided.
        features: The input columns.
        surveys: Every source's data, by owner.
    """
    public = surveys.get(PUBLIC)
    parties = [survey for survey in surveys.values() if survey.source.is_party]
    public_moments = None if public is None else public.moments
    means, scales = scaling_of([survey.moments for survey in parties], public_moments)
    target = None
    problems: list[str] = []
    try:
        target = _fix_target(configuration.labels, parties, public)
    except ConfigurationError as error:
        problems += error.problems
    notes = []
    constant = 0
    columns: list[NumberColumn | CategoryColumn] = []
    categorical = {*configuration.categorical}
    numbers = [name for name in features if name not in categorical]
    at = {name: k for k, name in enumerate(numbers)}
    for name in features:
        if name in at:
            mean = means[at[name]]
            scale = scales[at[name]]
            columns.append(NumberColumn(name, mean, scale or 1.0))
            if scale == 0:
                constant += 1
                if constant <= MOST_WARNED:
                    text = f'column "{name}" has the same value everywhere, and tells nothing'
                    notes.append(Note(code="constant column", text=text))
        else:
            levels = choose_levels(configuration, name, parties=parties, public=public)
            columns.append(CategoryColumn(name, levels))
            problems += level_problems(name, levels, parties)
            warnings = level_warnings(configuration, name, levels=levels, surveys=surveys)
            notes += notes_of("levels", warnings)
    if constant > MOST_WARNED:
        text = f"and {constant - MOST_WARNED} more column(s) that have the same value everywhere"
        notes.append(Note(code="constant column", text=text))
    if target is None or problems:
        raise ConfigurationError(*problems)
    return FixedEncoding(TableEncoding(columns=tuple(columns), target=target), notes)


def _fix_target(labels: Labels, parties: Sequence[Survey], public: Survey | None) -> Target:
    of_public = None if public is None else _seen_labels(labels, public)
    return labels.fix([_seen_labels(labels, survey) for survey in parties], of_public)


def _seen_labels(labels: Labels, survey: Survey) -> SeenLabels:
    """What a survey tells of the labels, which are the last of the columns of their type."""
    moments = Moments()
    if labels.type == pa.float64():
        moments = survey.moments.of_column(-1)
    return SeenLabels(
        owner=survey.source.owner, moments=moments, levels=survey.levels.get(labels.name, {})
    )
