"""Cholesky factors, with an error that a user can act on."""

import numpy as np
from scipy.linalg import cholesky

from fairpool.errors import KernelError
from fairpool.linear_algebra.spectrum import eigenvalues
from fairpool.tables.arrays import FloatArray

VALID = "use a valid kernel (RBF, Matern, RationalQuadratic, DotProduct, their sums and products)"

NotComputable = np.linalg.LinAlgError
"""What is raised where rounding, or what is given, leaves a matrix without a factor.

Whoever searches can try elsewhere; whoever cannot gives the user an error in words.
"""


def lower_factor(B: FloatArray) -> FloatArray:
    """L with L L^T = B, for B positive definite [k, k]; a `KernelError` where it is not."""
    try:
        L = np.asarray(cholesky(B, lower=True, check_finite=False))
        if not np.isfinite(np.diag(L)).all():  # LAPACK may pass nan through without a complaint
            raise NotComputable
    except NotComputable:
        raise KernelError(not_positive_definite(B)) from None
    return L


def lower_factors(B: FloatArray) -> FloatArray:
    """L with L L^T = B, for each of a stack of matrices [..., k, k], in one call.

    Failures are not explained, which takes eigenvalues: a search tries elsewhere, and whoever made
    the stack knows better what to say of it.

    Args:
        B: One matrix or many; only their lower triangles count.

    Raises:
        NotComputable: Where one of them is not positive definite.
    """
    L: FloatArray = np.asarray(np.linalg.cholesky(B), dtype=np.float64)
    diagonals = np.diagonal(L, axis1=-2, axis2=-1)
    if not np.isfinite(diagonals).all():
        raise NotComputable("a matrix is not finite")
    return L


def lower_factors_or_why(B: FloatArray) -> FloatArray:
    """`lower_factors`, with the error of `lower_factor` where one of them has none."""
    try:
        return lower_factors(B)
    except NotComputable:
        return np.array([lower_factor(one) for one in B])


def not_positive_definite(B: FloatArray) -> str:
    """The error text for a covariance that is none."""
    if not np.isfinite(B).all():
        return (
            "a covariance has values that are not finite;"
            " check the kernel's parameters and the data's scale"
        )
    smallest = float(eigenvalues(B)[0])
    return (
        f"a covariance is not positive definite (smallest eigenvalue {smallest:.3g}):"
        " the kernel is not a valid one, the noise variance is too small for rounding,"
        " or columns with very large numbers are too nearly alike;"
        f" {VALID}, give a larger noise variance, or standardise the columns"
    )
