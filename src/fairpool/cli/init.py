"""`fairpool init`: an example to start from, or a configuration for tables that are there."""

from pathlib import Path
from typing import Annotated

import typer

from fairpool.cli.options import Json, Quiet
from fairpool.cli.screen import Screen, screen
from fairpool.errors import ConfigurationError


def init(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="A new or empty folder. With --from: where the configuration goes; by default"
            " beside the tables.",
            show_default=False,
        ),
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="A folder of tables, one file or subfolder per party: CSV, also gzipped, Parquet"
            " or Excel.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="With --from: the column to predict.", show_default=False),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a commented collaboration.toml: an example with data, or one that fits your tables.

    With --from, some rows of every table are looked at, and every guess stands in the file with
    what it rests on. What would change numbers is commented out, as a question. No file is
    overwritten.

    Example: `fairpool init my-project`

    Example: `fairpool init --from tables/`

    Example: `fairpool init --from tables/ --target yield my-project`
    """
    with screen(quiet, as_json) as show:
        if tables is not None:
            _configure(show, tables, folder, target=target)
            return
        if target is not None:
            raise ConfigurationError("--target: has a meaning only with --from; leave it out")
        if folder is None:
            raise ConfigurationError(
                "give a new or empty folder for the example, or a folder of tables with --from"
            )
        from fairpool.consortium.example import write_example

        write_example(folder)
        show.give({"folder": str(folder)})
        show.say(f"Wrote {folder}/collaboration.toml and example data.")
        show.say(f"Next: fairpool check {folder}, then fairpool run {folder} --preview")


def _configure(show: Screen, tables: Path, out: Path | None, *, target: str | None) -> None:
    from fairpool.consortium.from_folder import configure_folder

    written = configure_folder(tables, out, target=target)
    show.give(
        {
            "file": str(written.file),
            "parties": written.parties,
            "target": written.target,
            "questions": written.questions,
        }
    )
    show.say(f"Wrote {written.file}: {len(written.parties)} parties, target: {written.target}.")
    for question in written.questions:
        show.say(f"  ? {question}")
    if written.questions:
        show.say("The questions stand in the file, each above the lines that answer it with yes.")
    show.say(f"Next: read it, then fairpool check {written.file.parent}")
