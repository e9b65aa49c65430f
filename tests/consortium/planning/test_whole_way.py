"""From a plan to rewards, by the commands: sums give what rows give under the same plan."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pytest

from tests.support.exchange import KEYS, NAMES
from tests.support.home import a_home
from tests.support.planned import COLUMNS, SPREAD, planned_project
from tests.support.projects import fairpool, write

CLASSES = '{ column = "y", kind = "classes", levels = ["low", "high"] }'
NO_TARGET = COLUMNS.replace("[columns.y]\nrange = [0, 300]\n", "")


def table(rows, seed, *, classes):
    """Rows within the ranges; of some the date is missing, and these are left out."""
    rng = np.random.default_rng([23, seed])
    weight = rng.uniform(20, 100, rows).round(3)
    sex = rng.choice(["f", "m"], rows)
    y = 2 * weight + 10 * (sex == "m") + rng.normal(0, 5, rows)
    if classes:
        y = np.where(y + rng.normal(0, 20, rows) > 130, "high", "low")
    days = rng.choice(["2016-05-01", "2020-01-17", "2023-11-30"], rows)
    seen = [None if row % 17 == 0 else day for row, day in enumerate(days)]
    return pa.table({"weight": weight, "sex": sex, "seen": seen, "y": y})


def succeed(*command):
    done = fairpool(*command)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize(
    ("model", "classes", "public"),
    [
        (SPREAD + 'kernel = "rbf(1.5)"\n', False, False),
        ('kind = "blr"\n', True, False),
        ('kind = "sparse_gp"\ninducing_points = 5\n', False, True),
    ],
    ids=["numbers", "classes", "public"],
)
def test_sums_give_what_rows_give(tmp_path, monkeypatch, model, classes, public):
    settings = {"model": model, "rewards": "rho = 0.6"}
    if classes:
        settings |= {"target": CLASSES, "columns": NO_TARGET}
    if public:
        settings |= {"more": '[public]\ndata = "public.csv"\n'}
    folder = planned_project(tmp_path / "sums", data="{party}.contribution", **settings)
    if public:
        write(folder / "public.csv", table(200, 9, classes=classes))
    fingerprint = json.loads(succeed("plan", folder, "--json").stdout)["fingerprint"]
    by_rows = tmp_path / "rows"
    shutil.copytree(folder, by_rows)
    configuration = by_rows / "collaboration.toml"
    configuration.write_text(configuration.read_text().replace(".contribution", ".csv"))
    for number, party in enumerate(NAMES):
        rows = table(150, number, classes=classes)
        write(by_rows / f"{party}.csv", rows)
        home = tmp_path / party
        monkeypatch.setenv("FAIRPOOL_HOME", str(a_home(home, party)))
        write(home / "mine.csv", rows)
        given = ("--data", home / "mine.csv", "--out", folder / f"{party}.contribution")
        agreed = ("--yes", "--trust", fingerprint)
        succeed("contribute", folder / "plan.json", *given, *agreed)
    assert succeed("check", folder).returncode == 0
    sums = json.loads(succeed("run", folder, "--json").stdout)
    rows = json.loads(succeed("run", by_rows, "--preview", "--json").stdout)
    assert sums["total"] == pytest.approx(rows["total"], rel=1e-9)
    for one, other in zip(sums["parties"], rows["parties"], strict=True):
        assert one["reward"] == pytest.approx(other["reward"], rel=1e-9)
    reward = folder / "rounds" / "0001" / "parties" / "North" / "reward.safetensors"
    predicted = succeed("predict", reward, "--data", tmp_path / "North" / "mine.csv").stdout
    assert len(predicted.splitlines()) == 151
    assert str(KEYS["North"].public) in (folder / "plan.json").read_text()
