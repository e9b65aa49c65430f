"""Cholesky factors, with an error that a user can act on."""

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from fairpool.errors import KernelError
from fairpool.tables.arrays import FloatArray

VALID = "use a valid kernel (RBF, Matern, RationalQuadratic, DotProduct, their sums and products)"


def lower_factor(B: FloatArray) -> FloatArray:
    """L with L L^T = B, for B positive definite."""
    try:
        L = np.asarray(cholesky(B, lower=True, check_finite=False))
        if not np.isfinite(np.diag(L)).all():  # LAPACK may pass nan through without a complaint
            raise LinAlgError
    except LinAlgError:
        raise KernelError(not_positive_definite(B)) from None
    return L


def not_positive_definite(B: FloatArray) -> str:
    """The error text for a covariance that is none."""
    if not np.isfinite(B).all():
        return (
            "a covariance has values that are not finite;"
            " check the kernel's parameters and the data's scale"
        )
    smallest = float(np.linalg.eigvalsh(B)[0])
    return (
        f"a covariance is not positive definite (smallest eigenvalue {smallest:.3g}):"
        " the kernel is not a valid one, the noise variance is too small for rounding,"
        " or columns with very large numbers are too nearly alike;"
        f" {VALID}, give a larger noise variance, or standardise the columns"
    )
