"""What every state between two rounds would give: values, contributions, rewards.

A state is no round: no model is made for it, and Theorem 1's formula is taken as it stands, even
where a given rho would leave somebody with less than it has alone.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairpool.compute.workers import Workers
from fairpool.information import Space
from fairpool.parties import Pool
from fairpool.rewards.discount import discounted
from fairpool.rewards.scheme import SilentScheme
from fairpool.rounds.round_game import Terms
from fairpool.rounds.transition import Gathering, Transition
from fairpool.tables.arrays import FloatArray, read_only
from fairpool.values import EXACT_LIMIT, Game, TableGame
from fairpool.values.game import Evaluator

ALWAYS_ENUMERATED = 12
"""Up to so many parties, all coalitions are fewer than those of a sample."""


class TabulatedState(TableGame):
    """A state of which all values are known.

    Args:
        values: [2**n].
        rounding_error: How far rounding may put a value off.
    """

    properties_proved = True

    def __init__(self, values: FloatArray, rounding_error: float) -> None:
        super().__init__(values)
        self._rounding_error = rounding_error

    @property
    def rounding_error(self) -> float:
        """How far rounding may put a value off."""
        return self._rounding_error


class SampledState(Game):
    """A state of which some coalitions are valued.

    Args:
        space: Where they are valued.
        rounding_error: How far rounding may put a value off.
    """

    properties_proved = True

    def __init__(self, space: Space, rounding_error: float) -> None:
        self.names = tuple(str(i) for i in range(space.n))
        self.space = space
        self._rounding_error = rounding_error

    @property
    def enumerable(self) -> bool:
        """Not even where there are few parties: somebody decided that."""
        return False

    def value_of_mask(self, mask: int) -> float:
        """v_C by one factorisation."""
        return self.space.value(mask)

    @property
    def evaluator(self) -> Evaluator:
        """The space."""
        return self.space

    @property
    def rounding_error(self) -> float:
        """How far rounding may put a value off."""
        return self._rounding_error


class States:
    """The games and rewards of all states; it keeps what it computed, since parties share states.

    Args:
        transition: The two rounds.
        exact: Whether all coalitions are valued.
        workers: Who values them.
    """

    def __init__(self, transition: Transition, *, exact: bool, workers: Workers) -> None:
        self.transition = transition
        self.exact = exact
        self._workers = workers
        self._tables: dict[frozenset[str], FloatArray] = {}
        self._games: dict[Gathering, Game] = {}
        self._schemes: dict[tuple[Gathering, Terms, int], SilentScheme] = {}
        self._rewards: dict[tuple[Gathering, bool, int], FloatArray] = {}

    def reward(self, party: str, gathering: Gathering, *, new_terms: bool, seed: int) -> float:
        """What a party would receive.

        Args:
            party: Its id; it takes part.
            gathering: Who takes part, with which data.
            new_terms: Whether by the later round's terms.
            seed: Of samples.
        """
        i = self.transition.ids_of(gathering).index(party)
        rewards = self.undiscounted(gathering, new_terms=new_terms, seed=seed)
        reward = discounted(
            rewards[[i]],
            alone=self.game(gathering).alone[[i]],
            kept=np.array([self.transition.kept_by(party, new=new_terms)]),
        )
        return float(reward[0])

    def undiscounted(self, gathering: Gathering, *, new_terms: bool, seed: int) -> FloatArray:
        """Everybody's reward by Theorem 1 [n]."""
        key = (gathering, new_terms, seed)
        if key not in self._rewards:
            rho = self.transition.terms(new=new_terms).rho
            scheme = self.scheme(gathering, new_terms=new_terms, seed=seed)
            self._rewards[key] = read_only(scheme.rewards(rho))
        return self._rewards[key]

    def scheme(self, gathering: Gathering, *, new_terms: bool, seed: int) -> SilentScheme:
        """Theorem 1 for a state, for any rho."""
        terms = replace(self.transition.terms(new=new_terms), rho="fair")
        key = (gathering, terms, seed)
        if key not in self._schemes:
            game = self.game(gathering)
            self._schemes[key] = terms.scheme(game, seed=seed, workers=self._workers)
        return self._schemes[key]

    def game(self, gathering: Gathering) -> Game:
        """The values of a state."""
        if gathering not in self._games:
            self._games[gathering] = self._game(gathering)
        return self._games[gathering]

    def _game(self, gathering: Gathering) -> Game:
        ids = self.transition.ids_of(gathering)
        pool, space = self._space(ids, gathering.updated)
        # That of the state alone: a party that left may have had much larger numbers.
        rounding = space.rounding_error + self.transition.model.rounding_error(pool)
        if self.exact:
            everybody = self.transition.everybody
            bits = [everybody.index(party) for party in ids]
            return TabulatedState(self._table(gathering.updated)[_masks(bits)], rounding)
        is_round = gathering in (self.transition.start, self.transition.end)
        if len(ids) <= (EXACT_LIMIT if is_round else ALWAYS_ENUMERATED):
            return TabulatedState(space.values(self._workers), rounding)
        return SampledState(space, rounding)

    def _table(self, updated: frozenset[str]) -> FloatArray:
        """All values with everybody of either round [2**n]: every state's are among them."""
        if updated not in self._tables:
            _, space = self._space(self.transition.everybody, updated)
            self._tables[updated] = space.values(self._workers)
        return self._tables[updated]

    def _space(self, ids: tuple[str, ...], updated: frozenset[str]) -> tuple[Pool, Space]:
        # Not by `Pool.of`: of an earlier round and a later one, two parties may share a name.
        model = self.transition.model
        pool = Pool(self.transition.data_of(ids, updated), model)
        return pool, model.space(pool)


def _masks(bits: list[int]) -> NDArray[np.int64]:
    """In a table of more parties, the masks of all coalitions of some of them [2**n]."""
    masks = np.zeros(1, dtype=np.int64)
    for bit in bits:
        masks = np.concatenate([masks, masks | (1 << bit)])
    return masks
