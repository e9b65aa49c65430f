"""`fairpool run`: tables in; a report, one model and one letter per party out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairpool.cli.options import Cluster, Folder, Jobs, Json, Quiet
from fairpool.cli.screen import Screen, screen, show_run

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from fairpool.compute.checkpoint import Checkpoint
    from fairpool.compute.workers import Workers
    from fairpool.consortium.request import RunRequest
    from fairpool.consortium.run import Run


def run(
    folder: Folder,
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write. Default: FOLDER/result.", show_default=False),
    ] = None,
    rho: Annotated[
        str | None, typer.Option(help="A number in 0..1, or fair, rational, stable, welfare.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the output of an earlier run.")
    ] = False,
    jobs: Jobs = 1,
    cluster: Cluster = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on where an earlier run of the same data and model was stopped."
        ),
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run the whole chain: values, contributions, rewards, one model and one letter per party.

    A report for the operator comes with them. While it runs, values computed so far are kept in
    FOLDER/.fairpool-checkpoint; when it is done these are removed.

    Examples: `fairpool run my-project`, `fairpool run my-project --rho 0.5 --out second --force`,
    `fairpool run my-project --jobs 4 --resume`, `fairpool run my-project --cluster
    tcp://10.0.0.5:8786`
    """
    with screen(quiet, as_json) as show:
        from fairpool.compute.checkpoint import Checkpoint
        from fairpool.compute.cluster import open_executor
        from fairpool.consortium.request import RunRequest

        home = folder if folder.is_dir() else folder.parent
        request = RunRequest(configuration=folder, rho=_rho(rho))
        checkpoint = Checkpoint(home / ".fairpool-checkpoint", resume)
        with open_executor(jobs, cluster) as executor:
            run_and_write(
                request,
                show,
                out or home / "result",
                force=force,
                executor=executor,
                checkpoint=checkpoint,
            )


def run_and_write(
    request: "RunRequest",
    show: Screen,
    out: Path,
    *,
    force: bool = False,
    executor: "Executor | None" = None,
    checkpoint: "Checkpoint | None" = None,
) -> None:
    """Do a run, write what it gives and show it.

    Args:
        request: What is asked for.
        show: Where to print.
        out: The folder to write.
        force: Whether to replace the output of an earlier run.
        executor: Who computes; None: this thread.
        checkpoint: Where values are kept meanwhile.
    """
    from fairpool.compute.workers import Workers
    from fairpool.consortium.output import render, result_of
    from fairpool.consortium.writing import refuse_output, write

    refuse_output(out, force=force)
    with show.progress() as progress:
        done = _run(request, Workers(executor, progress, checkpoint))
        progress("writing")
        write(render(done), out, force=force)
    if checkpoint is not None:
        checkpoint.clear()
    show.give(result_of(done))
    show_run(show, done, out)


def _run(request: "RunRequest", workers: "Workers") -> "Run":
    """The run; one that is stopped says whether it can go on."""
    from fairpool.consortium.run import run

    try:
        return run(request, workers)
    except KeyboardInterrupt:
        if workers.checkpoint is not None and workers.checkpoint.used:
            raise KeyboardInterrupt(
                "no result was written, but what was computed is kept: go on with --resume"
            ) from None
        raise


def _rho(text: str | None) -> float | str | None:
    """A number where it is one; a word, or nothing, as it is."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return text
