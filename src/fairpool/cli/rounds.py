"""`fairpool rounds`: what was released so far."""

from typing import TYPE_CHECKING, Any

from fairpool.cli.options import Folder, Json, Quiet
from fairpool.cli.screen import screen

if TYPE_CHECKING:
    from rich.table import Table

    from fairpool.rounds.history import History, Participation, PastRound

WHEN = "when (UTC)"
DATE = len("2026-03-01")
HEADINGS = ("round", WHEN, "rho", "v_N", "party", "rows", "share", "holds", "new\nmodel")

CAPTION = "share and holds: of the best model's information in that round"


def rounds(folder: Folder, quiet: Quiet = False, as_json: Json = False) -> None:
    """List the rounds: when, who took part, how many models were sent, what each party holds.

    Example: `fairpool rounds my-project`
    """
    with screen(quiet, as_json) as show:
        from fairpool.consortium.rounds.inspecting import history_in

        history = history_in(folder)
        show.give({"rounds": [_as_plain(past, history) for past in history.rounds]})
        show.say(_table(history))


def _table(history: "History") -> "Table":
    """One line for every party in every round."""
    from rich.table import Table
    from rich.text import Text

    from fairpool.errors import printable
    from fairpool.parties.rough_counts import roughly

    table = Table(title="Rounds", caption=CAPTION)
    for heading in HEADINGS:
        # A date is not to be cut where the screen is narrow.
        table.add_column(heading, min_width=DATE if heading == WHEN else None)
    for past in history.rounds:
        when = past.time.replace("T", " ").removesuffix("Z")
        first = [str(past.number), when, f"{past.rho_used:.3g}", f"{past.total:.2f}"]
        for number, one in enumerate(past.parties):
            texts = [
                *(first if not number else [""] * 4),
                one.name,
                f"{roughly(one.noisy)}{one.rows}",
            ]
            texts += _shares(one, past.total)
            is_last = number == len(past.parties) - 1
            table.add_row(*(Text(printable(text)) for text in texts), end_section=is_last)
    return table


def _shares(one: "Participation", total: float) -> list[str]:
    """A party's share of the value of all data, what it holds of it, and what it was sent."""
    from fairpool.report.words import as_percent

    share, holds = "", ""
    if total > 0:
        share, holds = as_percent(one.reward / total), as_percent(one.holds / total)
    return [share, holds, "no" if one.file is None else "yes"]


def _as_plain(past: "PastRound", history: "History") -> dict[str, Any]:
    parties = []
    for one in past.parties:
        spent = [part for batch in one.spent for part in history.batches[batch].parts]
        parties.append(
            {
                "name": one.name,
                "id": one.id,
                "rows": one.rows,
                "rows_have_noise": one.noisy,
                "rows_waiting": one.waiting,
                "rows_gone": one.gone,
                "rows_spent": sum(history.parts[part].rows for part in spent),
                "value": one.value,
                "reward": one.reward,
                "holds": one.holds,
                "sent": one.file is not None,
            }
        )
    return {
        "round": past.number,
        "time": past.time,
        "folder": past.folder,
        "head": past.head,
        "rho": past.rho_used,
        "total": past.total,
        "parties": parties,
    }
