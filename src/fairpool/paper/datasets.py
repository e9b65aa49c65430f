"""The paper's data sets: Friedman (made), diabetes (ships with scikit-learn), California and Boston
housing.
"""

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import fetch_california_housing, fetch_openml, load_diabetes

from fairpool.errors import DataError
from fairpool.tables.arrays import FloatArray

FOLDER = "FAIRPOOL_DATA"
"""The environment variable that names a folder with california_housing.csv and boston_housing.csv.
"""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Inputs X [m, p] and outputs y [m], in their own units."""

    X: FloatArray
    y: FloatArray
    columns: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.y)


def friedman(
    rows: int, rng: np.random.Generator, first: tuple[float, float] = (0.0, 1.0)
) -> Dataset:
    """The Friedman function with six inputs, the last of no effect.

    Paper: App. E.1.

        y = 10 sin(pi x0 x1) + 20 (x2 - 0.5)^2 + 10 x3 + 5 x4 + 0 x5 + N(0, 1)

    Args:
        rows: How many points.
        rng: Generator.
        first: The range of the first input.
    """
    X = rng.uniform(0, 1, (rows, 6))
    X[:, 0] = rng.uniform(*first, rows)
    f = (
        10 * np.sin(np.pi * X[:, 0] * X[:, 1])
        + 20 * (X[:, 2] - 0.5) ** 2
        + 10 * X[:, 3]
        + 5 * X[:, 4]
    )
    return Dataset(X, f + rng.standard_normal(rows), tuple(f"x{k}" for k in range(6)))


def diabetes() -> Dataset:
    """442 patients' diabetes progression, the gender feature removed.

    Paper: Sec. 5, App. E.2.
    """
    data = load_diabetes(scaled=False)
    kept = [k for k, name in enumerate(data.feature_names) if name != "sex"]
    return Dataset(data.data[:, kept], data.target, tuple(data.feature_names[k] for k in kept))


def california() -> Dataset:
    """20640 districts' house values.

    Paper: Sec. 5, App. E.3.
    """
    local = _local("california_housing.csv")
    if local is not None:
        return _read(local, "MedHouseVal", removed=())
    try:
        data = fetch_california_housing()
    except Exception as error:
        raise DataError(_lacking("california_housing.csv", error)) from None
    return Dataset(data.data, data.target, tuple(data.feature_names))


def boston() -> Dataset:
    """506 districts' house values, three features removed.

    Paper: App. F.1: the proportion of land zoned for large lots, that of non-retail business, and
    the river dummy.
    """
    removed = ("ZN", "INDUS", "CHAS")
    local = _local("boston_housing.csv")
    if local is not None:
        return _read(local, "MEDV", removed)
    try:
        data = fetch_openml("boston", version=1, as_frame=True)
    except Exception as error:
        raise DataError(_lacking("boston_housing.csv", error)) from None
    frame = data.data.drop(columns=list(removed)).astype(float)
    return Dataset(frame.to_numpy(), data.target.astype(float).to_numpy(), tuple(frame.columns))


def _local(name: str) -> Path | None:
    folder = os.environ.get(FOLDER)
    path = Path(folder) / name if folder else None
    return path if path is not None and path.is_file() else None


def local_files() -> list[Path]:
    """The data sets that are in the folder."""
    return [
        path for name in ("california_housing.csv", "boston_housing.csv") if (path := _local(name))
    ]


def _read(path: Path, target: str, removed: tuple[str, ...]) -> Dataset:
    with path.open(encoding="utf-8", newline="") as stream:
        names, *rows = csv.reader(stream)
    lacking = [name for name in (target, *removed) if name not in names]
    if lacking:
        raise DataError(f'{path}: no column "{lacking[0]}"; it has {", ".join(names)}')
    try:
        values = np.array([row for row in rows if row], dtype=np.float64)
    except ValueError as error:
        raise DataError(f"{path}: not all values are numbers ({error})") from None
    kept = [k for k, name in enumerate(names) if name not in (target, *removed)]
    return Dataset(values[:, kept], values[:, names.index(target)], tuple(names[k] for k in kept))


def _lacking(name: str, error: Exception) -> str:
    return (
        f"{name} is not in ${FOLDER} and cannot be downloaded ({type(error).__name__}); put it into"
        " a folder and set"
        f" {FOLDER} to that folder"
    )
