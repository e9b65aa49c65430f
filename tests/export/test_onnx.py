"""The exported model is the reward: for every kind of model, of kernel and of column."""

import stat
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
)

import fairpool as fp
from fairpool.columns import Bounds, CategoryColumn, DateColumn, NumberColumn, Rules
from fairpool.columns.text import TextColumn
from fairpool.encoders.pin import EncoderPin
from fairpool.encoding import TableEncoding, without_tokens
from fairpool.errors import RewardFileError
from fairpool.export import export_reward
from fairpool.targets import ClassTarget, LogNumberTarget, NumberTarget
from tests.support.examples import INDUCING, MODELS, P, make_parties
from tests.support.without_fairpool import ASK_ONNX, answer_of

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

X_STAR = np.random.default_rng(9).normal(0, 2, (40, P))
KERNELS = {
    "rbf": 1.3 * RBF([0.8, 1.2, 2.0]),
    "matern12": Matern([1.0, 2.0, 3.0], nu=0.5),
    "matern32": Matern(1.3, nu=1.5),
    "matern52": 0.4 * Matern(0.7, nu=2.5),
    "rational": RationalQuadratic(1.2, 0.7) ** 2,
    "linear": 0.1 * DotProduct(0.5) + RBF(2.0),
    "periodic": 0.1 * ExpSineSquared(3.0, 20.0) + RBF(1.0),
    "product": RBF(1.5) * Matern(2.0, nu=0.5) * ConstantKernel(2.0) + ConstantKernel(0.3),
}
WEIGHT_MODELS = {
    name: MODELS[name] for name in ("sparse", "fourier", "blr", "blr-prior", "network")
}
for name, kernel in KERNELS.items():
    WEIGHT_MODELS[name] = fp.SparseGaussianProcess(kernel, 0.3, INDUCING)


def run(file, fed):
    """What the model gives, by name."""
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(names, fed), strict=True))


def a_reward(model, place=1):
    parties = make_parties([30, 25, 40], 1)
    return fp.collaborate(parties, model, rho=0.5, rng=0).models[place]


@pytest.mark.parametrize("name", WEIGHT_MODELS)
def test_mean_and_variance_are_the_rewards(name, tmp_path):
    reward = a_reward(WEIGHT_MODELS[name])
    exported = export_reward(reward, tmp_path / "model.onnx", known_noise=True)
    assert exported == (("X",), ("mean", "variance"))
    found = run(tmp_path / "model.onnx", {"X": X_STAR})
    mean, variance = reward.predict(X_STAR)
    np.testing.assert_allclose(found["mean"], mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found["variance"], variance, rtol=1e-9, atol=1e-9)
    assert np.ptp(mean) > 0


def test_inducing_points_that_are_close_cost_digits_but_few(tmp_path):
    U = 0.1 * np.random.default_rng(3).standard_normal((30, P))
    with pytest.warns(fp.FairpoolWarning, match="rounding may put values and rewards off by"):
        reward = a_reward(fp.SparseGaussianProcess(RBF(3.0), 0.3, U))
    export_reward(reward, tmp_path / "model.onnx", known_noise=True, share_inputs=True)
    found = run(tmp_path / "model.onnx", {"X": X_STAR})
    np.testing.assert_allclose([*found.values()], reward.predict(X_STAR), rtol=1e-6, atol=1e-6)


def class_reward(model, k):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, P))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=400), np.linspace(-1, 1, k + 1)[1:-1])
    y = y.astype(float)
    parties = [fp.Party("a", X[:200], y[:200]), fp.Party("b", X[200:], y[200:])]
    return fp.collaborate(parties, fp.Classifier(model, k), rng=0).models[0]


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("name", ["sparse", "fourier", "blr", "network"])
def test_probabilities_are_the_rewards(name, k, tmp_path):
    reward = class_reward(MODELS[name], k)
    exported = export_reward(reward, tmp_path / "model.onnx", known_noise=True)
    assert exported == (("X",), ("label", "probabilities", "variance"))
    found = run(tmp_path / "model.onnx", {"X": X_STAR})
    p, variance = reward.predict(X_STAR)
    np.testing.assert_allclose(found["probabilities"], p, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found["variance"], variance, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(found["label"], p.argmax(axis=1))


def test_classes_with_a_prior_each(tmp_path):
    models = tuple(fp.SparseGaussianProcess(c * RBF(2.0), 0.1, INDUCING) for c in (0.5, 1.0, 2.0))
    reward = class_reward(models, 3)
    export_reward(reward, tmp_path / "model.onnx", known_noise=True)
    found = run(tmp_path / "model.onnx", {"X": X_STAR})
    np.testing.assert_allclose(found["probabilities"], reward.predict(X_STAR)[0], atol=1e-9)


NUMBER = Rules(tokens=("-9", "999"), missing="impute")
RANGED = Rules(bounds=Bounds(0.0, 10.0))
CLIPPED = Rules(bounds=Bounds(0.0, 10.0), clips=True, missing="impute")
LOGARITHM = Rules(log=True)
IN_RANGE_OF_LOGARITHMS = Rules(log=True, bounds=Bounds(1.0, 1000.0), clips=True)
ENCODING = TableEncoding(
    columns=(
        NumberColumn("plain", 3.0, 2.0),
        NumberColumn("gaps", 1.0, 4.0, rules=NUMBER, fill=2.5, indicates=True),
        NumberColumn("ranged", 5.0, 3.0, rules=RANGED),
        NumberColumn("clipped", 5.0, 3.0, rules=CLIPPED, fill=4.0),
        NumberColumn("dose", 1.0, 2.0, rules=LOGARITHM),
        NumberColumn("price", 3.0, 2.0, rules=IN_RANGE_OF_LOGARITHMS),
        DateColumn("since", 18000.0, 500.0),
        CategoryColumn("ward", ("east", "west", "", "süd & <b>"), others=True),
        CategoryColumn(
            "sex",
            ("f", "m"),
            rules=Rules(tokens=("?",), missing="impute"),
            fill="m",
            indicates=True,
        ),
        CategoryColumn("mean", ("a", "b")),  # called as an output is
    ),
    target=NumberTarget("y", mean=20.0, scale=5.0),
)
NAN = np.nan
TABLE = {
    "plain": [3.0, 5.5, -1e50, 3.0, NAN, np.inf, 3.0, 3.0, 3.0],
    "gaps": [1.0, NAN, -9.0, 999.0, 7.0, 1.0, 1.0, 1.0, 1.0],
    "ranged": [0.0, 10.0, 5.0, 10.1, 5.0, 5.0, 5.0, NAN, 5.0],
    "clipped": [0.0, 10.1, -5.0, 3.0, 3.0, 3.0, NAN, 3.0, 3.0],
    "dose": [1.0, 0.1, 1e-300, 5.0, 5.0, 5.0, 0.0, 5.0, -1.0],
    "price": [-5.0, 0.5, 3.0, 2000.0, 3.0, 3.0, 3.0, 3.0, 3.0],
    "since": [0.0, 18261.5, -719162.0, 20000.0, 1.0, 1.0, 1.0, 3e6, 1.0],
    "ward": ["east", "", "north", "süd & <b>", "east", "east", "east", "east", "east"],
    "sex": ["f", "?", "f", "x", "", "f", "f", "f", "f"],
    "mean": ["a", "b", "a", "b", "a", "a", "a", "a", "z"],
}


def encoded_reward(encoding, model=None, k=None):
    rng = np.random.default_rng(0)
    p = len(encoding.features)
    X = rng.normal(size=(200, p))
    y = X @ rng.normal(size=p) / np.sqrt(p)
    model = model or fp.BayesianLinearRegression(0.1)
    if k is not None:
        y = np.digitize(y, np.linspace(-0.5, 0.5, k + 1)[1:-1]).astype(float)
        model = fp.Classifier(model, k)
    parties = [fp.Party("a", X[:100], y[:100]), fp.Party("b", X[100:], y[100:])]
    return fp.collaborate(parties, model, rng=0).models[0].with_encoding(encoding)


def fed_with(columns):
    fed = {}
    for name, values in columns.items():
        kind = object if isinstance(values[0], str) else float
        fed[name] = np.array(values, dtype=kind)
    return fed


def as_table(columns):
    """The table as Arrow has it, in which nothing is a text."""
    table = pa.table(columns)
    for place, column in enumerate(ENCODING.columns):
        if isinstance(column, CategoryColumn) and "" not in column.levels:
            values = [value or None for value in columns[column.name]]
            table = table.set_column(place, column.name, pa.array(values, pa.string()))
    return without_tokens(table, ENCODING.rules)


def predicted(reward, columns):
    """What the reward predicts for the rows that can be used, and which these are."""
    table = as_table(columns)
    wrong = reward.encoding.unusable(table)
    usable = np.array([row not in wrong for row in range(table.num_rows)])
    X = reward.encoding.encode(table.filter(pa.array(usable)))
    return usable, reward.encoding.target.decode(*reward.predict(X))


@pytest.mark.parametrize("name", ["blr", "sparse"])
def test_raw_columns_of_every_kind_go_in(name, tmp_path):
    p = len(ENCODING.features)
    U = np.random.default_rng(3).normal(size=(8, p))
    model = {"blr": None, "sparse": fp.SparseGaussianProcess(RBF(4.0), 0.1, U)}[name]
    reward = encoded_reward(ENCODING, model)
    exported = export_reward(reward, tmp_path / "model.onnx", known_noise=True)
    assert exported.inputs == tuple(TABLE)
    assert exported.outputs == ("mean_", "variance")
    found = run(tmp_path / "model.onnx", fed_with(TABLE))
    usable, (mean, variance) = predicted(reward, TABLE)
    assert usable.tolist() == [True] * 3 + [False] * 6
    np.testing.assert_allclose(found["mean_"][usable], mean, rtol=1e-9)
    np.testing.assert_allclose(found["variance"][usable], variance, rtol=1e-9)
    assert np.isnan(found["mean_"][~usable]).all()
    assert np.isnan(found["variance"][~usable]).all()


def test_single_columns_decide_what_is_usable(tmp_path):
    # Every value of the table above beside good ones: so each column's own rule is seen.
    good = {name: values[0] for name, values in TABLE.items()}
    rows = []
    for name, values in TABLE.items():
        rows += [good | {name: value} for value in values]
    columns = {name: [row[name] for row in rows] for name in TABLE}
    reward = encoded_reward(ENCODING)
    export_reward(reward, tmp_path / "model.onnx", known_noise=True)
    found = run(tmp_path / "model.onnx", fed_with(columns))["mean_"]
    usable, (mean, _) = predicted(reward, columns)
    np.testing.assert_array_equal(np.isnan(found), ~usable)
    np.testing.assert_allclose(found[usable], mean, rtol=1e-9)
    assert (~usable).sum() == 9


def test_dates_have_the_season_of_their_calendar(tmp_path):
    encoding = TableEncoding((DateColumn("day", 0.0, 1e5),), NumberTarget("y", 0.0, 1.0))
    reward = encoded_reward(encoding)
    export_reward(reward, tmp_path / "model.onnx", known_noise=True)
    ends = [-719162, 2932896]
    for year in (1, 4, 100, 400, 1600, 1899, 1900, 1969, 1970, 1972, 2000, 2024, 2100, 9999):
        first = (np.datetime64(f"{year:04d}-01-01") - np.datetime64("1970-01-01")).astype(int)
        ends += [first - 1, first, first + 0.25, first + 364, first + 365]
    days = np.array(ends, dtype=float)
    days = np.concatenate([days, np.random.default_rng(0).uniform(-719162, 2932896, 3000)])
    days = days[(days >= -719162) & (days <= 2932896)]
    found = run(tmp_path / "model.onnx", {"day": days})
    mean, variance = reward.predict_table({"day": days})
    np.testing.assert_allclose(found["mean"], mean, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found["variance"], variance, rtol=0, atol=1e-9)


def test_a_target_of_logarithms_has_mean_and_variance_in_its_own_units(tmp_path):
    target = LogNumberTarget(name="y", mean=2.0, scale=0.5, rules=Rules(log=True))
    encoding = TableEncoding((NumberColumn("x", 3.0, 2.0),), target)
    reward = encoded_reward(encoding)
    export_reward(reward, tmp_path / "model.onnx", known_noise=True)
    x = np.linspace(-3, 8, 20)
    found = run(tmp_path / "model.onnx", {"x": x})
    mean, variance = reward.predict_table({"x": x})
    np.testing.assert_allclose(found["mean"], mean, rtol=1e-9)
    np.testing.assert_allclose(found["variance"], variance, rtol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_classes_have_their_names(k, tmp_path):
    target = ClassTarget(name="kind", levels=("no", "ja", "<b>")[:k])
    encoding = TableEncoding((NumberColumn("x", 0.0, 1.0),), target)
    reward = encoded_reward(encoding, k=k)
    export_reward(reward, tmp_path / "model.onnx", known_noise=True)
    x = np.append(np.linspace(-2, 2, 30), np.nan)
    found = run(tmp_path / "model.onnx", {"x": x})
    p, variance = reward.predict_table({"x": x[:-1]})
    np.testing.assert_allclose(found["probabilities"][:-1], p, atol=1e-9)
    np.testing.assert_allclose(found["variance"][:-1], variance, atol=1e-9)
    np.testing.assert_array_equal(found["label"][:-1], np.array(target.levels)[p.argmax(axis=1)])
    assert len({*found["label"][:-1]}) == k
    assert found["label"][-1] == ""
    assert np.isnan(found["probabilities"][-1]).all()
    assert np.isnan(found["variance"][-1])


def test_no_rows_have_no_predictions(tmp_path):
    for k in (None, 2, 3):
        reward = class_reward(MODELS["blr"], k) if k else a_reward(MODELS["sparse"])
        export_reward(reward, tmp_path / f"{k}.onnx", known_noise=True)
        found = run(tmp_path / f"{k}.onnx", {"X": X_STAR[:0]})
        assert all(len(value) == 0 for value in found.values())


def test_a_process_without_fairpool_predicts_the_same(tmp_path):
    reward = replace(encoded_reward(ENCODING), rho=0.25)
    export_reward(reward, tmp_path / "model.onnx", known_noise=True)
    answer = answer_of(ASK_ONNX, tmp_path / "model.onnx", {n: v[:3] for n, v in TABLE.items()})
    _, (mean, variance) = predicted(reward, TABLE)
    np.testing.assert_allclose(answer["mean_"], mean, rtol=1e-9)
    np.testing.assert_allclose(answer["variance"], variance, rtol=1e-9)
    assert answer["facts"]["fairpool.party"] == "a"
    assert answer["facts"]["fairpool.target"] == "y"
    assert float(answer["facts"]["fairpool.worth_nats"]) == reward.value
    assert answer["facts"]["fairpool.rho"] == "0.25"
    assert answer["facts"]["fairpool.version"] == fp.__version__
    assert f"Worth: {reward.value:.6g} nats of information" in answer["about"]


def test_the_file_is_for_this_user_alone_and_always_the_same(tmp_path):
    reward = a_reward(MODELS["sparse"])
    for name in ("a.onnx", "b.onnx"):
        export_reward(reward, tmp_path / name, known_noise=True)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    assert stat.S_IMODE((tmp_path / "a.onnx").stat().st_mode) == 0o600
    assert {file.name for file in tmp_path.iterdir()} == {"a.onnx", "b.onnx"}


def test_a_file_out_of_a_reward_file_is_the_same_as_of_the_reward(tmp_path):
    game = fp.InformationGain(MODELS["sparse"], make_parties([30, 25], 1))
    reward = fp.realise(game, game.alone)[0]
    reward.save(tmp_path / "r.safetensors")
    export_reward(reward, tmp_path / "a.onnx")
    export_reward(fp.load_reward(tmp_path / "r.safetensors"), tmp_path / "b.onnx")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def no_feature(X):
    return np.ones((len(X), 1))


TEXTS = TableEncoding(
    (TextColumn("notes", EncoderPin(name="mini", sha256="ab" * 32, dimensions=3)),),
    NumberTarget("y", 0.0, 1.0),
)


@pytest.mark.parametrize(
    ("reward", "name", "words"),
    [
        (lambda: a_reward(MODELS["gp"], 2), "m.onnx", "predicts with everybody's rows"),
        (lambda: a_reward(fp.BayesianLinearRegression(0.3, features=no_feature)), "m.onnx", "code"),
        (
            lambda: a_reward(fp.SparseGaussianProcess(Matern(1.0, nu=0.7), 0.3, INDUCING)),
            "m.onnx",
            r"nu=0\.7\) cannot be exported: of Matern",
        ),
        (lambda: encoded_reward(TEXTS), "m.onnx", '"notes" is a text, of which a public encoder'),
        (lambda: a_reward(MODELS["blr"]), "m.txt", r"files that end with \.txt; give a name that"),
        (lambda: a_reward(MODELS["blr"]), "model", "files that end with nothing"),
    ],
)
def test_what_cannot_be_exported_is_refused_with_the_reason(reward, name, words, tmp_path):
    with pytest.raises(RewardFileError, match=words):
        export_reward(reward(), tmp_path / name, known_noise=True, share_inputs=True)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("name", ["model.onnx", "coefficients.json"])
def test_what_a_reward_file_must_not_tell_an_export_must_not_either(name, tmp_path):
    reward = a_reward(MODELS["blr"])
    assert reward.known_noise
    with pytest.raises(RewardFileError, match="has noise from an rng that you gave"):
        export_reward(reward, tmp_path / name)
    small = fp.collaborate(make_parties([2, 30], 1), MODELS["blr"], covariance="full").models[1]
    with pytest.raises(RewardFileError, match='the reward of "p1": '):
        export_reward(small, tmp_path / name)
    export_reward(small, tmp_path / name, share_inputs=True)
    evaluated = replace(reward, for_evaluation=True)
    with pytest.raises(RewardFileError, match="is for evaluation"):
        export_reward(evaluated, tmp_path / name, known_noise=True)


def test_an_export_holds_less_than_the_reward_file(tmp_path):
    reward = a_reward(MODELS["sparse"])
    export_reward(reward, tmp_path / "model.onnx", known_noise=True)
    graph = onnx.load(tmp_path / "model.onnx").graph
    arrays = [onnx.numpy_helper.to_array(one) for one in graph.initializer]
    posterior = reward.posterior
    precision = posterior.factor @ posterior.factor.T
    inverse_root = np.linalg.inv(posterior.factor).T

    def has(secret):
        return any(one.shape == secret.shape and np.allclose(one, secret) for one in arrays)

    assert has(inverse_root)  # the covariance, which predictions need
    assert not has(precision)
    assert not has(posterior.others.precision)
    assert not has(posterior.others.moment)
    assert not has(posterior.trained_factor)
    assert not has(np.linalg.inv(posterior.trained_factor).T)


def test_a_machine_without_onnx_is_told_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)  # so that Python does not find it
    with pytest.raises(
        RewardFileError, match=r"needs onnx; install it: pip install 'fairpool\[exp"
    ):
        export_reward(a_reward(MODELS["blr"]), tmp_path / "model.onnx", known_noise=True)
    export_reward(a_reward(MODELS["blr"]), tmp_path / "c.json", known_noise=True)
