"""The noise on the others' labels, for every recipient.

Nested: recipients are sorted by eta, and each one's noise is the one before plus an independent
increment. Each party's own noise is N(0, eta_i I) as in the paper; but parties who compare their
noisy labels learn nothing about the labels beyond the least noisy ones. (Equal standardised noise
at two values of eta would reveal y exactly, and independent draws would average out.)
"""

from collections.abc import Iterator, Sequence

import numpy as np

from fairpool.errors import RewardError, cut
from fairpool.tables.arrays import FloatArray


def label_noise(
    kind: str, eta: Sequence[float], shape: tuple[int, ...], rng: np.random.Generator
) -> Iterator[tuple[int, FloatArray]]:
    """For each recipient i of finite eta_i, its index and noise of that variance.

    Args:
        kind: "nested", or "standardised": the paper's fixed standardised noise (App. E.1), equal up
            to scale for every rho with the same seed. The latter is for sweeps inside the central
            party only, never for models that leave it.
        eta: Each recipient's noise variance [n].
        shape: Of one recipient's noise: [m], or [m, draws].
        rng: Generator.
    """
    if kind == "nested":
        yield from _nested(eta, shape, rng)
    elif kind == "standardised":
        for i, eta_i in enumerate(eta):
            standard = rng.standard_normal(shape)
            if np.isfinite(eta_i):
                yield i, np.sqrt(eta_i) * standard
    else:
        raise RewardError(
            f'no noise of kind "{cut(str(kind))}"; there are "nested" and "standardised"'
        )


def _nested(
    eta: Sequence[float], shape: tuple[int, ...], rng: np.random.Generator
) -> Iterator[tuple[int, FloatArray]]:
    noise, so_far = np.zeros(shape), 0.0
    for i in sorted(range(len(eta)), key=lambda k: eta[k]):
        if not np.isfinite(eta[i]):
            return
        if eta[i] > so_far:
            noise = noise + np.sqrt(eta[i] - so_far) * rng.standard_normal(shape)
            so_far = eta[i]
        yield i, noise
