"""Columns: a new kind of input, carried from the configuration to letter, file and prediction."""

import csv
import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest

import fairpool as fp
from fairpool.columns import COLUMNS, ColumnKind, Rules
from fairpool.columns.rules import as_numbers
from tests.support.projects import fairpool, project, reward_file, write


@dataclass(frozen=True)
class AngleColumn:
    """A toy: a direction in degrees, as a point on the circle."""

    name: str
    rules: Rules

    kind = "angle"
    filling = ""

    @property
    def features(self):
        return (f"{self.name} (sin)", f"{self.name} (cos)")

    def encode(self, column, out):
        angle = np.deg2rad(as_numbers(column))
        out[0] = np.sin(angle)
        out[1] = np.cos(angle)

    def unusable(self, column):
        missing = np.flatnonzero(np.isnan(as_numbers(column)))
        return {int(row): f"{self.name} is missing" for row in missing}

    def made_up(self, share):
        return pa.array(360 * share)

    def entries(self):
        return {"kind": self.kind, "name": self.name}

    @classmethod
    def of_entries(cls, entries):
        return cls(entries["name"], Rules())


ANGLE = ColumnKind(
    name="angle",
    read_as="number",
    fix=lambda declared, seen: AngleColumn(declared.name, declared.rules),
    decode=AngleColumn.of_entries,
    keys=(),
)


@pytest.fixture(autouse=True)
def _angle(monkeypatch):
    monkeypatch.setitem(COLUMNS, "angle", ANGLE)


def winds(rows, seed):
    """A table of which the label depends on a direction."""
    rng = np.random.default_rng(seed)
    wind = rng.uniform(0, 360, rows)
    y = 5 + 3 * np.cos(np.deg2rad(wind)) + rng.normal(0, 0.1, rows)
    return pa.table({"wind": wind, "x": rng.normal(size=rows), "y": y})


def windy(folder, section='kind = "angle"'):
    project(folder, categorical="[]")
    for i in range(3):
        write(folder / f"p{i}.csv", winds(60, i))
    write(folder / "test.csv", winds(30, 99))
    with (folder / "collaboration.toml").open("a") as file:
        file.write(f"[columns.wind]\n{section}\n")
    return folder


def test_a_new_kind_of_column_goes_from_the_configuration_to_prediction(tmp_path, monkeypatch):
    folder = windy(tmp_path / "p")
    run = fairpool("run", folder, "--json")
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    # A line through degrees could not do that: north is at 0, and at 360.
    assert result["test"]["everyone"]["rmse"] < 0.3
    reward = reward_file(folder, "Party-0")
    assert fp.load_reward(reward).encoding.features == ("wind (sin)", "wind (cos)", "x")
    (tmp_path / "new.csv").write_text("wind,x\n0,0\n360,0\n,0\n")
    predicted = fairpool("predict", reward, "--data", tmp_path / "new.csv")
    assert predicted.returncode == 0, predicted.stderr
    north, also_north, nowhere = csv.DictReader(predicted.stdout.splitlines())
    assert float(north["y"]) == pytest.approx(float(also_north["y"]))
    assert (nowhere["y"], nowhere["reason"]) == ("", "wind is missing")
    # Who does not know the kind cannot read the file, and is told so.
    monkeypatch.delitem(COLUMNS, "angle")
    with pytest.raises(ValueError, match="no column of kind 'angle' is known"):
        fp.load_reward(reward)


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ('kind = "angel"', "kind: 'angel' is not allowed; did you mean \"angle\"?"),
        (
            'kind = "angle"\nrange = [0, 360]',
            '[columns.wind]: range has no meaning for kind = "angle" (only for number, date)',
        ),
        (
            'kind = "angle"\nmissing = { tokens = ["x"] }',
            "[columns.wind]: missing, tokens: 'x' is not a number, and the column is read as",
        ),
    ],
)
def test_its_section_is_checked_like_all_others(tmp_path, section, said):
    check = fairpool("check", windy(tmp_path, section), "--json")
    assert check.returncode == 2
    assert any(said in error for error in json.loads(check.stdout)["errors"]), check.stdout


@pytest.mark.parametrize("name", ["number", "category", "date"])
def test_every_kind_of_column_is_registered_under_its_name(name):
    assert COLUMNS[name].name == name
