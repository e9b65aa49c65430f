"""The paper's data sets.

Friedman's is made up, the diabetes data come with scikit-learn, and the California and Boston
housing data are files or downloads.
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
"""The environment variable that names a folder with the files of the housing data."""

CALIFORNIA = "california_housing.csv"
BOSTON = "boston_housing.csv"


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
    names = tuple(f"x{k}" for k in range(6))
    return Dataset(X, f + rng.standard_normal(rows), names)


def diabetes() -> Dataset:
    """442 patients' diabetes progression, the gender feature removed.

    Paper: Sec. 5, App. E.2.
    """
    data = load_diabetes(scaled=False)
    kept = [k for k, name in enumerate(data.feature_names) if name != "sex"]
    names = tuple(data.feature_names[k] for k in kept)
    return Dataset(data.data[:, kept], data.target, names)


def california() -> Dataset:
    """20640 districts' house values.

    Paper: Sec. 5, App. E.3.
    """
    local = _local(CALIFORNIA)
    if local is not None:
        return _read(local, "MedHouseVal", removed=())
    try:
        data = fetch_california_housing()
    except Exception as error:
        raise DataError(_lacking(CALIFORNIA, error)) from None
    return Dataset(data.data, data.target, tuple(data.feature_names))


def boston() -> Dataset:
    """506 districts' house values, three features removed.

    Paper: App. F.1: the proportion of land zoned for large lots, that of non-retail business, and
    the river dummy.
    """
    removed = ("ZN", "INDUS", "CHAS")
    local = _local(BOSTON)
    if local is not None:
        return _read(local, "MEDV", removed)
    try:
        data = fetch_openml("boston", version=1, as_frame=True)
    except Exception as error:
        raise DataError(_lacking(BOSTON, error)) from None
    frame = data.data.drop(columns=list(removed)).astype(float)
    return Dataset(frame.to_numpy(), data.target.astype(float).to_numpy(), tuple(frame.columns))


def _local(name: str) -> Path | None:
    folder = os.environ.get(FOLDER)
    if not folder:
        return None
    path = Path(folder) / name
    return path if path.is_file() else None


def local_files() -> list[Path]:
    """The data sets that are in the folder."""
    paths = [_local(CALIFORNIA), _local(BOSTON)]
    return [path for path in paths if path is not None]


def _read(path: Path, target: str, removed: tuple[str, ...]) -> Dataset:
    with path.open(encoding="utf-8", newline="") as stream:
        names, *rows = csv.reader(stream)
    for name in (target, *removed):
        if name not in names:
            raise DataError(f'{path}: no column "{name}"; it has {", ".join(names)}')
    try:
        values = np.array([row for row in rows if row], dtype=np.float64)
    except ValueError as error:
        raise DataError(f"{path}: not all values are numbers ({error})") from None
    kept = [k for k, name in enumerate(names) if name not in (target, *removed)]
    y = values[:, names.index(target)]
    return Dataset(values[:, kept], y, tuple(names[k] for k in kept))


def _lacking(name: str, error: Exception) -> str:
    return (
        f"{name} is not in ${FOLDER} and cannot be downloaded ({type(error).__name__});"
        f" put it into a folder and set {FOLDER} to that folder"
    )
