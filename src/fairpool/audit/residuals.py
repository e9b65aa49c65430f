"""How far a party's labels are from what the others' data predict."""

from collections.abc import Sequence

import numpy as np

from fairpool.parties import Party
from fairpool.tables.arrays import FloatArray
from fairpool.values import InformationGain


def held_out_residuals(game: InformationGain, parties: Sequence[Party] | None = None) -> FloatArray:
    """Per party, how far its labels are from what the others' data predict [n].

    Information gain never looks at labels; this does. In predicted standard deviations:
    The root mean square of (y - mean) / standard deviation over the party's rows, by the model
    trained on all others: near 1 where its labels agree with theirs, much larger where they do not
    (or where its rows are of another kind). nan where there is nothing to compare, as
    for a party whose rows cannot be looked at.

    Args:
        game: The values, with every party's data or summary.
        parties: The rows to look at; by default the game's own, as far as they are known.
    """
    residuals = np.full(game.n, np.nan)
    for i, party in enumerate(game.pool.rows if parties is None else parties):
        others = [j for j in range(game.n) if j != i]
        if not len(party) or not sum(game.rows[j] for j in others):
            continue
        residuals[i] = game.model.residual(game.posterior(others), party)
    return residuals
