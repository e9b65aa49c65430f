"""`fairpool reproduce`: the paper's experiments."""

from pathlib import Path
from typing import Annotated

import typer

from fairpool.cli.options import Cluster, Jobs, Json, Quiet
from fairpool.cli.screen import screen


def reproduce_figures(
    figures: Annotated[
        list[str] | None, typer.Argument(help="fig1 .. fig11, or all.", show_default="all")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where to put pictures, points and the table.",
            show_default="reproduction, or reproduction-quick",
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

    A run that was stopped goes on where it was. California and Boston housing data are looked for
    in the folder that FAIRPOOL_DATA names, and downloaded otherwise.

    Examples: `fairpool reproduce --quick`, `fairpool reproduce fig2 fig3 --jobs 2`,
    `fairpool reproduce --cluster tcp://10.0.0.5:8786`
    """
    with screen(quiet, as_json) as show:
        from dataclasses import asdict

        from fairpool.compute.cluster import open_executor
        from fairpool.paper.reproduction import reproduce

        out = out or Path("reproduction-quick" if quick else "reproduction")
        with show.figures() as report, open_executor(jobs, cluster, processes=True) as executor:
            outcomes = reproduce(
                figures or ["all"], out, seed=seed, executor=executor, quick=quick, report=report
            )
        result = []
        for outcome in outcomes:
            claims = [asdict(claim) for claim in outcome.claims]
            entry = {"figure": outcome.figure, "problem": outcome.problem, "claims": claims}
            result.append(entry)
        show.give(result)
        for outcome in outcomes:
            if outcome.problem:
                show.say(f"{outcome.figure}: not run: {outcome.problem}")
            for claim in outcome.claims:
                agrees = "agrees" if claim.agrees else "DIFFERS"
                show.say(
                    f"{claim.figure}: {claim.text}:"
                    f" paper {claim.paper}; ours {claim.ours}: {agrees}"
                )
        show.say(f"Table and pictures: {out / 'reproduction.html'}")
