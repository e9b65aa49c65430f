"""Kill a contribution before each change that it makes to the disk, and make it again each time.

Run as a program, `python -m tests.support.contribution_kills FOLDER BEFORE`: a fork must not
inherit the test runner's threads. FOLDER is made to hold what BEFORE holds: a home, a plan's table
and perhaps an earlier contribution. What each killed child left, and what the next one made of it,
is one line of JSON.
"""

import json
import sys
from itertools import count
from pathlib import Path

import numpy as np

from fairpool.consortium.home.journal import FOLDER
from fairpool.consortium.home.journal_entry import JournalEntry
from tests.support.exchange import a_plan, signed_plan
from tests.support.home import contributed
from tests.support.kill_points import killed_at, reset

PLAN = signed_plan(a_plan())


def contribute(folder, nonce):
    """What the command does."""
    out = folder / "new.contribution"
    return contributed(PLAN, folder / "mine.csv", folder / "home", out, nonce=f"{nonce:032x}")


def state(folder):
    """What is outside of the home, what the journal knows, and how many rows are in that."""
    paths = sorted((folder / "home" / FOLDER).glob("[!.]*"))
    entries = [JournalEntry.read(path) for path in paths]
    ids = [entry.ids for entry in entries]
    out = folder / "new.contribution"
    return {
        "out": out.read_bytes().hex() if out.exists() else None,
        "known": [entry.content.hex() for entry in entries],
        "suffixes": [path.suffix for path in paths],
        "rows": sum(map(len, ids)),
        "different": len(np.unique(np.concatenate(ids))) if ids else 0,
    }


def main(folder, before):
    folder, before = Path(folder), Path(before)
    for point in count():
        reset(folder, before)
        name = killed_at(point, lambda: contribute(folder, 1))
        left = state(folder)
        contribute(folder, 2)
        print(json.dumps({"change": name, "left": left, "then": state(folder)}), flush=True)
        if not name:
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
