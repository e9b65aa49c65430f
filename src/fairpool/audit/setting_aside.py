"""Parties are judged one after another: the worst is set aside, and the others are judged again.

Beside a liar honest parties agree less with everybody, too. So only the party whose agreement is
lowest is ever named; the others are compared without it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fairpool.audit.agreement import Agreement
from fairpool.information import LabelledSpace


@dataclass(frozen=True, eq=False, kw_only=True)
class Judged:
    """What judging the parties one after another gave.

    Attributes:
        first: How all of them agree.
        z: Of each party, when it was judged last.
        share: Of each party, when it was judged last: its agreement over that of honest labels,
            from 0 to 1.
        chance: Of each party that was set aside or is disputed, how likely honest parties are so.
        set_aside: Who was set aside.
        disputed: Two that were left and disagree: which of them is right, nobody can tell.
        left: Who was left.
    """

    first: Agreement
    z: dict[int, float]
    share: dict[int, float]
    chance: dict[int, float]
    set_aside: frozenset[int]
    disputed: frozenset[int]
    left: tuple[int, ...]


def set_aside(
    space: LabelledSpace,
    parties: tuple[int, ...],
    *,
    level: float,
    agreement: Callable[[LabelledSpace, tuple[int, ...]], Agreement],
) -> Judged:
    """Set parties aside until the rest agree as well as the model makes one expect.

    Args:
        space: Everybody's data with labels.
        parties: Who is judged, two at least.
        level: A party is set aside if honest ones would be as low with this chance at most.
        agreement: How some parties agree.
    """
    first = agreement(space, parties)
    now = first
    left = parties
    z: dict[int, float] = {}
    share: dict[int, float] = {}
    chance: dict[int, float] = {}
    while True:
        z.update(zip(left, now.z.tolist(), strict=True))
        share.update(zip(left, now.shares.tolist(), strict=True))
        if now.chance > level:
            disputed: frozenset[int] = frozenset()
            break
        if len(left) == 2:
            disputed = frozenset(left)
            chance.update(dict.fromkeys(left, now.chance))
            break
        worst = left[int(np.argmin(now.z))]
        chance[worst] = now.chance
        left = tuple(party for party in left if party != worst)
        now = agreement(space, left)
    return Judged(
        first=first,
        z=z,
        share=share,
        chance=chance,
        set_aside=frozenset(parties) - frozenset(left),
        disputed=disputed,
        left=left,
    )
