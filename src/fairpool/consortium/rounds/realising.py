"""From rewards to models in a round: who holds what, and how much noise there is."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from fairpool.compute.workers import Workers
from fairpool.consortium.learning import Learning
from fairpool.consortium.rounds.context import RoundContext
from fairpool.consortium.rounds.contribution import Contribution
from fairpool.consortium.rounds.kept import Pins
from fairpool.consortium.rounds.needed_rows import needed_rows
from fairpool.consortium.rounds.part_data import data_of
from fairpool.consortium.rounds.part_noise import PartNoise
from fairpool.consortium.rounds.remains import Remains
from fairpool.errors import DataError
from fairpool.notes import Note
from fairpool.realisation import ModelReward
from fairpool.realisation.reward_file import decode_reward, read_reward
from fairpool.rounds.held import Unit
from fairpool.rounds.history import PastRound
from fairpool.rounds.release import Before, RoundReward, realise_round
from fairpool.tables.arrays import FloatArray
from fairpool.values import InformationGain


@dataclass(eq=False, kw_only=True)
class RoundRealiser:
    """Makes the models of a round; not frozen, since it remembers what it gave to whom.

    Attributes:
        learning: The model.
        context: What was released before.
        contributions: Everybody's, in the game's order.
        rho: What is asked for.
        workers: Who is told about it.
        results: What each party receives, once it is known.
        pins: The noise of each part in new models, by its variance in squared units of the target.
        notes: What the operator should know.
    """

    learning: Learning
    context: RoundContext
    contributions: tuple[Contribution, ...]
    rho: float | str
    workers: Workers
    results: tuple[RoundReward, ...] = ()
    pins: Mapping[str, Pins] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    def __call__(self, game: InformationGain, rewards: FloatArray) -> tuple[ModelReward, ...]:
        """One model per party, so that everything it then holds is worth its reward."""
        preparation = self.learning.preparation
        settings = preparation.configuration.rewards
        released = {}
        for one in self.contributions:
            files = self.context.history.files_with(one.id, settings.colluding)
            released[one.data.name] = files
        source = PartNoise(
            learning=self.learning,
            context=self.context,
            contributions=self.contributions,
            workers=self.workers,
        )
        self.results = realise_round(
            game,
            rewards,
            units=[*self._active_units(), *self._held_units()],
            before=[self._before(one) for one in self.contributions],
            source=source,
            covariance=settings.covariance,
            colluding=settings.colluding,
            released=released,
            public=self.learning.public,
            declared=preparation.encoding.made_up(),
        )
        self.pins = source.pins
        return tuple(result.model for result in self.results)

    # What there is.

    def _active_units(self) -> list[Unit]:
        # Rows that are shared by agreement need not hide among others.
        are_hidden = needed_rows(self.learning).fewest > 0
        units = []
        for one in self.contributions:
            batch_of = {}
            for name in one.assignment.batches.active:
                for part in one.assignment.batches.batches[name].parts:
                    batch_of[part] = name if are_hidden else ""
            for part, data in one.parts.items():
                unit = Unit(
                    part=part,
                    party=one.data.name,
                    data=data,
                    batch=batch_of[part],
                    is_active=part not in one.assignment.spent_parts,
                    stands=part in one.assignment.standing,
                )
                units.append(unit)
        return units

    def _held_units(self) -> list[Unit]:
        """Parts that somebody holds, and that take no part any longer.

        Also such as were sent to nobody, of rows that somebody holds from an earlier part.
        """
        history = self.context.history
        names = {one.id: one.data.name for one in self.contributions}
        active = {part for one in self.contributions for part in one.parts}
        holdings = [history.holding(one.id) for one in self.contributions]
        parents = history.parents
        remains = Remains(context=self.context, contributions=self.contributions)
        units = []
        lost = 0
        for part in sorted(parents.keys() - active):
            if all(np.isinf(holding.least(part, parents)) for holding in holdings):
                continue
            left = remains.of(part)
            if left is None:
                lost += history.parts[part].rows
            elif left.rows:
                # Of a party that has left, nobody here is called as it was.
                party = history.parts[part].party
                name = names.get(party, f"{party} (left)")
                data = data_of(
                    left.arrays,
                    self.learning.built.model,
                    name=name,
                    rows=left.rows,
                    inputs=len(self.learning.preparation.encoding.features),
                )
                units.append(Unit(part=part, party=name, data=data, is_active=False))
        if lost:
            text = (
                f"{lost} row(s) that were released before and take no part now are not counted in"
                " what parties hold: nothing is kept of them for this model"
            )
            self.notes.append(Note(code="held rows not counted", text=text))
        return units

    # What each recipient has.

    def _before(self, contribution: Contribution) -> Before:
        """What a recipient has."""
        history = self.context.history
        holding = history.holding(contribution.id)
        parents = history.parents
        for one in self.contributions:
            parents |= one.assignment.batches.parents
        scale = self.learning.preparation.encoding.target.noise_scale
        least = {}
        for part in parents:
            eta = holding.least(part, parents)
            if np.isfinite(eta):
                least[part] = eta / scale**2
        sent = history.last_sent(contribution.id)
        if sent is None:
            return Before(least=least)
        return Before(
            least=least,
            reward=self._model_of(sent, contribution),
            only_own_changed=self._are_others_as_in(sent, contribution),
        )

    def _model_of(self, sent: PastRound, contribution: Contribution) -> ModelReward:
        """The model that a party was sent, from the file that is still there."""
        participation = sent.of(contribution.id)
        assert participation is not None  # it was sent something then
        assert participation.path is not None
        path = self.context.folder / participation.path
        content = read_reward(path)
        if hashlib.sha256(content).hexdigest() != participation.file:
            raise DataError(
                f"{path}: not the model that was released in round {sent.number}, as the ledger"
                " tells it; restore it from a backup"
            )
        # It may have been renamed since.
        return replace(decode_reward(content, str(path)), party=contribution.data.name)

    def _are_others_as_in(self, sent: PastRound, contribution: Contribution) -> bool:
        """Whether nothing but a recipient's own rows changed since it was sent a model."""
        if self.context.learns_anew or sent.agreement != self.context.agreement_digest:
            return False
        concept = self.learning.preparation.configuration.valuation.contributions
        if (sent.rho, sent.contributions) != (self.rho, concept):
            return False
        participation = sent.of(contribution.id)
        if participation is not None and self._most(contribution) > participation.most:
            return False  # it wants to hold more than it did
        before: set[str] = set()
        told_before: set[str] = set()
        for participation in sent.parties:
            if participation.id != contribution.id:
                before |= {*participation.batches}
                told_before |= participation.told
        now: set[str] = set()
        told_now: set[str] = set()
        for one in self.contributions:
            if one.id != contribution.id:
                now |= one.assignment.batches.active
                told_now |= one.assignment.batches.active - one.assignment.spent
        # What could not be told then may be told now, where other terms were agreed on.
        return before == now and told_now <= told_before

    def _most(self, contribution: Contribution) -> float:
        """The share of everything that a party wants to hold at most."""
        sections = self.learning.preparation.configuration.parties
        return next(one.share_wanted for one in sections if one.permanent_id == contribution.id)
