"""Two and twenty classes in the command: parties of one class, and a class of one party alone."""

import csv
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tests.support.projects import fairpool, round_folder, write, written_run


def rows_of(levels: list[str], places: list[int], seed: int, each: int = 10) -> pa.Table:
    """So many rows of each of some classes, which lie on a circle."""
    rng = np.random.default_rng(seed)
    at = np.repeat(places, each)
    angle = 2 * np.pi * at / len(levels)
    X = 6 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0, 0.5, (len(at), 2))
    return pa.table({"x": X[:, 0], "z": X[:, 1], "sorte": [levels[place] for place in at]})


@pytest.mark.parametrize("k", [2, 20])
def test_one_class_parties_and_a_class_of_one_party(tmp_path: Path, k: int) -> None:
    levels = [f"Größe {c}" for c in range(k)]
    everything = list(range(k))
    repeat = 20 // k
    write(tmp_path / "all.csv", rows_of(levels, everything * repeat, 0))
    # Nobody but the first has the last class.
    write(tmp_path / "most.csv", rows_of(levels, everything[:-1] * (repeat + 1), 1))
    write(tmp_path / "one.csv", rows_of(levels, [0] * 20, 2))
    write(tmp_path / "test.csv", rows_of(levels, everything, 3, each=2))
    listed = ", ".join(f'"{level}"' for level in levels)
    parties = ""
    for name in ("all", "most", "one"):
        parties += f'[[parties]]\nname = "{name}"\ndata = "{name}.csv"\n'
    (tmp_path / "collaboration.toml").write_text(
        f'target = {{ column = "sorte", kind = "classes", levels = [{listed}] }}\n[model]\n'
        f'kind = "sparse_gp"\ninducing_points = 5\n[test]\ndata = "test.csv"\n{parties}'
    )
    done = written_run(tmp_path)
    assert done.collaboration.game.model.label_sets == k
    for reward, due in zip(done.collaboration.models, done.collaboration.rewards, strict=True):
        assert reward.posterior.worth == pytest.approx(due, rel=1e-9)
    reward_file = round_folder(tmp_path) / "parties/one/reward.safetensors"
    predicted = fairpool("predict", reward_file, "--data", tmp_path / "test.csv")
    assert predicted.returncode == 0, predicted.stderr
    rows = list(csv.DictReader(io.StringIO(predicted.stdout)))
    assert len(rows) == 2 * k
    for row in rows:
        p = [float(row[f"probability of {level}"]) for level in levels]
        assert sum(p) == pytest.approx(1, abs=1e-9)
        assert row["sorte"] == levels[int(np.argmax(p))]
