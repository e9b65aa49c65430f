"""Collaborations of three parties whose rows are of three classes."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import fairpool as fp
from fairpool.consortium.preparation import prepare
from fairpool.consortium.request import RunRequest
from fairpool.errors import ConfigurationError, DataError
from tests.classes.conftest import rows_of_classes
from tests.support.projects import write

LEVELS = ("gesund", "müde", "krank")
MODELS = {
    "gp": ('kind = "gp"', "share_inputs = true\nshare_labels = true"),
    "sparse_gp": ('kind = "sparse_gp"\ninducing_points = 8', ""),
    "blr": ('kind = "blr"', ""),
    "network": ('kind = "network"\nhidden_layers = [6, 4]', "share_labels = true"),
}


def table(rows: int, seed: int, levels: tuple[str, ...] = LEVELS) -> pa.Table:
    X, y = rows_of_classes(3, rows, seed)
    labels = [levels[int(c)] for c in y]
    return pa.table({"x": X[:, 0], "z": X[:, 1], "zustand": labels})


def project(
    folder: Path,
    model: str = MODELS["blr"][0],
    rewards: str = "",
    target: str = 'levels = ["gesund", "müde", "krank"]',
    sizes: tuple[int, ...] = (90, 70, 80),
) -> Path:
    for i, size in enumerate(sizes):
        write(folder / f"p{i}.csv", table(size, i))
    write(folder / "test.csv", table(60, 99))
    said = f'column = "zustand", kind = "classes"{", " if target else ""}{target}'
    parties = "".join(f'[[parties]]\nname = "P{i}"\ndata = "p{i}.csv"\n' for i in range(len(sizes)))
    (folder / "collaboration.toml").write_text(
        f'name = "Klassen"\ntarget = {{ {said} }}\n[model]\n{model}\n[test]\ndata = "test.csv"\n'
        f'[rewards]\nrho = "stable"\n{rewards}\n{parties}'
    )
    return folder


SIZES = (90, 70, 80)


def say(folder: Path, lines: str) -> Path:
    with (folder / "collaboration.toml").open("a") as file:
        file.write(lines)
    return folder


def refusal(folder: Path) -> Any:
    with pytest.raises((ConfigurationError, DataError), match=r"\S") as raised:
        prepare(RunRequest(configuration=folder))
    return "\n".join(raised.value.problems)


def parties_of(done: Any) -> list[fp.Party]:
    """The rows of a project's parties, as a run of it encodes them."""
    encoding = done.preparation.encoding
    parties = []
    for i, size in enumerate(SIZES):
        content = table(size, i)
        X = encoding.encode(content)
        parties.append(fp.Party(f"P{i}", X, encoding.encode_target(content)))
    return parties
