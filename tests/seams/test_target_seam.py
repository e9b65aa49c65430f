"""Targets: another kind of label, carried from a table through a reward file to predictions."""

import csv
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pytest

import fairpool as fp
from fairpool.encoding import TableEncoding
from fairpool.report.scores import score_models
from fairpool.tables.columns import NumberColumn
from fairpool.targets import TARGETS, Measure, NumberTarget
from tests.support.projects import fairpool, write


@dataclass(frozen=True)
class LogTarget:
    """A toy: a number above 0, of which the model sees the logarithm."""

    name: str

    kind = "logarithm"
    measures = (Measure(key="factor", title="factor", meaning="", digits=".2f"),)

    @property
    def prediction_columns(self):
        return (self.name, "lower_95", "upper_95")

    def encode(self, column):
        return np.log(column.to_numpy())

    def decode(self, mean, variance):
        """The mean and variance of a log-normal number."""
        middle = np.exp(mean + variance / 2)
        return middle, (np.exp(variance) - 1) * middle**2

    def predictions(self, mean, variance):
        away = 1.96 * np.sqrt(variance)
        return np.column_stack([np.exp(mean), np.exp(mean - away), np.exp(mean + away)])

    def score(self, y, mean, variance):
        return {"factor": float(np.exp(np.mean(np.abs(y - mean))))}

    def deviation(self, variance):
        return float(np.sqrt(variance))

    def noise_in_words(self, noise_variance):
        return f"a factor of {np.exp(np.sqrt(noise_variance)):.3g}"

    def promise(self):
        return f"For every row you get {self.name} and a 95% interval."

    def entries(self):
        return {"target": self.name}

    @classmethod
    def of_entries(cls, entries):
        return cls(entries["target"])


def prices(rows, seed):
    x = np.random.default_rng(seed).uniform(0, 2, rows)
    return pa.table({"x": x, "price": np.exp(1 + x)})


def rewarded(target):
    encoding = TableEncoding((NumberColumn("x", 1.0, 0.5),), target)
    parties = []
    for i in range(2):
        table = prices(40, i)
        parties.append(fp.Party(f"p{i}", encoding.encode(table), encoding.encode_target(table)))
    return encoding, fp.collaborate(parties, fp.BayesianLinearRegression(1e-6))


def test_a_new_target_goes_from_the_table_to_predictions(tmp_path, monkeypatch):
    monkeypatch.setitem(TARGETS, "logarithm", LogTarget.of_entries)
    encoding, result = rewarded(LogTarget("price"))
    reward = replace(result.models[0], encoding=encoding)
    reward.save(tmp_path / "reward.safetensors")
    test = prices(5, 9)
    write(tmp_path / "test.csv", test)
    out = tmp_path / "predictions.csv"
    predicted = fairpool(
        "predict", tmp_path / "reward.safetensors", "--data", tmp_path / "test.csv", "--out", out
    )
    assert predicted.returncode == 0, predicted.stderr
    header, *rows = csv.reader(out.read_text().splitlines())
    assert header == ["price", "lower_95", "upper_95"]
    np.testing.assert_allclose([float(row[0]) for row in rows], test["price"].to_numpy(), rtol=1e-3)
    mean, _ = fp.load_reward(tmp_path / "reward.safetensors").predict_table(test)
    np.testing.assert_allclose(mean, test["price"].to_numpy(), rtol=1e-3)
    # Who does not know the kind cannot read the file, and is told so.
    monkeypatch.delitem(TARGETS, "logarithm")
    with pytest.raises(ValueError, match="no target of kind 'logarithm' is known"):
        fp.load_reward(tmp_path / "reward.safetensors")


def test_a_target_says_how_it_is_scored():
    test = prices(20, 9)
    for target, keys in (
        (LogTarget("price"), ["factor"]),
        (NumberTarget("price", 5.0, 2.0), ["mnlp", "rmse"]),
    ):
        encoding, result = rewarded(target)
        scores = score_models(result, encoding.encode(test), encoding.encode_target(test), target)
        assert list(scores.everyone) == keys == [measure.key for measure in target.measures]
        y, (mean, variance) = (
            encoding.encode_target(test),
            result.models[0].predict(encoding.encode(test)),
        )
        assert scores.reward[0] == target.score(y, mean, variance)
