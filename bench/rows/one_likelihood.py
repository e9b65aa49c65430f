"""One likelihood with its gradient, the unit of every search.

There are scikit-learn's, ours, and LAPACK's share of ours.
"""

import numpy as np
import sklearn
from scipy.linalg.lapack import dpotrf, dpotri
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import WhiteKernel

from bench.measure import Row, interleaved, quick, same
from bench.rows.likelihood import BOUNDS, START, P, data, kernel
from fairpool.models.likelihoods import gp_likelihood


def measure(m: int, repeats: int) -> None:
    """At the start of the search."""
    X, y = data(m)
    k, noise = kernel(START), float(START[-1])
    white = WhiteKernel(noise, BOUNDS)
    theirs = GaussianProcessRegressor(kernel(START) + white, alpha=0.0, optimizer=None).fit(X, y)
    C = np.asfortranarray(k(X) + noise * np.eye(m))

    def lapack() -> None:
        L, _ = dpotrf(C, lower=1, clean=0)
        dpotri(L, lower=1, overwrite_c=1)

    ways = {
        "ours": lambda: gp_likelihood(k, noise, X, y),
        "theirs": lambda: theirs.log_marginal_likelihood(theirs.kernel_.theta, eval_gradient=True),
        "floor": lapack,
    }
    seconds, found = interleaved(ways, repeats)
    above = float(np.median(seconds["ours"] / seconds["floor"]))
    same(found["ours"][1], found["theirs"][1], 1e-8, "gradient")
    Row.timed(
        seconds,
        row="one likelihood with its gradient, ARD squared exponential",
        size=f"m = {m}, p = {P}",
        against=f"scikit-learn {sklearn.__version__}",
        equal=same(found["ours"][0], found["theirs"][0], 1e-10, "likelihood"),
        note=f"{above:.2f}x the floor",
    ).print()


if __name__ == "__main__":
    for size, times in ((750, 3),) if quick() else ((750, 9), (1600, 5), (3000, 3)):
        measure(size, times)
