"""What a model with weights predicts of its latent function, as operations of a graph.

    mean = prior mean + a w,    variance = residual + |L^-1 a|^2

of whitened features a. Where these are linear in other features, the product is taken beforehand.
"""

from typing import NamedTuple

import numpy as np

from fairpool.errors import RewardFileError
from fairpool.export.graph import Graph, doubles
from fairpool.export.kernels import Covariances
from fairpool.linear_algebra.cholesky import lower_factor
from fairpool.linear_algebra.solving import solve_lower
from fairpool.models import (
    BayesianLinearRegression,
    FourierGaussianProcess,
    NetworkFeatures,
    SparseGaussianProcess,
    TrainedPosterior,
    WeightPosterior,
)
from fairpool.models.fourier import spectral_terms
from fairpool.models.kernels import leaves
from fairpool.models.likelihoods import inducing_covariance
from fairpool.tables.arrays import FloatArray

ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh", "logistic": "Sigmoid", "identity": "Identity"}
"""Of networks, as ONNX calls them."""


class Latent(NamedTuple):
    """A latent function inside a graph: its mean and variance [rows], without noise."""

    mean: str
    variance: str


class Linear(NamedTuple):
    """A regression on features phi: what weighs them.

    Attributes:
        coefficients: The mean is phi times these [d].
        root: The variance is |phi times this|^2 [d, d].
    """

    coefficients: FloatArray
    root: FloatArray


def weights_of(posterior: TrainedPosterior) -> WeightPosterior:
    """A posterior on weights; one of rows is refused."""
    if not isinstance(posterior, WeightPosterior):
        raise RewardFileError(
            "an exact Gaussian process predicts with everybody's rows, which an exported model must"
            " not hold; use fairpool predict, or a model with weights: sparse_gp, fourier, blr or"
            " network"
        )
    return posterior


def linear_of(posterior: WeightPosterior) -> Linear:
    """The weights of a regression's own features, the bias last, and the root of their covariance.

    With theta = prior mean + L_0 u and u ~ N(w, (L L^T)^-1), phi theta has the variance
    |L^-1 L_0^T phi|^2.
    """
    model = posterior.model
    assert isinstance(model, BayesianLinearRegression)
    d = len(posterior.weights)
    # Whitened features of the unit vectors are the rows of L_0.
    L_0 = model.root_of(d)
    return Linear(
        coefficients=np.broadcast_to(model.prior_mean, d) + L_0 @ posterior.weights,
        root=solve_lower(posterior.factor, L_0.T).T,
    )


def latent_of(graph: Graph, posterior: WeightPosterior, X: str) -> Latent:
    """The latent function at inputs X [rows, p]."""
    model = posterior.model
    if isinstance(model, BayesianLinearRegression):
        linear = linear_of(posterior)
        phi = _design(graph, model, X)
        mean = _product(graph, phi, linear.coefficients)
        return Latent(mean, _squared_lengths(graph, phi, linear.root))
    if isinstance(model, SparseGaussianProcess):
        return _sparse(graph, posterior, model, X)
    if isinstance(model, FourierGaussianProcess):
        A = _waves(graph, model, X)
        mean = _product(graph, A, posterior.weights)
        return Latent(mean, _squared_lengths(graph, A, _inverse_root(posterior)))
    raise RewardFileError(f"a model of type {type(model).__name__} cannot be exported")


def _inverse_root(posterior: WeightPosterior) -> FloatArray:
    """L^-T [d, d], so that |a L^-T|^2 is the variance of a u."""
    return solve_lower(posterior.factor, np.eye(len(posterior.factor))).T


def _product(graph: Graph, rows: str, weights: FloatArray) -> str:
    """A w for every row a; by a matrix of one column, since a runtime may refuse no rows else."""
    product = graph.add("MatMul", rows, graph.constant(doubles(weights[:, None])))
    return graph.add("Squeeze", product, graph.constant([1]))


def _squared_lengths(graph: Graph, rows: str, root: FloatArray) -> str:
    """|a R|^2 for every row a."""
    W = graph.add("MatMul", rows, graph.constant(doubles(root)))
    return graph.sum(graph.add("Mul", W, W), 1)


def _design(graph: Graph, model: BayesianLinearRegression, X: str) -> str:
    """Phi: the inputs, or the network's last layer, with the bias as last column."""
    phi = X
    if isinstance(model.features, NetworkFeatures):
        phi = _network(graph, model.features, X)
    elif model.features is not None:
        raise RewardFileError(
            f"a feature map of type {type(model.features).__name__} is code, which cannot be"
            " exported; use NetworkFeatures, or transform the inputs beforehand"
        )
    if not model.bias:
        return phi
    nothing = graph.sum(graph.add("Mul", X, graph.constant(0.0)), 1, keep=True)
    ones = graph.add("Add", nothing, graph.constant(1.0))
    return graph.add("Concat", phi, ones, axis=1)


def _network(graph: Graph, network: NetworkFeatures, X: str) -> str:
    for W, b in zip(network.weights, network.intercepts, strict=True):
        product = graph.add("MatMul", X, graph.constant(doubles(W)))
        sums = graph.add("Add", product, graph.constant(doubles(b)))
        X = graph.add(ACTIVATIONS[network.activation], sums)
    return X


def _sparse(
    graph: Graph, posterior: WeightPosterior, model: SparseGaussianProcess, X: str
) -> Latent:
    """At inducing points U: a = k_xU L_U^-T, and the residual is k_xx - |a|^2."""
    U = model.inducing_points
    L_U = lower_factor(inducing_covariance(np.asarray(model.kernel(U), dtype=np.float64)))
    covariances = Covariances(graph=graph, X=X, U=U)
    whitening = graph.constant(doubles(solve_lower(L_U, np.eye(len(U))).T))
    A = graph.add("MatMul", covariances.between(model.kernel), whitening)
    mean = _product(graph, A, posterior.weights)
    prior = graph.add("Squeeze", covariances.of_each(model.kernel), graph.constant([1]))
    explained = graph.sum(graph.add("Mul", A, A), 1)
    residual = graph.add("Max", graph.add("Sub", prior, explained), graph.constant(0.0))
    of_weights = _squared_lengths(graph, A, _inverse_root(posterior))
    return Latent(mean, graph.add("Add", residual, of_weights))


def _waves(graph: Graph, model: FourierGaussianProcess, X: str) -> str:
    """Cosines and sines of every term [rows, d], as `fairpool.models.fourier` has them."""
    simple = leaves(model.kernel)
    blocks = []
    slot = 0
    for term in spectral_terms(model.kernel):
        own = model.frequencies[slot : slot + len(term.shapes)]
        slot += len(term.shapes)
        w = np.zeros(model.frequencies.shape[1:])
        for place, z in zip(term.shapes, own, strict=True):
            w = w + z / simple[place].length_scale
        c = float(np.prod([simple[place].constant_value for place in term.constants]))
        amplitude = graph.constant(float(np.sqrt(c / len(w))))
        angles = graph.add("MatMul", X, graph.constant(doubles(w.T)))
        blocks += [graph.add("Mul", amplitude, graph.add(wave, angles)) for wave in ("Cos", "Sin")]
    return graph.add("Concat", *blocks, axis=1)
