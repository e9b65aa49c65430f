"""An example of classes: three clinics with measurements of breast tumours.

The data are the Breast Cancer Wisconsin (Diagnostic) ones, which ship with scikit-learn.
"""

import csv
import io

import numpy as np
from sklearn.datasets import load_breast_cancer

from fairpool.consortium.configuration import FILE_NAME

FEATURES = (
    "mean radius",
    "mean texture",
    "mean smoothness",
    "mean compactness",
    "mean concavity",
    "mean symmetry",
    "worst area",
    "worst concave points",
)
"""Eight of the thirty: most of the others say the same again."""

CONFIGURATION = """\
# Three clinics predict whether a breast tumour is malignant. `fairpool init` has an example with
# every setting.

name = "Three clinics"

# One of two classes, as text. They are listed, so that nothing about them is learned from anybody.
target = { column = "diagnosis", kind = "classes", levels = ["benign", "malignant"] }

[model]
kind = "sparse_gp"
inducing_points = 20

# Every model is scored on it, and no round learns from it.
[test]
data = "test.csv"

[rewards]
rho = "stable"

[[parties]]
name = "Clinic A"
data = "clinic_a.csv"

[[parties]]
name = "Clinic B"
data = "clinic_b.csv"

[[parties]]
name = "Clinic C"
data = "clinic_c.csv"
"""


def class_example_files() -> dict[str, str]:
    """The example's files, by name: one clinic is small, one sees more malignant tumours."""
    cancer = load_breast_cancer()
    columns = [list(cancer.feature_names).index(name) for name in FEATURES]
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(cancer.target))
    test, train = rows[:119], rows[119:]
    small, rest = train[:90], train[90:]
    # Of the rest, two thirds of the malignant ones go to one clinic, and half of the benign ones.
    is_malignant = cancer.target[rest] == 0
    to_referral = rng.random(len(rest)) < np.where(is_malignant, 2 / 3, 1 / 2)
    tables = {
        "test.csv": test,
        "clinic_a.csv": rest[to_referral],
        "clinic_b.csv": rest[~to_referral],
        "clinic_c.csv": small,
    }
    files = {FILE_NAME: CONFIGURATION}
    for name, chosen in tables.items():
        files[name] = _csv(cancer.data[chosen][:, columns], cancer.target[chosen])
    return files


def _csv(X: np.ndarray, y: np.ndarray) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*FEATURES, "diagnosis"])
    for row, label in zip(X, y, strict=True):
        diagnosis = "benign" if label else "malignant"
        writer.writerow([*(f"{value:g}" for value in row), diagnosis])
    return stream.getvalue()
