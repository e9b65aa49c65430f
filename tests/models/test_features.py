import numpy as np
import pytest
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import fairpool as fp
from tests.support.examples import P


@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning"
)  # a few steps are enough here
@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic", "identity"])
def test_network_features_and_last_weights_give_the_networks_prediction(activation):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, P))
    network = MLPRegressor(
        hidden_layer_sizes=(7, 5), activation=activation, max_iter=20, random_state=0, tol=0.1
    ).fit(X, X[:, 0])
    features = fp.NetworkFeatures.of(network)
    H = features(X)
    assert H.shape == (100, 5)
    np.testing.assert_allclose(
        np.column_stack([H, np.ones(100)]) @ features.last_weights, network.predict(X)
    )


def test_training_is_repeatable():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, P))
    a, b = (fp.NetworkFeatures.train(X, X[:, 0], (4, 3), rng=1, max_iter=5) for _ in range(2))
    np.testing.assert_array_equal(a(X), b(X))


def test_any_callable_or_fitted_transformer_serves():
    X = np.random.default_rng(0).integers(0, 3, (30, 2)).astype(float)
    y = X[:, 0]
    scaler = StandardScaler().fit(X)
    by_transformer = fp.BayesianLinearRegression(0.1, features=scaler).posterior(X, y).predict(X)
    by_callable = (
        fp.BayesianLinearRegression(0.1, features=scaler.transform).posterior(X, y).predict(X)
    )
    np.testing.assert_allclose(by_transformer, by_callable)
    sparse = fp.BayesianLinearRegression(0.1, features=OneHotEncoder().fit(X), bias=False)
    assert sparse.design(X).shape == (30, 6)


@pytest.mark.parametrize(
    ("features", "text"),
    [
        (lambda X: X[:, 0], r"gave an array of shape \(5,\) for 5 rows"),
        (lambda X: X / 0, "values that are not finite"),
    ],
)
def test_a_feature_map_that_misbehaves_is_refused(features, text):
    X = np.ones((5, 2))
    with np.errstate(divide="ignore"), pytest.raises(ValueError, match=text):
        fp.BayesianLinearRegression(0.1, features=features).posterior(X, X[:, 0])


def test_an_unfitted_network_is_refused():
    with pytest.raises(ValueError, match="must be a fitted MLPRegressor; call fit first"):
        fp.NetworkFeatures.of(MLPRegressor())
