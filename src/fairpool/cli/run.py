"""`fairpool run`: tables in; a report, one model and one letter per party out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairpool.cli.options import Cluster, Folder, Jobs, Json, Quiet
from fairpool.cli.screen import Screen, screen, show_run

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from fairpool.compute.checkpoint import Checkpoint


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
    seed: Annotated[
        int | None, typer.Option(help="Repeat a run with its recorded seed.", min=0)
    ] = None,
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
    """Run the whole chain: values, contributions, rewards, one model and one letter per party, a
    report.

    While it runs, values computed so far are kept in FOLDER/.fairpool-checkpoint; when it is done
    these are removed.

    Examples: `fairpool run my-project`, `fairpool run my-project --rho 0.5 --out second --force`,
    `fairpool run my-project --jobs 4 --resume`, `fairpool run my-project --cluster
    tcp://10.0.0.5:8786`
    """
    with screen(quiet, as_json) as show:
        from fairpool.compute.checkpoint import Checkpoint
        from fairpool.compute.cluster import open_executor

        home = folder if folder.is_dir() else folder.parent
        checkpoint = Checkpoint(home / ".fairpool-checkpoint", resume)
        with open_executor(jobs, cluster) as executor:
            run_project(
                show,
                folder,
                out or home / "result",
                rho=rho,
                seed=seed,
                force=force,
                executor=executor,
                checkpoint=checkpoint,
            )


def run_project(
    show: Screen,
    folder: Path,
    out: Path,
    *,
    rho: str | None = None,
    seed: int | None = None,
    force: bool = False,
    executor: "Executor | None" = None,
    checkpoint: "Checkpoint | None" = None,
) -> None:
    """Run the chain on a folder's collaboration, write the result and show it."""
    from fairpool.compute.workers import Workers
    from fairpool.consortium.output import refuse_output, result_of, write_output
    from fairpool.consortium.preparation import prepare
    from fairpool.consortium.run import execute

    refuse_output(out, force)
    with show.progress() as progress:
        workers = Workers(executor, progress, checkpoint)
        preparation = prepare(folder, workers)
        try:
            done = execute(preparation, _rho(rho), seed, workers)
        except KeyboardInterrupt:
            if checkpoint and checkpoint.used:
                raise KeyboardInterrupt(
                    "no result was written, but what was computed is kept: go on with --resume"
                ) from None
            raise
        progress("writing")
        write_output(done, out, force)
    if checkpoint:
        checkpoint.clear()
    show.give(result_of(done))
    show_run(show, done, out)


def _rho(text: str | None) -> float | str | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
