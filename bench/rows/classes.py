"""All 2^n values for k classes, against k times the values of one latent function."""

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import fairpool as fp
from bench.measure import Row, interleaved, quick, same

K = 5
ROWS = 400
WEIGHTS = 50


def measure(n: int, repeats: int) -> None:
    """One size: the games are made of sums over rows, which are there before either starts."""
    rng = np.random.default_rng(0)
    base = fp.SparseGaussianProcess(
        ConstantKernel(4.0) * RBF(1.5), 1.0, rng.normal(size=(WEIGHTS, 4))
    )
    model = fp.Classifier(base, K)
    of_classes, of_numbers = [], []
    for i in range(n):
        X = rng.normal(size=(ROWS, 4))
        party = fp.Party(f"p{i}", X, rng.integers(0, K, ROWS).astype(float))
        of_classes.append(model.summarise(party))
        of_numbers.append(base.summarise(party))
    ways = {
        "ours": lambda: fp.InformationGain(model, of_classes).values(),
        "floor": lambda: [fp.InformationGain(base, of_numbers).values() for _ in range(K)],
    }
    seconds, found = interleaved(ways, repeats)
    mask = (1 << n) - 2
    one = fp.InformationGain(model, of_classes).value(range(1, n))
    Row.timed(
        seconds,
        at_most=1.1,
        row=f"all 2^n values of {K} classes",
        size=f"n = {n}, d = {WEIGHTS}",
        against=f"{K} times the values of one latent function",
        equal=same(found["ours"][mask : mask + 1], np.array([one]), 1e-11, "a value"),
    ).print()


if __name__ == "__main__":
    # Tenths of a second are measured many times: on a busy machine one alone is off by a third.
    measure(10, 5 if quick() else 41)
    if not quick():
        measure(14, 5)
