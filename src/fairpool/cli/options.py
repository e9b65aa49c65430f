"""Options that several commands have, each written once."""

from pathlib import Path
from typing import Annotated

import typer

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but what went wrong.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result (or the error) as JSON.")]
Jobs = Annotated[int, typer.Option(help="How many workers on this machine.", min=1)]
Cluster = Annotated[
    str | None,
    typer.Option(help="A Dask scheduler's address, to use its workers.", metavar="TCP://HOST:PORT"),
]
Encoders = Annotated[
    Path | None,
    typer.Option(
        help="The folder of the encoder that the model's texts or images need, or a folder of such"
        " folders. Default: beside the reward file.",
        show_default=False,
    ),
]
Folder = Annotated[
    Path,
    typer.Argument(
        help="The folder with collaboration.toml, or a .toml file of another name.",
        show_default=False,
    ),
]
ServerFolder = Annotated[Path, typer.Option("--folder", help="Where the service keeps everything.")]
