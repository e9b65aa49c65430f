"""Run the command, and send it a signal before one of its changes to the disk, instead of after
some time.

Run as a program, `python -m tests.support.die_before SIGNAL NUMBER CHANGE ARGUMENT...`: of the
changes whose name begins with CHANGE, the signal comes before the one with this NUMBER, counted
from 1. Names are those of `kill_points`.
"""

import os
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

from tests.support.kill_points import change

ROOT = Path(__file__).parents[2]


def run_and_die(sign, number, beginning, arguments):
    """The command as a process of its own, which gets the signal `sign` there."""
    words = [sign.name, number, beginning, *arguments]
    return subprocess.run(
        [sys.executable, "-m", "tests.support.die_before", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


def main(sign, number, beginning, *arguments):
    from fairpool.cli import entry

    numbers = count(1)

    def hook(event, values):
        name = change(event, values)
        if name is not None and name.startswith(beginning) and next(numbers) == int(number):
            os.kill(os.getpid(), signal.Signals[sign])

    sys.argv = ["fairpool", *arguments]
    sys.addaudithook(hook)
    entry()


if __name__ == "__main__":
    main(*sys.argv[1:])
