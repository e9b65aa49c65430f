"""`fairpool check` shows every column at every party, and asks about units that do not fit."""

import json

import numpy as np
import pyarrow as pa

from tests.support.projects import fairpool, finished_run, prepared, project, write


def farm_table(seed, *, inches=False, fahrenheit=False):
    rng = np.random.default_rng(seed)
    rain = rng.normal(600 + rng.normal(0, 20), 80, 80)
    temp = rng.normal(10 + rng.normal(0, 0.5), 2.5, 80)
    harvest = 3 + rain / 200 + 0.2 * temp + rng.normal(0, 0.2, 80)
    if inches:
        rain = rain / 25.4
    if fahrenheit:
        temp = temp * 1.8 + 32
    return pa.table({"rain_mm": rain, "temp_c": temp, "yield": harvest})


CONFIGURATION = """
target = "yield"
[model]
kind = "blr"
"""


def farms(folder, wrong=None):
    """Four farms, of which one may have the wrong units."""
    text = CONFIGURATION
    for k, name in enumerate(("Ash", "Elm", "Fir", "Oak")):
        odd = name == wrong
        write(folder / f"{name}.csv", farm_table(k, inches=odd, fahrenheit=odd))
        text += f'[[parties]]\nname = "{name}"\ndata = "{name}.csv"\n'
    (folder / "collaboration.toml").write_text(text)
    return folder


def unit_notes(preparation):
    return [note for note in preparation.notes if note.code == "unit"]


def test_wrong_units_pay_twice_and_are_asked_about(tmp_path):
    honest = finished_run(farms(tmp_path / "honest"), rho=1.0)
    wrong = finished_run(farms(tmp_path / "wrong", wrong="Fir"), rho=1.0)
    share = [
        run.collaboration.contributions.values[2] / run.collaboration.game.total
        for run in (honest, wrong)
    ]
    # This is why it matters: information gain rewards whoever is elsewhere.
    assert share[1] > 1.3 * share[0]
    assert unit_notes(honest.preparation) == []
    rain, temperature = unit_notes(wrong.preparation)
    assert (rain.party, temperature.party) == ("Fir", "Fir")
    assert rain.text.startswith("rain_mm at Fir: median 24.11; the others' 608.4 to 625.5. Inches?")
    assert "Inches? If so, say columns.rain_mm.from = " in rain.text
    assert "Fahrenheit? If so, say columns.temp_c.from = " in temperature.text
    assert wrong.warnings[: len(honest.warnings)] != wrong.warnings


def test_check_prints_them_in_the_table_and_as_warnings(tmp_path):
    folder = farms(tmp_path, wrong="Fir")
    done = fairpool("check", folder)
    assert done.returncode == 0
    assert "Columns by party" in done.stdout
    assert "Inches?" in done.stdout
    assert "Warning: rain_mm at Fir: median" in done.stdout.replace("\n", " ")


def test_the_table_for_a_program(tmp_path):
    folder = farms(tmp_path, wrong="Fir")
    told = json.loads(fairpool("check", folder, "--json").stdout)
    rain = told["columns"][0]
    assert (rain["column"], rain["kind"]) == ("rain_mm", "number")
    assert [cell["owner"] for cell in rain["by"]] == ["Ash", "Elm", "Fir", "Oak"]
    fir = rain["by"][2]
    assert fir["question"] == "Inches?"
    assert fir["quartiles"][0] < fir["median"] < fir["quartiles"][1]
    assert "question" not in rain["by"][0]
    assert told["columns"][-1]["kind"] == "target"


def test_levels_and_missing_shares(tmp_path):
    folder = project(tmp_path, extra='missing = "drop"')
    lines = (folder / "p0.csv").read_text().splitlines()
    lines[1] = ",".join(["", *lines[1].split(",")[1:]])
    (folder / "p0.csv").write_text("\n".join(lines) + "\n")
    table = {summary.name: summary for summary in prepared(folder).table}
    assert {level for level, _ in table["kind"].cells[0].levels} <= {"red", "green"}
    assert table["kind"].kind == "category"
    assert table["x"].cells[0].missing == 1 / (len(lines) - 1)
    assert table["x"].cells[1].missing == 0
    assert "test data" in [cell.owner for cell in table["x"].cells]


def test_the_table_is_shown_with_problems_too(tmp_path):
    folder = farms(tmp_path, wrong="Fir")
    (folder / "Oak.csv").write_text("rain_mm,temp_c,yield\n600,10,\n610,x,7\n")
    done = fairpool("check", folder)
    assert done.returncode == 2
    assert "Inches?" in done.stdout
    assert "Oak.csv, line 3, column" in done.stderr
    told = json.loads(fairpool("check", folder, "--json").stdout)
    assert [*told] == ["errors", "columns"]
    assert len(told["errors"]) == 2


def test_quiet_is_quiet(tmp_path):
    assert fairpool("check", farms(tmp_path), "--quiet").stdout == ""


def columns_told(folder):
    """What `check` tells a program of each column at each owner."""
    told = json.loads(fairpool("check", folder, "--json").stdout)
    found = {}
    for column in told["columns"]:
        for cell in column["by"]:
            found[column["column"], cell["owner"]] = cell
    return found


def test_a_column_is_shown_though_another_one_is_missing_in_every_row(tmp_path):
    folder = farms(tmp_path)
    before = columns_told(folder)
    content = farm_table(0).set_column(1, "temp_c", pa.nulls(80, pa.float64()))
    write(folder / "Ash.csv", content)
    after = columns_told(folder)
    assert after["rain_mm", "Ash"] == before["rain_mm", "Ash"]
    assert after["temp_c", "Ash"] == {"owner": "Ash", "missing": 1.0}


def test_what_cannot_be_read_has_no_median(tmp_path):
    folder = farms(tmp_path)
    content = farm_table(0)
    shares = pa.array([f"{value:.1f}%" for value in content["temp_c"].to_pylist()])
    write(folder / "Ash.csv", content.set_column(1, "temp_c", shares))
    told = columns_told(folder)
    assert "median" not in told["temp_c", "Ash"]
    assert "median" in told["rain_mm", "Ash"]
    assert "median" in told["temp_c", "Elm"]


def test_fractions_among_percent_are_asked_about(tmp_path):
    folder = farms(tmp_path)
    for k, name in enumerate(("Ash", "Elm", "Fir", "Oak")):
        humidity = np.random.default_rng(k).normal(60, 10, 80)
        if name == "Oak":
            humidity = humidity / 100
        write(folder / f"{name}.csv", farm_table(k).add_column(0, "humidity (%)", [humidity]))
    assert columns_told(folder)["humidity (%)", "Oak"]["question"] == "Fractions?"
