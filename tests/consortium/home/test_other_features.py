"""Several plans, one after the other or of several operators, over the same rows."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool.columns import NumberColumn
from fairpool.encoding import TableEncoding
from fairpool.errors import ContributionError
from fairpool.signatures import SigningKey
from fairpool.targets import NumberTarget
from tests.support.exchange import KEYS, a_plan, signed_plan
from tests.support.home import a_home, contributed, prepared, write_table

TARGET = NumberTarget("y", 10.0, 5.0)
AGE = NumberColumn("age", 0.0, 1.0)
SIZE = NumberColumn("size", 0.0, 1.0)
ELSEWHERE = SigningKey(bytes([99] * 32))


def people(count):
    """Rows of age, size and label, sorted by age."""
    rng = np.random.default_rng(3)
    ages = np.sort(rng.uniform(0, 1000, count)).round(6)
    sizes, noise = rng.normal(size=(2, count)).round(6)
    return ages, sizes, (10 + noise).round(6)


def written(folder, ages, sizes, labels, *, names=("age", "size", "y")):
    rows = list(zip(ages.tolist(), sizes.tolist(), labels.tolist(), strict=True))
    return write_table(folder / "mine.csv", rows, header=names)


def plan_around(point, scale):
    """One feature, that sees the people of about one age."""
    encoding = TableEncoding((AGE,), TARGET)
    model = fp.SparseGaussianProcess(1.5 * RBF(scale), 0.3, np.array([[point]]))
    return signed_plan(a_plan(encoding=encoding, model=model))


def linear(*columns, key=None, name="Trial"):
    encoding = TableEncoding(columns, TARGET)
    plan = a_plan(encoding=encoding, model=fp.BayesianLinearRegression(0.3), name=name)
    return signed_plan(plan, *([key] if key else []))


def three_plans(ages):
    """The three of the people who are nearest to each other, and plans made for them."""
    gaps = [
        min(ages[i] - ages[i - 1], ages[i + 3] - ages[i + 2]) / (ages[i + 2] - ages[i])
        for i in range(5, len(ages) - 5)
    ]
    first = 5 + int(np.argmax(gaps))
    low, middle, high = ages[first : first + 3]
    scale = 1.2 * (high - low)
    points = (low - 0.6 * scale, middle, high + 0.6 * scale)
    return slice(first, first + 3), [plan_around(point, scale) for point in points]


def test_labels_are_not_read_by_plan_after_plan(tmp_path):
    ages, sizes, labels = people(600)
    table = written(tmp_path, ages, sizes, labels)
    group, plans = three_plans(ages)
    home = a_home(tmp_path / "home")
    contributed(plans[0], table, home, tmp_path / "1.contribution")
    with pytest.raises(ContributionError, match=r"stand alone.*1 other contribution\(s\)"):
        prepared(plans[1], table, home, replace=True)
    # Each of them alone is not refused.
    made = [prepared(plan, table, a_home(tmp_path / "fresh")) for plan in plans]
    # That it is no false alarm: three sums, three labels.
    features = [plan.plan.model.whitened_features(ages[group, None])[:, 0] for plan in plans]
    moments = [one.file.arrays["moment"][0] for one in made]
    found = 10 + 5 * np.linalg.solve(np.array(features), np.array(moments))
    np.testing.assert_allclose(found, labels[group], atol=0.2)


def test_a_column_more_does_not_make_old_rows_new(tmp_path):
    ages, sizes, labels = people(301)
    home = a_home(tmp_path / "home")
    table = written(tmp_path, ages[1:], sizes[1:], labels[1:])
    first = linear(AGE)
    contributed(first, table, home, tmp_path / "1.contribution")
    other = linear(AGE, SIZE, key=ELSEWHERE, name="Other")
    with pytest.raises(ContributionError, match=r"differs by 1 row\(s\)"):
        prepared(other, written(tmp_path, ages, sizes, labels), home)
    table = written(tmp_path, ages[1:], sizes[1:], labels[1:])
    assert prepared(other, table, home).file.manifest.rows == 300


def test_rows_that_cannot_be_compared_are_told(tmp_path):
    ages, sizes, labels = people(300)
    home = a_home(tmp_path / "home")
    table = written(tmp_path, ages, sizes, labels, names=("age", "size", "y"))
    contributed(linear(AGE, SIZE), table, home, tmp_path / "1.contribution")
    other = linear(AGE, key=ELSEWHERE, name="Other")
    lacking = written(tmp_path, ages, sizes, labels, names=("age", "length", "y"))
    made = prepared(other, lacking, home)
    assert "cannot be told, since its plan reads other columns" in made.notes[-1]
    assert not prepared(other, written(tmp_path, ages, sizes, labels), home).notes
    assert KEYS["North"].public == made.file.document.key


def test_sums_with_other_features_over_many_rows_are_fine(tmp_path):
    ages, sizes, labels = people(300)
    home = a_home(tmp_path / "home")
    rng = np.random.default_rng(1)
    encoding = TableEncoding((AGE, SIZE), TARGET)
    for number in range(3):
        points = np.column_stack([rng.uniform(0, 1000, 5), rng.normal(size=5)])
        model = fp.SparseGaussianProcess(1.5 * RBF([400.0, 2.0]), 0.3, points)
        plan = signed_plan(a_plan(encoding=encoding, model=model))
        table = written(tmp_path, ages, sizes, labels)
        out = tmp_path / f"{number}.contribution"
        made = contributed(plan, table, home, out, replace=bool(number))
        assert made.file.manifest.rows == 300
