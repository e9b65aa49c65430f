"""Eq. (2) from some of the coalitions: sampled by size, less what a surrogate explains.

Paper: Sec. 4.1.1 samples permutations, as the literature does; a party's marginal contributions in
them differ so much with its position that thousands are needed. Counted by sizes instead,

    phi_i = (v_N - v_{}) / n + 1/n sum over k = 1 .. n-1 of the contrast of size k, which is
            E[v_S : |S| = k, i in S] - E[v_S : |S| = k, i not in S]

every sampled coalition tells about every party, the sizes 1 and n-1 can be known exactly, those
where values differ most can be sampled most, and what a surrogate explains (`surrogate`) need not
be sampled at all. The chapter docs/sampling.md derives every step.
"""

from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairpool.compute.workers import Workers
from fairpool.contributions.bands import Bands, Sample
from fairpool.contributions.estimates import (
    SAMPLES_PER_TASK,
    Estimate,
    Marginals,
    Memberships,
    known_coalitions,
    random_coalitions,
    refuse_large_sample,
)
from fairpool.contributions.middle_sizes import MiddleSizes, middle_sizes
from fairpool.contributions.terms import additive_contrast
from fairpool.tables.arrays import FloatArray
from fairpool.values import Game
from fairpool.values.game import Evaluator

MOST_BANDS = 40
"""Sizes are sampled one by one up to this many; if there are more, in bands."""

FIRST_SAMPLES = 16
"""How many samples a band has on average in the first round.

It is not known yet in which of them values differ most.
"""

FEWEST_SAMPLES = 8
"""How many samples every band has at least."""

FEWEST_WITH_PARTY = 4
"""How many samples of every band are expected to have a given party, and to lack it, at least.

A band whose samples all lack a party tells neither what the party adds there nor how much that
varies: standard errors were then too small, most of all for the largest contributors, who add most
to small coalitions.
"""

GROWTH = 1.5
"""From one look at the errors to the next, the number of samples grows by this factor."""

BOUND_STEPS = 20
"""Steps towards values within their bounds that sum to v_N."""

BYTES_PER_MEMBERSHIP = 26
"""How much memory a sampled coalition takes for every party, at most.

That is whether the party is in, a second copy of it while a round is added to those before, and the
numbers that are computed from the samples of a band.
"""

SIZES_STREAM = 1
"""The last number of the seed that sizes are drawn with; all other draws have another one."""

MEMBERS_STREAM = 2
"""The last number of the seed that coalitions are drawn with."""


class SampleTask(NamedTuple):
    """Coalitions that a worker draws and values. Its text names the results that are kept on disk.

    Attributes:
        seed: The seed of the whole estimate.
        round_number: The round, from 0.
        first: The number of the first of its coalitions in the round.
        sizes: The coalitions' sizes.
    """

    seed: int
    round_number: int
    first: int
    sizes: tuple[int, ...]


def fewest_evaluations(n: int) -> int:
    """How many coalitions must be valued at least."""
    if n <= 3:  # all sizes are known, and none is sampled
        return known_coalitions(n)
    bands = Bands.of(n, MOST_BANDS)
    return known_coalitions(n) + int(_fewest_samples(bands, n).sum())


def estimate(
    game: Game, seed: int, evaluations: int, target: float | None, workers: Workers
) -> Estimate:
    """Value coalitions, until there are enough or until every standard error is small enough.

    1. The sizes 0, 1, n-1 and n are known: value all of their coalitions.
    2. Sample the sizes in between, round by round.
    3. Add up what both contribute.
    4. Move the sum to within the bounds that hold for submodular values.

    The samples follow from the seed and from the values so far, whoever computes them, and whether
    to stop is decided on whole rounds: so the result does not depend on the number of workers.

    Args:
        game: The values.
        seed: Of the samples.
        evaluations: How many coalitions to value at most, at least `fewest_evaluations`.
        target: The largest standard error wanted.
        workers: Who does it.
    """
    needed = BYTES_PER_MEMBERSHIP * evaluations * game.n
    refuse_large_sample(needed, evaluations, game.n)
    marginals = Marginals.of(game)
    known = known_coalitions(game.n)
    of_known_sizes = _known_contributions(game, marginals)
    if game.n <= 3:  # there are no sizes in between
        errors = np.zeros(game.n)
        return Estimate(values=of_known_sizes, standard_errors=errors, evaluations=known)
    most_samples = evaluations - known
    middle = _sample_middle_sizes(
        game, marginals, seed=seed, most_samples=most_samples, target=target, workers=workers
    )
    sampled = Estimate(
        values=of_known_sizes + middle.contributions,
        standard_errors=middle.standard_errors,
        evaluations=known + middle.samples,
    )
    return _within_bounds(sampled, game, marginals)


def _known_contributions(game: Game, marginals: Marginals) -> FloatArray:
    """What the sizes 0, 1, n-1 and n contribute to phi, exactly [n]."""
    n = game.n
    contributions = np.full(n, (game.total - game.empty_value) / n)
    if n >= 2:
        contributions += additive_contrast(marginals.alone) / n
    if n >= 3:  # of two parties, size n-1 is size 1
        # A coalition of this size is worth v_N less what its one missing party adds last.
        contributions += additive_contrast(marginals.last) / n
    return contributions


def _sample_middle_sizes(
    game: Game,
    marginals: Marginals,
    *,
    seed: int,
    most_samples: int,
    target: float | None,
    workers: Workers,
) -> MiddleSizes:
    """Rounds of samples: each goes where those before say that values differ most."""
    bands = Bands.of(game.n, MOST_BANDS)
    costs = game.evaluator.cost(bands.first_sizes)
    fewest = _fewest_samples(bands, game.n)
    # Nothing is known yet about where values differ: the first round takes what every band needs.
    priorities = fewest.astype(np.float64)
    total = min(max(FIRST_SAMPLES * bands.count, int(fewest.sum())), most_samples)
    sample = Sample.empty(game.n)
    for round_number in count():
        draws = _draws_by_band(sample, bands=bands, priorities=priorities, total=total)
        rng = np.random.default_rng([seed, round_number, 0, SIZES_STREAM])
        tasks = _tasks(_random_sizes(draws, bands, rng), seed=seed, round_number=round_number)
        values = workers.map(
            sampled_values,
            game.evaluator,
            tasks,
            doing="valuing sampled coalitions",
            digest=game.evaluator.digest,
            before=len(sample) // SAMPLES_PER_TASK,
            total=-(-most_samples // SAMPLES_PER_TASK),
        )
        sample = sample.extended([coalitions(game.n, task) for task in tasks], values)
        middle = middle_sizes(sample, marginals=marginals, bands=bands, costs=costs)
        precise = target is not None and middle.standard_errors.max() <= target
        # Not at the first look: by chance, the few samples of a band may be all alike.
        if len(sample) >= most_samples or (precise and round_number > 0):
            break
        priorities = middle.priorities
        # By a factor, so that there are few looks: the fit takes time, and each look could stop by
        # chance.
        total = min(int(GROWTH * total) + 1, most_samples)
    return middle


def _fewest_samples(bands: Bands, n: int) -> NDArray[np.int64]:
    """How many coalitions of each band must be valued at least [bands]."""
    last_sizes = bands.starts[1:] - 1
    middle = (bands.first_sizes + last_sizes) / 2
    # A party is in few of the small coalitions, and missing from few of the large.
    rarer_share = np.minimum(middle, n - middle) / n
    with_rarer = np.ceil(FEWEST_WITH_PARTY / rarer_share - 1e-9)  # 8 + 1e-15 is 8
    return np.maximum(FEWEST_SAMPLES, with_rarer).astype(np.int64)


def _draws_by_band(
    sample: Sample, *, bands: Bands, priorities: FloatArray, total: int
) -> NDArray[np.int64]:
    """How many further coalitions to draw from each band [bands], so that there are `total` in all.

    They are then in the proportion of the priorities, as far as those drawn already allow it.
    """
    drawn = np.bincount(bands.of_sizes(sample.sizes), minlength=bands.count)
    in_proportion = total * priorities / priorities.sum()
    wanted = np.maximum(in_proportion, _fewest_samples(bands, sample.n))
    missing = np.maximum(wanted - drawn, 0.0)
    # Rounding where each band ends, instead of how many each has, keeps the sum as it must be.
    scale = (total - len(sample)) / missing.sum()
    ends = np.floor(np.cumsum(missing) * scale + 0.5).astype(np.int64)
    return np.asarray(np.diff(ends, prepend=0))


def _random_sizes(
    draws: NDArray[np.int64], bands: Bands, rng: np.random.Generator
) -> NDArray[np.int64]:
    """A size for every draw: any size of its band is as likely [N]."""
    band_of_draw = np.repeat(np.arange(bands.count), draws)
    within_band = rng.integers(bands.widths[band_of_draw])
    return np.asarray(bands.starts[band_of_draw] + within_band)


def _tasks(sizes: NDArray[np.int64], *, seed: int, round_number: int) -> list[SampleTask]:
    """The round's coalitions, in parts of which each is one worker's task."""
    tasks = []
    for first in range(0, len(sizes), SAMPLES_PER_TASK):
        # Plain numbers: the task's text, which names its results on disk, must not depend on numpy.
        own_sizes = tuple(sizes[first : first + SAMPLES_PER_TASK].tolist())
        task = SampleTask(seed=seed, round_number=round_number, first=first, sizes=own_sizes)
        tasks.append(task)
    return tasks


def coalitions(n: int, task: SampleTask) -> Memberships:
    """Random coalitions of the task's sizes [N, n]."""
    rng = np.random.default_rng([task.seed, task.round_number, task.first, MEMBERS_STREAM])
    return random_coalitions(rng, np.array(task.sizes), n)


def sampled_values(evaluator: Evaluator, task: SampleTask) -> FloatArray:
    """v of the task's coalitions [N]."""
    return evaluator.values_of(coalitions(evaluator.n, task))


def _within_bounds(sampled: Estimate, game: Game, marginals: Marginals) -> Estimate:
    """Of submodular values, phi_i lies between what party i adds last and first.

    The sum stays v_N: what is taken from or given to one party at its bound goes to the others, as
    their errors allow. A party that adds nothing alone has no error left.
    """
    if not game.properties_proved:
        return sampled
    errors = sampled.standard_errors
    phi = sampled.values
    for _ in range(BOUND_STEPS):
        phi = marginals.clip(phi)
        inside = (phi > marginals.last) & (phi < marginals.alone)
        # Whoever is at a bound stays there: only those inside can take what the sum lacks.
        room = np.where(inside, errors**2, 0.0)
        if not room.any():
            break
        phi = phi + (game.total - phi.sum()) * room / room.sum()
    return Estimate(
        values=marginals.clip(phi),
        standard_errors=marginals.limit(errors),
        evaluations=sampled.evaluations,
    )
