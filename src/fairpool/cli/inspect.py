"""`fairpool inspect`: what a file is that somebody sent."""

from pathlib import Path
from typing import Annotated

import typer

from fairpool.cli.options import Json, Quiet
from fairpool.cli.screen import screen


def inspect(
    file: Annotated[
        Path,
        typer.Argument(
            help="A reward file, a letter, a plan.json, a contribution, a receipt, a saved"
            " collaboration, or any other file of fairpool.",
            show_default=False,
        ),
    ],
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Say what a file is that somebody sent, and whether it is as it was signed.

    Example: `fairpool inspect reward.safetensors`

    Example: `fairpool inspect plan.json`

    Example: `fairpool inspect north.contribution`
    """
    with screen(quiet, as_json) as show:
        from fairpool.consortium.inspection import inspect_file

        found = inspect_file(file)
        show.give(found.plain)
        show.describe(found.entries)
        for sentence in found.sentences:
            show.say(f"- {sentence}")
