import numpy as np
import pytest

import fairpool.paper.datasets as datasets

HEADERS = {
    "california_housing.csv": "MedInc,HouseAge,MedHouseVal\n8.3,41,4.5\n8.1,21,3.5\n",
    "boston_housing.csv": "CRIM,ZN,INDUS,CHAS,RM,MEDV\n0.1,18,2.3,0,6.5,24\n0.2,0,7,0,6.4,21.6\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in HEADERS.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("FAIRPOOL_DATA", str(tmp_path))
    return tmp_path


def test_friedman_is_the_papers_function():
    data = datasets.friedman(20_000, np.random.default_rng(0), first=(0.5, 1.0))
    X, y = data.X, data.y
    assert X[:, 0].min() >= 0.5
    f = (
        10 * np.sin(np.pi * X[:, 0] * X[:, 1])
        + 20 * (X[:, 2] - 0.5) ** 2
        + 10 * X[:, 3]
        + 5 * X[:, 4]
    )
    assert np.std(y - f) == pytest.approx(1, rel=0.03)
    assert abs(np.corrcoef(X[:, 5], y)[0, 1]) < 0.03


def test_diabetes_has_no_gender():
    data = datasets.diabetes()
    assert data.X.shape == (442, 9)
    assert "sex" not in data.columns


def test_local_files_are_used_first(folder):
    data = datasets.california()
    assert data.columns == ("MedInc", "HouseAge")
    assert data.y.tolist() == [4.5, 3.5]
    assert datasets.boston().columns == ("CRIM", "RM")
    assert len(datasets.boston()) == 2


@pytest.mark.parametrize("name", ["california", "boston"])
def test_without_data_or_network_the_message_is_clear(name, monkeypatch, tmp_path):
    monkeypatch.delenv("FAIRPOOL_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))

    def refused(*_, **__):
        raise OSError("no network")

    monkeypatch.setattr(datasets, "fetch_california_housing", refused)
    monkeypatch.setattr(datasets, "fetch_openml", refused)
    with pytest.raises(
        ValueError, match=rf"{name}_housing.csv is not in \$FAIRPOOL_DATA and cannot be downloaded"
    ):
        getattr(datasets, name)()


def test_a_bad_local_file_is_refused(folder):
    (folder / "boston_housing.csv").write_text("CRIM,MEDV\n1,2\n")
    with pytest.raises(ValueError, match='no column "ZN"'):
        datasets.boston()
    (folder / "california_housing.csv").write_text("MedInc,MedHouseVal\n1,many\n")
    with pytest.raises(ValueError, match="not all values are numbers"):
        datasets.california()
