"""Batches of contributions that came as sums: nobody knows their rows, so each stays whole.

The rules are those of `fairpool.rounds.batches`: what comes and goes is a batch, and a new one has
enough rows that no earlier one had. A contribution that lists another as earlier has none of its
rows, so that all contributions are of different rows.
"""

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from fairpool.rounds.party_batches import Assignment, Batch, Part, PartyBatches


def assign_sums(
    present: Mapping[str, Part],
    history: PartyBatches,
    *,
    fewest: int,
    spent: Collection[str] = (),
) -> Assignment:
    """Which contributions take part: whole batches, and a new one of enough new rows.

    Args:
        present: The party's contributions, as parts by name, in order.
        history: Its batches so far.
        fewest: How many rows that were in no release before a new batch needs.
        spent: The batches that were in as many files as their rows allow: they leave as soon as
            their contributions can return in a new one.
    """
    active = _whole(present, history)
    batches = dict(history.batches)
    parts = dict(history.parts)
    new = []
    fresh = sum(len(part) for name, part in present.items() if name not in history.parts)
    if fresh >= max(fewest, 1):
        active = [name for name in active if name not in spent]
        taken = {part for name in active for part in batches[name].parts}
        free = [part for name, part in present.items() if name not in taken]
        batch = Batch.of(history.party, free)
        for part in free:
            parts.setdefault(part.name, part)
        batches[batch.name] = batch
        active.append(batch.name)
        new.append(batch.name)
    left = sorted(history.active - set(active))
    left_parts = {part for name in left for part in batches[name].parts}
    names = [part for name in active for part in batches[name].parts]
    return Assignment(
        batches=PartyBatches(
            party=history.party, parts=parts, batches=batches, active=frozenset(active)
        ),
        new=tuple(new),
        left=tuple(left),
        part_names=tuple(names),
        groups=_groups(present, names),
        withdrawn=sum(len(parts[name]) for name in left_parts - present.keys()),
        fewest=fewest,
        spent=frozenset(spent) & frozenset(active),
    )


def _whole(present: Mapping[str, Part], history: PartyBatches) -> list[str]:
    """The batches all of whose contributions are there, active ones first."""
    in_turn = [name for name in history.batches if name in history.active]
    in_turn += [name for name in reversed(list(history.batches)) if name not in history.active]
    whole = []
    taken: set[str] = set()
    for name in in_turn:
        parts = set(history.batches[name].parts)
        if parts <= present.keys() and parts.isdisjoint(taken):
            whole.append(name)
            taken |= parts
    return whole


def _groups(present: Mapping[str, Part], names: list[str]) -> NDArray[np.signedinteger]:
    """For each row of all contributions, the place of its part; -1: it waits."""
    places = [names.index(name) if name in names else -1 for name in present]
    sizes = [len(part) for part in present.values()]
    return np.repeat(np.array(places, np.int16), np.array(sizes, np.int64))
