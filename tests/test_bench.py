"""Where the benchmarks' results go."""

import json
import sys

import pytest

import fairpool
from bench import render, run
from bench.measure import FOLDER

ROW = {
    "kind": "row",
    "row": "all values",
    "size": "n = 2",
    "against": "the naive way",
    "ours": 0.5,
    "theirs": 1.0,
    "floor": None,
    "ratio": 2.0,
    "spread": [2.0, 2.0],
    "target": "faster",
    "met": True,
    "equal": "to 1e-12",
    "unit": "s",
    "note": "",
    "repeats": 1,
}
POINTS = [
    {"kind": "point", "chart": "m", "way": "fairpool", "x": x, "y": y}
    for x, y in ((10, 0.1), (20, 0.4))
]


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Results that are there already, and the folders that documents go to."""
    docs, quick = tmp_path / "docs", tmp_path / "bench" / "quick"
    for kind in ("quick", "full"):
        results = tmp_path / "bench" / "results" / kind
        results.mkdir(parents=True)
        (results / f"{run.JOBS[0].name}.json").write_text(json.dumps([ROW, *POINTS]))
    docs.mkdir()
    (docs / "performance.md").write_text("an hour's work")
    monkeypatch.setattr(run, "FOLDER", tmp_path / "bench")
    monkeypatch.setattr(render, "DOCS", docs)
    monkeypatch.setattr(render, "QUICK", quick)
    return docs, quick


def written(folder):
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


def bench(monkeypatch, *options):
    monkeypatch.setattr(sys, "argv", ["bench.run", "--render", *options])
    with pytest.raises(SystemExit, match="False"):
        run.main()


def test_a_quick_run_leaves_the_documents_alone(places, monkeypatch, capsys):
    docs, quick = places
    bench(monkeypatch, "--quick")
    assert written(docs) == {"performance.md"}
    assert (docs / "performance.md").read_text() == "an hour's work"
    assert written(quick) == {"performance.md", "performance/m.svg"}
    text = (quick / "performance.md").read_text()
    assert "(here `make bench QUICK=1`" in text
    assert "| all values | n = 2 | the naive way | 500 ms | 1 s |" in text
    assert "(performance/m.svg)" in text
    assert str(quick / "performance.md") in capsys.readouterr().out


def test_each_row_says_with_which_version_it_was_measured(places, monkeypatch):
    """Also where some are measured anew, and others are kept."""
    docs = places[0]
    results = docs.parent / "bench" / "results" / "full"
    old = [ROW, run.with_what(run.JOBS[0]) | {"fairpool": "0.1.0", "day": "2026-11-16"}]
    (results / f"{run.JOBS[0].name}.json").write_text(json.dumps(old))
    bench(monkeypatch)
    text = (docs / "performance.md").read_text()
    assert "| fairpool | 0.1.0, measured on 2026-11-16 |" in text
    new = run.with_what(run.JOBS[1])
    assert new["fairpool"] == fairpool.__version__
    (results / f"{run.JOBS[1].name}.json").write_text(json.dumps([new]))
    bench(monkeypatch)
    assert (
        f"| fairpool | 0.1.0, measured on 2026-11-16: {run.JOBS[0].name};"
        f" {new['fairpool']}, measured on {new['day']}: {run.JOBS[1].name} |"
    ) in (docs / "performance.md").read_text()


def test_a_full_run_writes_the_documents(places, monkeypatch):
    docs, quick = places
    bench(monkeypatch)
    assert written(docs) == {"performance.md", "performance/m.svg"}
    assert "| all values | n = 2 |" in (docs / "performance.md").read_text()
    assert not quick.exists()


def test_quick_results_are_not_under_version_control():
    assert FOLDER in render.QUICK.parents
    assert ".bench/" in (FOLDER.parent / ".gitignore").read_text().splitlines()
