"""Peak memory of three large valuations, each in a process of its own.

8 GiB are promised to be enough.
"""

import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from bench.games import D, parties, weight_game
from bench.measure import Row, quick


def tables_of_20() -> None:
    """All 2^20 values and exact Shapley values, in weight space."""
    game = weight_game("i.i.d.", 20, D)
    with ThreadPoolExecutor(2) as threads:
        fp.shapley(game, "exact", executor=threads)


def ten_thousand_rows() -> None:
    """The whole chain of an exact Gaussian process, from rows to reward models."""
    rng = np.random.default_rng(0)
    tables = [rng.uniform(-1, 1, (1000, 6)) + 0.1 * i for i in range(10)]
    fp.collaborate(parties(tables), fp.GaussianProcess(RBF(1.0), 0.1), rho="rational")


def thousand_weights() -> None:
    """The whole chain of a regression with many weights."""
    rng = np.random.default_rng(0)
    model = fp.BayesianLinearRegression(1.0, bias=False)
    fp.collaborate(
        parties([rng.normal(size=(1500, 1000)) for _ in range(10)]), model, rho="rational"
    )


CASES = {
    "n = 20, d = 50: all values, exact Shapley values": tables_of_20,
    "Gaussian process, 10 x 1000 rows: whole chain": ten_thousand_rows,
    "10 parties, d = 1000 weights: whole chain": thousand_weights,
}


def measure(size: str) -> None:
    """One case, once."""
    command = [sys.executable, "-m", "bench.rows.memory", "--case", size]
    status = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    gib = (
        next(float(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
        / 2**20
    )
    Row(
        row="peak memory",
        size=size,
        against="8 GiB",
        ours=gib,
        theirs=None,
        floor=8.0,
        ratio=gib / 8,
        spread=(gib / 8, gib / 8),
        target="within 8 GiB",
        met=gib <= 8,
        unit="GiB",
    ).print()


if __name__ == "__main__":
    if "--case" in sys.argv:
        warnings.simplefilter("ignore")
        CASES[sys.argv[-1]]()
        print(Path("/proc/self/status").read_text())
    else:
        for case in CASES if not quick() else ():
            measure(case)
