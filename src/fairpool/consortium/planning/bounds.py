"""How large a row's features and its label can be, by what was declared alone."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from fairpool.encoding import TableEncoding
from fairpool.models import (
    BayesianLinearRegression,
    Classifier,
    FourierGaussianProcess,
    Model,
    NetworkFeatures,
    SparseGaussianProcess,
    WeightModel,
)
from fairpool.models.features import ACTIVATIONS
from fairpool.tables.arrays import FloatArray
from fairpool.targets import ClassTarget

LOOKED_AT = 257
"""Values over a declared range, both ends among them, at which a column is as long as it can be."""


def feature_bound(model: WeightModel | Classifier, encoding: TableEncoding) -> float | None:
    """R^2, the largest |a(x)|^2 of any row that the plan accepts; None: nothing bounds it.

    Of a stationary kernel it is k(x, x), wherever x is. Of linear features, or a kernel that has
    some, it depends on |x|^2 alone, and declared ranges and levels bound that; of a network, these
    bound every unit, layer by layer.
    """
    if isinstance(model, Classifier):
        bounds = [_bound_of(of_class, encoding) for of_class in model.of_classes]
    else:
        bounds = [_bound_of(model, encoding)]
    known = [bound for bound in bounds if bound is not None]
    return max(known) if len(known) == len(bounds) else None


def label_bound(model: WeightModel | Classifier, encoding: TableEncoding) -> float | None:
    """Y, the largest |y - prior mean| in the model's units; None: nobody said what labels may be.

    Of classes there is none: what is summed up of their labels is 0 or 1.
    """
    target = encoding.target
    bounds = target.rules.bounds
    if isinstance(target, ClassTarget) or isinstance(model, Classifier) or bounds is None:
        return None
    if model.probe(len(encoding.features))[:, -1].any():
        return None  # the prior mean differs from place to place
    ends = target.encode(pa.chunked_array([pa.array([*bounds], pa.float64())]))
    return float(np.abs(ends).max())


def _bound_of(model: Model, encoding: TableEncoding) -> float | None:
    if not isinstance(model, WeightModel):
        return None
    everywhere = model.feature_bounds(len(encoding.features)).largest
    if np.isfinite(everywhere):
        return float(everywhere)
    if encoding.undeclared:
        return None
    if isinstance(model, BayesianLinearRegression) and isinstance(model.features, NetworkFeatures):
        return _bound_of_network(model, model.features, encoding)
    x = np.zeros((1, len(encoding.features)))
    x[0, 0] = _longest_input(encoding)
    if isinstance(model, BayesianLinearRegression):
        if model.features is not None or np.ndim(model.prior_variance):
            return None
        return float(np.square(model.whitened_features(x)).sum())
    if isinstance(model, SparseGaussianProcess | FourierGaussianProcess):
        return float(model.kernel.diag(x)[0])
    return None


def _bound_of_network(
    model: BayesianLinearRegression, network: NetworkFeatures, encoding: TableEncoding
) -> float | None:
    """What intervals of inputs become, layer by layer: activations grow with what they are of."""
    if np.ndim(model.prior_variance) > 1:
        return None
    low, high = _ends(encoding)
    activation = ACTIVATIONS[network.activation]
    for W, b in zip(network.weights, network.intercepts, strict=True):
        up, down = np.maximum(W, 0), np.minimum(W, 0)
        low, high = activation(low @ up + high @ down + b), activation(high @ up + low @ down + b)
    largest = np.maximum(np.square(low), np.square(high))
    if model.bias:
        largest = np.append(largest, 1.0)
    return float((largest * model.prior_variance).sum())


def _longest_input(encoding: TableEncoding) -> float:
    """The largest |x| of any row within ranges and levels."""
    squares = [np.square(features).sum(axis=0).max() for features in _made_up(encoding)]
    return float(np.sqrt(sum(squares)))


def _ends(encoding: TableEncoding) -> tuple[FloatArray, FloatArray]:
    """The least and the largest value of every input, within ranges and levels [p]."""
    features = np.concatenate(list(_made_up(encoding)))
    return features.min(axis=1), features.max(axis=1)


def _made_up(encoding: TableEncoding) -> Iterator[FloatArray]:
    """Of every column, its inputs at values over all that was declared [inputs, LOOKED_AT]."""
    shares = np.linspace(0, 1, LOOKED_AT)
    for column in encoding.columns:
        values = column.made_up(shares)
        features = np.zeros((len(column.features), LOOKED_AT))
        column.encode(pa.chunked_array([values]), features)
        yield features
