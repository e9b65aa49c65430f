"""A reward as a fitted scikit-learn estimator."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.model_selection import cross_val_score
from sklearn.utils import estimator_checks
from sklearn.utils.validation import check_is_fitted

import fairpool as fp
from fairpool.columns import TextColumn
from fairpool.encoders import read_folder
from fairpool.encoders.pin import EncoderPin
from fairpool.encoding import TableEncoding
from fairpool.targets import NumberTarget
from tests.support.encoders import static_encoder
from tests.support.examples import MODELS, make_parties

frozen = pytest.importorskip("sklearn.frozen", reason="scikit-learn has it from 1.6 on")


def number_reward(columns=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, columns))
    y = X[:, 0] + 0.1 * rng.normal(size=40)
    parties = [fp.Party("north", X[:25], y[:25]), fp.Party("south", X[25:], y[25:])]
    return fp.collaborate(parties, fp.BayesianLinearRegression(0.1), rng=0).models["north"]


def class_reward(classes, columns=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, columns))
    y = np.digitize(X[:, 0], np.linspace(-1, 1, classes + 1)[1:-1]).astype(float)
    parties = [fp.Party("north", X[:35], y[:35]), fp.Party("south", X[35:], y[35:])]
    model = fp.Classifier(fp.BayesianLinearRegression(0.1), classes)
    return fp.collaborate(parties, model, rng=0).models["north"]


def a_table(rng, rows):
    age = rng.uniform(20, 80, rows)
    ward = rng.choice(["east", "west"], rows)
    ill = 0.1 * (age - 50) + 2 * (ward == "west") + rng.normal(0, 1, rows) > 1
    cost = 100 + 2 * age + 30 * (ward == "west") + rng.normal(0, 5, rows)
    return pd.DataFrame({"age": age, "ward": ward, "ill": np.where(ill, "yes", "no"), "cost": cost})


def table_reward(target, model):
    """A reward that knows the columns age and ward, and a table that it has not seen."""
    rng = np.random.default_rng(1)
    table = a_table(rng, 90)
    columns = pa.Table.from_pandas(table[["age", "ward", target]], preserve_index=False)
    encoding = fp.TableEncoding.of_table(columns, target)
    parties = []
    for name, start in (("north", 0), ("south", 45)):
        own = columns.slice(start, 45)
        parties.append(fp.Party(name, encoding.encode(own), encoding.encode_target(own)))
    reward = fp.collaborate(parties, model, rng=0).models["south"].with_encoding(encoding)
    return reward, a_table(rng, 50)


@pytest.fixture(scope="module")
def of_numbers():
    return table_reward("cost", fp.BayesianLinearRegression(0.05))


@pytest.fixture(scope="module")
def of_classes():
    return table_reward("ill", fp.Classifier(fp.BayesianLinearRegression(0.05), 2))


EITHER = {
    "check_mixin_order": 3,
    "check_valid_tag_types": 3,
    "check_estimator_tags_renamed": 3,
    "check_estimator_repr": 3,
    "check_do_not_raise_errors_in_init_or_set_params": 3,
    "check_get_params_invariance": 3,
    "check_dict_unchanged": 3,
    "check_dont_overwrite_parameters": 3,
    "check_estimators_pickle": 3,
    "check_estimators_dtypes": 5,
    "check_f_contiguous_array_estimator": 3,
    "check_fit2d_predict1d": 1,
    "check_fit_idempotent": 2,
    "check_fit_score_takes_y": 3,
    "check_methods_sample_order_invariance": 3,
    "check_methods_subset_invariance": 3,
    "check_n_features_in_after_fitting": 4,
    "check_pipeline_consistency": 3,
}
"""The checks of scikit-learn that say something of an estimator which is fitted and stays so, and
how many columns their data have. The others fit anew, and look at what that changed.
"""

OF_REGRESSORS = EITHER | {"check_regressors_int": 10, "check_regressors_no_decision_function": 3}
OF_CLASSIFIERS = EITHER | {
    "check_classifiers_one_label": 3,
    "check_decision_proba_consistency": 2,
}


def run_check(name, estimator):
    # A frozen estimator passes `fit` and `clone`, which these checks call, and stays as it is.
    getattr(estimator_checks, name)(type(estimator).__name__, frozen.FrozenEstimator(estimator))


@pytest.mark.parametrize("name", OF_REGRESSORS)
def test_scikit_learns_checks_of_a_regressor(name):
    run_check(name, number_reward(OF_REGRESSORS[name]).as_regressor())


@pytest.mark.parametrize("name", OF_CLASSIFIERS)
def test_scikit_learns_checks_of_a_classifier(name):
    run_check(name, class_reward(2, OF_CLASSIFIERS[name]).as_classifier())


@pytest.mark.parametrize("name", [name for name in MODELS if not name.startswith("gp")])
def test_a_regressor_predicts_what_the_reward_does(name):
    reward = fp.collaborate(make_parties([25, 18], 1), MODELS[name], rng=0).models[0]
    X = np.random.default_rng(2).normal(size=(20, 3))
    mean, variance = reward.predict(X)
    regressor = reward.as_regressor()
    np.testing.assert_array_equal(regressor.predict(X), mean)
    again, deviation = regressor.predict(X, return_std=True)
    np.testing.assert_array_equal(again, mean)
    np.testing.assert_array_equal(deviation, np.sqrt(variance))
    y = mean + np.linspace(-1, 1, 20)
    assert regressor.score(X, y) == r2_score(y, mean) < 1


def test_it_is_a_fitted_estimator_of_its_kind():
    regressor, classifier = number_reward().as_regressor(), class_reward(3).as_classifier()
    check_is_fitted(regressor)
    check_is_fitted(classifier)
    assert is_regressor(regressor)
    assert not is_classifier(regressor)
    assert is_classifier(classifier)
    assert not is_regressor(classifier)
    assert regressor.n_features_in_ == 3
    assert not hasattr(regressor, "feature_names_in_")
    np.testing.assert_array_equal(classifier.classes_, [0, 1, 2])


@pytest.mark.parametrize("classes", [2, 3])
def test_a_classifier_predicts_what_the_reward_does(classes):
    reward = class_reward(classes)
    X = np.random.default_rng(2).normal(size=(20, 3))
    p, _ = reward.predict(X)
    classifier = reward.as_classifier()
    np.testing.assert_array_equal(classifier.predict_proba(X), p)
    np.testing.assert_allclose(classifier.predict_log_proba(X), np.log(p))
    np.testing.assert_array_equal(classifier.predict(X), p.argmax(axis=1))
    y = p.argmax(axis=1)
    y[:5] = (y[:5] + 1) % classes
    assert classifier.score(X, y) == 0.75


@pytest.mark.parametrize(
    "as_other", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "pa"]
)
def test_tables_of_any_library_are_in_the_targets_own_units(of_numbers, as_other):
    reward, table = of_numbers
    mean, variance = reward.predict_table(table)
    regressor = reward.as_regressor()
    predicted, deviation = regressor.predict(as_other(table[["ward", "age"]]), return_std=True)
    np.testing.assert_array_equal(predicted, mean)
    np.testing.assert_array_equal(deviation, np.sqrt(variance))
    np.testing.assert_array_equal(regressor.feature_names_in_, ["age", "ward"])
    assert regressor.n_features_in_ == 2
    assert regressor.score(table, table["cost"]) > 0.9


def test_classes_have_the_names_that_they_have_in_tables(of_classes):
    reward, table = of_classes
    classifier = reward.as_classifier()
    np.testing.assert_array_equal(classifier.classes_, ["no", "yes"])
    predicted = classifier.predict(table)
    assert set(predicted) == {"no", "yes"}
    accuracy = accuracy_score(table["ill"], predicted)
    assert classifier.score(table, table["ill"]) == accuracy > 0.75
    spelled_otherwise = [f" {label}" for label in table["ill"]]  # blanks do not count
    assert classifier.score(table, spelled_otherwise) == accuracy
    assert log_loss(table["ill"], classifier.predict_proba(table), labels=classifier.classes_) < 0.6


def test_permutation_importance_of_a_table(of_numbers):
    reward, table = of_numbers
    inputs = table[["age", "ward"]]
    found = permutation_importance(
        reward.as_regressor(), inputs, table["cost"], n_repeats=3, random_state=0
    )
    assert found.importances_mean[0] > found.importances_mean[1] > 0.05


def test_partial_dependence_of_a_table(of_numbers, of_classes):
    reward, table = of_numbers
    inputs = table[["age", "ward"]]
    drawn = partial_dependence(reward.as_regressor(), inputs, ["age"], grid_resolution=5)
    slope = np.diff(drawn["average"][0]) / np.diff(drawn["grid_values"][0])
    np.testing.assert_allclose(slope, slope[0])  # the model is linear, ...
    assert 1.8 < slope[0] < 2.2  # ... and the table has 2
    reward, table = of_classes
    drawn = partial_dependence(
        reward.as_classifier(), table[["age", "ward"]], ["ward"], categorical_features=["ward"]
    )
    east, west = drawn["average"][0]
    assert west > east + 0.1


def test_partial_dependence_of_an_array():
    regressor = number_reward().as_regressor()
    X = np.random.default_rng(2).normal(size=(20, 3))
    drawn = partial_dependence(regressor, X, [0], grid_resolution=4)
    assert (np.diff(drawn["average"][0]) > 0).all()


def test_fitting_is_refused_with_the_reason():
    regressor = number_reward().as_regressor()
    with pytest.raises(fp.FairpoolError, match='"north" cannot be fitted: it is what'):
        regressor.fit(np.zeros((3, 3)), np.zeros(3))
    with pytest.raises(fp.FairpoolError, match=r"cannot be cloned, as cross-validation .*\.Frozen"):
        clone(regressor)
    with pytest.raises(fp.FairpoolError, match="cannot be cloned, as cross-validation"):
        cross_val_score(class_reward(2).as_classifier(), np.zeros((10, 3)), np.arange(10) % 2)


def test_a_frozen_estimator_goes_through_what_would_fit_it(of_classes):
    reward, table = of_classes
    classifier = reward.as_classifier()
    calibrated = CalibratedClassifierCV(frozen.FrozenEstimator(classifier), cv=2)
    calibrated.fit(table, table["ill"])
    p = calibrated.predict_proba(table)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.abs(p - classifier.predict_proba(table)).max() > 0.01  # it was calibrated


def test_texts_need_their_encoder(tmp_path):
    folder = static_encoder(tmp_path / "mini")
    pin = EncoderPin(name="mini", sha256=read_folder(folder).sha256, dimensions=8)
    encoding = TableEncoding((TextColumn("note", pin),), NumberTarget("y", 0.0, 1.0))
    reward = number_reward(columns=8).with_encoding(encoding)
    table = pa.table({"note": ["good", "fine"]})
    with pytest.raises(fp.FairpoolError, match=r"in Python: encoders="):
        reward.as_regressor().predict(table)
    predicted = reward.as_regressor(encoders=folder).predict(table)
    np.testing.assert_array_equal(predicted, reward.predict_table(table, encoders=folder)[0])
    assert predicted[0] != predicted[1]


def test_the_other_kind_is_refused():
    with pytest.raises(fp.FairpoolError, match=r"predicts classes; use as_classifier\(\)"):
        class_reward(2).as_regressor()
    with pytest.raises(fp.FairpoolError, match=r"predicts numbers; use as_regressor\(\)"):
        number_reward().as_classifier()
    parties = make_parties([25, 18], 1)
    game = fp.InformationGain(MODELS["blr"], parties)
    models = fp.realise(game, [game.total, game.total], draws=3)
    with pytest.raises(fp.FairpoolError, match="is for evaluation, and may predict once for each"):
        models[0].as_regressor()


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.zeros((2, 4)), "X has 4 features, but RewardRegressor is expecting 3 features"),
        (np.zeros(3), "Expected 2D array, got 1D array instead"),
        (csr_array(np.zeros((2, 3))), r"sparse.*give X\.toarray\(\)"),
        ([["a", 0, 0]], "not made of numbers"),
        (np.full((1, 3), np.nan), "X has nan in row 0, column 0"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(X, words):
    with pytest.raises(fp.FairpoolError, match=words):
        number_reward().as_regressor().predict(X)


def test_tables_that_do_not_fit_are_refused(of_numbers):
    reward, table = of_numbers
    regressor = reward.as_regressor()
    with pytest.raises(fp.FairpoolError, match="takes tables with the columns age, ward, not arr"):
        regressor.predict(table[["age", "ward"]].to_numpy())
    with pytest.raises(fp.FairpoolError, match='the table has no column "ward"'):
        regressor.predict(table[["age"]])
    with pytest.warns(fp.FairpoolWarning, match="'south' is not among the levels"):
        regressor.predict(table.assign(ward="south"))


def test_names_of_inputs_are_kept_without_an_encoding():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30, 2)), columns=["a", "b"])
    parties = [fp.Party(n, X[s], X["a"][s]) for n, s in (("n", slice(15)), ("s", slice(15, 30)))]
    reward = fp.collaborate(parties, fp.BayesianLinearRegression(0.1), rng=0).models[0]
    regressor = reward.as_regressor()
    np.testing.assert_array_equal(regressor.feature_names_in_, ["a", "b"])
    np.testing.assert_array_equal(regressor.predict(X), reward.predict(X)[0])
    with pytest.raises(fp.FairpoolError, match="have columns b, a; the model needs a, b"):
        regressor.predict(X[["b", "a"]])
