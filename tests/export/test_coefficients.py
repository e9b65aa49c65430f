"""Plain coefficients of linear rewards, and what they give without fairpool."""

import json

import numpy as np
import pytest

import fairpool as fp
from fairpool.columns import CategoryColumn, NumberColumn, Rules
from fairpool.encoding import TableEncoding
from fairpool.errors import RewardFileError
from fairpool.export import export_reward
from fairpool.targets import LogNumberTarget, NumberTarget
from tests.support.examples import MODELS, P, make_parties
from tests.support.without_fairpool import ASK_COEFFICIENTS, answer_of

COLUMNS = (NumberColumn("age", 50.0, 12.0), CategoryColumn("sex", ("f", "m")))
TABLE = {"age": [31.0, 50.0, 77.5], "sex": ["m", "f", "m"]}


def exported(reward, folder):
    export_reward(reward, folder / "coefficients.json", known_noise=True)
    return json.loads((folder / "coefficients.json").read_text())


def encoded_reward(target):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    parties = [fp.Party("a", X[:40], X[:40, 0]), fp.Party("b", X[40:], X[40:, 0])]
    model = fp.BayesianLinearRegression(0.1, prior_variance=[0.5, 1.0, 2.0, 3.0], prior_mean=0.2)
    reward = fp.collaborate(parties, model, rng=0).models[0]
    return reward.with_encoding(TableEncoding(COLUMNS, target))


def test_a_process_without_fairpool_predicts_the_same(tmp_path):
    reward = encoded_reward(NumberTarget("days", mean=20.0, scale=5.0))
    model = exported(reward, tmp_path)
    assert model["features"] == ["age", "sex=f", "sex=m", "1"]
    assert model["facts"]["fairpool.party"] == "a"
    answer = answer_of(ASK_COEFFICIENTS, tmp_path / "coefficients.json", TABLE)
    mean, variance = reward.predict_table(TABLE)
    np.testing.assert_allclose(answer["mean"], mean, rtol=1e-9)
    np.testing.assert_allclose(answer["variance"], variance, rtol=1e-9)


@pytest.mark.parametrize("name", ["blr", "blr-prior"])
def test_inputs_by_position_are_named_by_position(name, tmp_path):
    reward = fp.collaborate(make_parties([30, 25], 1), MODELS[name], rng=0).models[1]
    model = exported(reward, tmp_path)
    assert model["features"] == ["X0", "X1", "X2", "1"]
    assert "columns" not in model
    X = np.random.default_rng(2).normal(size=(9, P))
    phi = np.column_stack([X, np.ones(9)])
    mean, variance = reward.predict(X)
    np.testing.assert_allclose(phi @ model["coefficients"], mean, rtol=1e-9, atol=1e-12)
    spread = np.einsum("ti,ij,tj->t", phi, model["covariance"], phi)
    np.testing.assert_allclose(spread + model["noise_variance"], variance, rtol=1e-9)


def test_a_target_of_logarithms_says_so(tmp_path):
    target = LogNumberTarget(name="cost", mean=3.0, scale=0.5, rules=Rules(log=True))
    reward = encoded_reward(target)
    model = exported(reward, tmp_path)
    assert "natural logarithm" in model["how"][-1]
    answer = answer_of(ASK_COEFFICIENTS, tmp_path / "coefficients.json", TABLE)
    m, s2 = np.array(answer["mean"]), np.array(answer["variance"])
    mean, variance = reward.predict_table(TABLE)
    np.testing.assert_allclose(np.exp(m + s2 / 2), mean, rtol=1e-9)
    np.testing.assert_allclose((np.exp(s2) - 1) * np.exp(2 * m + s2), variance, rtol=1e-9)


def of_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(float)
    parties = [fp.Party("a", X[:30], y[:30]), fp.Party("b", X[30:], y[30:])]
    return fp.collaborate(parties, fp.Classifier(MODELS["blr"], 2), rng=0).models[0]


@pytest.mark.parametrize("name", ["sparse", "fourier", "network"])
def test_what_is_not_linear_is_refused(name, tmp_path):
    reward = fp.collaborate(make_parties([30, 25], 1), MODELS[name], rng=0).models[1]
    with pytest.raises(RewardFileError, match=r"not linear in its inputs.* to model\.onnx"):
        exported(reward, tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_classes_are_refused(tmp_path):
    with pytest.raises(RewardFileError, match=r"probabilities of classes are integrals"):
        exported(of_classes(), tmp_path)
