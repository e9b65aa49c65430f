"""`fairpool plan --what-if`: what a plan would give to parties of given sizes, and whom it refuses.

Nothing is written, no key is made, and no party's table is looked for.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from fairpool.compute.workers import Workers
from fairpool.consortium.configuration import Configuration
from fairpool.consortium.configuration_file import read_configuration
from fairpool.consortium.model_building import described
from fairpool.consortium.planning.features import PlannedFeatures
from fairpool.consortium.planning.made_up_rows import RowSource
from fairpool.consortium.planning.otherwise import Otherwise, other_outcomes
from fairpool.consortium.planning.plan import plan_with
from fairpool.consortium.planning.requirements import model_problems
from fairpool.consortium.planning.simulating import (
    Question,
    Simulated,
    simulate,
    simulations_within,
)
from fairpool.consortium.planning.sizes import Size, sizes_of
from fairpool.consortium.planning.stand_ins import StandIn
from fairpool.consortium.refusals import privacy_problems
from fairpool.consortium.rounds.context import home_of
from fairpool.consortium.rounds.needed_rows import needed_by
from fairpool.errors import PlanError
from fairpool.exchange.disclosed import certain_disclosures
from fairpool.exchange.plan import FEWEST_PARTIES, Plan, PlannedParty
from fairpool.model_kinds import KINDS

COUNT_KEYS = ("inducing_points", "features")
"""The keys of [model] that say how many weights there are, where a kind has one."""

FACTORS = (0.5, 1.0, 2.0)
"""How many weights are looked at, beside those configured."""

OTHER_RHOS: tuple[float | str, ...] = (0.0, "stable", 1.0)
"""What rewards are shown by, beside the configured rho."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Outlook:
    """A model, and what parties would receive by it.

    Attributes:
        weights: d, of each class.
        is_configured: Whether it has as many as the configuration says.
        rows_needed: How many rows a party needs who sends rows.
        sums_needed: How many rows a party needs who sends sums over them.
        simulated: Values and rewards; None: computing them would take too long.
    """

    weights: int
    is_configured: bool
    rows_needed: int
    sums_needed: int
    simulated: Simulated | None

    def refused(self, sizes: tuple[Size, ...]) -> tuple[str, ...]:
        """The parties that have too few rows to take part in any way."""
        return tuple(size.name for size in sizes if size.rows < self.rows_needed)


@dataclass(frozen=True, kw_only=True, eq=False)
class WhatIf:
    """What a plan would mean for parties of given sizes.

    Attributes:
        question: The parties, and the rhos that were looked at.
        stand_in: What stood for their rows.
        plan: As it would be, for these parties; nobody has signed it.
        settings: The model's hyperparameters by name, in words.
        outlooks: Of each number of weights, in order; one of them as configured.
        otherwise: By the configured model, if the first round learns otherwise; empty where it
            learns just what `plan` has.
        is_bounded: Whether features are bounded, as they must be where sums are sent.
    """

    question: Question
    stand_in: StandIn
    plan: Plan
    settings: dict[str, str]
    outlooks: tuple[Outlook, ...]
    otherwise: tuple[Otherwise, ...]
    is_bounded: bool

    @property
    def configured(self) -> Outlook:
        """By the model as it is configured."""
        return next(outlook for outlook in self.outlooks if outlook.is_configured)

    @property
    def simulated(self) -> Simulated:
        """What came out for that model."""
        simulated = self.configured.simulated
        assert simulated is not None  # otherwise it was refused
        return simulated

    @property
    def sums_are_possible(self) -> bool:
        """Whether anybody could send sums: by a plan, of parties enough, over bounded features."""
        enough = len(self.question.sizes) >= FEWEST_PARTIES
        return self.is_bounded and enough and not self.stand_in.lacking

    @property
    def discloses(self) -> tuple[str, ...]:
        """What a contribution would show, and to whom, as sentences; none without a plan."""
        return () if self.stand_in.lacking else certain_disclosures(self.plan)


def what_if(configuration: Path, sizes: str, workers: Workers | None = None) -> WhatIf:
    """What a plan would give to parties of these sizes; refused with everything that is lacking.

    Args:
        configuration: The folder with collaboration.toml, or the file.
        sizes: How many rows every party has, as `sizes_of` reads it.
        workers: Who values coalitions, and who is told about it.
    """
    workers = workers or Workers()
    file = read_configuration(configuration)
    wanted = file.configuration
    of_parties = sizes_of(sizes, [party.name for party in wanted.parties])
    problems = [*file.problems]
    if KINDS[wanted.model.kind].needs_rows:
        problems += model_problems(wanted)
    problems = problems or privacy_problems(wanted)
    if problems:
        raise PlanError(*problems)
    folder = home_of(configuration)
    rows = sum(size.rows for size in of_parties)
    stand_in = StandIn.find(wanted, folder, needed=rows, workers=workers)
    wanted = stand_in.configuration
    question = Question(sizes=of_parties, rhos=_rhos(wanted), configuration=wanted)
    features = stand_in.features(wanted, workers)
    plan = _plan(question, features)
    outlooks = []
    for section in _other_counts(wanted):
        if section is wanted:
            outlook = _outlook(question, plan, stand_in.source, workers, is_configured=True)
            _refuse_endless(outlook, question)
        else:
            other = replace(question, configuration=section)
            planned = _plan(other, stand_in.features(section, workers))
            outlook = _outlook(other, planned, stand_in.source, workers)
        outlooks.append(outlook)
    known = outlooks[0].simulated
    assert known is not None  # otherwise it was refused
    return WhatIf(
        question=question,
        stand_in=stand_in,
        plan=plan,
        settings=described(features.model, wanted.model, plan.encoding),
        outlooks=tuple(sorted(_without_repeats(outlooks), key=lambda one: one.weights)),
        otherwise=other_outcomes(plan.model, stand_in, question, workers, known=known),
        is_bounded=features.feature_bound is not None,
    )


def _rhos(configuration: Configuration) -> dict[str, float | str]:
    """The configured rho first, then others, each under its own name."""
    configured = configuration.rewards.rho
    rhos = {_name(configured): configured}
    for rho in OTHER_RHOS:
        rhos.setdefault(_name(rho), rho)
    return rhos


def _name(rho: float | str) -> str:
    return rho if isinstance(rho, str) else f"{rho:g}"


def _plan(question: Question, features: PlannedFeatures) -> Plan:
    """The plan as it would be for these parties, who have no keys yet."""
    parties = [PlannedParty(id=size.name, name=size.name, key=None) for size in question.sizes]
    return plan_with(question.configuration, features, parties=tuple(parties), made="", sections={})


def _other_counts(configuration: Configuration) -> list[Configuration]:
    """The configuration itself, then the same with fewer and with more weights, where it can be."""
    section = configuration.model
    keys = [key for key in COUNT_KEYS if key in KINDS[section.kind].keys]
    configurations = [configuration]
    for key in keys:
        count = getattr(section, key)
        for factor in FACTORS:
            other = int(count * factor)
            if other == count or other < 2:
                continue
            model = section.model_copy(update={key: other})
            configurations.append(configuration.model_copy(update={"model": model}))
    return configurations


def _outlook(
    question: Question,
    plan: Plan,
    source: RowSource,
    workers: Workers,
    *,
    is_configured: bool = False,
) -> Outlook:
    """What parties need, and what they would receive, by one model."""
    n = len(question.sizes)
    needed = needed_by(plan.model, plan.encoding, question.configuration.rewards, parties=n)
    draws = simulations_within(plan.model, question.sizes, inputs=plan.inputs)
    simulated = None
    if draws:
        simulated = simulate(plan.model, source, question, draws=draws, workers=workers)
    return Outlook(
        weights=plan.weights,
        is_configured=is_configured,
        rows_needed=needed.fewest,
        sums_needed=0 if plan.terms.share_inputs else plan.fewest_rows,
        simulated=simulated,
    )


def _refuse_endless(outlook: Outlook, question: Question) -> None:
    if outlook.simulated is None:
        raise PlanError(
            f"--what-if: {len(question.sizes)} parties, {question.rows} rows and {outlook.weights}"
            " weights are too much to be simulated; ask for fewer parties or rows, or fewer weights"
            " in [model]"
        )


def _without_repeats(outlooks: list[Outlook]) -> list[Outlook]:
    """One outlook for each number of weights: points that would be equal are left out."""
    of_counts: dict[int, Outlook] = {}
    for outlook in outlooks:  # the configured one is first
        of_counts.setdefault(outlook.weights, outlook)
    return [*of_counts.values()]
