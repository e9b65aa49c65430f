"""What a Gram matrix was before noise was put on it, as far as that can be told.

The noise E is symmetric with deviations s on the diagonal and s / sqrt 2 beside it. Its own
eigenvalues reach to sqrt(2 d) s, and seldom beyond k s with k = sqrt(2 d) + 3 d^(-1/6) / sqrt 2
(Tracy and Widom). An eigenvalue g of G well above shows as l = g + d s^2 / (2 g) (Benaych-Georges
& Nadakuditi, "The eigenvalues and eigenvectors of finite, low rank perturbations", 2011). So

    g = (l + sqrt(l^2 - 2 d s^2)) / 2,    which counts where it is above k s.
"""

import numpy as np

from fairpool.linear_algebra.spectrum import Spectrum, spectrum
from fairpool.tables.arrays import FloatArray

EPS = float(np.finfo(float).eps)


def noise_edge(d: int) -> float:
    """k: how far the eigenvalues of noise of deviation 1 reach, but for one draw in hundreds."""
    return float(np.sqrt(2 * d) + 3 * max(d, 1) ** (-1 / 6) / np.sqrt(2))


def shrunk_spectrum(noisy: FloatArray, deviation: float) -> Spectrum:
    """The eigenvalues that stand out of the noise [k], shrunk, and their vectors [d, k].

    Args:
        noisy: G + E [d, d].
        deviation: s; 0: there is no noise, and every eigenvalue above 0 stands out.
    """
    l, Q = spectrum(noisy)  # noqa: E741 -- the design's letter
    d = len(l)
    g = (l + np.sqrt(np.maximum(l**2 - 2 * d * deviation**2, 0.0))) / 2
    # Without noise, what is below rounding was 0.
    least = max(noise_edge(d) * deviation, d * EPS * float(l.max(initial=0.0)))
    stands_out = g > least
    return Spectrum(g[stands_out], Q[:, stands_out])
