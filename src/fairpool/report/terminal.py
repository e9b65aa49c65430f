"""An outcome in a terminal or a notebook: a table, a sentence per party, the verdicts and the
notes.
"""

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
    " Contributions are sampled: +- is one standard error; (a to b) is where a number lies if"
    " contributions are exact,"
    " for all numbers at once in 95% of samplings."
)


def table_of(outcome: Outcome) -> Table:
    """One row per party."""
    game, contributions = outcome.game, outcome.contributions
    parties = "1 party" if game.n == 1 else f"{game.n} parties"
    table = Table(title=f"{parties}, rho = {outcome.rho:.4g}, v_N = {game.total:.2f} nats")
    table.add_column("party")
    for column in (*COLUMNS, outcome.models[0].mechanism.words.short_heading):
        table.add_column(column, justify="right")
    for i, model in enumerate(outcome.models):
        error = "" if contributions.exact else f" +- {contributions.standard_errors[i]:.1g}"
        table.add_row(
            Text(game.names[i]),
            str(game.rows[i]),
            f"{game.alone[i]:.2f}",
            f"{contributions.values[i]:.2f}{error}",
            f"{outcome.rewards[i]:.2f}{_range(outcome, outcome.reward_intervals[i], digits='.2f')}",
            as_percent(outcome.rewards[i] / game.total) if game.total > 0 else "-",
            model.mechanism.words.short(model.level),
        )
    return table


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
    holding = "Conditions that hold: " + ", ".join(
        v.condition for v in outcome.incentives if v.holds
    )
    others = [str(v) for v in outcome.incentives if not v.holds]
    notes = [f"Warning: {text}" for text in outcome.warnings]
    return Group(
        table_of(outcome), *map(Text, [*explain(outcome), switches, holding, *others, *notes])
    )


def text_of(outcome: Outcome) -> str:
    """The same as plain text."""
    console = Console(width=110, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(summary_of(outcome))
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def _range(outcome: Outcome, interval: Sequence[float] | FloatArray, *, digits: str) -> str:
    """Where a number lies, in words; nothing where it is exact."""
    return (
        ""
        if outcome.contributions.exact
        else f" ({interval[0]:{digits}} to {interval[1]:{digits}})"
    )
