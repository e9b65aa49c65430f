"""Measures what docs/privacy.md says of `contribute --epsilon`: `python -m bench.epsilon`.

Rows of Friedman's first function (five inputs, standardised labels, cut to three deviations) under
a Fourier process whose scales were learned from other, public rows: what a party's sums are worth,
and how they predict, with noise on them. And whether noise ever pays, whether the model is as sure
as it should be, and whether labels are judged rightly. Prints tables, in about two minutes.
"""

import random

import numpy as np
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool.audit.evidence import judge_evidence
from fairpool.differential_privacy.gaussian import mu_of
from fairpool.differential_privacy.mechanism import with_noise
from fairpool.differential_privacy.row_bounds import RowBounds
from fairpool.linear_algebra.log_determinant import half_log_determinant
from fairpool.models import WithinBounds
from fairpool.models.weight_model import RowSums
from fairpool.parties import NoisySummary, NoisySums, PartyData
from fairpool.parties.noisy_statistics import NoisyLevel, NoisyStatistics
from fairpool.tables.arrays import FloatArray

DELTA = 1e-6
EPSILONS = (0.5, 1.0, 3.0, 10.0)
ROWS = (300, 1000, 3000, 10_000, 100_000)
WEIGHTS = (6, 12, 24, 50)

DRAWS = 5
LABEL = 3.0
PUBLIC = 500
MEAN, DEVIATION = 14.4, 4.9
"""Of the labels, as an operator could declare them."""


def friedman(rows: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Inputs between -1 and 1, and labels of about mean 0 and deviation 1."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(rows, 5))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
    y += 10 * x[:, 3] + 5 * x[:, 4] + rng.normal(size=rows)
    return 2 * x - 1, (y - MEAN) / DEVIATION


def hidden_party(
    sums: RowSums,
    rows: int,
    *,
    model: fp.FourierGaussianProcess,
    epsilon: float,
    seed: int,
    name: str = "party",
) -> NoisySummary:
    """Sums with noise on them, as a party."""
    bounds = bounds_of(model)
    arrays = {entry: np.asarray(array, float) for entry, array in sums._asdict().items()}
    below = random.Random(seed).randrange
    noisy = with_noise(arrays, rows, bounds=bounds, mu=mu_of(epsilon, DELTA), randbelow=below)
    deviations = bounds.deviations(noisy.noise)
    with_said_noise = NoisySums(
        **noisy.arrays,
        noise=np.array([deviations.gram, deviations.moment]),
        squares_noise=np.asarray(deviations.squares),
        rows=noisy.rows,
    )
    return NoisySummary(
        name=name,
        sums=(with_said_noise,),
        noise_variance=model.noise_variance,
        inputs=5,
        probe=model.probe(5),
    )


def bounds_of(model: fp.FourierGaussianProcess) -> RowBounds:
    """What one row can be."""
    weights = model.probe(5).shape[1] - 1
    return RowBounds(features=model.feature_bounds(5).largest, labels=LABEL, weights=weights)


def sums_of(model: fp.FourierGaussianProcess, X: FloatArray, y: FloatArray) -> RowSums:
    """Sums over rows that are cut to the bounds."""
    features = bounds_of(model).features
    return WithinBounds(model=model, features=features, labels=LABEL).moments(X, y)


def measured(
    model: fp.FourierGaussianProcess, rows: int, epsilon: float | None
) -> tuple[float, float, float]:
    """The value, the MNLP of test rows, and the coverage of 95% intervals: means over draws."""
    X_test, y_test = friedman(2000, 10_000)
    found = []
    for draw in range(DRAWS if epsilon else 1):
        X, y = friedman(rows, draw)
        sums = sums_of(model, X, y)
        party: PartyData = model.summary_of("party", sums, rows=rows, inputs=5)
        if epsilon:
            party = hidden_party(sums, rows, model=model, epsilon=epsilon, seed=draw)
        game = fp.InformationGain(model, [party])
        mean, variance = game.posterior([0]).predict(X_test)
        within = np.abs(y_test - mean) < 1.96 * np.sqrt(variance)
        found.append((game.total, fp.mnlp(y_test, mean, variance), float(within.mean())))
    value, mnlp, coverage = np.mean(found, axis=0)
    return float(value), float(mnlp), float(coverage)


def table(weights: int) -> None:
    """One line for each number of rows: value, MNLP and coverage for every epsilon."""
    kernel = RBF(1.5)
    model = fp.FourierGaussianProcess(kernel, 0.1, fp.fourier_frequencies(kernel, 5, weights))
    model = model.fit_from_sums([model.summarise(fp.Party("public", *friedman(PUBLIC, 9999)))])
    titles = [f"epsilon {epsilon:g}" for epsilon in EPSILONS]
    print(f"\n{weights} weights: value (nats), MNLP, coverage\n")
    print(f"| rows | {' | '.join(titles)} | no noise |")
    print("|---" * (len(titles) + 2) + "|")
    for rows in ROWS:
        cells = []
        for epsilon in (*EPSILONS, None):
            value, mnlp, coverage = measured(model, rows, epsilon)
            cells.append(f"{value:.1f}, {mnlp:.2f}, {coverage:.0%}")
        print(f"| {rows:,} | {' | '.join(cells)} |", flush=True)


SETTINGS = (
    (5, 300, 3.0, 0.0),
    (5, 300, 10.0, 0.0),
    (5, 3000, 10.0, 0.0),
    (10, 300, 10.0, 0.0),
    (10, 3000, 10.0, 0.5),
    (20, 1000, 0.5, 0.7),
    (20, 1000, 10.0, 0.7),
    (20, 10_000, 10.0, 0.7),
    (30, 3000, 5.0, 1.0),
)
"""Weights d, rows m, the noise s, and over how many powers of ten features' lengths are spread."""

LABEL_NOISE = 0.3
MOMENT = 1.8
"""Times s: the noise on the moment."""


def calibrated(d: int, rows: int, s: float, spread: float) -> tuple[float, float]:
    """Squared errors over those that the model expects, and the coverage of 95% intervals."""
    rng = np.random.default_rng(3)
    lengths = 10 ** np.linspace(0, -spread, d) * np.sqrt(1.5 / d)
    squares, covered = [], []
    for _ in range(300):
        A = rng.standard_normal((rows, d)) * lengths
        w = rng.standard_normal(d)
        y = A @ w + np.sqrt(LABEL_NOISE) * rng.standard_normal(rows)
        E = rng.standard_normal((d, d))
        level = NoisyLevel(
            gram=A.T @ A + s * (E + E.T) / 2,
            moment=A.T @ y + MOMENT * s * rng.standard_normal(d),
            gram_noise=s,
            moment_noise=MOMENT * s,
            label_noise=LABEL_NOISE,
            squares=float(y @ y),
            squares_noise=0.0,
            rows=rows,
        )
        told = NoisyStatistics([level], weights=d).told
        B = np.eye(d) + told.precision
        error = w - np.linalg.solve(B, told.moment)
        squares.append(error @ B @ error / d)
        new = rng.standard_normal((50, d)) * lengths
        variance = np.einsum("ij,ji->i", new, np.linalg.solve(B, new.T)) + LABEL_NOISE
        off = new @ error + np.sqrt(LABEL_NOISE) * rng.standard_normal(50)
        covered.append(np.mean(np.abs(off) < 1.96 * np.sqrt(variance)))
    return float(np.mean(squares)), float(np.mean(covered))


CASES = 60_000
STEPS = (1.05, 1.2, 1.5, 2.0)
"""So many times the noise, of the same draw."""


def paying() -> dict[float, tuple[int, float]]:
    """In how many random cases more noise was worth more, and by how many nats at most."""
    rng = np.random.default_rng(0)
    found = dict.fromkeys(STEPS, (0, 0.0))
    for _ in range(CASES):
        d = int(rng.integers(1, 21))
        rows = int(10 ** rng.uniform(1, 4))
        A = rng.standard_normal((rows, d)) * 10 ** rng.uniform(-1.5, 0, d)
        A *= np.sqrt(1.5 / np.square(A).sum(axis=1).max())
        E = rng.standard_normal((d, d))
        case = {
            "gram": A.T @ A,
            "unit": (E + E.T) / 2,
            "label_noise": 10 ** rng.uniform(-2, 0.5),
            "moment": 10 ** rng.uniform(-0.15, 0.5),
        }
        s = 10 ** rng.uniform(-3, 2)
        before = _worth_of(s, **case)
        for step in STEPS:
            more = _worth_of(step * s, **case) - before
            if more > 1e-12:
                times, most = found[step]
                found[step] = (times + 1, max(most, more))
    return found


def _worth_of(
    s: float, *, gram: FloatArray, unit: FloatArray, label_noise: float, moment: float
) -> float:
    """The value of sums with noise of this deviation; the moment's is so many times that."""
    d = len(gram)
    level = NoisyLevel(
        gram=gram + s * unit,
        moment=np.zeros(d),
        gram_noise=s,
        moment_noise=moment * s,
        label_noise=label_noise,
        squares=0.0,
        squares_noise=0.0,
        rows=0.0,
    )
    return half_log_determinant(np.eye(d) + NoisyStatistics([level], weights=d).told.precision)


def accused(epsilon: float | None, runs: int, *, is_turned: bool) -> float:
    """The share of runs in which a party's labels are said to harm.

    Two of three parties put noise on their sums; one of them has its labels turned around, or not.
    """
    kernel = RBF(1.0)
    model = fp.FourierGaussianProcess(kernel, LABEL_NOISE, fp.fourier_frequencies(kernel, 5, 8))
    found = 0
    for run in range(runs):
        rng = np.random.default_rng(run)
        w = rng.standard_normal(8)
        parties: list[PartyData] = []
        for place, rows in enumerate((800, 1500, 1000)):
            X = rng.standard_normal((rows, 5))
            y = model.whitened_features(X) @ w + np.sqrt(LABEL_NOISE) * rng.standard_normal(rows)
            party = fp.Party(f"party {place}", X, -y if is_turned and place == 0 else y)
            parties.append(model.summarise(party))
            if place == 2 or epsilon is None:
                continue
            parties[place] = hidden_party(
                sums_of(model, X, party.y),
                rows,
                model=model,
                epsilon=epsilon,
                seed=run * 2 + place,
                name=party.name,
            )
        evidence = fp.EvidenceGain.of(fp.InformationGain(model, parties))
        judged = judge_evidence(evidence, level=0.05, rng=0, simulations=400)
        found += bool(judged.harmful)
    return found / runs


if __name__ == "__main__":
    for step, (times, most) in paying().items():
        print(f"{step:g} times the noise was worth more in {times} of {CASES}, by {most:.2g} nats")
    for epsilon in (*EPSILONS, None):
        honest = accused(epsilon, 150, is_turned=False)
        turned = accused(epsilon, 40, is_turned=True)
        print(f"epsilon {epsilon}: honest accused {honest:.1%}, turned labels found {turned:.0%}")
    print("| weights | rows | s | spread | chi^2 / d | coverage |\n|---|---|---|---|---|---|")
    for setting in SETTINGS:
        ratio, share = calibrated(*setting)
        named = " | ".join(f"{number:g}" for number in setting)
        print(f"| {named} | {ratio:.2f} | {share:.1%} |")
    for number in WEIGHTS:
        table(number)
