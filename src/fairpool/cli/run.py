"""`fairpool run`: tables in; a report, one model and one letter per party out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairpool.cli.options import Cluster, Folder, Jobs, Json, Quiet
from fairpool.cli.screen import Screen, screen
from fairpool.cli.shown_run import show_run

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from fairpool.compute.checkpoint import Checkpoint
    from fairpool.compute.workers import Workers
    from fairpool.consortium.request import RunRequest
    from fairpool.consortium.run import Run


def run(
    folder: Folder,
    preview: Annotated[
        bool,
        typer.Option("--preview", help="Compute everything, write nothing and release nothing."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write a preview there: report and letters, without models. Nothing is released.",
            show_default=False,
        ),
    ] = None,
    rho: Annotated[
        str | None, typer.Option(help="A number in 0..1, or fair, rational, stable, welfare.")
    ] = None,
    learn_anew: Annotated[
        bool,
        typer.Option(
            "--learn-anew",
            help="Learn scaling, features and hyperparameters anew, which stay those of the first"
            " round otherwise.",
        ),
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
    """Run the next round: values, contributions, rewards, one model and one letter per party.

    It is released to FOLDER/rounds/0001, then 0002 and so on, each complete, with a report for the
    operator; FOLDER/latest says which is the last. What every party holds from earlier rounds
    counts: FOLDER/ledger.jsonl tells it. While it runs, values computed so far are kept in
    FOLDER/.fairpool-checkpoint; when it is done these are removed.

    Examples: `fairpool run my-project`, `fairpool run my-project --preview --rho 0.5`, `fairpool
    run my-project --out preview`, `fairpool run my-project --jobs 4 --resume`, `fairpool run
    my-project --cluster tcp://10.0.0.5:8786`
    """
    with screen(quiet, as_json) as show:
        from fairpool.compute.checkpoint import Checkpoint
        from fairpool.compute.cluster import open_executor
        from fairpool.consortium.request import RunRequest

        home = folder if folder.is_dir() else folder.parent
        request = RunRequest(configuration=folder, rho=_rho(rho), learn_anew=learn_anew)
        checkpoint = Checkpoint(home / ".fairpool-checkpoint", resume)
        with open_executor(jobs, cluster) as executor:
            if preview or out is not None:
                run_preview(request, show, out, executor=executor, checkpoint=checkpoint)
            else:
                run_and_release(request, show, executor=executor, checkpoint=checkpoint)


def run_preview(
    request: "RunRequest",
    show: Screen,
    out: Path | None,
    *,
    executor: "Executor | None" = None,
    checkpoint: "Checkpoint | None" = None,
) -> None:
    """Do a run, show it, and release nothing.

    Args:
        request: What is asked for.
        show: Where to print.
        out: Where to write report and letters; None: nowhere.
        executor: Who computes; None: this thread.
        checkpoint: Where values are kept meanwhile.
    """
    from fairpool.compute.workers import Workers
    from fairpool.consortium.output import render
    from fairpool.consortium.result_json import result_of
    from fairpool.consortium.writing import refuse_output, write

    if out is not None:
        refuse_output(out)
    with show.progress() as progress:
        done = _run(request, Workers(executor, progress, checkpoint))
        progress("writing")
        # Even where nothing is written: it refuses what could not be released.
        rendered = render(done)
        if out is not None:
            write(rendered.files, out)
    if checkpoint is not None:
        checkpoint.clear()
    show.give(result_of(done))
    show_run(show, done, out, released=False)


def run_and_release(
    request: "RunRequest",
    show: Screen,
    *,
    executor: "Executor | None" = None,
    checkpoint: "Checkpoint | None" = None,
) -> None:
    """Do the next round, release it and show it.

    Args:
        request: What is asked for.
        show: Where to print.
        executor: Who computes; None: this thread.
        checkpoint: Where values are kept meanwhile.
    """
    from fairpool.compute.workers import Workers
    from fairpool.consortium.configuration_file import read_configuration
    from fairpool.consortium.result_json import result_of
    from fairpool.consortium.rounds.releasing import (
        one_at_a_time,
        refuse_place,
        release,
        settle,
    )

    read_configuration(request.configuration)  # so that a wrong folder stays as it is
    with one_at_a_time(request.configuration):
        recovery = settle(request.configuration)
        if recovery is not None:
            show.say(f"A run was stopped while it released: {recovery.record.body['summary']}.")
        refuse_place(request.configuration, request.rho)
        with show.progress() as progress:
            done = _run(request, Workers(executor, progress, checkpoint))
            progress("writing")
            released = release(done)
    if checkpoint is not None:
        checkpoint.clear()
    show.give(result_of(done))
    show_run(show, done, released.folder, released=True)


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
