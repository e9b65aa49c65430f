"""The paper's figures: how each is computed, drawn, and checked against the paper's claims."""

import dataclasses
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from fairpool.paper import charts, claims
from fairpool.paper.along_rho import run_along_rho
from fairpool.paper.claims import Claim
from fairpool.paper.rows import Rows
from fairpool.paper.scatter import SETTINGS, run_split
from fairpool.paper.valuation import run_valuation


class Task(NamedTuple):
    """A part of a figure that can be computed by itself.

    Attributes:
        figure: The figure's name.
        number: From 0.
    """

    figure: str
    number: int


# No tuple: some versions of the Dask client take one apart.
@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is the same for all tasks of a run.

    Attributes:
        seed: The same seed gives the same numbers.
        quick: Whether to compute a small version.
    """

    seed: int
    quick: bool


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure of the paper.

    Attributes:
        title: What it shows.
        tasks: How many independent tasks it is made of, for a quick run or a full one.
        compute: From a task and the settings to rows; at the top of a module, so that another
            process can run it.
        draw: From rows to a chart.
        check: From the figure's name and rows to claims.
        notes: Choices where the paper is silent.
    """

    title: str
    tasks: Callable[[bool], int]
    compute: Callable[[Task, Settings], Rows]
    draw: Callable[[Rows], Any]
    check: Callable[[str, Rows], list[Claim]]
    notes: str = ""


def scatter_rows(task: Task, settings: Settings) -> Rows:
    """One split of Figs. 3, 5-10."""
    setting = SETTINGS[task.figure]
    if settings.quick:
        setting = dataclasses.replace(setting, partitions=2)
    return [asdict(point) for point in run_split(setting, task.number, settings.seed)]


def suitability_rows(task: Task, settings: Settings) -> Rows:
    """One split of Fig. 9, on the partitions that both models share.

    The suitable model's splits come first, then those of the unsuitable one.
    """
    splits = 1 if settings.quick else SETTINGS[task.figure].splits
    suitable = task.number < splits
    # The suitable model is that of Fig. 3.
    figure = task.figure.replace("fig9", "fig3") if suitable else task.figure
    rows = scatter_rows(Task(figure, task.number % splits), settings)
    return [row | {"suitable": suitable} for row in rows]


def along_rho_rows(_: Task, settings: Settings) -> Rows:
    """Figs. 1 and 2."""
    if settings.quick:
        points = run_along_rho(settings.seed, steps=6, draws=3, rows=80)
    else:
        points = run_along_rho(settings.seed)
    return [asdict(point) for point in points]


def partition_rows(_: Task, settings: Settings) -> Rows:
    """Fig. 4 needs only its seed."""
    return [{"seed": settings.seed}]


def valuation_rows(task: Task, settings: Settings) -> Rows:
    """One model of Fig. 11."""
    model = ("GP Friedman", "NN CaliH")[task.number]
    if settings.quick:
        points = run_valuation(model, settings.seed, partitions=1, validations=3)
    else:
        points = run_valuation(model, settings.seed)
    return [asdict(point) for point in points]


def _scatter(figure: str, title: str, notes: str = "") -> Figure:
    def tasks(quick: bool) -> int:
        return 1 if quick else SETTINGS[figure].splits

    return Figure(
        title=title,
        tasks=tasks,
        compute=scatter_rows,
        draw=charts.scatter_figure,
        check=claims.scatter_claims,
        notes=notes,
    )


def _suitability(figure: str, title: str, notes: str = "") -> Figure:
    def tasks(quick: bool) -> int:
        return 2 if quick else 2 * SETTINGS[figure].splits

    return Figure(
        title=title,
        tasks=tasks,
        compute=suitability_rows,
        draw=charts.suitability_figure,
        check=claims.suitability_claims,
        notes=notes,
    )


FIGURES = {
    "fig1": Figure(
        title="Incentives along ρ, from a real run",
        tasks=lambda _: 1,
        compute=along_rho_rows,
        draw=charts.overview_figure,
        check=claims.overview_claims,
    ),
    "fig2": Figure(
        title="GP, Friedman, three parties: IG and MNLP along ρ",
        tasks=lambda _: 1,
        compute=along_rho_rows,
        draw=charts.along_rho_figure,
        check=claims.along_rho_claims,
        notes="21 values of ρ and ρ_s itself; hyperparameters by maximum likelihood on the pool.",
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
        title="The partitioning algorithm",
        tasks=lambda _: 1,
        compute=partition_rows,
        draw=lambda rows: charts.partition_figure(rows[0]["seed"]),
        check=lambda *_: [],
    ),
    "fig5": _scatter(
        "fig5",
        "Network and BLR, California housing",
        "The network is trained once, on 60% of the data;"
        " the noise variance is learned on the same part.",
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
        title="IG-based against MNLP-based values",
        tasks=lambda _: 2,
        compute=valuation_rows,
        draw=charts.valuation_figure,
        check=claims.valuation_claims,
        notes=(
            "Half the validation sets at random,"
            " half consecutive blocks by the partition's feature."
        ),
    ),
}
