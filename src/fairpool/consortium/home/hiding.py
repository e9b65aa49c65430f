"""Noise on a contribution, so that no single row can be seen in it, and what that costs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairpool.consortium.home.journal import Journal
from fairpool.consortium.home.overlaps import share_rows
from fairpool.consortium.home.own_table import OwnTable
from fairpool.consortium.home.spending import (
    Spending,
    read_budget,
    refuse_beyond_budget,
    spending,
)
from fairpool.differential_privacy.gaussian import LARGEST_EPSILON, LEAST_EPSILON, mu_of
from fairpool.differential_privacy.keyed_randomness import KeyedRandomness
from fairpool.differential_privacy.mechanism import with_noise
from fairpool.errors import PrivacyError
from fairpool.exchange.contribution_file import Arrays, ContributionFile, Manifest, Privacy
from fairpool.exchange.noisy_sums import noise_for, noisy_sums_of, row_bounds_of
from fairpool.exchange.plan import Plan, SignedPlan
from fairpool.keyed_noise.secret import Secret
from fairpool.models import WithinBounds
from fairpool.models.weight_model import RowSums
from fairpool.parties import NoisySummary, NoisySums
from fairpool.signatures import SigningKey
from fairpool.tables.arrays import FloatArray
from fairpool.values import InformationGain

DEFAULT_DELTA = 1e-6
"""Far below one over the number of rows of any hospital, and the same whatever that number is."""

NOISE = "noise on sums"
"""What the key is for that draws come from."""

DRAWS = 8
"""Simulated ones, of which the mean is said: the noise that leaves is another draw."""

ASIDE = 3.0
"""A choice is shown beside others that are so many times smaller and larger."""

LOSES_MUCH = 0.5
"""With less than this share of its value left, a party is advised."""


@dataclass(frozen=True, kw_only=True)
class Wish:
    """How well a person wants rows to be hidden.

    Attributes:
        epsilon: How much one row can change the odds of anything that is seen.
        delta: But for so small a chance.
        budget: The most that epsilon may be over all contributions; None: as set before.
    """

    epsilon: float
    delta: float = DEFAULT_DELTA
    budget: float | None = None


def wish_of(epsilon: float | None, delta: float | None, budget: float | None) -> Wish | None:
    """What a person asked for; None: no noise."""
    if epsilon is None:
        if delta is not None or budget is not None:
            raise PrivacyError("--delta and --budget are for noise; give --epsilon as well")
        return None
    mu_of(epsilon, DEFAULT_DELTA if delta is None else delta)  # which refuses what is none
    if budget is not None and not 0 < budget < np.inf:
        raise PrivacyError(
            f"--budget {budget:g} is not above 0; it is the most that epsilon may be"
        )
    return Wish(epsilon=epsilon, delta=DEFAULT_DELTA if delta is None else delta, budget=budget)


@dataclass(frozen=True, kw_only=True)
class Hiding:
    """What noise does to a contribution; for the party's own eyes.

    Attributes:
        privacy: How much noise there is.
        exact: What the rows are worth alone without it, in nats.
        expected: What they are worth with such noise.
        beside: What they would be worth with other epsilons, by these.
        weights: Of the plan's model.
        spent: By earlier contributions.
        operator: The fingerprint of whom this one is for.
    """

    privacy: Privacy
    exact: float
    expected: float
    beside: Mapping[float, float]
    weights: int
    spent: Spending
    operator: str

    def figures(self) -> dict[str, float]:
        """The same for programs."""
        privacy = self.privacy
        mu = mu_of(privacy.epsilon, privacy.delta)
        return {
            **vars(privacy),
            "worth": self.expected,
            "worth_without_noise": self.exact,
            "epsilon_for_operator": self.spent.epsilon_at(self.operator, privacy.delta, more=mu),
            "epsilon_in_all": self.spent.epsilon(privacy.delta, more=mu),
        }

    def _beside_in_words(self) -> str:
        others = [f"{worth:.3g} with epsilon {e:.3g}" for e, worth in self.beside.items()]
        return f" (About {', '.join(others)}.)" if others else ""

    def in_words(self) -> tuple[str, ...]:
        """What a person should know before anything leaves."""
        privacy = self.privacy
        figures = self.figures()
        sentences = [
            f"Noise hides each row: with epsilon {privacy.epsilon:g}, delta {privacy.delta:g}."
            f" It costs: your data alone would be worth about {self.expected:.3g} instead of"
            f" {self.exact:.3g} nats.{self._beside_in_words()}",
            f"With this contribution epsilon is {figures['epsilon_for_operator']:.3g} for this"
            f" operator, and {figures['epsilon_in_all']:.3g} in all.",
        ]
        if self.expected < LOSES_MUCH * self.exact:
            sentences.append(
                "That is much. Noise grows with the number of weights, of which the plan has"
                f" {self.weights}, and not with that of rows: ask the operator for a plan with"
                " fewer weights, contribute more rows at once, or choose a larger epsilon."
            )
        if self.spent.without_noise:
            sentences.append(
                f"{self.spent.without_noise} earlier contribution(s) have no noise: of rows in"
                " these, nothing is hidden by this one's."
            )
        return tuple(sentences)


def bounded(plan: Plan) -> WithinBounds:
    """What sums up rows of which none is longer than the plan says."""
    bounds = row_bounds_of(plan)
    return WithinBounds(model=plan.model, features=bounds.features, labels=bounds.labels)


def hidden_file_of(
    sums: RowSums,
    manifest: Manifest,
    plan: SignedPlan,
    *,
    key: SigningKey,
    secret: Secret,
    wish: Wish,
) -> ContributionFile:
    """Sums with noise as a signed file; nothing in it was computed from rows without noise.

    The same sums get the same noise, however often a person looks at what would leave.

    Args:
        sums: Over the party's rows, by `bounded`.
        manifest: What is said of them; how many there are is replaced.
        plan: Under which they were made.
        key: The party's.
        secret: Of its home; what the noise is made of.
        wish: How well rows are to be hidden.
    """
    arrays = arrays_of(sums)
    noise_key = _noise_key(secret, arrays, manifest, plan.plan, wish)
    noisy = with_noise(
        arrays,
        manifest.rows,
        bounds=row_bounds_of(plan.plan),
        mu=mu_of(wish.epsilon, wish.delta),
        randbelow=KeyedRandomness(noise_key).below,
    )
    said = replace(
        manifest,
        rows=noisy.rows,
        left_out=0,
        counts=None,
        privacy=noise_for(plan.plan, wish.epsilon, wish.delta),
    )
    return ContributionFile.made(key, said, noisy.arrays)


def _noise_key(secret: Secret, arrays: Arrays, manifest: Manifest, plan: Plan, wish: Wish) -> bytes:
    """A key of the draw that depends on every bit of what the noise is put on.

    With one draw on two different sums, or in two strengths, their difference would show what is
    under it. So the key is another one for whatever else is summed up, in however small a part.
    """
    depends_on = [
        str(manifest.operator).encode(),
        manifest.party.encode(),
        plan.features_digest.encode(),
        repr((wish.epsilon, wish.delta, row_bounds_of(plan), manifest.rows)).encode(),
    ]
    for name in sorted(arrays):
        depends_on += [name.encode(), repr(arrays[name].shape).encode(), arrays[name].tobytes()]
    return secret.subkey(NOISE, *depends_on)


def hiding_of(sums: RowSums, plan: SignedPlan, *, wish: Wish, spent: Spending) -> Hiding:
    """What noise would do to a party's sums.

    Args:
        sums: Without noise, by `bounded`.
        plan: Under which they were made.
        wish: How well rows are to be hidden.
        spent: By earlier contributions.
    """
    privacy = noise_for(plan.plan, wish.epsilon, wish.delta)
    arrays = arrays_of(sums)
    beside = {}
    for epsilon in (wish.epsilon / ASIDE, wish.epsilon * ASIDE):
        if LEAST_EPSILON <= epsilon <= LARGEST_EPSILON:
            noise = noise_for(plan.plan, epsilon, wish.delta).noise
            beside[epsilon] = _expected(arrays, plan.plan, noise)
    return Hiding(
        privacy=privacy,
        exact=_worth(noisy_sums_of(arrays, plan.plan, 0.0, rows=1), plan.plan),
        expected=_expected(arrays, plan.plan, privacy.noise),
        beside=beside,
        weights=plan.plan.weights,
        spent=spent,
        operator=plan.operator.fingerprint,
    )


def refuse_spending(home: Path, wish: Wish) -> Spending:
    """What was spent on privacy so far, refused where one more contribution is too much."""
    spent = spending(home)
    budget = wish.budget if wish.budget is not None else read_budget(home)
    more = mu_of(wish.epsilon, wish.delta)
    refuse_beyond_budget(budget, spent, more=more, delta=wish.delta)
    return spent


def refuse_unmeant_exactness(journal: Journal, table: OwnTable, chosen: NDArray[np.bool_]) -> None:
    """Refuse sums without noise where the person wanted noise before, unless that is meant.

    Args:
        journal: What was contributed before.
        table: The table.
        chosen: Which of its complete rows are contributed [m].
    """
    why = ""
    if read_budget(journal.home) is not None:
        why = "you have set a budget (--budget), and sums without noise are beyond any"
    identities = table.identities
    for entry in (*journal.entries, *journal.others):
        manifest = entry.file.manifest
        if why or manifest.privacy is None:
            continue
        is_comparable = entry.known_by == identities.columns
        if not is_comparable or share_rows(entry.members, identities.keys[chosen]):
            why = f"noise hides these rows in the contribution of {manifest.made}"
    if why:
        raise PrivacyError(
            f"{why}; without it nothing of these rows would be hidden any longer; give --epsilon,"
            " or, if that is meant, --without-noise"
        )


def is_as_wished(privacy: Privacy | None, wish: Wish | None) -> bool:
    """Whether rows of a contribution are hidden as a person wants them to be."""
    if privacy is None or wish is None:
        return privacy is None and wish is None
    return (privacy.epsilon, privacy.delta) == (wish.epsilon, wish.delta)


def refuse_contradiction(wish: Wish | None, *, rows_may_be_seen: bool, without_noise: bool) -> None:
    """Refuse rows that are to be hidden and may be seen."""
    if wish is not None and without_noise:
        raise PrivacyError("--epsilon asks for noise, and --without-noise for none; give one")
    if wish is not None and rows_may_be_seen:
        raise PrivacyError(
            "--epsilon hides every row, and --rows-may-be-seen shows them; give one of both"
        )


def arrays_of(sums: RowSums) -> dict[str, FloatArray]:
    """Sums by the names that they have in a file."""
    return {name: np.asarray(array, float) for name, array in sums._asdict().items()}


def _expected(arrays: Arrays, plan: Plan, noise: float) -> float:
    """What sums are worth with so much noise, by simulated draws."""
    rng = np.random.default_rng(0)
    said = noisy_sums_of(arrays, plan, noise, rows=1)
    return float(np.mean([_worth(_simulated(said, rng), plan) for _ in range(DRAWS)]))


def _simulated(sums: NoisySums, rng: np.random.Generator) -> NoisySums:
    """The sums with a draw of the noise that they say they have."""
    E = rng.standard_normal(sums.gram.shape)
    E = (E + np.swapaxes(E, -1, -2)) / 2  # of variance 1 / 2 beside the diagonal
    return replace(
        sums,
        gram=sums.gram + sums.noise[..., :1, None] * E,
        moment=sums.moment + sums.noise[..., 1:] * rng.standard_normal(sums.moment.shape),
    )


def _worth(sums: NoisySums, plan: Plan) -> float:
    summary = NoisySummary(
        name="you",
        sums=(sums,),
        noise_variance=plan.model.noise_variance,
        inputs=plan.inputs,
        probe=plan.model.probe(plan.inputs),
    )
    return InformationGain(plan.model, [summary]).total
