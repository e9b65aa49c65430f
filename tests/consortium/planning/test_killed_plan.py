"""`fairpool plan`, killed before each change of the disk: the plan is there as a whole, or the one
before it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fairpool.consortium.planning.writing import write_plan
from tests.support.planned import edit, planned_project

ROOT = Path(__file__).parents[3]
EARLIER = "2019-01-01T00:00:00Z"


@pytest.mark.parametrize("is_first", [True, False])
def test_a_killed_plan_leaves_a_whole_one_or_none(tmp_path, is_first):
    before = planned_project(tmp_path / "before")
    if not is_first:
        write_plan(before, made=EARLIER)
        edit(before, "[rewards]", "[rewards]\nrho = 0.4")
    old = "" if is_first else (before / "plan.json").read_text()
    (tmp_path / "folder").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.plan_kills", tmp_path / "folder", before],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    seen = [json.loads(line) for line in done.stdout.splitlines()]
    deaths = seen[:-1]
    assert any(
        one["change"] == "os.rename .plan.json" or ".plan.json" in one["change"] for one in deaths
    )
    assert len(deaths) >= (6 if is_first else 3)
    for one in deaths:
        assert one["left"] == old
        assert one["again"] == ("new" if is_first else "terms")
        assert one["plan"] not in ("", old)
    assert seen[-1]["again"] == "none"
    for one in seen:
        expected = [".fairpool/lock", ".fairpool/operator.key", "collaboration.toml", "plan.json"]
        plain = [file for file in one["files"] if not file.startswith(".fairpool/.operator.key.")]
        assert plain == [".fairpool", *expected]
