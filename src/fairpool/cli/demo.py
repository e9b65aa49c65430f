"""`fairpool demo`: the whole chain on data that ship with the dependencies."""

from pathlib import Path
from typing import Annotated

import typer

from fairpool.cli.options import Json, Quiet
from fairpool.cli.run import run_and_release
from fairpool.cli.screen import screen


def demo(
    classes: Annotated[
        bool, typer.Option("--classes", help="Predict classes: breast tumours, by three clinics.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Where to put it.")] = Path("fairpool-demo"),
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Three hospitals with patients of different ages pool their data, and each receives a model.

    With --classes, three clinics pool measurements of breast tumours, and each receives a model
    that tells how probable it is that one is malignant.

    Example: `fairpool demo`
    """
    with screen(quiet, as_json) as show:
        import shutil

        from fairpool.consortium.class_example import class_example_files
        from fairpool.consortium.example import example_files, write_example
        from fairpool.consortium.request import RunRequest
        from fairpool.consortium.writing import refuse_link

        refuse_link(out)
        marker = out / ".fairpool-demo"
        if marker.is_file():
            shutil.rmtree(out)  # an earlier demo, and nothing else
        write_example(out, class_example_files() if classes else example_files())
        marker.touch()
        run_and_release(RunRequest(configuration=out), show)
