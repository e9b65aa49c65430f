"""Kernels as JSON, and back; only those listed here can come out of a file."""

from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as sk

from fairpool.errors import RewardFileError, shown

KERNELS: dict[str, tuple[str, ...]] = {
    "ConstantKernel": ("constant_value",),
    "RBF": ("length_scale",),
    "Matern": ("length_scale", "nu"),
    "RationalQuadratic": ("length_scale", "alpha"),
    "DotProduct": ("sigma_0",),
    "ExpSineSquared": ("length_scale", "periodicity"),
}
"""The simple kernels that a file can hold, with their parameters."""


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
