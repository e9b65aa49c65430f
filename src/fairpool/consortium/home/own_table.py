"""A party's own table, held against the plan: read as a run would read it, and summed up there."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairpool.columns import CategoryColumn
from fairpool.columns.filling import is_missing
from fairpool.compute.workers import Workers
from fairpool.consortium.contents import refuse_changed
from fairpool.consortium.fault_texts import fault_problems
from fairpool.consortium.faults import Columns
from fairpool.consortium.heads import column_names
from fairpool.consortium.intake import complete_rows, survey
from fairpool.consortium.problems import Problem, Severity, worst_first
from fairpool.consortium.reading import Reading
from fairpool.consortium.rounds.distinct_inputs import DistinctInputs
from fairpool.consortium.rounds.identification import Identities, identify
from fairpool.consortium.rounds.part_sums import blocks_of, sum_parts
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import Place, Source
from fairpool.consortium.tolerant_reading import wanted_of
from fairpool.consortium.treatment import clipped_texts, imputed_texts
from fairpool.consortium.wanted import constant_problems
from fairpool.errors import DataError, FairpoolError, few, shown
from fairpool.exchange.plan import Plan
from fairpool.keyed_noise.secret import Secret
from fairpool.models import WithinBounds
from fairpool.models.weight_model import RowSums
from fairpool.tables.columns import level_counts
from fairpool.targets import TARGETS

OWNER = "your table"
"""What errors call it."""

ONE_PERSON = "home"
"""Whose rows are hashed: the same for all parties and operators of a home. Otherwise a plan that
has another name for the party would make old rows look new."""

MISSING_REMEDY = "fill them in, or take these rows out of the table"

MOST_LEVELS_NAMED = 10
"""So many of the levels that a column may have are named in an error."""

MISSING = "(missing)"
"""What is counted where missing values are imputed, and the model sees that they are."""

LevelCounts = dict[str, Counter[str]]
"""Of each column of categories, how many rows have each level."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnTable:
    """A table that fits the plan.

    Attributes:
        plan: What it fits; its encoders are open.
        survey: What was seen of it.
        identities: Who its complete rows are.
    """

    plan: Plan
    survey: Survey
    identities: Identities

    @property
    def notes(self) -> tuple[str, ...]:
        """What became of values that are missing or out of range, in words."""
        encoding = self.plan.encoding
        texts = [*imputed_texts(encoding, self.survey), *clipped_texts(encoding, self.survey)]
        if self.survey.dropped:
            texts.insert(0, f"{self.survey.dropped} row(s) with missing values are left out")
        return tuple(texts)

    def sums(
        self, chosen: NDArray[np.bool_], workers: Workers, *, within: WithinBounds | None = None
    ) -> RowSums:
        """Sums over some of its complete rows [m]; the same to the last bit as in a run.

        Args:
            chosen: Which rows.
            workers: Who is told about it.
            within: What cuts rows to their bounds; None: they are summed up as they are.
        """
        (sums,) = sum_parts(
            self.survey,
            self.identities,
            np.where(chosen, 0, -1),
            parts=1,
            encoding=self.plan.encoding,
            model=within or self.plan.model,
            workers=workers,
        )
        return sums

    def place_of(self, number: int) -> Place:
        """Where a complete row is, counted from 0."""
        encoding = self.plan.encoding
        done = 0
        for piece in self.identities.pieces:
            for batch in Reading.labelled(piece, encoding, self.survey.source.delivery):
                complete = np.flatnonzero(complete_rows(batch.columns, imputed=encoding.imputed))
                if number < done + len(complete):
                    return batch.place(int(complete[number - done]))
                done += len(complete)
        raise AssertionError(number)  # it was there a moment ago

    def distinct_inputs(self, chosen: NDArray[np.bool_], enough: int) -> int:
        """How many different inputs some complete rows [m] have; counted until there are enough."""
        encoding = self.plan.encoding
        inputs = DistinctInputs(enough)
        d = len(encoding.features)
        by_piece = self.identities.by_piece(chosen)
        for piece, of_piece in zip(self.identities.pieces, by_piece, strict=True):
            reading = Reading.labelled(piece, encoding, self.survey.source.delivery)
            for block in blocks_of(reading, encoding, d):
                inputs.see(block.X[of_piece[block.rows]])
                if inputs.are_enough:  # as a rule in the first block; others read all of it
                    return inputs.count
        return inputs.count

    def level_counts(self, chosen: NDArray[np.bool_]) -> LevelCounts:
        """How many of some complete rows [m] have each level; without categories nothing is read.

        Where a missing level is imputed and the model sees that it was missing, that is one more.
        """
        encoding = self.plan.encoding
        columns = [one for one in encoding.columns if isinstance(one, CategoryColumn)]
        counts: LevelCounts = {column.name: Counter() for column in columns}
        if not columns:
            return counts
        passages = []
        by_piece = self.identities.by_piece(chosen)
        for piece, of_piece in zip(self.identities.pieces, by_piece, strict=True):
            reading = Reading.labelled(piece, encoding, self.survey.source.delivery)
            done = 0
            for batch in reading:
                rows = batch.columns
                complete = complete_rows(rows, imputed=encoding.imputed)
                number = int(complete.sum())
                complete[complete] = of_piece[done : done + number]
                done += number
                _count(rows.filter(pa.array(complete)), columns, counts)
            passages.append(reading.passage)
        refuse_changed(self.survey.source.owner, passages, self.survey.contents)
        return counts


def _count(rows: pa.Table, columns: Sequence[CategoryColumn], counts: LevelCounts) -> None:
    """Add what some rows have."""
    for column in columns:
        known = {*column.levels}
        for level, count in level_counts(rows[column.name]).items():
            if level in known:  # others are 0 in all features
                counts[column.name][level] += count
        if column.indicates:
            counts[column.name][MISSING] += int(is_missing(rows[column.name]).sum())


def read_own_table(
    plan: Plan,
    source: Source,
    *,
    secret: Secret,
    encoders: Path | None,
    workers: Workers,
) -> OwnTable:
    """Look at a table, and tell who its rows are; refused with every problem that is found.

    Args:
        plan: Which columns it needs.
        source: The files.
        secret: What rows are recognised by; it stays at home.
        encoders: Where the encoders that the plan names are; None: nowhere.
        workers: Who is told about it.
    """
    plan = replace(plan, encoding=plan.encoding.with_encoders(encoders))
    columns = columns_of(plan)
    _refuse_unreadable(source, columns)
    seen = survey(source, columns, workers)
    problems = _problems_of(seen, columns)
    if problems:
        texts = [f"{source.owner}: {problem.text}" for problem in worst_first(problems)]
        raise DataError(*texts)
    identities = identify(
        seen,
        plan.encoding,
        party=ONE_PERSON,
        secret=secret,
        progress=workers.progress,
        named=True,
    )
    return OwnTable(plan=plan, survey=seen, identities=identities)


def columns_of(plan: Plan) -> Columns:
    """How a plan has columns read; of declared levels no others are allowed."""
    encoding = plan.encoding
    levels = {}
    for column in encoding.columns:
        if isinstance(column, CategoryColumn) and not column.others:
            levels[column.name] = column.levels
    rules = dict(encoding.rules)
    for name in plan.drops:
        if name in rules and not rules[name].imputes:
            rules[name] = replace(rules[name], missing="drop")
    return Columns(
        number_inputs=encoding.numbers,
        text_inputs=encoding.categories,
        dates=encoding.dates,
        target=TARGETS[encoding.target.kind].more_labels(encoding.target),
        levels=levels,
        rules=rules,
        chosen=False,
        free_texts=encoding.free_texts,
        images=encoding.images,
    )


def _refuse_unreadable(source: Source, columns: Columns) -> None:
    """Refuse files whose heads cannot be read, all at once."""
    problems = list(constant_problems(wanted_of(columns, source.delivery)))
    for file in source.files:
        try:
            column_names(file, delivery=source.delivery)
        except FairpoolError as error:
            problems += error.problems
    if problems:
        raise DataError(*(f"{source.owner}: {problem}" for problem in problems))


def _problems_of(seen: Survey, columns: Columns) -> list[Problem]:
    """Everything for which a table cannot be contributed."""
    delivery = seen.source.delivery
    problems = fault_problems(seen.faults, columns, MISSING_REMEDY, delivery=delivery)
    for name, unknown in seen.unknown.items():
        allowed = few([shown(level) for level in columns.levels[name]], MOST_LEVELS_NAMED)
        text = (
            f"{unknown.first}, {delivery.described(name)}: {shown(next(iter(unknown.counts)))} is"
            f" not among the plan's levels ({allowed}); {unknown.rows} row(s) have such a level;"
            " correct them, or ask the operator for a plan with more levels"
        )
        problems.append(Problem(text=text, severity=Severity.ROWS, rows=unknown.rows))
    if not problems and not seen.rows:
        problems.append(Problem(text="no complete row to use", severity=Severity.FILE))
    return problems
