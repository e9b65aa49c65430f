"""What the report and letters say of classes, against counting by hand."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairpool.realisation import load_reward
from fairpool.report.class_scores import ClassDetails, reliability_chart
from tests.classes.projects import LEVELS, project, table
from tests.support.projects import round_folder, written_run


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("scores")
    written_run(project(folder))
    return round_folder(folder)


def counted(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Test rows' classes and the probabilities that a reward gives them."""
    reward = load_reward(path)
    content = table(60, 99)
    y = np.array([LEVELS.index(label) for label in content["zustand"].to_pylist()])
    p, _ = reward.predict(reward.encoding.encode(content))
    return y, p


def test_scores_reliability_and_confusion_are_those_of_the_files(written: Path) -> None:
    test = json.loads((written / "operator/result.json").read_text())["test"]
    for i in range(3):
        y, p = counted(written / f"parties/P{i}/reward.safetensors")
        likely = p.argmax(axis=1)
        scores = test["reward"][i]
        assert scores["errors"] == pytest.approx(np.mean(likely != y))
        assert scores["log_loss"] == pytest.approx(-np.mean(np.log(p[np.arange(60), y])))
        confusion = np.zeros((3, 3))
        for truth, predicted in zip(y, likely, strict=True):
            confusion[truth, predicted] += 1
        assert np.array(test["classes"]["confusion"][f"P{i}"]).tolist() == confusion.tolist()
        groups = [one for one in test["classes"]["reliability"] if one["model"] == f"P{i}"]
        assert sum(one["rows"] for one in groups) == 60
        off = 0.0
        for one in groups:
            tenth = np.floor(10 * one["predicted"])
            rows = np.floor(10 * p.max(axis=1)) == tenth
            assert one["rows"] == rows.sum()
            assert one["observed"] == pytest.approx(np.mean(likely[rows] == y[rows]))
            off += one["rows"] / 60 * abs(one["observed"] - one["predicted"])
        assert scores["calibration_error"] == pytest.approx(off)


def test_the_report_draws_reliability_and_every_confusion(written: Path) -> None:
    page = (written / "operator/report.html").read_text()
    assert "Do the probabilities hold?" in page
    assert "probability that was predicted" in page  # the axis of the drawing
    assert page.count("<caption>P") == 3
    assert "<caption>everybody&#39;s model</caption>" in page
    assert "Brier" in page
    assert "RMSE" not in page


def test_reliability_is_drawn_point_by_point() -> None:
    p = np.array([[0.95, 0.05], [0.91, 0.09], [0.4, 0.6]])
    details = ClassDetails.of(("a", "b"), np.array([0.0, 1.0, 1.0]), [("north", p)])
    drawn = reliability_chart(details).to_dict()
    values = drawn["datasets"][drawn["layer"][1]["data"]["name"]]
    found = [(one["predicted"], one["observed"], one["rows"]) for one in values]
    assert found == [(pytest.approx(0.6), 1.0, 1), (pytest.approx(0.93), 0.5, 2)]


def test_letters_say_how_classes_are_predicted_beside_alone_and_everybody(written: Path) -> None:
    test = json.loads((written / "operator/result.json").read_text())["test"]
    for i in range(3):
        letter = (written / f"parties/P{i}/letter.html").read_text()
        reward = test["reward"][i]
        right = f"{1 - reward['errors']:.0%}"
        assert f"60 test rows the most probable class is right in {right}" in letter
        for scores in (reward, test["alone"][i], test["everyone"]):
            assert f"{scores['log_loss']:.3f}" in letter
        assert "mean log probability of the true class" in letter
        assert "Brier’s score" in letter or "Brier's score" in letter or "Brier&#39;s" in letter
        assert "root mean squared error" not in letter
