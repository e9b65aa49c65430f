"""`fairpool init`: an example to start from."""

from pathlib import Path
from typing import Annotated

import typer

from fairpool.cli.options import Json, Quiet
from fairpool.cli.screen import screen


def init(
    folder: Annotated[Path, typer.Argument(help="A new or empty folder.", show_default=False)],
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a commented collaboration.toml and example data that run as they are.

    Example: `fairpool init my-project`
    """
    with screen(quiet, as_json) as show:
        from fairpool.consortium.example import write_example

        write_example(folder)
        show.give({"folder": str(folder)})
        show.say(f"Wrote {folder}/collaboration.toml and example data. Next: fairpool run {folder}")
