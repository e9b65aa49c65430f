"""The command `fairpool`: thin commands over the library.

Only what every command needs is imported here. Each command imports the rest itself, so that help, the version and
wrong usage are answered at once, and a party that only predicts does not wait for charts.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairpool.__about__ import __version__
from fairpool.screen import Screen, screen, show_preparation, show_run

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from fairpool.checkpoint import Checkpoint

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Pool data, be paid back in models, fairly.\n\n"
    "Start with `fairpool demo`, or with `fairpool init my-project` and `fairpool run my-project`.",
)

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but what went wrong.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result (or the error) as JSON.")]
Jobs = Annotated[int, typer.Option(help="How many workers on this machine.", min=1)]
Cluster = Annotated[
    str | None, typer.Option(help="A Dask scheduler's address, to use its workers.", metavar="TCP://HOST:PORT")
]
Folder = Annotated[
    Path,
    typer.Argument(help="The folder with collaboration.toml, or a .toml file of another name.", show_default=False),
]


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where to put it.")] = Path("fairpool-demo"),
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Three hospitals with patients of different ages pool their diabetes data, and each receives a model.

    Example: `fairpool demo`
    """
    with screen(quiet, as_json) as show:
        import shutil

        from fairpool.consortium.example import write_example

        marker = out / ".fairpool-demo"
        if marker.is_file():
            shutil.rmtree(out)  # an earlier demo, and nothing else
        write_example(out)
        marker.touch()
        _run(show, out, out / "result", None, None, False, None, None)


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="A new or empty folder.", show_default=False)],
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a commented collaboration.toml and example data that run as they are.

    Example: `fairpool init my-project`
    """
    with screen(quiet, as_json) as show:
        from fairpool.consortium.example import write_example

        write_example(folder)
        show.give({"folder": str(folder)})
        show.say(f"Wrote {folder}/collaboration.toml and example data. Next: fairpool run {folder}")


@app.command()
def check(folder: Folder, quiet: Quiet = False, as_json: Json = False) -> None:
    """Look at configuration and data, compute nothing, and list every problem at once.

    Example: `fairpool check my-project`
    """
    with screen(quiet, as_json) as show:
        from fairpool.consortium.preparation import prepare
        from fairpool.workers import Workers

        with show.progress() as progress:
            preparation = prepare(folder, Workers(progress=progress))
        rows = {p.name: s.rows for p, s in zip(preparation.configuration.parties, preparation.parties, strict=True)}
        show.give({"parties": rows, "features": preparation.encoding.features, "warnings": preparation.warnings})
        show_preparation(show, preparation, rows)


@app.command()
def run(
    folder: Folder,
    out: Annotated[
        Path | None, typer.Option(help="Where to write. Default: FOLDER/result.", show_default=False)
    ] = None,
    rho: Annotated[str | None, typer.Option(help="A number in 0..1, or fair, rational, stable, welfare.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output of an earlier run.")] = False,
    seed: Annotated[int | None, typer.Option(help="Repeat a run with its recorded seed.", min=0)] = None,
    jobs: Jobs = 1,
    cluster: Cluster = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where an earlier run of the same data and model was stopped.")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run the whole chain: values, contributions, rewards, one model and one letter per party, a report.

    While it runs, values computed so far are kept in FOLDER/.fairpool-checkpoint; when it is done these are removed.

    Examples: `fairpool run my-project`, `fairpool run my-project --rho 0.5 --out second --force`,
    `fairpool run my-project --jobs 4 --resume`, `fairpool run my-project --cluster tcp://10.0.0.5:8786`
    """
    with screen(quiet, as_json) as show:
        from fairpool.checkpoint import Checkpoint
        from fairpool.cluster import open_executor

        home = folder if folder.is_dir() else folder.parent
        checkpoint = Checkpoint(home / ".fairpool-checkpoint", resume)
        with open_executor(jobs, cluster) as executor:
            _run(show, folder, out or home / "result", rho, seed, force, executor, checkpoint)


@app.command()
def predict(
    reward: Annotated[Path, typer.Argument(help="A reward file.", show_default=False)],
    data: Annotated[Path, typer.Option(help="A CSV or Parquet table with the model's columns.", show_default=False)],
    out: Annotated[Path | None, typer.Option(help="A CSV file to write. Default: print.", show_default=False)] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Predict with a reward: mean, standard deviation and 95% interval per row, in the target's own units.

    A level of a category that the model does not know is treated as none of the known ones; standard error says so.

    Example: `fairpool predict reward.safetensors --data patients.csv --out predictions.csv`
    """
    with screen(quiet, as_json) as show:
        from fairpool.consortium.prediction import as_csv, predict_file
        from fairpool.errors import DataError

        if out is not None and out.exists() and not force:
            raise DataError(f"{out} exists already; give another --out, or --force to replace it")
        with show.warnings(), show.progress() as progress:
            found = predict_file(reward, data, out, progress)
        names, rows = found
        if out is None:
            show.give([dict(zip(names, row, strict=True)) for row in rows])
            if not quiet and not as_json:
                print(as_csv(found), end="")
        else:
            show.give({"rows": len(rows), "out": str(out)})
            show.say(f"Wrote {len(rows)} predictions to {out}")


@app.command()
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

        description = describe_reward(reward)
        show.give(description)
        for key, value in description.items():
            show.say(f"{key + ':':18}{value}")


@app.command("reproduce")
def reproduce_figures(
    figures: Annotated[list[str] | None, typer.Argument(help="fig1 .. fig11, or all.", show_default="all")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where to put pictures, points and the table.", show_default="reproduction, or reproduction-quick"
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version of everything, in under two minutes.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.", min=0)] = 0,
    jobs: Jobs = 1,
    cluster: Cluster = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Reproduce the paper's experiments: every figure, its points, and a table of claims.

    A run that was stopped goes on where it was. California and Boston housing data are looked for in the folder that
    FAIRPOOL_DATA names, and downloaded otherwise.

    Examples: `fairpool reproduce --quick`, `fairpool reproduce fig2 fig3 --jobs 2`,
    `fairpool reproduce --cluster tcp://10.0.0.5:8786`
    """
    with screen(quiet, as_json) as show:
        from dataclasses import asdict

        from fairpool.cluster import open_executor
        from fairpool.paper.reproduction import reproduce

        out = out or Path("reproduction-quick" if quick else "reproduction")
        with show.figures() as report, open_executor(jobs, cluster, processes=True) as executor:
            outcomes = reproduce(figures or ["all"], out, seed, executor, quick, report)
        show.give(
            [{"figure": o.figure, "problem": o.problem, "claims": [asdict(c) for c in o.claims]} for o in outcomes]
        )
        for outcome in outcomes:
            if outcome.problem:
                show.say(f"{outcome.figure}: not run: {outcome.problem}")
            for claim in outcome.claims:
                agrees = "agrees" if claim.agrees else "DIFFERS"
                show.say(f"{claim.figure}: {claim.text}: paper {claim.paper}; ours {claim.ours}: {agrees}")
        show.say(f"Table and pictures: {out / 'reproduction.html'}")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"fairpool {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Pool data, be paid back in models, fairly."""


def _run(
    show: Screen,
    folder: Path,
    out: Path,
    rho: str | None,
    seed: int | None,
    force: bool,
    executor: "Executor | None",
    checkpoint: "Checkpoint | None",
) -> None:
    from fairpool.consortium.output import refuse_output, result_of, write_output
    from fairpool.consortium.preparation import prepare
    from fairpool.consortium.run import execute
    from fairpool.workers import Workers

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


def entry() -> None:
    """The installed command. Typer ends it: wrong usage with exit code 2, Ctrl-C with 130, neither with a traceback."""
    app()
