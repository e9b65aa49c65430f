"""How far a party's labels are from what the others' data predict: information gain never looks at
labels.
"""

from collections.abc import Sequence

import numpy as np

from fairpool.errors import DataError
from fairpool.parties import Party
from fairpool.tables.arrays import FloatArray
from fairpool.values import InformationGain


def held_out_residuals(game: InformationGain, parties: Sequence[Party] | None = None) -> FloatArray:
    """Per party, how far its labels are from what the others' data predict, in predicted standard
    deviations [n].

    The root mean square of (y - mean) / standard deviation over the party's rows, by the model
    trained on all others: near 1 where its labels agree with theirs, much larger where they do not
    (or where its rows are of another kind). nan where there is nothing to compare.

    Args:
        game: The values, with every party's data or summary.
        parties: The rows to look at; by default the game's own.
    """
    if parties is None:
        if game.pool is None:
            raise DataError("summaries have no rows to look at; give some rows of each party")
        parties = game.pool.parties
    found = np.full(game.n, np.nan)
    for i, party in enumerate(parties):
        others = [j for j in range(game.n) if j != i]
        if len(party) and sum(game.rows[j] for j in others):
            mean, variance = game.posterior(others).predict(party.X)
            if party.noise_variance is not None:  # its labels have a noise of their own
                variance = variance - game.model.noise_variance + party.noise_variance
            found[i] = np.sqrt(np.mean((party.y - mean) ** 2 / variance))
    return found
