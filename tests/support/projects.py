"""Small collaborations on disk, and the command."""

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from fairpool.consortium.learning import learn
from fairpool.consortium.output import render
from fairpool.consortium.preparation import prepare
from fairpool.consortium.request import RunRequest
from fairpool.consortium.scrutiny import scrutinise
from fairpool.consortium.valuation import value
from fairpool.consortium.writing import write as write_files
from tests.support.in_process import run_in_process

COMMAND = Path(sys.executable).parent / "fairpool"


def fairpool(*arguments, cwd=None):
    """Run what the installed command runs, in this process.

    tests/test_command.py compares the two.
    """
    return run_in_process([*map(str, arguments)], cwd)


def fairpool_process(*arguments, cwd=None):
    """Run the installed command as a user would, for tests where a process is the point."""
    return subprocess.run(
        [COMMAND, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, check=False
    )


def prepared(folder, workers=None):
    """What `fairpool check` looks at."""
    return prepare(RunRequest(configuration=folder), workers)


def finished_run(folder, rho=None, seed=1, workers=None):
    """What `fairpool run` computes, of which nothing is written, with noise that tests know."""
    preparation = prepare(RunRequest(configuration=folder, rho=rho), workers)
    return scrutinise(value(learn(preparation, workers), workers, rng=seed), workers)


def written_run(folder, out, rho=None, seed=1):
    """What `fairpool run` does, and the run itself."""
    done = finished_run(folder, rho, seed)
    write_files(render(done, known_noise=True), out)
    return done


def sha256(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def table(rows, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(shift, 1, rows), rng.uniform(0, 5, rows)
    kind = rng.choice(["red", "green"], rows)
    y = 50 + 10 * np.sin(x) + 3 * z + 4 * (kind == "red") + rng.normal(0, 1, rows)
    return pa.table({"x": x, "z": z, "kind": kind, "y": y})


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pa.parquet.write_table(content, path)
    else:
        pa.csv.write_csv(content, path)


LEARNED, LISTED = '["kind"]', '{ kind = ["green", "red"] }'
"""Where the levels of `table` come from: from everybody's rows, or from the configuration."""


SEEDS = {1: 51}
"""Of some parties' tables. With the seed 1, one row would stand out in the others' rewards."""


def party_table(i, rows):
    """What party i of a project has."""
    return table(rows, SEEDS.get(i, i), 0.4 * i)


def project(
    folder,
    extra="",
    model='kind = "blr"',
    suffix=".csv",
    sizes=(40, 25, 30),
    rewards="",
    categorical=LEARNED,
):
    """A folder with three parties, test data, and a configuration."""
    for i, size in enumerate(sizes):
        write(folder / f"p{i}{suffix}", party_table(i, size))
    write(folder / f"test{suffix}", table(30, 99))
    parties = "".join(
        f'[[parties]]\nname = "Party {i}"\ndata = "p{i}{suffix}"\n' for i in range(len(sizes))
    )
    (folder / "collaboration.toml").write_text(
        f'name = "Test"\ntarget = "y"\ncategorical = {categorical}\n{extra}\n[model]\n{model}\n'
        f'[test]\ndata = "test{suffix}"\n'
        f"[rewards]\nrho = 0.6\n{rewards}\n{parties}"
    )
    return folder


MODELS = {
    "gp": ('kind = "gp"\nkernel = "rbf + exponential"', "share_inputs = true"),
    "sparse_gp": ('kind = "sparse_gp"\ninducing_points = 12', ""),
    "fourier": ('kind = "fourier"\nfeatures = 12', ""),
    "blr": ('kind = "blr"', ""),
    "network": ('kind = "network"\nhidden_layers = [8, 5]', "share_labels = true"),
}
