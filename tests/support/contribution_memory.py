"""Make a contribution in a process of its own, and tell how much memory that took at most.

Run as a program, `python -m tests.support.contribution_memory FOLDER`, with the command's home in
the environment. FOLDER has plan.json and mine.csv.
"""

import sys
from pathlib import Path

from tests.support.exchange import OPERATOR
from tests.support.projects import fairpool


def main(folder):
    trust = OPERATOR.public.fingerprint
    command = ["contribute", "plan.json", "--data", "mine.csv", "--out", "big.contribution"]
    done = fairpool(*command, "--yes", "--trust", trust, cwd=folder)
    if done.returncode:
        sys.exit(done.stderr)
    status = Path("/proc/self/status").read_text()
    print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


if __name__ == "__main__":
    main(*sys.argv[1:])
