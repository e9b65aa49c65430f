"""Kill `fairpool plan` before each change it makes to the disk, and run it again each time.

Run as a program, `python -m tests.support.plan_kills FOLDER BEFORE`: a fork must not inherit the
test runner's threads. What is there after each death, and after the next run, is one line of JSON.
"""

import json
import sys
from itertools import count
from pathlib import Path

from fairpool.consortium.planning.writing import write_plan
from fairpool.consortium.rounds.context import PLAN_FILE, read_plan
from tests.support.kill_points import killed_at, reset
from tests.support.planned import MADE


def main(folder, before):
    folder, before = Path(folder), Path(before)
    for point in count():
        reset(folder, before)
        name = killed_at(point, lambda: write_plan(folder, made=MADE))
        plan = folder / PLAN_FILE
        left = plan.read_bytes().decode() if plan.exists() else ""
        if left:
            read_plan(folder)  # it is whole, and signed by the key that is there
        again = write_plan(folder, made=MADE)
        said = {
            "change": name,
            "left": left,
            "again": again.change,
            "plan": plan.read_bytes().decode(),
            "files": sorted(str(path.relative_to(folder)) for path in folder.rglob("*")),
        }
        print(json.dumps(said), flush=True)
        if not name:
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
