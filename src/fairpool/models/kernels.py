"""Which scikit-learn kernels may stand for a prior covariance."""

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process import kernels as sk

from fairpool.errors import KernelError, shown
from fairpool.linear_algebra.cholesky import VALID
from fairpool.linear_algebra.spectrum import eigenvalues
from fairpool.tables.arrays import FloatArray

ALWAYS_POSITIVE = (sk.ConstantKernel, sk.RBF, sk.Matern, sk.RationalQuadratic, sk.DotProduct)
"""Kernels that are positive definite in any dimension, for all that scikit-learn admits."""


def checked(kernel: sk.Kernel) -> sk.Kernel:
    """A copy of the kernel, when it can be the covariance of a latent function."""
    if not isinstance(kernel, sk.Kernel) or isinstance(kernel, sk.CompoundKernel):
        raise KernelError(
            f"{shown(kernel)} is not a kernel; give one of sklearn.gaussian_process.kernels,"
            " such as 1.0 * RBF([1, 1])"
        )
    for leaf in leaves(kernel):
        if isinstance(leaf, sk.WhiteKernel):
            raise KernelError(
                "the kernel contains a WhiteKernel; leave it out and give noise_variance instead:"
                " noise tells nothing about the latent function"
            )
        if isinstance(leaf, sk.ConstantKernel) and not 0 < leaf.constant_value < np.inf:
            raise KernelError(
                f"the kernel contains the factor {leaf.constant_value},"
                " which must be finite and above 0"
            )
    return clone(kernel)


def check_dimensions(kernel: sk.Kernel, columns: int) -> None:
    """Refuse a kernel with one length scale per feature for another number of features."""
    for leaf in leaves(kernel):
        scales = np.size(getattr(leaf, "length_scale", 1.0))
        if scales not in (1, columns):
            raise KernelError(
                f"the kernel {shown(leaf)} has {scales} length scales,"
                f" but the data has {columns} columns"
            )


def _always_positive(kernel: sk.Kernel) -> bool:
    if isinstance(kernel, sk.KernelOperator):
        return _always_positive(kernel.k1) and _always_positive(kernel.k2)
    if isinstance(kernel, sk.Exponentiation):
        # A whole power is a product; any other power may make a covariance indefinite.
        whole = float(kernel.exponent).is_integer() and kernel.exponent > 0
        return whole and _always_positive(kernel.kernel)
    return type(kernel) in ALWAYS_POSITIVE


def largest_variance(kernel: sk.Kernel, columns: int) -> float:
    """k(x, x) where it is the same for every x; infinite where nothing bounds it.

    A sparse process's features have |a(x)|^2 <= k(x, x) only if the kernel is positive definite, so
    that kernels which may not be have no bound either.
    """
    if not (kernel.is_stationary() and _always_positive(kernel)):
        return np.inf
    return float(kernel.diag(np.zeros((1, columns)))[0])


def leaves(kernel: sk.Kernel) -> list[sk.Kernel]:
    """The simple kernels that a sum, product or power is made of."""
    if isinstance(kernel, sk.KernelOperator):
        return leaves(kernel.k1) + leaves(kernel.k2)
    if isinstance(kernel, sk.Exponentiation):
        return leaves(kernel.kernel)
    return [kernel]


def scaled(kernel: sk.Kernel, factor: float) -> sk.Kernel:
    """The kernel times a factor, in its own amplitudes where it has some."""
    if isinstance(kernel, sk.Sum):
        return sk.Sum(scaled(kernel.k1, factor), scaled(kernel.k2, factor))
    if isinstance(kernel, sk.Product):
        if _has_amplitude(kernel.k1) or not _has_amplitude(kernel.k2):
            return sk.Product(scaled(kernel.k1, factor), kernel.k2)
        return sk.Product(kernel.k1, scaled(kernel.k2, factor))
    if isinstance(kernel, sk.ConstantKernel):
        return sk.ConstantKernel(factor * kernel.constant_value, kernel.constant_value_bounds)
    return sk.Product(sk.ConstantKernel(factor), kernel)


def _has_amplitude(kernel: sk.Kernel) -> bool:
    """Whether a factor on the whole of it is among its own parameters."""
    if isinstance(kernel, sk.Sum):
        return _has_amplitude(kernel.k1) and _has_amplitude(kernel.k2)
    if isinstance(kernel, sk.Product):
        return _has_amplitude(kernel.k1) or _has_amplitude(kernel.k2)
    return isinstance(kernel, sk.ConstantKernel)


def refuse_indefinite(kernel: sk.Kernel, K: FloatArray) -> None:
    """Refuse a kernel whose covariance K has a negative eigenvalue (beyond rounding).

    Identity + K / noise can be positive definite all the same, and would then give wrong values in
    silence. Kernels known to be positive definite are not looked at, since eigenvalues cost ten
    factorisations.
    """
    if not K.size or _always_positive(kernel):
        return
    if not np.isfinite(K).all():
        raise KernelError(
            f"the kernel {shown(kernel)} gives values that are not finite on these rows"
        )
    l = eigenvalues(K)  # noqa: E741 -- the design's letter
    smallest = l[0]
    if not smallest >= -1e-8 * max(l[-1], 0.0):
        raise KernelError(
            f"the kernel {shown(kernel)} is not positive definite: on these rows its smallest"
            f" eigenvalue is {smallest:.3g}; {VALID}"
        )
