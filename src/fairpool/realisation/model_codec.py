"""Models as JSON and arrays, and back; only kinds that are listed here can come out of a file."""

from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as sk

from fairpool.errors import RewardFileError, shown
from fairpool.models import (
    BayesianLinearRegression,
    GaussianProcess,
    Model,
    NetworkFeatures,
    SparseGaussianProcess,
)
from fairpool.models.features import ACTIVATIONS
from fairpool.tables.arrays import TINY, FloatArray
from fairpool.tables.encoding import CategoryColumn, NumberColumn, TableEncoding

KERNELS: dict[str, tuple[str, ...]] = {
    "ConstantKernel": ("constant_value",),
    "RBF": ("length_scale",),
    "Matern": ("length_scale", "nu"),
    "RationalQuadratic": ("length_scale", "alpha"),
    "DotProduct": ("sigma_0",),
    "ExpSineSquared": ("length_scale", "periodicity"),
}
"""The simple kernels that a file can hold, with their parameters."""


def encode_model(model: Model) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """A model as a JSON object and named arrays."""
    description: dict[str, Any] = {
        "kind": type(model).__name__,
        "noise_variance": model.noise_variance,
    }
    tensors: dict[str, FloatArray] = {}
    if isinstance(model, GaussianProcess | SparseGaussianProcess):
        description["kernel"] = encode_kernel(model.kernel)
    if isinstance(model, SparseGaussianProcess):
        tensors["inducing_points"] = model.inducing_points
    if isinstance(model, BayesianLinearRegression):
        tensors |= {"prior_mean": model.prior_mean, "prior_variance": model.prior_variance}
        description["bias"] = model.bias
        description["features"] = None
        if isinstance(model.features, NetworkFeatures):
            network = model.features
            description["features"] = {
                "activation": network.activation,
                "layers": len(network.weights),
            }
            tensors["network.last_weights"] = network.last_weights
            for k, (W, b) in enumerate(zip(network.weights, network.intercepts, strict=True)):
                tensors |= {f"network.weights.{k}": W, f"network.intercepts.{k}": b}
        elif model.features is not None:
            raise RewardFileError(
                f"a feature map of type {type(model.features).__name__} cannot be put into a file,"
                " which holds no code;"
                " use NetworkFeatures, or transform the inputs beforehand"
            )
    return description, tensors


def decode_model(description: dict[str, Any], tensors: dict[str, FloatArray]) -> Model:
    """The model that `encode_model` described; its own checks refuse what makes no sense."""
    kind, noise = description["kind"], float(description["noise_variance"])
    if kind == "GaussianProcess":
        return GaussianProcess(decode_kernel(description["kernel"]), noise)
    if kind == "SparseGaussianProcess":
        return SparseGaussianProcess(
            decode_kernel(description["kernel"]), noise, tensors["inducing_points"]
        )
    if kind != "BayesianLinearRegression":
        raise RewardFileError(f"no model of kind {shown(kind)} is known")
    features = (
        None
        if description["features"] is None
        else _decode_network(description["features"], tensors)
    )
    prior_mean, prior_variance = tensors["prior_mean"], tensors["prior_variance"]
    return BayesianLinearRegression(
        noise, prior_variance, prior_mean, features, bool(description["bias"])
    )


def encode_kernel(kernel: Any) -> dict[str, Any]:
    """A kernel expression as a JSON object."""
    name = type(kernel).__name__
    if type(kernel) in (sk.Sum, sk.Product):
        return {"kernel": name, "k1": encode_kernel(kernel.k1), "k2": encode_kernel(kernel.k2)}
    if type(kernel) is sk.Exponentiation:
        return {
            "kernel": name,
            "k1": encode_kernel(kernel.kernel),
            "exponent": float(kernel.exponent),
        }
    if name not in KERNELS or type(kernel) is not getattr(sk, name):
        raise RewardFileError(
            f"a kernel of type {name} cannot be put into a file; there are {', '.join(KERNELS)}"
        )
    if not all(np.isfinite(getattr(kernel, p)).all() for p in KERNELS[name]):
        raise RewardFileError(
            f"the kernel {shown(kernel)} has a parameter that is not finite; Matern(nu=inf) is RBF"
        )
    return {"kernel": name} | {
        p: np.asarray(getattr(kernel, p), dtype=float).tolist() for p in KERNELS[name]
    }


def decode_kernel(description: dict[str, Any], depth: int = 0) -> Any:
    """The kernel expression that `encode_kernel` described."""
    name = description["kernel"]
    if depth > 50:
        raise RewardFileError("its kernel expression is nested too deeply")
    if name in ("Sum", "Product"):
        return getattr(sk, name)(*(decode_kernel(description[k], depth + 1) for k in ("k1", "k2")))
    if name == "Exponentiation":
        return sk.Exponentiation(
            decode_kernel(description["k1"], depth + 1), float(description["exponent"])
        )
    if name not in KERNELS:
        raise RewardFileError(f"no kernel {shown(name)} is known")
    parameters = {p: np.asarray(description[p], dtype=float) for p in KERNELS[name]}
    for p, value in parameters.items():
        fine = value >= 0 if p == "sigma_0" else value > 0
        if value.ndim > 1 or not fine.all() or not np.isfinite(value).all():
            raise RewardFileError(
                f"its kernel has {p} = {shown(description[p])}, needs finite numbers above 0"
            )
    return getattr(sk, name)(
        **{p: value if value.ndim else float(value) for p, value in parameters.items()}
    )


def encode_encoding(encoding: TableEncoding) -> dict[str, Any]:
    """How tables become numbers, as a JSON object."""
    columns: list[dict[str, Any]] = []
    for column in encoding.columns:
        if isinstance(column, CategoryColumn):
            columns.append({"name": column.name, "levels": list(column.levels)})
        else:
            columns.append({"name": column.name, "mean": column.mean, "scale": column.scale})
    return {
        "columns": columns,
        "target": encoding.target,
        "mean": encoding.mean,
        "scale": encoding.scale,
    }


def decode_encoding(description: dict[str, Any]) -> TableEncoding:
    """The encoding that `encode_encoding` described."""
    columns: list[NumberColumn | CategoryColumn] = []
    for column in description["columns"]:
        if "levels" in column:
            columns.append(
                CategoryColumn(
                    text(column["name"]), tuple(text(level) for level in column["levels"])
                )
            )
        else:
            columns.append(
                NumberColumn(
                    text(column["name"]),
                    number(column["mean"], "mean"),
                    number(column["scale"], "scale", TINY),
                )
            )
    target = text(description["target"])
    return TableEncoding(
        tuple(columns),
        target,
        number(description["mean"], "mean"),
        number(description["scale"], "scale", TINY),
    )


def text(value: Any) -> str:
    """A name in a file."""
    if not isinstance(value, str):
        raise RewardFileError(f"{shown(value)} is not a name")
    return value


def number(value: Any, name: str, least: float = -np.inf, most: float = np.inf) -> float:
    """A number in a file, within bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise RewardFileError(f"{name} {shown(value)} is not a finite number")
    if not least <= value <= most:
        raise RewardFileError(f"{name} {shown(value)} is outside {least:g} .. {most:g}")
    return float(value)


def _decode_network(description: dict[str, Any], tensors: dict[str, FloatArray]) -> NetworkFeatures:
    layers, activation = (
        int(number(description["layers"], "layers", 1, 100)),
        description["activation"],
    )
    if activation not in ACTIVATIONS:
        raise RewardFileError(f"its network has the activation {shown(activation)}")
    W = tuple(tensors[f"network.weights.{k}"] for k in range(layers))
    b = tuple(tensors[f"network.intercepts.{k}"] for k in range(layers))
    for k in range(layers):
        fits = (
            W[k].ndim == 2
            and b[k].shape == W[k].shape[1:]
            and (k == 0 or W[k - 1].shape[1] == W[k].shape[0])
        )
        if not fits:
            raise RewardFileError(
                f"its network's layer {k} does not fit: weights {W[k].shape}, intercepts"
                f" {b[k].shape}"
            )
    return NetworkFeatures(W, b, activation, tensors["network.last_weights"])
