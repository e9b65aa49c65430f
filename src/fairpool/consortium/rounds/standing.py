"""Batches that lost a few rows, and take part as they were: from what is kept of them.

Their sums are those of the last release, and so is their noise: with some rows gone, neither can be
computed anew. So nobody is told anything new about them. They stand until so many rows have come or
gone that the others can return (`fairpool.rounds.batches`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairpool.consortium.rounds.context import RoundContext
from fairpool.tables.arrays import FloatArray

SAME = 1e-12
"""Noise variances that differ by this share of them differ by rounding."""


def pin_at(pins: Mapping[float, FloatArray], eta: float) -> FloatArray | None:
    """The noise of a part at a variance, both in squared units of the target; None: not kept."""
    for known, noise in pins.items():
        if abs(known - eta) <= SAME * eta:
            return noise
    return None


@dataclass(frozen=True, kw_only=True, eq=False)
class Standing:
    """Which batches can take part without all of their rows.

    Attributes:
        context: What was released before.
        party: The permanent identity of the party whose batches they are.
    """

    context: RoundContext
    party: str

    def may_stand(self, batch: str) -> bool:
        """Whether sums over all its rows are kept, and the noise that every file has on them."""
        context = self.context
        if context.agreement is None:  # sums are of another model
            return False
        agreement = context.agreement_digest
        parts = context.history.batches[batch].parts
        etas = self._etas(parts)
        for part in parts:
            if context.kept.arrays(part, agreement) is None:
                return False
            pins = context.kept.pins(part, agreement)
            if any(pin_at(pins, eta) is None for eta in etas):
                return False
        return True

    def _etas(self, parts: Sequence[str]) -> set[float]:
        """The variances that others would be sent the parts of a batch with.

        Of each recipient the least in a file. A part may have been in another batch before, with
        less; but not the rows that were new in this one.
        """
        history = self.context.history
        others = {one.id for past in history.rounds for one in past.parties} - {self.party}
        etas = set()
        for other in others:
            in_files = history.holding(other).etas
            etas.add(max(in_files.get(part, np.inf) for part in parts))
        return {eta for eta in etas if 0 < eta < np.inf}
