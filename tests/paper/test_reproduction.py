"""`fairpool reproduce`, quick, end to end; resumption; the same numbers with any number of jobs."""

import csv
import json
import signal

import numpy as np
import pytest

from fairpool.paper.along_rho import RhoPoint
from fairpool.paper.figures import FIGURES
from fairpool.paper.reproduction import reproduce
from fairpool.paper.scatter import Point
from fairpool.paper.valuation import ValuePoint
from tests.support.die_before import run_and_die
from tests.support.projects import fairpool
from tests.support.shared import built_once

COLUMNS = {"fig1": RhoPoint, "fig2": RhoPoint, "fig11": ValuePoint} | dict.fromkeys(
    ("fig3", "fig3-fixed", "fig5", "fig6", "fig7", "fig8", "fig9", "fig9-fixed", "fig10"), Point
)


@pytest.fixture(scope="module")
def housing(tmp_path_factory):
    """Made-up tables with the real ones' columns, so that every figure can run anywhere."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    names = {
        "california_housing.csv": (
            "MedInc,HouseAge,AveRooms,AveBedrms,Population,Latitude,Longitude,MedHouseVal"
        ),
        "boston_housing.csv": "CRIM,ZN,INDUS,CHAS,NOX,RM,AGE,DIS,RAD,TAX,PTRATIO,B,LSTAT,MEDV",
    }
    for name, header in names.items():
        rows = 6000 if "california" in name else 506
        X = rng.standard_normal((rows, header.count(",")))
        y = np.sin(X[:, 0]) + X[:, -1] * X[:, -2] + 0.3 * rng.standard_normal(rows)
        np.savetxt(
            folder / name, np.column_stack([X, y]), delimiter=",", header=header, comments=""
        )
    return folder


LONG = ("fig5", "fig7", "fig11")
"""Figures that take longer than all others together; `make soak` runs these, too."""

MOST = tuple(name for name in FIGURES if name not in LONG)


def reproduced(folder, housing, *names):
    """The command's quick run of some figures, or of all, by two processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRPOOL_DATA", str(housing))
        done = fairpool("reproduce", *names, "--quick", "--jobs", "2", "--out", folder)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def quick(tmp_path_factory, housing):
    """Most figures."""
    return built_once(
        tmp_path_factory, "quick-reproduction", lambda folder: reproduced(folder, housing, *MOST)
    )


@pytest.mark.soak
def test_quick_runs_every_figure(tmp_path, housing):
    reproduced(tmp_path, housing)
    check_figures(tmp_path, FIGURES)
    assert "Not run" not in (tmp_path / "reproduction.md").read_text()


def test_quick_runs_most_figures(quick):
    check_figures(quick, MOST)


def check_figures(quick, names):
    """Whether there are pictures, points and a page of these figures."""
    for name in names:
        assert (quick / f"{name}.svg").read_text().startswith("<svg")
        assert (quick / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        rows = list(csv.DictReader((quick / f"{name}.csv").read_text().splitlines()))
        if name in COLUMNS:
            more = ["suitable"] if name.startswith("fig9") else []
            assert list(rows[0]) == [*COLUMNS[name].__dataclass_fields__, *more], name
            assert len(rows) > 5
    table = (quick / "reproduction.md").read_text()
    assert "| fig3 | positive improvement in MNLP at ρ = 0.5 | 631 of 750 (84%) |" in table
    assert "<table>" in (quick / "reproduction.html").read_text()


def test_without_data_the_other_figures_still_run(tmp_path, monkeypatch):
    monkeypatch.delenv("FAIRPOOL_DATA", raising=False)

    def refused(*_, **__):
        raise OSError("no network")

    monkeypatch.setattr("fairpool.paper.datasets.fetch_openml", refused)
    outcomes = reproduce(["fig4", "fig8"], tmp_path, quick=True)
    assert [bool(o.problem) for o in outcomes] == [False, True]
    assert (
        "boston_housing.csv is not in $FAIRPOOL_DATA" in (tmp_path / "reproduction.md").read_text()
    )
    assert not list((tmp_path / "points-quick").glob("fig8*"))  # it will be tried again


def test_the_same_numbers_with_one_and_two_jobs(tmp_path, quick):
    reproduce(["fig2", "fig3", "fig9"], tmp_path / "one", quick=True)
    for name in ("fig2", "fig3", "fig9"):
        assert (tmp_path / "one" / f"{name}.csv").read_bytes() == (
            quick / f"{name}.csv"
        ).read_bytes()
    reproduce(["fig9-fixed"], tmp_path / "other", seed=4, quick=True)
    assert (tmp_path / "other" / "fig9-fixed.csv").read_bytes() != (
        quick / "fig9-fixed.csv"
    ).read_bytes()


def test_points_of_another_program_or_other_data_are_computed_anew(tmp_path, housing, monkeypatch):
    reproduce(["fig2"], tmp_path, quick=True)
    for path in (tmp_path / "points-quick").iterdir():
        path.write_text(json.dumps(json.loads(path.read_text()) | {"seconds": 1e6}))
    assert reproduce(["fig2"], tmp_path, quick=True)[0].seconds >= 1e6  # kept
    for path in (tmp_path / "points-quick").iterdir():
        path.write_text(json.dumps(json.loads(path.read_text()) | {"of": "another program"}))
    assert reproduce(["fig2"], tmp_path, quick=True)[0].seconds < 1e6
    for path in (tmp_path / "points-quick").iterdir():
        path.write_text(json.dumps(json.loads(path.read_text()) | {"seconds": 1e6}))
    monkeypatch.setenv("FAIRPOOL_DATA", str(housing))
    assert reproduce(["fig2"], tmp_path, quick=True)[0].seconds < 1e6


def check_that_it_goes_on(points, arguments, kept):
    """`kept` points are whole, one is half-written, and only what is missing is computed."""
    files = {path: path.stat().st_mtime_ns for path in points.glob("*.json")}
    assert len(files) == kept
    assert all("rows" in json.loads(path.read_text()) for path in files)
    assert len(list(points.glob(".*.json.*"))) == 1
    assert not (points.parent / "reproduction.md").exists()
    assert fairpool(*arguments).returncode == 0
    assert all(path.stat().st_mtime_ns == before for path, before in files.items())


def test_a_killed_run_goes_on_where_it_was(tmp_path, quick):
    arguments = ["reproduce", "fig9-fixed", "fig3-fixed", "--quick", "--out", tmp_path]
    stopped = run_and_die(
        signal.SIGKILL, 2, "os.rename .fig9-fixed", arguments
    )  # written, and not in its place
    assert stopped.returncode == -signal.SIGKILL, stopped.stderr
    check_that_it_goes_on(tmp_path / "points-quick", arguments, kept=1)
    for name in ("fig9-fixed", "fig3-fixed"):
        assert (tmp_path / f"{name}.csv").read_bytes() == (quick / f"{name}.csv").read_bytes()


@pytest.mark.soak
def test_a_killed_run_of_the_whole_figures_goes_on_where_it_was(tmp_path):
    arguments = ["reproduce", "fig9", "fig3", "--out", tmp_path]
    stopped = run_and_die(signal.SIGKILL, 4, "os.rename .fig9", arguments)
    assert stopped.returncode == -signal.SIGKILL, stopped.stderr
    check_that_it_goes_on(tmp_path / "points", arguments, kept=3)
    assert len(list(csv.DictReader((tmp_path / "fig3.csv").read_text().splitlines()))) > 1000


def test_an_unknown_figure_is_refused(tmp_path):
    done = fairpool("reproduce", "fig99", "--out", tmp_path / "x")
    assert done.returncode == 2
    assert 'no figure "fig99"; there are fig1, fig2' in done.stderr
