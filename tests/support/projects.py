"""Small collaborations on disk, and the command."""

import hashlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from fairpool.consortium.learning import learn
from fairpool.consortium.output import render
from fairpool.consortium.party_files import Release
from fairpool.consortium.preparation import prepare
from fairpool.consortium.request import RunRequest
from fairpool.consortium.rounds.context import (
    LATEST_FILE,
    LEDGER_FILE,
    ROUNDS_FOLDER,
    STATE_FOLDER,
    open_context,
)
from fairpool.consortium.rounds.releasing import release
from fairpool.consortium.scrutiny import scrutinise
from fairpool.consortium.valuation import value
from fairpool.keyed_noise.secret import Secret
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


HEAD = "ab" * 32
"""What a ledger's head looks like, for files that no ledger knows."""


def known_secret(seed=1):
    """A collaboration's secret that tests know, so that noise can be repeated."""
    return Secret(hashlib.sha256(f"the secret of the tests {seed}".encode()).digest())


def finished_run(folder, rho=None, seed=1, workers=None):
    """What `fairpool run` computes, of which nothing is written.

    Of the first round, with noise that tests know: a secret made of the seed.
    """
    context = open_context(Path(folder))
    if context.is_new:
        context = replace(context, secret=known_secret(seed))
    preparation = prepare(RunRequest(configuration=folder, rho=rho), workers, context)
    return scrutinise(value(learn(preparation, workers), workers), workers)


def written_run(folder, rho=None, seed=1):
    """What `fairpool run` does: the run itself, which is the next round by now."""
    done = finished_run(folder, rho, seed)
    release(done)
    return done


def rendered(run):
    """Every file that a release of a run consists of, by path."""
    return render(run, Release(head=HEAD)).files


def round_folder(folder, number=1):
    """Where a round's files are."""
    return Path(folder) / ROUNDS_FOLDER / f"{number:04d}"


def reward_file(folder, party, number=1):
    """Where a party's model of a round is."""
    return round_folder(folder, number) / "parties" / party / "reward.safetensors"


def is_untouched(folder):
    """Whether nothing was released or recorded in a folder: no round, no ledger, no secret.

    The lock that a run takes while it works may be there.
    """
    folder = Path(folder)
    state = folder / STATE_FOLDER
    left = [path.name for path in state.iterdir()] if state.is_dir() else []
    places = (ROUNDS_FOLDER, LEDGER_FILE, LATEST_FILE)
    return set(left) <= {"lock"} and not any((folder / name).exists() for name in places)


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
