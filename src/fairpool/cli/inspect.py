"""`fairpool inspect`: what a reward file is."""

from pathlib import Path
from typing import Annotated

import typer

from fairpool.cli.options import Json, Quiet
from fairpool.cli.screen import screen


def inspect(
    reward: Annotated[Path, typer.Argument(help="A reward file.", show_default=False)],
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Say what a reward file is.

    Example: `fairpool inspect reward.safetensors`
    """
    with screen(quiet, as_json) as show:
        from fairpool.consortium.prediction import describe_reward
        from fairpool.realisation.reward_file import read_reward

        description = describe_reward(read_reward(reward), str(reward))
        show.give(description)
        show.describe(description)
