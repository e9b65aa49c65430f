"""An outcome in a terminal or a notebook: table, sentences, verdicts and notes."""

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from fairpool.outcome import Outcome
from fairpool.parties.rough_counts import roughly
from fairpool.report.held import somebody_keeps
from fairpool.report.levels import level_in_table, unit_of
from fairpool.report.noisy_sums import has_noise
from fairpool.report.sentences import explain
from fairpool.report.words import as_percent
from fairpool.tables.arrays import FloatArray

COLUMNS = ("rows", "alone\nv_i")
RECEIVED = ("contributes\nphi_i", "receives\nr_i", "of the\nbest")
KEPT = ("contri-\nbutes\nphi_i", "share\nr_i", "of the\nbest", "holds", "new\nmodel")
"""What stands in the place of `RECEIVED` where somebody is sent no new model."""

SAMPLED = (
    " Contributions are sampled: +- is one standard error; (a to b) is where a number lies"
    " if contributions are exact, for all numbers at once in 95% of samplings."
)


def table_of(outcome: Outcome) -> Table:
    """One row per party."""
    game = outcome.game
    table = Table(title=title_of(outcome), caption=unit_of(outcome) or None)
    table.add_column("party")
    for column in headings_of(outcome):
        table.add_column(column, justify="right")
    for i in range(game.n):
        # Not strings, in which rich would read [brackets] as markup.
        table.add_row(*map(Text, cells_of(outcome, i)))
    return table


def title_of(outcome: Outcome) -> str:
    """What the table is of."""
    game = outcome.game
    parties = "1 party" if game.n == 1 else f"{game.n} parties"
    return f"{parties}, rho = {outcome.rho:.4g}, v_N = {game.total:.2f} nats"


def headings_of(outcome: Outcome) -> tuple[str, ...]:
    """What stands over each party's cells, but for its name."""
    rewards = KEPT if somebody_keeps(outcome) else RECEIVED
    return (*COLUMNS, *rewards, outcome.models[0].mechanism.words.short_heading)


def cells_of(outcome: Outcome, i: int) -> list[str]:
    """Party i's row: its name, and a cell for each of the columns."""
    game = outcome.game
    contributions = outcome.contributions
    reward = outcome.rewards[i]
    error = "" if contributions.exact else f" +- {contributions.standard_errors[i]:.1g}"
    interval = _range(outcome, outcome.reward_intervals[i], digits=".2f")
    kept = []
    if somebody_keeps(outcome):
        received = outcome.received[i]
        kept = [_share(outcome, received.holds), "yes" if received.sent else "no"]
    return [
        game.names[i],
        f"{roughly(has_noise(game, i))}{game.rows[i]}",
        f"{game.alone[i]:.2f}",
        f"{contributions.values[i]:.2f}{error}",
        f"{reward:.2f}{interval}",
        _share(outcome, reward),
        *kept,
        level_in_table(outcome, i),
    ]


def _share(outcome: Outcome, nats: float) -> str:
    total = outcome.game.total
    return as_percent(nats / total) if total > 0 else "-"


def summary_of(outcome: Outcome) -> RenderableType:
    """The table, and all that is to be said about it."""
    return Group(table_of(outcome), *[Text(line) for line in lines_of(outcome)])


def lines_of(outcome: Outcome) -> list[str]:
    """What is to be said about the table."""
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
    return [*explain(outcome), switches, holding, *others, *notes]


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
