"""performance.md, from what the rows printed.

It is written into docs/, or after a quick run to where it overwrites nothing.
"""

import tomllib
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from bench.charts import CHARTS, write_charts
from bench.machine import description
from bench.measure import FOLDER

DOCS = FOLDER.parent / "docs"
QUICK = FOLDER / "quick"
"""For single repeats, which are no results to keep."""

HERE = Path(__file__).parent


def write_document(lines: list[dict], *, quick: bool) -> Path:
    """Write the document and its charts; where the document is."""
    folder = QUICK if quick else DOCS
    errors = [line for line in lines if line["kind"] == "error"]
    rows = [line for line in lines if line["kind"] == "row"] + sampled_rows(errors)
    remarks = tomllib.loads((HERE / "remarks.toml").read_text())
    charts = write_charts(
        [line for line in lines if line["kind"] == "point"], folder / "performance"
    )
    jinja = Environment(
        loader=FileSystemLoader(HERE),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    jinja.filters["number"] = number
    jinja.filters["ratio"] = lambda value: f"{value:.0f}x" if value >= 100 else f"{value:.3g}x"
    text = jinja.get_template("performance.md.j2").render(
        quick=quick,
        machine=description() | {"fairpool": measured(lines)},
        rows=rows,
        missed=[
            (row, remark(row, remarks.get("remark", []))) for row in rows if row["met"] is False
        ],
        left_out=[line for line in lines if line["kind"] in ("left out", "failed")],
        peers=remarks.get("peers", {}),
        games={
            game: sorted((e for e in errors if e["game"] == game), key=_error)
            for game in _games(errors)
        },
        charts={name: CHARTS[name] for name in charts},
    )
    document = folder / "performance.md"
    document.write_text(text)
    return document


def measured(lines: list[dict]) -> str:
    """With which version each row was measured, and when; results may be of several."""
    jobs: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        if line["kind"] == "measured":
            jobs.setdefault((line["fairpool"], line["day"]), []).append(line["job"])
    whens = [(f"{version}, measured on {day}", names) for (version, day), names in jobs.items()]
    if len(whens) == 1:
        return whens[0][0]
    return "; ".join(f"{when}: {', '.join(names)}" for when, names in whens)


def sampled_rows(errors: list[dict]) -> list[dict]:
    """Ours against the best of all peers, for each game."""
    rows = []
    for game in _games(errors):
        measured = [e for e in errors if e["game"] == game and "error" in e]
        ours = [e for e in measured if e["package"] == "fairpool"]
        theirs = [e for e in measured if e["package"] != "fairpool"]
        if not ours or not theirs:
            continue
        best = min(theirs, key=_error)
        rows.append(
            {
                "row": "sampled Shapley, 3000 evaluations",
                "size": f"n = 30, d = 50, {game} game",
                "against": f"best of {len(theirs)}: {best['package']} {best['method']}",
                "ours": ours[0]["error"],
                "theirs": best["error"],
                "floor": None,
                "ratio": best["error"] / ours[0]["error"],
                "spread": None,
                "repeats": ours[0]["seeds"],
                "target": "no worse than the best",
                "met": ours[0]["error"] <= best["error"],
                "equal": f"truth known to {ours[0]['truth_error']:.0e}",
                "unit": "mean absolute error",
                "note": "repeats are seeds",
            }
        )
    return rows


def remark(row: dict, remarks: list[dict]) -> str:
    """What is to be said about a row that misses its figure."""
    for known in remarks:
        if known["row"] == row["row"] and all(
            known.get(key, "") in row[key] for key in ("size", "against")
        ):
            return known["text"]
    return "no remark yet."


def number(value: float | None, unit: str = "s") -> str:
    """Three digits, in a unit that suits; a dash for nothing."""
    if value is None:
        return "–"
    if unit != "s":
        return f"{value:.3g}"
    for scale, name in ((1.0, "s"), (1e-3, "ms")):
        if value >= scale:
            return f"{value / scale:.3g} {name}"
    return f"{value / 1e-6:.3g} µs"


def _games(errors: list[dict]) -> list[str]:
    return list(dict.fromkeys(error["game"] for error in errors))


def _error(line: dict) -> float:
    return line.get("error", float("inf"))
