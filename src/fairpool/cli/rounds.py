"""`fairpool rounds`: what was released so far."""

from fairpool.cli.options import Folder, Json, Quiet
from fairpool.cli.screen import screen


def rounds(folder: Folder, quiet: Quiet = False, as_json: Json = False) -> None:
    """List the rounds: when, who took part, how many models were sent, what each party holds.

    Example: `fairpool rounds my-project`
    """
    with screen(quiet, as_json) as show:
        from rich.table import Table
        from rich.text import Text

        from fairpool.consortium.rounds.administration import history_in
        from fairpool.errors import printable
        from fairpool.report.words import as_percent

        history = history_in(folder)
        table = Table(title="Rounds")
        for heading in ("round", "when (UTC)", "rho", "v_N", "party", "rows", "receives", "holds"):
            table.add_column(heading)
        plain = []
        for past in history.rounds:
            when = past.time.replace("T", " ").removesuffix("Z")
            first = [str(past.number), when, f"{past.rho_used:.3g}", f"{past.total:.2f}"]
            parties = []
            for number, one in enumerate(past.parties):
                shares = ["", ""]
                if past.total > 0:
                    shares = [
                        as_percent(one.reward / past.total),
                        as_percent(one.holds / past.total),
                    ]
                sent = "" if one.file is not None else " (no new model)"
                row = [*(first if not number else [""] * 4), one.name, str(one.rows)]
                texts = [*row, shares[0] + sent, shares[1]]
                is_last = number == len(past.parties) - 1
                table.add_row(*(Text(printable(text)) for text in texts), end_section=is_last)
                parties.append(
                    {
                        "name": one.name,
                        "id": one.id,
                        "rows": one.rows,
                        "rows_waiting": one.waiting,
                        "value": one.value,
                        "reward": one.reward,
                        "holds": one.holds,
                        "sent": one.file is not None,
                    }
                )
            plain.append(
                {
                    "round": past.number,
                    "time": past.time,
                    "folder": past.folder,
                    "head": past.head,
                    "rho": past.rho_used,
                    "total": past.total,
                    "parties": parties,
                }
            )
        show.give({"rounds": plain})
        show.say(table)
