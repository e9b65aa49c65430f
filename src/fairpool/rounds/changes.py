"""Whose reward moved from one round to the next, and by what.

Every factor (`fairpool.rounds.factors`) is as it was or as it is now. A party's part of a factor is
the factor's Shapley value, with the party's own reward as the value of a set of factors that are
switched to the new state: what switching it changes, averaged over all orders in which the factors
could be switched. So the parts add up to the whole change. `docs/rounds.md` says it at length.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from fairpool.compute.workers import Workers, workers_of
from fairpool.contributions import shapley
from fairpool.errors import FairpoolError
from fairpool.rewards.discount import discounted
from fairpool.rounds.effort import SAMPLINGS, can_enumerate, can_sample
from fairpool.rounds.factors import FACTORS, TERMS, ByFactor
from fairpool.rounds.round_game import SAMPLING_SEED, RoundGame, Terms
from fairpool.rounds.sameness import why_not_comparable
from fairpool.rounds.states import States
from fairpool.rounds.transition import Transition
from fairpool.tables.arrays import FloatArray
from fairpool.values import InformationGain, TableGame


@dataclass(frozen=True, kw_only=True)
class PartyChange:
    """One party's reward in two rounds, and by what it moved.

    Attributes:
        id: The party's permanent id.
        name: Its name, in the last round it takes part in.
        former_name: What it was called in the earlier round, if otherwise.
        before: Its reward in the earlier round, in nats; None where it took no part.
        after: Its reward in the later round; None where it left.
        share_before: The earlier reward as a share of v_N of its round; None without one.
        share_after: Likewise.
        parts: By what it moved, adding up to after - before; None where that is not known.
        errors: The parts' standard errors; None where they are exact, or not known.
        holds: What everything that it holds since the later round is worth; None: not known.
        sent: Whether it was sent a new model in the later round; None: not known.
    """

    id: str
    name: str
    former_name: str | None = None
    before: float | None = None
    after: float | None = None
    share_before: float | None = None
    share_after: float | None = None
    parts: ByFactor | None = None
    errors: ByFactor | None = None
    holds: float | None = None
    sent: bool | None = None

    @property
    def moved(self) -> float | None:
        """after - before, of who takes part in both rounds."""
        if self.before is None or self.after is None:
            return None
        return self.after - self.before

    def to_dict(self) -> dict[str, Any]:
        """Every number as plain Python objects, ready for JSON."""
        entry = asdict(self)
        entry["moved"] = self.moved
        return entry


@dataclass(frozen=True, kw_only=True)
class RoundTotals:
    """What a round came to.

    Attributes:
        number: The round's.
        total: v_N in nats, the value of everybody's data.
        rho: The number that was used.
        terms: The terms as asked.
        parties: How many took part.
    """

    number: int
    total: float
    rho: float
    terms: Terms
    parties: int


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Whose reward moved between two rounds, and by what.

    Attributes:
        before: The earlier round.
        after: The later one.
        parties: All parties of either round: the later one's in its order, then those who left.
        comparable: Whether both rounds have the same model, so that their nats are of one kind.
        reason: Why there are no parts; empty where there are.
    """

    before: RoundTotals
    after: RoundTotals
    parties: tuple[PartyChange, ...]
    comparable: bool = True
    reason: str = ""

    @property
    def sampled(self) -> bool:
        """Whether some parts have sampling errors."""
        return any(party.errors is not None for party in self.parties)

    @property
    def factors(self) -> tuple[str, ...]:
        """The factors that moved anybody's reward, in their order."""
        parts = [party.parts for party in self.parties if party.parts is not None]
        return tuple(name for name in FACTORS if any(one.by_factor[name] for one in parts))

    def of(self, party: str) -> PartyChange:
        """What changed for the party of this id."""
        return next(one for one in self.parties if one.id == party)

    def with_what_is_held(self, held: Mapping[str, tuple[float, bool]]) -> "Changes":
        """The same, knowing what was sent in the later round.

        Args:
            held: By id, what a party holds since then, in nats, and whether it was sent a new
                model.
        """
        parties = []
        for party in self.parties:
            holds, sent = held.get(party.id, (None, None))
            parties.append(replace(party, holds=holds, sent=sent))
        return replace(self, parties=tuple(parties))

    def to_dict(self) -> dict[str, Any]:
        """Every number as plain Python objects, ready for JSON."""
        return {
            "before": asdict(self.before),
            "after": asdict(self.after),
            "comparable": self.comparable,
            "reason": self.reason,
            "sampled": self.sampled,
            "parties": [party.to_dict() for party in self.parties],
        }


def explain_changes(
    before: RoundGame, after: RoundGame, *, executor: Workers | Executor | None = None
) -> Changes:
    """Whose reward moved from one round to another, and by what.

    Args:
        before: The earlier round.
        after: The later one.
        executor: Who values coalitions; None: this thread.
    """
    with workers_of(executor) as workers:
        reason = why_not_comparable(before, after)
        if reason:
            totals = _only_totals(before, after, workers=workers)
            return replace(totals, comparable=False, reason=reason)
        for one in (before, after):
            InformationGain(one.model, one.parties)  # refuses data that the model cannot use
        transition = Transition(before=before, after=after)
        exact = can_enumerate(transition)
        if not exact and not can_sample(transition):
            totals = _only_totals(before, after, workers=workers)
            return replace(totals, reason=_too_much(transition))
        states = States(transition, exact=exact, workers=workers)
        return _from_states(states)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Rewards:
    """What a round gave: its totals and everybody's reward by id."""

    totals: RoundTotals
    by_id: dict[str, float]

    def share(self, party: str) -> float | None:
        if self.totals.total <= 0 or party not in self.by_id:
            return None
        return self.by_id[party] / self.totals.total


def _from_states(states: States) -> Changes:
    transition = states.transition
    old = _rewards_of_state(states, new=False)
    new = _rewards_of_state(states, new=True)
    found: dict[str, tuple[ByFactor, ByFactor | None]] = {}
    reason = ""
    try:
        for party in transition.stayers:
            found[party] = _parts_and_errors(states, party)
    except FairpoolError as error:
        # Of a round that was given this is its operator's; of a state in between it is nobody's.
        found = {}
        reason = f"a state between the two rounds cannot be valued: {error}"
    changes = _changes(transition.before, transition.after, old=old, new=new, parts=found)
    return replace(changes, reason=reason)


def _rewards_of_state(states: States, *, new: bool) -> _Rewards:
    """What one of the rounds gave, by its state."""
    transition = states.transition
    game = transition.after if new else transition.before
    gathering = transition.end if new else transition.start
    scheme = states.scheme(gathering, new_terms=new, seed=SAMPLING_SEED)
    rewards = {}
    for party in game.ids:
        rewards[party] = states.reward(party, gathering, new_terms=new, seed=SAMPLING_SEED)
    return _Rewards(
        totals=_totals(game, total=scheme.game.total, rho=scheme.rho(game.rho)), by_id=rewards
    )


def _totals(game: RoundGame, *, total: float, rho: float) -> RoundTotals:
    return RoundTotals(
        number=game.number, total=total, rho=rho, terms=game.terms, parties=len(game.ids)
    )


def _parts_and_errors(states: States, party: str) -> tuple[ByFactor, ByFactor | None]:
    """By what a party's reward moved; with errors where contributions were sampled."""
    factors = states.transition.factors_of(party)
    if states.exact:
        parts = _factor_values(states, party, factors, seed=SAMPLING_SEED)
        return _as_parts(factors, parts), None
    seeds = range(SAMPLING_SEED, SAMPLING_SEED + SAMPLINGS)
    samplings = [_factor_values(states, party, factors, seed=seed) for seed in seeds]
    # The first has the rounds' own seed: its parts add up to what the rounds gave.
    errors = np.std(samplings, axis=0, ddof=1)
    return _as_parts(factors, samplings[0]), _as_parts(factors, errors)


def _factor_values(states: States, party: str, factors: Sequence[str], *, seed: int) -> FloatArray:
    """The Shapley values of the factors that changed [k], for one party."""
    if not factors:
        return np.zeros(0)
    rewards = []
    for mask in range(1 << len(factors)):
        switched = frozenset(name for k, name in enumerate(factors) if mask >> k & 1)
        gathering = states.transition.gathering(party, switched)
        new_terms = TERMS in switched
        rewards.append(states.reward(party, gathering, new_terms=new_terms, seed=seed))
    return shapley(TableGame(rewards)).values


def _as_parts(factors: Sequence[str], values: FloatArray) -> ByFactor:
    return ByFactor(**dict(zip(factors, values.tolist(), strict=True)))


def _only_totals(before: RoundGame, after: RoundGame, *, workers: Workers) -> Changes:
    """The rewards of both rounds, without any parts."""
    old = _rewards_of_round(before, workers=workers)
    new = _rewards_of_round(after, workers=workers)
    return _changes(before, after, old=old, new=new, parts={})


def _rewards_of_round(game: RoundGame, *, workers: Workers) -> _Rewards:
    values = InformationGain(game.model, game.parties)
    scheme = game.terms.scheme(values, seed=SAMPLING_SEED, workers=workers)
    rewards = discounted(scheme.rewards(game.rho), alone=values.alone, kept=game.kept_by_all)
    return _Rewards(
        totals=_totals(game, total=values.total, rho=scheme.rho(game.rho)),
        by_id=dict(zip(game.ids, rewards.tolist(), strict=True)),
    )


def _changes(
    before: RoundGame,
    after: RoundGame,
    *,
    old: _Rewards,
    new: _Rewards,
    parts: dict[str, tuple[ByFactor, ByFactor | None]],
) -> Changes:
    names_before = {party: data.name for party, data in before.by_id.items()}
    names_after = {party: data.name for party, data in after.by_id.items()}
    parties = []
    for party in dict.fromkeys([*after.ids, *before.ids]):
        name = names_after.get(party, names_before.get(party, ""))
        former = names_before.get(party, name)
        found, errors = parts.get(party, (None, None))
        parties.append(
            PartyChange(
                id=party,
                name=name,
                former_name=former if former != name else None,
                before=old.by_id.get(party),
                after=new.by_id.get(party),
                share_before=old.share(party),
                share_after=new.share(party),
                parts=found,
                errors=errors,
            )
        )
    return Changes(before=old.totals, after=new.totals, parties=tuple(parties))


def _too_much(transition: Transition) -> str:
    return (
        f"{len(transition.everybody)} parties, of whom {len(transition.changed)} have other data"
        f" than before, {len(transition.joiners)} joined and {len(transition.leavers)} left, are"
        " too many to value every state between the two rounds"
    )
