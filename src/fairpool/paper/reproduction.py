"""Every figure of the paper from one command.

A figure is made of independent tasks; what a stopped run has computed is kept. Then there are the
pictures, and a table of the paper's claims.
"""

import csv
import hashlib
import io
import json
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import vl_convert
from threadpoolctl import threadpool_limits

from fairpool.compute.files import READABLE, write_atomically
from fairpool.compute.workers import Workers, workers_of
from fairpool.errors import DataError, FairpoolError
from fairpool.paper.claims import Claim
from fairpool.paper.datasets import local_files
from fairpool.paper.figures import FIGURES, Settings, Task
from fairpool.paper.rows import Rows
from fairpool.report.charts import specification
from fairpool.report.report import templates

Report = Callable[[str, int, int], None]
"""Called with a figure's name, how many of its tasks are done, and how many there are."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """What became of one task: its rows, or why it could not be run."""

    rows: Rows
    seconds: float
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one figure: its rows and claims, or why it could not be run."""

    figure: str
    seconds: float
    rows: Rows
    claims: list[Claim]
    problem: str = ""


def reproduce(
    figures: Iterable[str],
    out: Path,
    *,
    seed: int = 0,
    executor: Workers | Executor | None = None,
    quick: bool = False,
    report: Report = lambda *_: None,
) -> list[Outcome]:
    """Run figures, each task once.

    What an earlier run finished is kept, if seed, data and program are the same.

    Args:
        figures: Names, such as "fig3"; or "all".
        out: A folder for pictures, points and the table.
        seed: The same seed gives the same numbers, with any number of jobs.
        executor: Who does it; processes rather than threads, since Python has much to do. None:
            this thread.
        quick: A small version of everything.
        report: Called as tasks are done.
    """
    names = _checked(figures)
    settings = Settings(seed=seed, quick=quick)
    out.mkdir(parents=True, exist_ok=True)
    folder = out / ("points-quick" if quick else "points")
    folder.mkdir(exist_ok=True)

    tasks = []
    for name in names:
        tasks += [Task(name, number) for number in range(FIGURES[name].tasks(quick))]
    parts = _compute(tasks, settings, folder=folder, executor=executor, report=report)

    outcomes = []
    for name in names:
        parts_of_figure = [parts[task] for task in tasks if task.figure == name]
        outcomes.append(_outcome(name, parts_of_figure))
    for outcome in outcomes:
        if not outcome.problem:
            _draw(outcome, out)
    _write_table(outcomes, out, settings)
    return outcomes


def _compute(
    tasks: Sequence[Task],
    settings: Settings,
    *,
    folder: Path,
    executor: Workers | Executor | None,
    report: Report,
) -> dict[Task, Part]:
    """What became of each task; the rows of those that succeed are kept in the folder."""
    stamp = _stamp()
    parts: dict[Task, Part] = {}
    for task in tasks:
        kept = _load(_path(folder, task, settings.seed), stamp)
        if kept is not None:
            parts[task] = kept

    def report_on(figure: str) -> None:
        done = sum(task.figure == figure for task in parts)
        report(figure, done, FIGURES[figure].tasks(settings.quick))

    for figure in dict.fromkeys(task.figure for task in tasks):
        report_on(figure)
    waiting = [task for task in tasks if task not in parts]
    with workers_of(executor) as workers:
        for number, part in workers.each(run_task, settings, waiting):
            task = waiting[number]
            parts[task] = part
            if not part.problem:  # what went wrong, such as a download, is tried again
                _keep(_path(folder, task, settings.seed), stamp, part)
            report_on(task.figure)
    return parts


def run_task(settings: Settings, task: Task) -> Part:
    """One task, on one thread: so its numbers do not depend on what else runs."""
    start = time.perf_counter()
    with threadpool_limits(1):
        try:
            rows = FIGURES[task.figure].compute(task, settings)
        except FairpoolError as error:
            return Part(rows=[], seconds=0.0, problem=str(error))
    return Part(rows=rows, seconds=time.perf_counter() - start)


def _checked(figures: Iterable[str]) -> list[str]:
    names = list(figures)
    if "all" in names or not names:
        return list(FIGURES)
    for name in names:
        if name not in FIGURES:
            raise DataError(f'no figure "{name}"; there are {", ".join(FIGURES)} and all')
    return names


def _path(folder: Path, task: Task, seed: int) -> Path:
    return folder / f"{task.figure}-{task.number}-seed{seed}.json"


def _stamp() -> str:
    """A hash of what points depend on beside the task and the seed.

    That is this program, and the data at hand.
    """
    digest = hashlib.blake2b(digest_size=16)
    program = sorted(Path(__file__).parents[1].rglob("*.py"))
    for path in (*program, *local_files()):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _keep(path: Path, stamp: str, part: Part) -> None:
    entry = {"of": stamp, "rows": part.rows, "seconds": part.seconds}
    write_atomically(path, json.dumps(entry).encode(), mode=READABLE)


def _load(path: Path, stamp: str) -> Part | None:
    """What was kept, unless by another version or from other data."""
    try:
        entry: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if entry.get("of") != stamp:
        return None
    return Part(rows=entry["rows"], seconds=entry["seconds"])


def _outcome(name: str, parts: list[Part]) -> Outcome:
    rows: Rows = []
    problem = ""
    for part in parts:
        rows += part.rows
        problem = problem or part.problem
    return Outcome(
        figure=name,
        seconds=sum(part.seconds for part in parts),
        rows=rows,
        claims=[] if problem else FIGURES[name].check(name, rows),
        problem=problem,
    )


def _draw(outcome: Outcome, out: Path) -> None:
    """Write a figure's points as CSV, and its picture as SVG and PNG."""
    name = outcome.figure
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(outcome.rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(outcome.rows)
    write_atomically(out / f"{name}.csv", stream.getvalue().encode(), mode=READABLE)

    spec = specification(FIGURES[name].draw(outcome.rows))
    spec["config"]["background"] = "white"
    svg = str(vl_convert.vegalite_to_svg(spec))
    write_atomically(out / f"{name}.svg", svg.encode(), mode=READABLE)
    png = bytes(vl_convert.vegalite_to_png(spec, scale=1.5))
    write_atomically(out / f"{name}.png", png, mode=READABLE)


def _write_table(outcomes: list[Outcome], out: Path, settings: Settings) -> None:
    for suffix in ("md", "html"):
        template = templates().get_template(f"reproduction.{suffix}.j2")
        page = template.render(
            outcomes=outcomes,
            figures=FIGURES,
            seed=settings.seed,
            quick=settings.quick,
            seconds=sum(outcome.seconds for outcome in outcomes),
        )
        write_atomically(out / f"reproduction.{suffix}", page.encode(), mode=READABLE)
