"""An outcome in a notebook: the table, and what is to be said about it, as HTML."""

from fairpool.markup import html_table, paragraph
from fairpool.outcome import Outcome
from fairpool.report.terminal import cells_of, headings_of, lines_of, title_of


def html_of(outcome: Outcome) -> str:
    """The same as in a terminal; every name in it is escaped."""
    columns = [
        "party",
        *(" ".join(heading.replace("-\n", "").split()) for heading in headings_of(outcome)),
    ]
    rows = [cells_of(outcome, i) for i in range(outcome.game.n)]
    table = html_table(columns, rows, caption=title_of(outcome))
    return "\n".join([table, *map(paragraph, lines_of(outcome))])
