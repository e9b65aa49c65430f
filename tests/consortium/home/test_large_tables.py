"""A table of any size is contributed in little memory: what grows with it are the rows' hashes."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from fairpool.consortium.home.journal import FOLDER
from fairpool.consortium.home.near_copies import MOST_REMEMBERED
from fairpool.exchange.home import HOME_VARIABLE
from tests.support.exchange import a_plan, signed_plan
from tests.support.home import a_home

ROOT = Path(__file__).parents[3]
PIECE = 500_000


def megabytes_for(rows, folder, *, ids=()):
    """The most memory that a contribution of so many rows takes, in a process of its own."""
    home = a_home(folder / "home")
    plan = a_plan(weights=20)
    plan = replace(plan, encoding=replace(plan.encoding, ids=ids))
    (folder / "plan.json").write_bytes(signed_plan(plan).document.content)
    rng = np.random.default_rng(0)
    types = dict.fromkeys(ids, pa.int64())
    types |= {"a": pa.float64(), "b": pa.float64(), "c": pa.string(), "y": pa.float64()}
    with pa_csv.CSVWriter(folder / "mine.csv", pa.schema(types)) as writer:
        for start in range(0, rows, PIECE):
            count = min(PIECE, rows - start)
            a, b, noise = rng.normal(size=(3, count)).round(6)
            c = np.where(rng.random(count) < 0.5, "x", "y")
            named = dict.fromkeys(ids, np.arange(start, start + count))
            columns = {"a": a, "b": b, "c": c, "y": 10 + a - b + noise}
            writer.write_table(pa.table(named | columns))
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.contribution_memory", folder],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {HOME_VARIABLE: str(home), "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (entry,) = (home / FOLDER).iterdir()
    # Every row is known by its hash by now, and of some hundred thousand a little is kept.
    of_each = 16 + 32 * bool(ids)
    most = of_each * rows + 60 * min(rows, MOST_REMEMBERED) + 20_000
    assert 16 * rows < entry.stat().st_size < most
    return int(done.stdout.split()[-1]) / 1024


@pytest.mark.soak
def test_five_million_rows_take_less_than_a_gibibyte(tmp_path):
    assert megabytes_for(5_000_000, tmp_path) < 1024


@pytest.mark.soak
def test_rows_that_are_known_by_an_id_have_three_hashes_each_and_take_no_more(tmp_path):
    assert megabytes_for(5_000_000, tmp_path, ids=("patient",)) < 1024


def test_a_table_is_not_in_memory_as_a_whole(tmp_path):
    # Without any row it takes about 300 already; features of all of these would take 100 more.
    assert megabytes_for(600_000, tmp_path) < 500
