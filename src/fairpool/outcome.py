"""What a collaboration came to: every stage's result, and nothing about how it is shown."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairpool.audit import (
    AgainstAlone,
    Uncheckable,
    compare_with_alone,
    held_out_residuals,
    uncheckable_information,
)
from fairpool.contributions import Contributions
from fairpool.notes import Note, texts_of
from fairpool.realisation import Models
from fairpool.rewards import RewardScheme, check_incentives
from fairpool.rewards.discount import capped, discounted
from fairpool.rewards.more_rows import Outlook, outlook
from fairpool.rewards.overlap import pairwise_overlap
from fairpool.rounds.release import RoundReward
from fairpool.tables.arrays import FloatArray
from fairpool.values import InformationGain, tolerance_of
from fairpool.verdicts import Verdicts


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Outcome:
    """Every stage's result.

    Attributes:
        game: v_C, the values.
        contributions: phi, the Shapley values or what else was chosen.
        scheme: Theorem 1, with rho_r and rho_s.
        rho: The number that was used.
        asked: What was asked for, that number or a word.
        rewards: r [n].
        incentives: The verdicts on R1-R7, F1-F4 and Definitions 1-3.
        models: One `ModelReward` per party, by place or by name: `models["north"]`.
        notes: What the operator should know.
        kept: s [n], how much each party keeps of what a reward adds to its own data: less than 1
            where its labels harm the others and the operator chose to discount; None: all.
        most: Shares of v_N [n], beyond which a party does not want to hold anything; None: all want
            whatever they are due.
        received: In a round, what each party is sent and holds then; none of a collaboration that
            is no round.
    """

    game: InformationGain
    contributions: Contributions
    scheme: RewardScheme
    rho: float
    asked: float | str
    rewards: FloatArray
    incentives: Verdicts
    models: Models
    notes: tuple[Note, ...]
    kept: FloatArray | None = None
    most: FloatArray | None = None
    received: tuple[RoundReward, ...] = ()

    @cached_property
    def held_incentives(self) -> Verdicts | None:
        """The verdicts on what parties hold, where somebody holds something else than its reward.

        What was released in earlier rounds cannot be taken back, and a party that is sent nothing
        may hold less than it is due. Nobody's model is worth more than all data of this round, as
        far as its data go: what is held beyond counts as that.
        """
        tolerance = tolerance_of(self.game)
        holds = np.array([one.holds for one in self.received])
        if not len(holds) or (np.abs(holds - self.rewards) <= tolerance).all():
            return None
        return check_incentives(self.game, self.contributions, np.minimum(holds, self.game.total))

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes in words."""
        return texts_of(self.notes)

    @cached_property
    def residuals(self) -> FloatArray | None:
        """Per party, how far its labels are from the others' prediction; None without rows.

        See `held_out_residuals`.
        """
        if not any(len(rows) for rows in self.game.pool.rows):
            return None
        return held_out_residuals(self.game)

    @cached_property
    def against_alone(self) -> tuple[AgainstAlone, ...]:
        """Per party, how its reward predicts its own rows beside its own data's model.

        See `compare_with_alone`.
        """
        return compare_with_alone(self.game, self.models)

    @cached_property
    def uncheckable(self) -> tuple[Uncheckable | None, ...]:
        """Per party, what of its data has to be taken on trust, see `uncheckable_information`."""
        return uncheckable_information(self.game)

    @cached_property
    def overlap(self) -> FloatArray | None:
        """How much the data of two parties tell twice [n, n], see `pairwise_overlap`."""
        return pairwise_overlap(self.game)

    @cached_property
    def outlook(self) -> Outlook:
        """What more rows like its own would bring to each party.

        Not to one whose reward is less than the scheme's, as was agreed or as it wants: more rows
        are not what it lacks.
        """
        rewards = self.scheme.rewards(self.rho)
        found = outlook(self.game, self.contributions.concept, rho=self.rho, rewards=rewards)
        is_lessened = rewards - self.rewards > tolerance_of(self.game)
        parties = []
        for more, lessened in zip(found.parties, is_lessened, strict=True):
            parties.append(None if lessened else more)
        return Outlook(parties=tuple(parties), why_not=found.why_not)

    @cached_property
    def reward_intervals(self) -> FloatArray:
        """Where the rewards of exact contributions lie [n, 2], see `RewardScheme`."""
        intervals = self.scheme.reward_intervals(self.asked)
        return np.column_stack([self._as_agreed(intervals[:, end]) for end in (0, 1)])

    def rewards_at(self, rho: float) -> FloatArray:
        """What another rho would give [n]."""
        return self._as_agreed(self.scheme.rewards(rho))

    def _as_agreed(self, rewards: FloatArray) -> FloatArray:
        """Rewards [n] after discounts, and no more than each party wants."""
        if self.kept is not None:
            rewards = discounted(rewards, alone=self.game.alone, kept=self.kept)
        if self.most is not None:
            rewards = capped(rewards, alone=self.game.alone, most=self.most * self.game.total)
        return rewards
