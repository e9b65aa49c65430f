"""A contribution that is killed at any point: journal and file agree, and the next run goes on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.exchange import a_plan, signed_plan
from tests.support.home import a_home, contributed, rows_of, write_table

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("earlier", [0, 1])
def test_killed_at_any_point_every_row_is_contributed_once(earlier, tmp_path):
    before = tmp_path / "before"
    before.mkdir()
    (tmp_path / "folder").mkdir()
    home = a_home(before / "home")
    rows = rows_of(100)
    if earlier:
        table = write_table(tmp_path / "old.csv", rows[:40])
        contributed(signed_plan(a_plan()), table, home, tmp_path / "old.contribution")
    write_table(before / "mine.csv", rows)
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.contribution_kills", tmp_path / "folder", before],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kills = [json.loads(line) for line in done.stdout.splitlines()]
    changes = [kill["change"] for kill in kills]
    assert any(change.startswith("os.link") for change in changes)
    assert any(".intent" in change and change.startswith("os.rename") for change in changes)
    assert changes[-1] == ""
    for kill in kills:
        left, then = kill["left"], kill["then"]
        # Nothing is outside that the journal does not know.
        assert left["out"] is None or left["out"] in left["known"], kill["change"]
        assert then["suffixes"] == [".made"] * (earlier + 1), kill["change"]
        assert then["out"] == then["known"][-1], kill["change"]
        assert then["rows"] == then["different"] == 100, kill["change"]
        if left["out"] is not None:
            assert then["out"] == left["out"], kill["change"]
