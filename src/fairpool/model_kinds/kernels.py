"""What the kinds of Gaussian processes have in common: a kernel."""

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from fairpool.encoding import TableEncoding
from fairpool.keys import Key
from fairpool.model_kinds.kernel_expression import parse_kernel
from fairpool.model_kinds.weights import round_number
from fairpool.models import FourierGaussianProcess, GaussianProcess, SparseGaussianProcess
from fairpool.models.kernels import leaves


def _readable(expression: str) -> str:
    parse_kernel(expression, 1)
    return expression


KERNEL = Key(type=str, default="rbf", check=_readable)
"""The kernel, as an expression."""


Process = TypeVar("Process", GaussianProcess, SparseGaussianProcess, FourierGaussianProcess)


def with_rounded_kernel(model: Process) -> Process:
    """The process with kernel parameters and noise variance to three digits."""
    theta = np.array([np.log(round_number(np.exp(value))) for value in model.kernel.theta])
    return replace(
        model,
        noise_variance=round_number(model.noise_variance),
        kernel=model.kernel.clone_with_theta(theta),
    )


def describe_kernel(kernel: Any, encoding: TableEncoding) -> dict[str, str]:
    """The kernel, and which numbers it finds relevant."""
    settings = {"kernel": str(kernel)}
    scales = [leaf.length_scale for leaf in leaves(kernel) if hasattr(leaf, "length_scale")]
    if scales:
        # A long length scale means that the feature hardly matters.
        of_features = [np.broadcast_to(scale, len(encoding.features)) for scale in scales]
        ranked = [encoding.features[k] for k in np.argsort(np.min(of_features, axis=0))]
        numbers = [name for name in ranked if name in encoding.numbers]
        settings["numbers, most relevant first"] = ", ".join(numbers)
    return settings
