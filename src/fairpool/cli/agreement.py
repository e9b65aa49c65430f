"""`fairpool agreement`: a template of the contract between the parties."""

from pathlib import Path
from typing import Annotated

import typer

from fairpool.cli.options import Folder, Json, Quiet
from fairpool.cli.screen import screen


def agreement(
    folder: Folder,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where to write it, as Markdown; no file is overwritten. Default: it is printed.",
            show_default=False,
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Make a template of a data agreement from the configuration.

    What collaboration.toml and plan.json say is filled in: who takes part and how, what is
    predicted, how contributions and rewards are measured, what files show. What only people can
    say is left blank. It is no legal advice.

    Example: `fairpool agreement my-project --out agreement.md`
    """
    with screen(quiet, as_json) as show:
        from fairpool.consortium.data_agreement import data_agreement, write_agreement

        text = data_agreement(folder)
        if out is not None:
            write_agreement(text, out)
            show.give({"file": str(out)})
            show.say(f"Wrote {out}. Fill in what is blank (____), and let a lawyer read it.")
            return
        show.give({"text": text})
        for line in text.splitlines():
            show.say_unbroken(line)
