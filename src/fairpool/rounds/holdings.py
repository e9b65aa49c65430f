"""What a party already holds of the others' rows: each part's least noise so far."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Holding:
    """What was released to one recipient, over all rounds.

    All releases together tell no more about labels than the rows with the least noise each was ever
    released with, since a row's noise is one path in eta (`fairpool.keyed_noise.paths`).

    Attributes:
        etas: By part, the least variance of the noise that it was released with, in squared units
            of the target; parts that were never released are lacking.
    """

    etas: Mapping[str, float] = field(default_factory=dict)

    def least(self, part: str, parents: Mapping[str, str | None]) -> float:
        """The least noise of a part's rows, which may have been in other parts before.

        Args:
            part: Its name.
            parents: Of every part, the one that its rows were in before.
        """
        least = np.inf
        name: str | None = part
        while name is not None:
            least = min(least, self.etas.get(name, np.inf))
            name = parents.get(name)
        return float(least)

    def after(self, released: Mapping[str, float]) -> "Holding":
        """With one release more."""
        etas = dict(self.etas)
        for part, eta in released.items():
            if np.isfinite(eta):
                etas[part] = min(eta, etas.get(part, np.inf))
        return Holding(etas=etas)
