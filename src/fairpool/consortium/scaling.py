"""How every table becomes numbers: scaling and levels, fixed before any data is valued."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from fairpool.columns import COLUMNS, CategoryColumn, Column, SeenColumn, SeenValues
from fairpool.consortium.column_plan import ColumnPlan
from fairpool.consortium.columns import MOST_WARNED
from fairpool.consortium.faults import Columns
from fairpool.consortium.levels import level_problems, level_warnings
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import PUBLIC
from fairpool.encoding import REASON, TableEncoding
from fairpool.errors import ConfigurationError, shown
from fairpool.notes import Note, notes_of
from fairpool.tables.moments import Moments
from fairpool.targets import Labels, SeenLabels, Target


class FixedEncoding(NamedTuple):
    """How tables become numbers, and what the operator should know about that."""

    encoding: TableEncoding
    notes: list[Note]


class _Sources(NamedTuple):
    """Whose rows were looked at.

    Attributes:
        parties: Each party's.
        public: Those of public data, if there are some. Test rows never take part.
        places: Of each column that is read as numbers, which of these it is.
    """

    parties: list[Survey]
    public: Survey | None
    places: dict[str, int]


def fix_encoding(
    plan: ColumnPlan, columns: Columns, *, features: Sequence[str], surveys: dict[str, Survey]
) -> FixedEncoding:
    """Fix the encoding from public data, or else from all parties'; test rows never take part.

    Args:
        plan: What is wanted of columns.
        columns: How they were read.
        features: The input columns.
        surveys: Every source's data, by owner.
    """
    sources = _Sources(
        parties=[survey for survey in surveys.values() if survey.source.is_party],
        public=surveys.get(PUBLIC),
        places={name: k for k, name in enumerate(columns.numbers)},
    )
    target = None
    problems: list[str] = []
    try:
        target = _fix_target(plan.target, sources)
    except ConfigurationError as error:
        problems += error.problems
    fixed: list[Column] = []
    notes: list[Note] = []
    constant = []
    for name in features:
        planned = plan.column(name)
        seen = _seen_column(name, sources)
        try:
            column = COLUMNS[planned.kind].fix(planned.declared, seen)
        except ConfigurationError as error:
            problems += error.problems
            continue
        fixed.append(column)
        if isinstance(column, CategoryColumn):
            problems += level_problems(name, column.levels, sources.parties)
            warnings = level_warnings(plan, name, levels=column.levels, surveys=surveys)
            notes += notes_of("levels", warnings)
        elif not planned.is_free_text and _is_constant(seen):
            constant.append(name)
    notes += _constant_notes(constant)
    if target is None or problems:
        raise ConfigurationError(*problems)
    problems = _names_that_clash(plan.ids, target)
    if problems:
        raise ConfigurationError(*problems)
    encoding = TableEncoding(columns=tuple(fixed), target=target, ids=plan.ids)
    return FixedEncoding(encoding, notes)


def _is_constant(seen: SeenColumn) -> bool:
    """Whether a column of numbers has the same value wherever encodings are learned from."""
    pooled = Moments()
    for values in seen.learned_from:
        pooled = pooled.merged(values.moments)
    # As it is rounded where it is learned: what varies less than that is constant, too.
    return not any(float(f"{scale:.1e}") for scale in pooled.deviation)


def _constant_notes(names: Sequence[str]) -> list[Note]:
    texts = [
        f'column "{name}" has the same value everywhere, and tells nothing'
        for name in names[:MOST_WARNED]
    ]
    if len(names) > MOST_WARNED:
        more = len(names) - MOST_WARNED
        texts.append(f"and {more} more column(s) that have the same value everywhere")
    return notes_of("constant column", texts)


def _names_that_clash(ids: Sequence[str], target: Target) -> list[str]:
    """Columns that are kept through predictions, and are called as a prediction is."""
    return [
        f'[columns.{name}]: kind = "id" would put two columns {shown(name)} into predictions;'
        " rename it"
        for name in ids
        if name in (*target.prediction_columns, REASON)
    ]


def _seen_column(name: str, sources: _Sources) -> SeenColumn:
    """What was seen of an input column."""
    place = sources.places.get(name)
    public = None
    if sources.public is not None:
        public = _seen_values(name, place, sources.public)
    return SeenColumn(
        parties=[_seen_values(name, place, survey) for survey in sources.parties], public=public
    )


def _seen_values(name: str, k: int | None, survey: Survey) -> SeenValues:
    """What a survey tells of a column, the k-th of those that are read as numbers."""
    moments = Moments()
    sample = np.zeros(0)
    if k is not None:
        moments = survey.moments.of_column(k)
        if len(survey.sample.keys):
            sample = survey.sample.values[:, k]
            sample = sample[~np.isnan(sample)]
    return SeenValues(
        moments=moments,
        sample=sample,
        levels=survey.levels.get(name, {}),
        missing=survey.imputed[name],
    )


def _fix_target(labels: Labels, sources: _Sources) -> Target:
    of_public = None
    if sources.public is not None:
        of_public = _seen_labels(labels, sources.public)
    return labels.fix([_seen_labels(labels, survey) for survey in sources.parties], of_public)


def _seen_labels(labels: Labels, survey: Survey) -> SeenLabels:
    """What a survey tells of the labels, which are the last of the columns of their type."""
    moments = Moments()
    if labels.type == pa.float64():
        moments = survey.moments.of_column(-1)
    return SeenLabels(
        owner=survey.source.owner, moments=moments, levels=survey.levels.get(labels.name, {})
    )
