"""`fairpool export`: a reward in a file that needs no fairpool."""

from pathlib import Path
from typing import Annotated

import typer

from fairpool.cli.options import Json, Quiet
from fairpool.cli.screen import screen


def export(
    reward: Annotated[Path, typer.Argument(help="A reward file.", show_default=False)],
    to: Annotated[
        Path,
        typer.Option(
            help="The file to write: a name that ends with .onnx, or with .json for the"
            " coefficients of a linear model.",
            show_default=False,
        ),
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Export a reward to ONNX, or to plain coefficients: using it then needs no fairpool.

    A model in ONNX's format takes raw columns of a table, with the collaboration's names and units,
    and gives what the reward predicts. A model that holds rows, or that needs an encoder for texts
    or images, cannot be exported.

    Example: `fairpool export reward.safetensors --to model.onnx`

    Example: `fairpool export reward.safetensors --to coefficients.json`
    """
    with screen(quiet, as_json) as show:
        from fairpool.errors import DataError, few, shown
        from fairpool.export import export_reward
        from fairpool.realisation import load_reward

        if to.exists():
            if reward.exists() and to.samefile(reward):
                raise DataError(f"{to} is the reward itself; give another --to")
            if not force:
                raise DataError(f"{to} exists already; give another --to, or --force to replace it")
        loaded = load_reward(reward)
        exported = export_reward(loaded, to)
        show.give({"to": str(to), "inputs": exported.inputs, "outputs": exported.outputs})
        show.say(f"Wrote {to}")
        if exported.inputs:
            inputs, outputs = ([shown(n) for n in names] for names in exported)
            show.say(f"It takes {few(inputs, most=20)} and gives {few(outputs)}.")
        if not loaded.delivery.is_plain:
            show.say(
                "Columns are the collaboration's, in its units; yours come otherwise:"
                f" {loaded.delivery.in_words}."
            )
