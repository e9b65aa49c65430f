"""Eq. (2) from some of the coalitions: stratified by size, with a surrogate for what can be known
without sampling.

Paper: Sec. 4.1.1 samples permutations, as the literature does; a party's marginal contributions in
them differ so much with its position that thousands are needed. Counted by sizes instead,

    phi_i = v_N / n + 1/n sum over k = 1 .. n-1 of  E[v_S : |S| = k, i in S] - E[v_S : |S| = k, i
    not in S]

every sampled coalition tells about every party, the sizes 1 and n-1 can be known exactly, those
where values differ most can be sampled most, and what a surrogate explains (`surrogate`) need not
be sampled at all.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from fairpool.compute.memory import refuse_beyond_memory
from fairpool.compute.workers import Workers
from fairpool.contributions.surrogate import FOLDS, Bands, Features, Surrogate, contrast
from fairpool.tables.arrays import TINY, FloatArray
from fairpool.values import Game
from fairpool.values.game import Evaluator

Z_95 = 1.96
"""Half the width of a 95% interval, in standard errors."""

MOST_BANDS = 40
"""Sizes are sampled one by one up to this many; beyond, in bands."""

FIRST_SAMPLES = 16
"""Of every band on average, before it is known which differ most."""

FEWEST_SAMPLES = 8
"""Of every band, where there is a budget for no more; and .."""

FEWEST_WITH_PARTY = 4
""".. so many that this number of them is expected to have any given party, and this number to lack
it.

A band whose samples all lack a party tells neither what the party adds there nor how much that
varies: standard errors were then too small, most of all for the largest contributors, who add most
to small coalitions.
"""

ENOUGH_SAMPLES = 64
"""Of a band, to trust its own variance alone."""

GROWTH = 1.5
"""From one look at the errors to the next, the number of samples grows by this factor."""

BOUND_STEPS = 20
"""Steps towards values within their bounds that sum to v_N."""

CHUNK = 128
"""Coalitions per task."""

BYTES_PER_MEMBERSHIP = 26
"""Of a sampled coalition and a party, at most: whether it is in, twice while more come; what is
made of a band's.
"""

Memberships = NDArray[np.bool_]
"""Coalitions as rows [N, n]: whether each party is in."""


@dataclass(frozen=True)
class Estimate:
    """phi, its standard errors, and from how many values they come.

    Attributes:
        values: phi [n].
        standard_errors: [n].
        evaluations: How many coalitions were valued.
    """

    values: FloatArray
    standard_errors: FloatArray
    evaluations: int


def fewest_evaluations(n: int) -> int:
    """How many coalitions must be valued at least."""
    if n <= 3:
        return known_coalitions(n)
    return known_coalitions(n) + int(_fewest_samples(Bands.of(n, MOST_BANDS), n).sum())


def _fewest_samples(bands: Bands, n: int) -> NDArray[np.int64]:
    """How many coalitions of each band must be valued at least [bands]."""
    middle = (bands.starts[:-1] + bands.starts[1:] - 1) / 2
    rarer = (
        np.minimum(middle, n - middle) / n
    )  # the share of coalitions that have a party, or that lack it
    return np.maximum(FEWEST_SAMPLES, np.ceil(FEWEST_WITH_PARTY / rarer - 1e-9)).astype(np.int64)


def known_coalitions(n: int) -> int:
    """How many coalitions have no, one, all but one, or all parties: they are all valued, and none is sampled."""
    return min(2 * n + 2, 1 << n)


def estimate(
    game: Game, seed: int, evaluations: int, target: float | None, workers: Workers
) -> Estimate:
    """Value coalitions, until there are so many or until every standard error is at most the
    target.

    The samples follow from the seed and from the values found so far, whoever computes them, and it
    is decided on whole rounds when to stop: so the result does not depend on the number of workers.

    Args:
        game: The values.
        seed: Of the samples.
        evaluations: How many coalitions to value at most, at least `fewest_evaluations`.
        target: The largest standard error wanted.
        workers: Who does it.
    """
    refuse_beyond_memory(
        BYTES_PER_MEMBERSHIP * evaluations * game.n,
        f"a sample of {evaluations} coalitions of {game.n} parties",
        "give fewer evaluations",
    )
    n, x, z = game.n, game.alone, game.total - game.without_one
    ends = np.full(n, (game.total - game.empty_value) / n)
    for b in (x, z)[: n - 1]:  # sizes 1 and n-1; of two parties these are the same, one has none
        ends += contrast(b) / n
    known = known_coalitions(n)
    if n <= 3:  # there are no others
        return Estimate(ends, np.zeros(n), known)
    bands = Bands.of(n, MOST_BANDS)
    fewest = _fewest_samples(bands, n)
    wanted = fewest.astype(np.float64)
    S, v = np.empty((0, n), dtype=bool), np.empty(0)
    total, rounds = min(max(FIRST_SAMPLES * len(wanted), int(fewest.sum())), evaluations - known), 0
    while True:
        sizes = _allocate(total, wanted, bands, S, np.random.default_rng([seed, rounds, 0, 1]))
        tasks = [
            (seed, rounds, start, tuple(sizes[start : start + CHUNK].tolist()))
            for start in range(0, len(sizes), CHUNK)
        ]
        found = workers.map(
            sampled_values,
            game.evaluator,
            tasks,
            "valuing sampled coalitions",
            digest=game.evaluator.digest,
            before=len(v) // CHUNK,
            total=-(-(evaluations - known) // CHUNK),
        )
        S = np.concatenate([S, *(coalitions(n, task) for task in tasks)])
        v = np.concatenate([v, *found])
        middle, errors, wanted = _middle(S, v, x, z, bands, game.evaluator)
        # Not at the first look: by chance, the few samples of a band may be all alike.
        if known + len(v) >= evaluations or (
            target is not None and rounds and errors.max() <= target
        ):
            break
        total, rounds = min(int(GROWTH * total) + 1, evaluations - known), rounds + 1
    return Estimate(*_within_bounds(game, ends + middle, errors), known + len(v))


Task = tuple[int, int, int, tuple[int, ...]]
"""Seed, round, the first sample's number in it, and the coalitions' sizes."""


def coalitions(n: int, task: Task) -> Memberships:
    """Random coalitions of the task's sizes [N, n]."""
    *where, sizes = task
    ranks = (
        np.random.default_rng([*where, 2]).random((len(sizes), n)).argsort(axis=1).argsort(axis=1)
    )
    return np.asarray(ranks < np.array(sizes)[:, None])


def sampled_values(evaluator: Evaluator, task: Task) -> FloatArray:
    """v of the task's coalitions [N]."""
    return evaluator.values_of(coalitions(evaluator.n, task))


def _allocate(
    total: int, wanted: FloatArray, bands: Bands, S: Memberships, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The sizes of further coalitions, so that there are `total` in all, in the wanted proportion as far as can be."""
    have = np.bincount(bands.of_sizes(S.sum(axis=1)), minlength=len(wanted))
    fewest = _fewest_samples(bands, S.shape[1])
    short = np.maximum(np.maximum(total * wanted / wanted.sum(), fewest) - have, 0.0)
    ends = np.floor(np.cumsum(short) * ((total - len(S)) / short.sum()) + 0.5).astype(np.int64)
    band = np.repeat(np.arange(len(wanted)), np.diff(ends, prepend=0))
    return np.asarray(bands.starts[band] + rng.integers(bands.widths[band]))


def _middle(
    S: Memberships, v: FloatArray, x: FloatArray, z: FloatArray, bands: Bands, evaluator: Evaluator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What the sizes 2 .. n-2 contribute to phi, its standard error [n each], and where more samples help most."""
    n = S.shape[1]
    unit = max(float(np.abs(v).max()), TINY)
    v = v / unit  # squares must neither overflow nor vanish
    k = S.sum(axis=1)
    band, fold, p = bands.of_sizes(k), np.arange(len(v)) % FOLDS, k / n
    counts = np.bincount(band, minlength=len(bands.widths))
    # Weighted as the samples' errors count in the end.
    weight = bands.widths[band] / (counts[band] * np.sqrt(p * (1 - p)))
    surrogate = Surrogate.fitted(Features.of(x, z, bands, len(v)), S, v, weight)
    left, explained = surrogate.leaves(S, v), surrogate.contrasts()
    phi, of_one = np.zeros(n), np.empty((len(counts), n))
    for b, width in enumerate(bands.widths):
        s = np.flatnonzero(band == b)
        # E[v : i in S] - E[v : i not in S] = E[v (1[i in S] - p) / (p (1 - p))] for a random S of
        # size p n
        sample = (
            left[s, None] * (S[s] - p[s, None]) / (p[s] * (1 - p[s]))[:, None]
            + explained[fold[s], b]
        )
        phi += width * sample.mean(axis=0) / n
        of_one[b] = sample.var(axis=0, ddof=1) * (width / n) ** 2
    # Few samples tell little about a band's own spread, and may be alike by chance: neighbours are
    # asked, too.
    few = (counts < ENOUGH_SAMPLES)[:, None]
    of_one = np.where(few, np.maximum(of_one, _mean_of_neighbours(of_one)), of_one)
    variance = (of_one / counts[:, None]).sum(axis=0)
    doubt = ((of_one / counts[:, None]) ** 2 / (counts - 1)[:, None]).sum(axis=0)
    wanted = np.sqrt(_mean_of_neighbours(of_one).mean(axis=1) + TINY)
    # Of few samples the variance is uncertain, too: widened (Welch, Satterthwaite), so that 1.96
    # errors are 95%.
    with np.errstate(invalid="ignore"):
        widening = np.nan_to_num(stdtrit(variance**2 / doubt, 0.975) / Z_95, nan=1.0)
    errors = np.sqrt(variance) * widening
    return unit * phi, unit * errors, wanted / np.sqrt(evaluator.cost(bands.starts[:-1]))


def _mean_of_neighbours(values: FloatArray) -> FloatArray:
    """The mean of each row with its two neighbours on either side [b, n]."""
    padded = np.pad(values, ((2, 2), (0, 0)), mode="edge")
    return np.asarray(np.mean([padded[k : k + len(values)] for k in range(5)], axis=0))


def _within_bounds(
    game: Game, phi: FloatArray, errors: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Of submodular values, phi_i lies between what party i adds as the last and as the first; the
    sum stays v_N.

    What is taken from or given to one at its bound goes to the others, as their errors allow. Who
    adds nothing alone has no error left.
    """
    if not game.properties_proved:
        return phi, errors
    least, most = game.total - game.without_one, game.alone
    for _ in range(BOUND_STEPS):
        phi = np.clip(phi, least, most)
        free = np.where((phi > least) & (phi < most), errors**2, 0.0)
        if not free.any():
            break
        phi = phi + (game.total - phi.sum()) * free / free.sum()
    return np.clip(phi, least, most), np.minimum(errors, np.maximum(most - least, 0.0))
