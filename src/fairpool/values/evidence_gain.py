"""How much better a coalition's data predicts everybody's labels: what information gain cannot see.

With l(C) = log p(y_C | X_C) the log marginal likelihood of a coalition's data,

    v''_C = sum over all parties j of [ l(C + j) - l(C - j) - l(j) ]

where C + j is C with j and C - j is C without it: how much better j's labels are explained after
C's data (j's own aside) than by j's own data alone. Party j is a null player of its own term, so
its labels cannot vouch for themselves. It is agreement, and symmetric: what i's data does for j's
labels is what j's does for i's. Beside a liar honest parties lose, too.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairpool.coalitions import members, with_party, without_party
from fairpool.compute.workers import Workers, workers_of
from fairpool.information import Explained, LabelledSpace
from fairpool.models import Model
from fairpool.parties import PartyData
from fairpool.tables.arrays import FloatArray
from fairpool.values.game import Evaluator, Game
from fairpool.values.information_gain import InformationGain


class EvidenceGain(Game):
    """v''_C, how well C's data predicts the labels of everybody else, in nats.

    Beyond the paper: its values never look at labels. It can be negative, and is not monotone.

    Args:
        model: A Gaussian process, sparse Gaussian process, or Bayesian linear regression.
        parties: The parties; for a model with weights, some or all of them by their summaries.
    """

    def __init__(self, model: Model, parties: Sequence[PartyData]) -> None:
        self._prepare(InformationGain(model, parties))

    @classmethod
    def of(cls, information: InformationGain) -> "EvidenceGain":
        """Of the same parties; what is computed for both is computed once, if this comes first."""
        game = cls.__new__(cls)
        game._prepare(information)
        return game

    def _prepare(self, information: InformationGain) -> None:
        self.information = information
        self.names = information.names

    @cached_property
    def space(self) -> LabelledSpace:
        """The parties' data with their labels."""
        information = self.information
        return information.model.labelled_space(information.pool, information.space)

    @cached_property
    def judged(self) -> LabelledSpace:
        """The same, as labels are judged in it."""
        information = self.information
        return information.model.judged_space(information.pool, information.space)

    @cached_property
    def _alone(self) -> FloatArray:
        """l(j) of each party [n], less what its labels would have as pure noise."""
        return self.space.explained_by(np.eye(self.n, dtype=bool)).log_evidence

    def explained(self, executor: Workers | Executor | None = None) -> Explained:
        """v_C and fit_C of all 2**n coalitions; the information gains are kept in their game."""
        information = self.information
        with workers_of(executor) as workers:
            information.model.refuse_too_many_rows(information.rows, workers.here)
            explained = self.space.explained(workers)
        information.adopt(explained.v)
        return explained

    def all_values(self, workers: Workers) -> FloatArray:
        """All values [2**n], from the same factors as the information gains."""
        return agreement(self.explained(workers).log_evidence)

    def value_of_mask(self, mask: int) -> float:
        """v''_C of one coalition."""
        membership = np.zeros((1, self.n), dtype=bool)
        membership[0, list(members(mask))] = True
        return float(self.evaluator.values_of(membership)[0])

    @property
    def evaluator(self) -> Evaluator:
        """What values coalitions, here or elsewhere; this game, where all values are known."""
        return self if self.tabulated else _AgreementOfSome(space=self.space, alone=self._alone)

    @property
    def rounding_error(self) -> float:
        """How far rounding may put a value off, which has 2 n + 1 likelihoods, whose v_C count."""
        return (2 * self.n + 1) * self.information.rounding_error

    def __repr__(self) -> str:
        names = ", ".join(self.names)
        return f"EvidenceGain({type(self.information.model).__name__}, {self.n} parties: {names})"


def agreement(log_evidence: FloatArray) -> FloatArray:
    """v''_C of all coalitions [2**n], from l of all coalitions [2**n].

    What is a sum over parties in l cancels, so that log p(y_C | X_C) less any such sum will do.
    """
    n = len(log_evidence).bit_length() - 1
    values = np.zeros_like(log_evidence)
    for j in range(n):
        adds = with_party(log_evidence, j) - without_party(log_evidence, j)
        values.reshape(-1, 2, 1 << j)[:] += adds[:, None]
        values -= log_evidence[1 << j] - log_evidence[0]
    return values


@dataclass(frozen=True, eq=False, kw_only=True)
class _AgreementOfSome:
    """v''_C of some coalitions, each from the n + 1 coalitions that differ in one party at most.

    Attributes:
        space: The data with labels.
        alone: l(j) [n].
    """

    space: LabelledSpace
    alone: FloatArray

    @property
    def n(self) -> int:
        """The number of parties."""
        return self.space.n

    def values_of(self, S: NDArray[np.bool_]) -> FloatArray:
        """v''_C [N], of memberships [N, n]."""
        n = self.n
        values = np.full(len(S), -float(self.alone.sum()))
        here = self.space.explained_by(S).log_evidence
        for j in range(n):
            flipped = S.copy()
            flipped[:, j] = ~flipped[:, j]
            there = self.space.explained_by(flipped).log_evidence
            values += np.where(S[:, j], here - there, there - here)
        return values

    def cost(self, sizes: NDArray[np.int64]) -> FloatArray:
        """The same for every coalition, nearly: most of its neighbours are of its size."""
        return np.ones(len(sizes))

    def digest(self) -> str:
        """A hash of all that the values depend on."""
        return f"evidence-{self.space.digest()}"
