"""`fairpool demo`: the whole chain on data that ship with the dependencies."""

from pathlib import Path
from typing import Annotated

import typer

from fairpool.cli.options import Json, Quiet
from fairpool.cli.run import run_and_write
from fairpool.cli.screen import screen


def demo(
    out: Annotated[Path, typer.Option(help="Where to put it.")] = Path("fairpool-demo"),
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Three hospitals with patients of different ages pool their data, and each receives a model.

    Example: `fairpool demo`
    """
    with screen(quiet, as_json) as show:
        import shutil

        from fairpool.consortium.example import write_example
        from fairpool.consortium.request import RunRequest
        from fairpool.consortium.writing import refuse_link

        refuse_link(out)
        marker = out / ".fairpool-demo"
        if marker.is_file():
            shutil.rmtree(out)  # an earlier demo, and nothing else
        write_example(out)
        marker.touch()
        run_and_write(RunRequest(configuration=out), show, out / "result")
