"""Parties are judged one after another: the worst is set aside, and the others are judged again.

Beside a liar honest parties agree less with everybody, too. So only the party whose agreement is
lowest is ever named; the others are compared without it. And it is named only if it disagrees with
two others at least: where one pair alone disagrees, nobody can tell which of the two is right. (A
party that lies only where another's rows are would otherwise have that other one named.)
"""

from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

from fairpool.audit.agreement import Agreement, agreement_of, deviations_of_pairs
from fairpool.compute.workers import Workers
from fairpool.information import LabelledSpace

BAD_PAIR = -3.0
"""Two parties disagree if their evidence is so many deviations below what is expected."""


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
        disputed: Who disagrees with one other alone, in pairs: nobody can tell which is right.
    """

    first: Agreement
    z: dict[int, float]
    share: dict[int, float]
    chance: dict[int, float]
    set_aside: frozenset[int]
    disputed: tuple[frozenset[int], ...]


def set_aside(
    space: LabelledSpace,
    parties: tuple[int, ...],
    *,
    level: float,
    rng: np.random.Generator,
    simulations: int,
    executor: Workers | Executor | None = None,
) -> Judged:
    """Set parties aside until the rest agree as well as the model makes one expect.

    Args:
        space: Everybody's data with labels.
        parties: Who is judged, two at least.
        level: A party is set aside if honest ones would be as low with this chance at most.
        rng: Of the simulations.
        simulations: How many sets of labels are drawn at most, each time.
        executor: Who does the work.
    """
    first: Agreement | None = None
    left = parties
    z: dict[int, float] = {}
    share: dict[int, float] = {}
    chance: dict[int, float] = {}
    named: set[int] = set()
    disputed: list[frozenset[int]] = []
    while len(left) > 1:
        now = agreement_of(space, left, rng=rng, simulations=simulations, executor=executor)
        z.update(zip(left, now.z.tolist(), strict=True))
        share.update(zip(left, now.shares.tolist(), strict=True))
        first = first or now
        if now.chance > level:
            break
        worst = left[int(np.argmin(now.z))]
        others = tuple(party for party in left if party != worst)
        pairs = deviations_of_pairs(space, worst, others, rng=rng, executor=executor)
        chance[worst] = now.chance
        if (pairs <= BAD_PAIR).sum() > 1:
            named.add(worst)
            aside = {worst}
        else:
            other = others[int(np.argmin(pairs))]
            chance[other] = now.chance
            aside = {worst, other}
            disputed.append(frozenset(aside))
        left = tuple(party for party in left if party not in aside)
    assert first is not None  # two at least are judged
    return Judged(
        first=first,
        z=z,
        share=share,
        chance=chance,
        set_aside=frozenset(named),
        disputed=tuple(disputed),
    )
