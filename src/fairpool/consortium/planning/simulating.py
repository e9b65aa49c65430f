"""What parties of given sizes would receive, over a few draws of the rows that they may have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairpool.compute.workers import Workers
from fairpool.consortium.configuration import Configuration
from fairpool.consortium.planning.made_up_rows import RowSource
from fairpool.consortium.planning.sizes import Size
from fairpool.contributions import concept_of
from fairpool.models import Classifier, WeightModel
from fairpool.parties import ClassSummary, Party, PartySummary
from fairpool.realisation.disclosure import FEWEST_ROWS
from fairpool.realisation.label_noise import LabelNoise
from fairpool.realisation.noise_variance import noise_levels
from fairpool.rewards.discount import capped
from fairpool.rewards.scheme import SilentScheme
from fairpool.tables.arrays import TINY, FloatArray
from fairpool.values import EXACT_LIMIT, InformationGain, tolerance_of

SIMULATIONS = 10
"""So many draws show how much rests on chance; where each takes long, there are fewer."""

FEWEST_SIMULATIONS = 2
"""Fewer show no spread."""

WORK = 2e11
"""Multiplications for all draws of a model, about a minute; fewer draws are made instead."""

MOST_WORK = 2e12
"""Beyond this even the fewest draws would take too long."""

SEED = 0
"""Of the draws: the same question has the same answer."""


@dataclass(frozen=True, kw_only=True)
class Spread:
    """A number over several draws.

    Attributes:
        mean: Its mean.
        deviation: Its standard deviation: how far a single draw is off, as real rows would be.
    """

    mean: float
    deviation: float

    @classmethod
    def of(cls, values: FloatArray) -> "Spread":
        """That of some draws [k]."""
        return cls(mean=float(np.mean(values)), deviation=float(np.std(values, ddof=1)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Simulated:
    """What came out of every draw; all but `totals` and `rhos` as a share of v_N.

    Attributes:
        totals: v_N, in nats [k].
        alone: v_i [k, n].
        contributions: phi_i [k, n].
        rewards: r_i at each rho that was asked for [k, n].
        rhos: What each of these was as a number [k].
        below_own: At each rho, whether some party would receive less than it has alone, so that a
            run would refuse it [k].
        noise: The variance of noise on the others' labels, at the first rho; NaN where the run
            would be refused [k, n].
        rare: Whether a party had some rows of a class, but too few [k, n].
    """

    totals: FloatArray
    alone: FloatArray
    contributions: FloatArray
    rewards: Mapping[str, FloatArray]
    rhos: Mapping[str, FloatArray]
    below_own: Mapping[str, FloatArray]
    noise: FloatArray
    rare: FloatArray

    @property
    def count(self) -> int:
        """How many draws there were."""
        return len(self.totals)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Draw:
    """One draw, as `Simulated` has all of them."""

    total: float
    alone: FloatArray
    contributions: FloatArray
    rewards: dict[str, FloatArray]
    rhos: dict[str, float]
    below_own: dict[str, bool]
    noise: FloatArray
    rare: FloatArray


def simulations_within(
    model: WeightModel | Classifier, sizes: Sequence[Size], *, inputs: int
) -> int:
    """How many draws are made; 0: a single one would take too long.

    Args:
        model: What is valued by.
        sizes: The parties.
        inputs: How many inputs the model has.
    """
    d = model.probe(inputs).shape[-1] - 1
    coalitions = 2.0 ** min(len(sizes), EXACT_LIMIT)
    rows = sum(size.rows for size in sizes)
    work = model.label_sets * (coalitions * d**3 / 3 + rows * d * (d + inputs))
    if FEWEST_SIMULATIONS * work > MOST_WORK:
        return 0
    return int(np.clip(WORK / work, FEWEST_SIMULATIONS, SIMULATIONS))


@dataclass(frozen=True, kw_only=True)
class Question:
    """What all draws are asked.

    Attributes:
        sizes: The parties.
        rhos: What rewards are made by, under the names that results have; noise is that of the
            first.
        configuration: How contributions are measured, and who wants how much at most.
    """

    sizes: tuple[Size, ...]
    rhos: Mapping[str, float | str]
    configuration: Configuration

    @property
    def rows(self) -> int:
        """How many the parties have together."""
        return sum(size.rows for size in self.sizes)

    @property
    def most(self) -> FloatArray:
        """What share of v_N each party wants to hold at most [n]."""
        wanted = {party.name: party.share_wanted for party in self.configuration.parties}
        return np.array([wanted.get(size.name, 1.0) for size in self.sizes])


def simulate(
    model: WeightModel | Classifier,
    source: RowSource,
    question: Question,
    *,
    draws: int,
    workers: Workers,
) -> Simulated:
    """The chain from values to rewards, for several draws of everybody's rows.

    Args:
        model: The model before it has seen any data.
        source: Where rows come from.
        question: Of whom, and by which rhos.
        draws: How many.
        workers: Who values coalitions, and who is told about it.
    """
    done = []
    for number in range(draws):
        workers.progress("simulating", number, draws)
        rng = np.random.default_rng([SEED, number])
        summaries = _summaries(model, source, question, rng)
        done.append(_draw(model, summaries, question, workers))
    return Simulated(
        totals=np.array([draw.total for draw in done]),
        alone=np.array([draw.alone for draw in done]),
        contributions=np.array([draw.contributions for draw in done]),
        rewards={name: np.array([draw.rewards[name] for draw in done]) for name in question.rhos},
        rhos={name: np.array([draw.rhos[name] for draw in done]) for name in question.rhos},
        below_own={
            name: np.array([draw.below_own[name] for draw in done]) for name in question.rhos
        },
        noise=np.array([draw.noise for draw in done]),
        rare=np.array([draw.rare for draw in done]),
    )


def _summaries(
    model: WeightModel | Classifier,
    source: RowSource,
    question: Question,
    rng: np.random.Generator,
) -> list[PartySummary | ClassSummary]:
    """Sums over every party's rows, which are all that values depend on."""
    summaries = []
    drawn = source.drawn([size.rows for size in question.sizes], rng)
    for size, blocks in zip(question.sizes, drawn, strict=True):
        summary: PartySummary | ClassSummary | None = None
        for X, y in blocks:
            more = model.summarise(Party(size.name, X, y))
            summary = more if summary is None else summary + more  # type: ignore[operator]
        assert summary is not None  # every party has rows
        summaries.append(summary)
    return summaries


def _draw(
    model: WeightModel | Classifier,
    summaries: Sequence[PartySummary | ClassSummary],
    question: Question,
    workers: Workers,
) -> _Draw:
    """Values, contributions and rewards of some rows, as a run computes them."""
    game = InformationGain(model, summaries)
    scheme = _scheme(game, question.configuration, workers)
    total = max(game.total, TINY)
    rewards = {}
    below_own = {}
    for name, rho in question.rhos.items():
        due = capped(scheme.rewards(rho), alone=game.alone, most=question.most * game.total)
        below_own[name] = bool((due < game.alone - tolerance_of(game)).any())
        rewards[name] = due
    first = next(iter(question.rhos))
    noise = np.full(game.n, np.nan)
    if question.configuration.rewards.mechanism == LabelNoise.name and not below_own[first]:
        noise = np.array([level.eta for level in noise_levels(game, rewards[first])])
    return _Draw(
        total=game.total,
        alone=game.alone / total,
        contributions=scheme.contributions.values / total,
        rewards={name: due / total for name, due in rewards.items()},
        rhos={name: scheme.rho(rho) for name, rho in question.rhos.items()},
        below_own=below_own,
        noise=noise,
        rare=np.array([_has_few_of_a_class(summary) for summary in summaries]),
    )


def _scheme(game: InformationGain, configuration: Configuration, workers: Workers) -> SilentScheme:
    """Contributions as they are configured, and the rewards that follow."""
    valuation = configuration.valuation
    if game.enumerable:
        game.values(workers)
    target_standard_error = None
    if valuation.precision is not None:
        target_standard_error = max(valuation.precision * game.total / game.n, TINY)
    concept = concept_of(valuation.contributions)
    measured = concept.measure(
        game,
        rng=SEED,
        evaluations=valuation.evaluations,
        target_standard_error=target_standard_error,
        workers=workers,
    )
    return SilentScheme(game, replace(measured, concept=concept))


def _has_few_of_a_class(summary: PartySummary | ClassSummary) -> bool:
    if not isinstance(summary, ClassSummary):
        return False
    return bool(((summary.counts > 0) & (summary.counts < FEWEST_ROWS)).any())
