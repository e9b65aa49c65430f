"""What the holder of a reward tries in order to get the others' rows."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import least_squares, minimize
from scipy.stats import combine_pvalues
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool.realisation.disclosure import Exposure

HALF_WIDTH = 1.5
"""Rows lie in a box, and the attacker knows it."""

EXACT = 1e-3
"""All rows that are known so well, of a box 3 wide, have come out."""

LUCK = 0.01
"""How probable it may be that some blindly guessed row counts as one that came out."""

OWN_ROWS = 40


@dataclass(frozen=True, kw_only=True)
class Case:
    """Two parties: the attacker, and one with m rows of p inputs; a model of d weights."""

    d: int
    p: int
    m: int
    covariance: str = "hidden"
    share: float = 0.6
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A reward, what its holder knows, and what it does not."""

    model: fp.SparseGaussianProcess
    reward: fp.ModelReward
    own: object
    rows: np.ndarray


def scene(case):
    rng = np.random.default_rng([case.d, case.p, case.m, case.seed])
    U = rng.uniform(-2, 2, (case.d, case.p))
    model = fp.SparseGaussianProcess(RBF(0.8), 0.1, U)

    def party(name, size):
        X = rng.uniform(-HALF_WIDTH, HALF_WIDTH, (size, case.p))
        y = np.sin(2 * X).sum(axis=1) + rng.normal(0, 0.3, size)
        return fp.Party(name, X, y)

    parties = [party("a", OWN_ROWS), party("b", case.m)]
    game = fp.InformationGain(model, parties)
    rewards = game.alone + case.share * (game.total - game.alone)
    reward = fp.realise(game, rewards, rng, covariance=case.covariance)[0]
    own = game.pool.statistics[0].told
    return Scene(model=model, reward=reward, own=own, rows=parties[1].X)


def precision_beyond_own(reward, own):
    """The precision, less the prior's and one's own: of a full one, the others' alone."""
    L = reward.posterior.factor
    return L @ L.T - np.eye(len(L)) - own.precision


def mean_beyond_own(reward, own):
    """(I + P_i) mu - q_i: the sum of a_k (y_k - a_k mu) / (s2 + eta) over the others' rows."""
    mu = reward.posterior.weights
    return mu + own.precision @ mu - own.moment


def rows_from_gram(scene, starts):
    """Rows whose features have the others' Gram matrix, by least squares from several starts."""
    m, p = scene.rows.shape
    noise = scene.model.noise_variance + scene.reward.eta
    told = precision_beyond_own(scene.reward, scene.own) * noise
    upper = np.triu_indices(len(told))

    def misfit(flat):
        A = scene.model.whitened_features(flat.reshape(m, p))
        return (A.T @ A - told)[upper]

    return best_fit(misfit, m * p, starts).reshape(m, p)


def rows_from_mean(scene, starts):
    """Rows and multiples of their features whose sum is what the mean tells."""
    m, p = scene.rows.shape
    told = mean_beyond_own(scene.reward, scene.own)
    size = np.abs(told).max()

    def misfit(flat):
        A = scene.model.whitened_features(flat[: m * p].reshape(m, p))
        return (A.T @ flat[m * p :] * size - told) / size

    return best_fit(misfit, m * (p + 1), starts)[: m * p].reshape(m, p)


def best_fit(misfit, unknown, starts):
    best = None
    for start in range(starts):
        guess = np.random.default_rng(start).uniform(-HALF_WIDTH, HALF_WIDTH, unknown)
        fit = least_squares(misfit, guess, max_nfev=100)
        if best is None or fit.cost < best.cost:
            best = fit
    return best.x


def distances(rows, guess):
    """From every row to the nearest of the guessed ones [m]."""
    return np.linalg.norm(rows[:, None] - guess, axis=2).min(axis=1)


def not_by_luck(rows):
    """How near one guess must be to one row, so that it is hardly ever by chance."""
    m, p = rows.shape
    return min(EXACT, HALF_WIDTH * (LUCK / m**2) ** (1 / p))


def chance_of(rows, guess):
    """How probable it is, at most, that some row comes as near to a guess without any file.

    Rows are uniform in the box, each for itself. If the guesses have nothing to do with them, a row
    is within r of one of them with a chance of at most (r / HALF_WIDTH)^p for each, wherever they
    are. So this is a p-value, and below 0.01 in one of a hundred attacks that learn nothing.
    """
    m, p = rows.shape
    near_one = min(1.0, len(guess) * (distances(rows, guess).min() / HALF_WIDTH) ** p)
    return float(-np.expm1(m * np.log1p(-near_one))) if near_one < 1 else 1.0


def together_by_chance(successes):
    """How probable it is that several attacks come so near, all of them without any file.

    Fisher's method. One of many attacks may come near a row by chance, and that is no reason to
    find it; what a file tells brings them nearer as a whole.
    """
    return float(combine_pvalues([one.chance for one in successes]).pvalue)


@dataclass(frozen=True, kw_only=True)
class Success:
    """How much of a party came out: whether any row and all rows did, and the typical error.

    Attributes:
        some: Whether any row came out.
        all: Whether all did.
        error: Median distance to the nearest guessed row, over that of rows guessed blindly.
        chance: How probable it is that some row comes as near to a guess without any file.
    """

    some: bool
    all: bool
    error: float
    chance: float


def attack(case, starts=5):
    """The attack that suits what the file holds."""
    stage = scene(case)
    if case.covariance == "full":
        guess = rows_from_gram(stage, starts)
    else:
        guess = rows_from_mean(stage, starts)
    return success(stage.rows, guess)


def success(rows, guess):
    """How much of the rows a guess got, beside blind ones."""
    found = distances(rows, guess)
    blind = []
    for seed in range(20):
        rng = np.random.default_rng([7, seed])
        made_up = rng.uniform(-HALF_WIDTH, HALF_WIDTH, rows.shape)
        blind.append(np.median(distances(rows, made_up)))
    return Success(
        some=bool((found < not_by_luck(rows)).any()),
        all=bool((found < EXACT).all()),
        error=float(np.median(found) / np.median(blind)),
        chance=chance_of(rows, guess),
    )


def locate(model, direction, half_width, inputs, rng):
    """The inputs whose features point most to a direction: where an outlying label is."""

    def cosine(X):
        A = model.whitened_features(np.atleast_2d(X))
        along = np.abs(A @ direction) / np.linalg.norm(direction)
        return along / np.linalg.norm(A, axis=1)

    X = rng.uniform(-half_width, half_width, (2000, inputs))
    best = None
    for start in np.argsort(-cosine(X))[:5]:
        bounds = [(-half_width, half_width)] * inputs
        fit = minimize(lambda x: -cosine(x)[0], X[start], method="L-BFGS-B", bounds=bounds)
        if best is None or fit.fun < best.fun:
            best = fit
    return best.x


CASES = {"full": ((5, 1), (5, 2), (8, 2)), "hidden": ((12, 1), (24, 1), (12, 2), (24, 2), (24, 4))}
"""d and p of the table in docs/privacy.md."""

SHARES = (0.25, 0.5, 1, 2)
"""Of the rows at which as many numbers are hidden as disclosed."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of the table: how often rows came out, over some draws."""

    case: Case
    bound: int
    some: float
    all: float
    error: float

    def __str__(self):
        case = self.case
        mark = " (the bound)" if case.m == self.bound else ""
        return (
            f"| {case.covariance} | {case.d} | {case.p} | {case.m}{mark} | {self.some:.0%} |"
            f" {self.all:.0%} | {self.error:.2f} |"
        )


HEADING = (
    "| covariance | weights d | inputs p | rows m | some rows | all rows | error / guessing |\n"
    "|---|---|---|---|---|---|---|"
)


def bound_of(case):
    hidden = case.covariance == "hidden"
    exposure = Exposure(rows={}, releases={}, weights=case.d, inputs=case.p, hidden=hidden)
    return exposure.fewest_rows(releases=1)


def sizes(case):
    """Numbers of rows around the bound."""
    d, p = case.d, case.p
    even = d / (p + 1) if case.covariance == "hidden" else d * (d + 1) / 2 / p
    return sorted({*(max(1, round(share * even)) for share in SHARES), bound_of(case)})


def line(case, draws):
    successes = [attack(replace(case, seed=seed)) for seed in range(draws)]
    return Line(
        case=case,
        bound=bound_of(case),
        some=float(np.mean([success.some for success in successes])),
        all=float(np.mean([success.all for success in successes])),
        error=float(np.median([success.error for success in successes])),
    )


def table(draws):
    """Every line, as it is measured."""
    for covariance, pairs in CASES.items():
        for d, p in pairs:
            case = Case(d=d, p=p, m=1, covariance=covariance)
            for m in sizes(case):
                yield line(replace(case, m=m), draws)


if __name__ == "__main__":
    print(HEADING)
    for one in table(draws=20):
        print(one, flush=True)
