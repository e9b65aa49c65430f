"""Every figure of the paper from one command: tasks, resumption, pictures, and the table of claims."""

import csv
import dataclasses
import hashlib
import io
import json
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import vl_convert
from threadpoolctl import threadpool_limits

from fairpool.compute.files import write_atomically
from fairpool.compute.workers import Workers, workers_of
from fairpool.errors import DataError, FairpoolError
from fairpool.paper import charts, claims
from fairpool.paper.along_rho import run_along_rho
from fairpool.paper.claims import Claim
from fairpool.paper.datasets import local_files
from fairpool.paper.scatter import SETTINGS, run_split
from fairpool.paper.valuation import run_valuation
from fairpool.report.charts import styled
from fairpool.report.report import templates

Rows = list[dict[str, Any]]
Report = Callable[[str, int, int], None]
"""Called with a figure's name, how many of its tasks are done, and how many there are."""


@dataclass(frozen=True)
class Figure:
    """One figure of the paper.

    Attributes:
        title: What it shows.
        tasks: How many independent tasks it is made of, for a quick run or a full one.
        compute: From (figure, task, seed, quick) to rows; at the top of a module, so that another
            process can run it.
        draw: From rows to a chart.
        check: From the figure's name and rows to claims.
        notes: Choices where the paper is silent.
    """

    title: str
    tasks: Callable[[bool], int]
    compute: Callable[[str, int, int, bool], Rows]
    draw: Callable[[Rows], Any]
    check: Callable[[str, Rows], list[Claim]]
    notes: str = ""


@dataclass(frozen=True)
class Outcome:
    """What became of one figure: its rows and claims, or why it could not be run."""

    figure: str
    seconds: float
    rows: Rows
    claims: list[Claim]
    problem: str = ""


def scatter_rows(figure: str, task: int, seed: int, quick: bool) -> Rows:
    """One split of Figs. 3, 5-10."""
    setting = SETTINGS[figure]
    if quick:
        setting = dataclasses.replace(setting, partitions=2)
    return [asdict(point) for point in run_split(setting, task, seed)]


def suitability_rows(figure: str, task: int, seed: int, quick: bool) -> Rows:
    """One split of Fig. 9: the suitable model's first, then the unsuitable one's, on the same partitions."""
    splits = 1 if quick else SETTINGS[figure].splits
    suitable = task < splits
    name = figure.replace("fig9", "fig3") if suitable else figure
    return [row | {"suitable": suitable} for row in scatter_rows(name, task % splits, seed, quick)]


def along_rho_rows(_: str, __: int, seed: int, quick: bool) -> Rows:
    """Figs. 1 and 2."""
    points = run_along_rho(seed, steps=6, draws=3, rows=80) if quick else run_along_rho(seed)
    return [asdict(point) for point in points]


def partition_rows(_: str, __: int, seed: int, ___: bool) -> Rows:
    """Fig. 4 needs only its seed."""
    return [{"seed": seed}]


def valuation_rows(_: str, task: int, seed: int, quick: bool) -> Rows:
    """One model of Fig. 11."""
    model = ("GP Friedman", "NN CaliH")[task]
    points = run_valuation(model, seed, 1, 3) if quick else run_valuation(model, seed)
    return [asdict(point) for point in points]


def _scatter(figure: str, title: str, notes: str = "") -> Figure:
    def tasks(quick: bool) -> int:
        return 1 if quick else SETTINGS[figure].splits

    return Figure(title, tasks, scatter_rows, charts.scatter_figure, claims.scatter_claims, notes)


def _suitability(figure: str, title: str, notes: str = "") -> Figure:
    def tasks(quick: bool) -> int:
        return 2 if quick else 2 * SETTINGS[figure].splits

    return Figure(
        title, tasks, suitability_rows, charts.suitability_figure, claims.suitability_claims, notes
    )


FIGURES = {
    "fig1": Figure(
        "Incentives along ρ, from a real run",
        lambda _: 1,
        along_rho_rows,
        charts.overview_figure,
        claims.overview_claims,
    ),
    "fig2": Figure(
        "GP, Friedman, three parties: IG and MNLP along ρ",
        lambda _: 1,
        along_rho_rows,
        charts.along_rho_figure,
        claims.along_rho_claims,
        "21 values of ρ and ρ_s itself; hyperparameters by maximum likelihood on the pool.",
    ),
    "fig3": _scatter(
        "fig3",
        "GP, diabetes, squared exponential + exponential",
        "ARD in both kernels; all start at 1, the noise at 0.1.",
    ),
    "fig3-fixed": _scatter(
        "fig3-fixed",
        "As fig3, hyperparameters fixed",
        "Length scales 3, amplitudes 1, noise variance 0.2 in both kernels.",
    ),
    "fig4": Figure(
        "The partitioning algorithm",
        lambda _: 1,
        partition_rows,
        lambda rows: charts.partition_figure(rows[0]["seed"]),
        lambda *_: [],
    ),
    "fig5": _scatter(
        "fig5",
        "Network and BLR, California housing",
        "The network is trained once, on 60% of the data; the noise variance is learned on the same"
        " part.",
    ),
    "fig6": _scatter(
        "fig6", "Sparse GP (DTC), Friedman, ten parties", "100 inducing points by k-means."
    ),
    "fig7": _scatter("fig7", "GP, Friedman, three parties"),
    "fig8": _scatter(
        "fig8",
        "Network and BLR, Boston housing",
        "The network is trained on each split's training rows.",
    ),
    "fig9": _suitability(
        "fig9", "GP, diabetes, squared exponential alone (the paper's unsuitable model)"
    ),
    "fig9-fixed": _suitability(
        "fig9-fixed",
        "As fig9, hyperparameters fixed",
        "As fig3-fixed, without the exponential kernel.",
    ),
    "fig10": dataclasses.replace(
        _scatter("fig10", "Network and BLR, Boston housing, informative prior"),
        draw=charts.informative_figure,
    ),
    "fig11": Figure(
        "IG-based against MNLP-based values",
        lambda _: 2,
        valuation_rows,
        charts.valuation_figure,
        claims.valuation_claims,
        "Half the validation sets at random, half consecutive blocks by the partition's feature.",
    ),
}


def reproduce(
    figures: Iterable[str],
    out: Path,
    seed: int = 0,
    executor: Workers | Executor | None = None,
    quick: bool = False,
    report: Report = lambda *_: None,
) -> list[Outcome]:
    """Run figures, each task once: what an earlier run finished is kept, if seed, data and program
    are the same.

    Args:
        figures: Names, such as "fig3"; or "all".
        out: A folder for pictures, points and the table.
        seed: The same seed gives the same numbers, with any number of jobs.
        executor: Who does it; processes rather than threads, since Python has much to do. None:
            this thread.
        quick: A small version of everything.
        report: Called as tasks are done.
    """
    names, stamp = _checked(figures), _stamp()
    out.mkdir(parents=True, exist_ok=True)
    work = out / ("points-quick" if quick else "points")
    work.mkdir(exist_ok=True)
    wanted = [(name, task) for name in names for task in range(FIGURES[name].tasks(quick))]
    results: dict[tuple[str, int], dict[str, Any]] = {}
    waiting = []
    for key in wanted:
        kept = _load(_path(work, *key, seed), stamp)
        if kept is None:
            waiting.append(key)
        else:
            results[key] = kept

    def done(key: tuple[str, int], found: dict[str, Any]) -> None:
        results[key] = found
        if "problem" not in found:
            write_atomically(_path(work, *key, seed), json.dumps({"of": stamp, **found}).encode())
        name = key[0]
        report(name, sum(k[0] == name for k in results), FIGURES[name].tasks(quick))

    for name in names:
        report(name, sum(key[0] == name for key in results), FIGURES[name].tasks(quick))
    with workers_of(executor) as workers:
        for number, found in workers.each(run_task, (seed, quick), waiting):
            done(waiting[number], found)
    outcomes = [
        _outcome(name, [results[key] for key in wanted if key[0] == name]) for name in names
    ]
    for outcome in outcomes:
        if not outcome.problem:
            _draw(outcome, out)
    _write_table(outcomes, out, seed, quick)
    return outcomes


def run_task(settings: tuple[int, bool], key: tuple[str, int]) -> dict[str, Any]:
    """One task, on one thread: so its numbers do not depend on what else runs."""
    (seed, quick), (name, task) = settings, key
    start = time.perf_counter()
    with threadpool_limits(1):
        try:
            rows = FIGURES[name].compute(name, task, seed, quick)
        except FairpoolError as error:
            return {"problem": str(error), "rows": [], "seconds": 0.0}
    return {"rows": rows, "seconds": time.perf_counter() - start}


def _checked(figures: Iterable[str]) -> list[str]:
    names = list(FIGURES) if "all" in (chosen := list(figures)) or not chosen else chosen
    for name in names:
        if name not in FIGURES:
            raise DataError(f'no figure "{name}"; there are {", ".join(FIGURES)} and all')
    return names


def _path(work: Path, name: str, task: int, seed: int) -> Path:
    return work / f"{name}-{task}-seed{seed}.json"


def _stamp() -> str:
    """A hash of what points depend on beside figure, task and seed: this program, and the data at hand."""
    digest = hashlib.blake2b(digest_size=16)
    for path in (*sorted(Path(__file__).parents[1].rglob("*.py")), *local_files()):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _load(path: Path, stamp: str) -> dict[str, Any] | None:
    """What was kept, unless by another version or from other data."""
    try:
        found: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return found if found.get("of") == stamp else None


def _outcome(name: str, parts: list[dict[str, Any]]) -> Outcome:
    problem = next((part["problem"] for part in parts if "problem" in part), "")
    rows = [row for part in parts for row in part["rows"]]
    seconds = sum(part["seconds"] for part in parts)
    return Outcome(name, seconds, rows, [] if problem else FIGURES[name].check(name, rows), problem)


def _draw(outcome: Outcome, out: Path) -> None:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(outcome.rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(outcome.rows)
    write_atomically(out / f"{outcome.figure}.csv", stream.getvalue().encode())
    spec = styled(FIGURES[outcome.figure].draw(outcome.rows)).to_dict(format="vega-lite")
    spec["config"]["background"] = "white"
    write_atomically(out / f"{outcome.figure}.svg", str(vl_convert.vegalite_to_svg(spec)).encode())
    write_atomically(
        out / f"{outcome.figure}.png", bytes(vl_convert.vegalite_to_png(spec, scale=1.5))
    )


def _write_table(outcomes: list[Outcome], out: Path, seed: int, quick: bool) -> None:
    for suffix in ("md", "html"):
        page = (
            templates()
            .get_template(f"reproduction.{suffix}.j2")
            .render(
                outcomes=outcomes,
                figures=FIGURES,
                seed=seed,
                quick=quick,
                seconds=sum(o.seconds for o in outcomes),
            )
        )
        write_atomically(out / f"reproduction.{suffix}", page.encode())
