"""Columns of a table as inputs of a graph: scaling, levels, dates, and what missing values become.

What `fairpool.columns` does with Arrow is done here with operations of the graph, in its order.
A row that a column cannot use has no prediction: the graph gives nan for it, as it has no words.
"""

from typing import NamedTuple

import numpy as np

from fairpool.columns import CategoryColumn, Column, DateColumn, NumberColumn, Rules
from fairpool.columns.date import CALENDAR
from fairpool.columns.rules import is_number
from fairpool.encoding import TableEncoding
from fairpool.errors import RewardFileError
from fairpool.export.graph import LABELS, Graph, Port
from fairpool.tables.arrays import LARGEST

UNKNOWN, MISSING = -1, -2
"""What texts become that are no level, and those that stand for a missing one."""


class Inputs(NamedTuple):
    """What a model is fed, inside a graph.

    Attributes:
        ports: What the graph is fed.
        features: The model's inputs [rows, p].
        unusable: Which rows have no prediction; None: all have one.
    """

    ports: list[Port]
    features: str
    unusable: str | None


class _Features(NamedTuple):
    """What a column gives.

    Attributes:
        matrices: Its features, side by side [rows, ...].
        problems: Conditions under which a row has no prediction.
    """

    matrices: list[str]
    problems: list[str]


def inputs_of(graph: Graph, encoding: TableEncoding | None, inputs: int) -> Inputs:
    """The columns of a table, or the model's own inputs where none are known."""
    if encoding is None:
        port = Port(
            name=graph.free_name("X"),
            kind="double",
            width=inputs,
            meaning="the model's inputs, as the parties' were",
        )
        return Inputs([port], port.name, None)
    for column in encoding.columns:
        _refuse_encoded(column)
    ports = [_port(graph, column) for column in encoding.columns]
    matrices: list[str] = []
    problems: list[str] = []
    for column, port in zip(encoding.columns, ports, strict=True):
        features = _features(graph, column, port.name)
        matrices += features.matrices
        problems += features.problems
    return Inputs(ports, graph.add("Concat", *matrices, axis=1), graph.either(problems))


def _refuse_encoded(column: Column) -> None:
    """Refuse what only an encoder makes numbers of."""
    if not isinstance(column, NumberColumn | DateColumn | CategoryColumn):
        raise RewardFileError(
            f'column "{column.name}" is a {column.kind}, of which a public encoder makes numbers;'
            " an exported model does not hold one; use fairpool predict"
        )


def _port(graph: Graph, column: Column) -> Port:
    """The input that a column is; named like it."""
    kind, meaning = "double", "a number; nan: missing"
    if isinstance(column, DateColumn):
        meaning = "days since 1970-01-01; nan: missing"
    elif isinstance(column, CategoryColumn):
        kind, meaning = "string", 'a text as it stands in tables; "": missing'
    if column.rules.imputes:
        meaning += f", and taken to be {column.filling}"
    return Port(name=graph.free_name(column.name or "_"), kind=kind, meaning=meaning)


def _features(graph: Graph, column: Column, value: str) -> _Features:
    if isinstance(column, CategoryColumn):
        return _of_category(graph, column, value)
    if isinstance(column, DateColumn):
        return _of_date(graph, column, value)
    assert isinstance(column, NumberColumn)
    return _of_number(graph, column, value)


def _of_number(graph: Graph, column: NumberColumn, value: str) -> _Features:
    value, missing, problems = _numbers(graph, column.rules, value)
    if column.fill is not None:
        value = graph.add("Where", missing, graph.constant(column.fill), value)
    value = _transformed(graph, column.rules, value)
    matrices = [_standardised(graph, value, column)]
    if column.indicates:
        matrices.append(_indicator(graph, missing))
    return _Features(matrices, problems)


def _of_date(graph: Graph, column: DateColumn, value: str) -> _Features:
    value, missing, problems = _numbers(graph, column.rules, value)
    problems += _outside(graph, value, *CALENDAR)
    if column.fill is not None:
        value = graph.add("Where", missing, graph.constant(column.fill), value)
    value = _transformed(graph, column.rules, value)
    angle = graph.add("Mul", share_of_year(graph, value), graph.constant(2 * np.pi))
    season = [graph.column(graph.add(wave, angle)) for wave in ("Sin", "Cos")]
    matrices = [_standardised(graph, value, column), *season]
    if column.indicates:
        matrices.append(_indicator(graph, missing))
    return _Features(matrices, problems)


def _of_category(graph: Graph, column: CategoryColumn, value: str) -> _Features:
    codes = {level: place for place, level in enumerate(column.levels)}
    codes.setdefault("", MISSING)
    codes |= dict.fromkeys(column.rules.tokens, MISSING)
    place = graph.add(
        "LabelEncoder",
        value,
        domain=LABELS,
        keys_strings=[*codes],
        values_int64s=[*codes.values()],
        default_int64=UNKNOWN,
    )
    missing = graph.add("Equal", place, graph.constant(MISSING))
    problems = []
    if not column.rules.imputes:
        problems.append(missing)
    if not column.others:
        problems.append(graph.add("Equal", place, graph.constant(UNKNOWN)))
    if column.fill is not None:
        filling = graph.constant(column.levels.index(column.fill))
        place = graph.add("Where", missing, filling, place)
    places = graph.constant(np.arange(len(column.levels)))
    matrices = [graph.as_doubles(graph.add("Equal", graph.column(place), places))]
    if column.indicates:
        matrices.append(_indicator(graph, missing))
    return _Features(matrices, problems)


def _numbers(graph: Graph, rules: Rules, value: str) -> tuple[str, str, list[str]]:
    """Numbers with nan for missing ones, which are missing, and which cannot be used."""
    for token in rules.tokens:
        if is_number(token) and not np.isnan(float(token)):
            is_token = graph.add("Equal", value, graph.constant(float(token)))
            value = graph.add("Where", is_token, graph.constant(np.nan), value)
    missing = graph.add("IsNaN", value)
    size = graph.add("Abs", value)
    problems = [graph.add("Greater", size, graph.constant(LARGEST))]
    if not rules.imputes:
        problems.append(missing)
    if rules.bounds is not None and not rules.clips:
        problems += _outside(graph, value, *rules.bounds)
    if rules.log and not (rules.clips and rules.bounds is not None):
        problems.append(graph.add("LessOrEqual", value, graph.constant(0.0)))
    return value, missing, problems


def _outside(graph: Graph, value: str, lowest: float, highest: float) -> list[str]:
    return [
        graph.add("Less", value, graph.constant(lowest)),
        graph.add("Greater", value, graph.constant(highest)),
    ]


def _transformed(graph: Graph, rules: Rules, value: str) -> str:
    """As `Rules.transformed` does it: at the nearer end of a range, and the logarithm."""
    if rules.clips and rules.bounds is not None:
        ends = [graph.constant(end) for end in rules.bounds]
        value = graph.add("Clip", value, *ends)
    if rules.log:
        value = graph.add("Log", value)
    return value


def _standardised(graph: Graph, value: str, column: NumberColumn | DateColumn) -> str:
    """(x - mean) / scale as a matrix of one column."""
    value = graph.add("Sub", value, graph.constant(column.mean))
    return graph.column(graph.add("Mul", value, graph.constant(1 / column.scale)))


def _indicator(graph: Graph, missing: str) -> str:
    return graph.column(graph.as_doubles(missing))


def share_of_year(graph: Graph, days: str) -> str:
    """How much of its year has passed on each day since 1970-01-01, as `fairpool.columns.date`.

    The year of a day is guessed from the mean length of years, and is then off by one at most.
    """
    days = graph.add("Clip", days, *[graph.constant(end) for end in CALENDAR])
    guess = graph.add("Mul", days, graph.constant(1 / 365.2425))
    guess = graph.add("Floor", graph.add("Add", guess, graph.constant(1970.0)))
    one = graph.constant(1.0)
    later = graph.add("Add", guess, one)
    too_late = graph.as_doubles(graph.add("Less", days, _start_of(graph, guess)))
    too_early = graph.as_doubles(graph.add("GreaterOrEqual", days, _start_of(graph, later)))
    year = graph.add("Add", graph.add("Sub", guess, too_late), too_early)
    start = _start_of(graph, year)
    end = _start_of(graph, graph.add("Add", year, one))
    return graph.add("Div", graph.add("Sub", days, start), graph.add("Sub", end, start))


def _start_of(graph: Graph, year: str) -> str:
    """The first day of a year: 365 days for each year before it, and one for each leap year."""
    before = graph.add("Sub", year, graph.constant(1.0))
    days = graph.add("Mul", graph.add("Sub", year, graph.constant(1970.0)), graph.constant(365.0))
    for length, operator in ((4.0, "Add"), (100.0, "Sub"), (400.0, "Add")):
        years = graph.add("Floor", graph.add("Div", before, graph.constant(length)))
        days = graph.add(operator, days, years)
    leap_years_before_1970 = 1969 // 4 - 1969 // 100 + 1969 // 400
    return graph.add("Sub", days, graph.constant(float(leap_years_before_1970)))


def masked(graph: Graph, unusable: str | None, value: str, *, width: bool, instead: object) -> str:
    """A value with something else in place of rows that have no prediction.

    Args:
        graph: Where it is computed.
        unusable: Which rows these are; None: none.
        value: [rows], or [rows, k].
        width: Whether it is the latter.
        instead: What they have: nan, or an empty text.
    """
    if unusable is None:
        return value
    rows = graph.column(unusable) if width else unusable
    return graph.add("Where", rows, graph.constant(instead), value)
