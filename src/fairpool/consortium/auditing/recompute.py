"""A round computed anew: values, contributions, rewards, and what every model was trained with."""

from dataclasses import dataclass, field, replace

import numpy as np

from fairpool.collaboration import Collaboration, collaboration_of
from fairpool.compute.workers import Workers
from fairpool.consortium.auditing.opened import OpenedRound
from fairpool.consortium.auditing.parts import AuditedNoise, Parts
from fairpool.realisation import ModelReward
from fairpool.realisation.reward_file import decode_reward, read_reward
from fairpool.rounds.held import Unit
from fairpool.rounds.history import Participation
from fairpool.rounds.release import Before, RoundReward, realise_round
from fairpool.tables.arrays import FloatArray
from fairpool.values import InformationGain


@dataclass(frozen=True, kw_only=True, eq=False)
class Recomputed:
    """A round computed anew.

    Attributes:
        collaboration: Values, contributions, rewards.
        results: What each party receives; its model has the covariance that it was trained with.
        without_noise: Parts whose noise is not known, so that no model that they are in can be
            computed.
    """

    collaboration: Collaboration
    results: tuple[RoundReward, ...]
    without_noise: frozenset[str] = field(repr=False)

    def can_tell_model_of(self, i: int) -> bool:
        """Whether all that party i's model was trained with is known."""
        etas = self.results[i].etas
        noisy = {part for part, eta in etas.items() if 0 < eta < np.inf}
        return not noisy & self.without_noise


def recompute(opened: OpenedRound, parts: Parts) -> Recomputed:
    """Compute a round of which all sums are known."""
    past = opened.past
    realiser = _Realiser(opened=opened, parts=parts)
    most = np.array([participation.most for participation in past.parties])
    collaboration = collaboration_of(
        InformationGain(parts.model, [parts.data(one) for one in past.parties]),
        rho=past.rho,
        rng=None,
        contributions=past.contributions,
        evaluations=opened.setting("valuation", "evaluations", None),
        precision=opened.setting("valuation", "precision", None),
        workers=Workers(),
        kept=None if past.kept is None else np.array(past.kept),
        most=most if most.min() < 1 else None,
        realiser=realiser,
    )
    return Recomputed(
        collaboration=collaboration,
        results=realiser.results,
        without_noise=frozenset(realiser.source.missing),
    )


@dataclass(eq=False, kw_only=True)
class _Realiser:
    """Makes models of rewards as the round did; not frozen, since it remembers what it gave."""

    opened: OpenedRound
    parts: Parts
    results: tuple[RoundReward, ...] = ()
    source: AuditedNoise = field(init=False)

    def __post_init__(self) -> None:
        self.source = AuditedNoise(parts=self.parts)

    def __call__(self, game: InformationGain, rewards: FloatArray) -> tuple[ModelReward, ...]:
        """One model per party."""
        self.results = realise_round(
            game,
            rewards,
            units=[*self._active_units(), *self._held_units()],
            before=[self._before(one) for one in self.opened.past.parties],
            source=self.source,
            covariance="full",  # as it was trained
        )
        return tuple(result.model for result in self.results)

    def _active_units(self) -> list[Unit]:
        opened = self.opened
        shared = opened.setting("rewards", "share_inputs", False)
        hides = not shared and len(opened.past.parties) > 1
        units = []
        for participation in opened.past.parties:
            for batch in participation.batches:
                for part in opened.after.batches[batch].parts:
                    data = self.parts.unit_data(part, participation.name)
                    units.append(
                        Unit(
                            part=part,
                            party=participation.name,
                            data=data,
                            batch=batch if hides else "",
                        )
                    )
        return units

    def _held_units(self) -> list[Unit]:
        """Parts that somebody holds from earlier rounds, and that take no part in this one."""
        names = {one.id: one.name for one in self.opened.past.parties}
        units = []
        for part in held_parts(self.opened):
            party = self.opened.after.parts[part].party
            name = names.get(party, f"{party} (left)")
            data = self.parts.unit_data(part, name)
            units.append(Unit(part=part, party=name, data=data, is_active=False))
        return units

    def _before(self, participation: Participation) -> Before:
        history = self.opened.before
        holding = history.holding(participation.id)
        parents = self.opened.after.parents
        scale = self.opened.agreement.encoding.target.noise_scale
        least = {}
        for part in parents:
            eta = holding.least(part, parents)
            if np.isfinite(eta):
                least[part] = eta / scale**2
        sent = history.last_sent(participation.id)
        if sent is None:
            return Before(least=least)
        of_then = sent.of(participation.id)
        assert of_then is not None  # it was sent something then
        assert of_then.path is not None
        path = self.opened.folder / of_then.path
        reward = decode_reward(read_reward(path), str(path))
        return Before(
            least=least,
            reward=replace(reward, party=participation.name),
            only_own_changed=only_own_changed(self.opened, participation),
        )


def held_parts(opened: OpenedRound) -> list[str]:
    """Parts of earlier rounds that some party of this one holds, and that take no part in it.

    Without those of which nothing was kept for this model: they are not counted.
    """
    active = _active_parts(opened, opened.past.parties)
    parents = opened.before.parents
    holdings = [opened.before.holding(one.id) for one in opened.past.parties]
    kept: set[str] = set()
    for past in opened.before.rounds:
        if past.agreement == opened.past.agreement:
            kept |= _active_parts(opened, past.parties)
    kept -= opened.before.erased | opened.forgotten
    held = []
    for part in sorted(kept - active):
        if any(np.isfinite(holding.least(part, parents)) for holding in holdings):
            held.append(part)  # noqa: PERF401 -- a loop reads better
    return held


def _active_parts(opened: OpenedRound, parties: tuple[Participation, ...]) -> set[str]:
    batches = opened.after.batches
    return {part for one in parties for batch in one.batches for part in batches[batch].parts}


def only_own_changed(opened: OpenedRound, participation: Participation) -> bool:
    """Whether nothing but a recipient's own rows changed since it was sent a model."""
    past = opened.past
    sent = opened.before.last_sent(participation.id)
    if sent is None or sent.agreement != past.agreement:
        return False
    if (sent.rho, sent.contributions) != (past.rho, past.contributions):
        return False
    of_then = sent.of(participation.id)
    if of_then is not None and participation.most > of_then.most:
        return False
    return _batches_of_others(sent.parties, participation.id) == _batches_of_others(
        past.parties, participation.id
    )


def _batches_of_others(parties: tuple[Participation, ...], party: str) -> set[str]:
    return {batch for one in parties if one.id != party for batch in one.batches}
