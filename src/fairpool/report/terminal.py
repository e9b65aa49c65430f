"""An outcome in a terminal or a notebook: table, sentences, verdicts and notes."""

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from fairpool.outcome import Outcome
from fairpool.report.sentences import explain
from fairpool.report.words import as_percent
from fairpool.tables.arrays import FloatArray

COLUMNS = (
    "rows",
    "alone\nv_i",
    "contributes\nphi_i",
    "receives\nr_i",
    "of the\nbest",
)

SAMPLED = (
    " Contributions are sampled: +- is one standard error; (a to b) is where a number lies"
    " if contributions are exact, for all numbers at once in 95% of samplings."
)


def table_of(outcome: Outcome) -> Table:
    """One row per party."""
    game = outcome.game
    parties = "1 party" if game.n == 1 else f"{game.n} parties"
    table = Table(title=f"{parties}, rho = {outcome.rho:.4g}, v_N = {game.total:.2f} nats")
    table.add_column("party")
    for column in (*COLUMNS, outcome.models[0].mechanism.words.short_heading):
        table.add_column(column, justify="right")
    for i in range(game.n):
        table.add_row(*_cells(outcome, i))
    return table


def _cells(outcome: Outcome, i: int) -> list[RenderableType]:
    """Party i's row: its name, and a cell for each of the columns."""
    game = outcome.game
    contributions = outcome.contributions
    reward = outcome.rewards[i]
    model = outcome.models[i]
    error = "" if contributions.exact else f" +- {contributions.standard_errors[i]:.1g}"
    interval = _range(outcome, outcome.reward_intervals[i], digits=".2f")
    return [
        Text(game.names[i]),  # not a string, in which rich would read [brackets] as markup
        str(game.rows[i]),
        f"{game.alone[i]:.2f}",
        f"{contributions.values[i]:.2f}{error}",
        f"{reward:.2f}{interval}",
        as_percent(reward / game.total) if game.total > 0 else "-",
        model.mechanism.words.short(model.level),
    ]


def summary_of(outcome: Outcome) -> RenderableType:
    """The table, and all that is to be said about it."""
    scheme = outcome.scheme
    rational = _range(outcome, scheme.rho_rational_interval, digits=".3g")
    stable = _range(outcome, scheme.rho_stable_interval, digits=".3g")
    switches = (
        f"Individually rational up to rho_r = {scheme.rho_rational:.4g}{rational},"
        f" stable up to rho_s = {scheme.rho_stable:.4g}{stable}."
    )
    if not outcome.contributions.exact:
        switches += SAMPLED
    names_of_holding = [verdict.condition for verdict in outcome.incentives if verdict.holds]
    holding = "Conditions that hold: " + ", ".join(names_of_holding)
    others = [str(verdict) for verdict in outcome.incentives if not verdict.holds]
    notes = [f"Warning: {text}" for text in outcome.warnings]
    lines = [*explain(outcome), switches, holding, *others, *notes]
    return Group(table_of(outcome), *[Text(line) for line in lines])


def text_of(outcome: Outcome) -> str:
    """The same as plain text."""
    console = Console(width=110, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(summary_of(outcome))
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def _range(outcome: Outcome, interval: Sequence[float] | FloatArray, *, digits: str) -> str:
    """Where a number lies, in words; nothing where it is exact."""
    if outcome.contributions.exact:
        return ""
    low, high = interval
    return f" ({low:{digits}} to {high:{digits}})"
