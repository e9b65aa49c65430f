"""A round of three parties who send sums, made once; what parties are handed of it."""

from dataclasses import dataclass, field

import pytest

from tests.support.projects import write
from tests.support.sums import NAMES, Case, numbers

SIZES = (240, 180, 210)


@dataclass
class Round:
    """A case, its first round, and the table that each party has at home."""

    case: Case
    run: object
    mine: dict = field(default_factory=dict)


def released(folder, by_sums, *, sizes=SIZES, **more):
    """The first round of a case whose parties are North, South and West."""
    tables = {n: numbers(r, s, s / 3) for s, (n, r) in enumerate(zip(NAMES, sizes, strict=True))}
    case = Case(folder=folder / "project", tables=tables, by_sums=by_sums, **more)
    case.planned()
    run = case.next_round()
    mine = {}
    for name in NAMES:
        mine[name] = folder / f"{name}-at-home.csv"
        write(mine[name], tables[name])
    return Round(case=case, run=run, mine=mine)


@pytest.fixture(scope="session")
def sums(tmp_path_factory):
    """All parties send sums; the covariance is hidden."""
    return released(tmp_path_factory.mktemp("sums"), NAMES)


@pytest.fixture(scope="session")
def rows(tmp_path_factory):
    """All parties send rows; the covariance is full, and most of the data are North's."""
    folder = tmp_path_factory.mktemp("rows")
    return released(folder, (), sizes=(480, 120, 110), rewards='covariance = "full"')


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    """Nobody's own folder."""
    monkeypatch.setenv("FAIRPOOL_HOME", str(tmp_path / "nobody"))
