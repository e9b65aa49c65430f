"""Whether two rounds have the same model, and a party the same data, as far as values tell."""

import numpy as np

from fairpool.compute.checkpoint import digest_of
from fairpool.models import Model
from fairpool.parties import Party, PartyData, Pool
from fairpool.rounds.round_game import RoundGame
from fairpool.tables.arrays import FloatArray

DISTANCES = (0.0, 0.01, 0.1, 1.0, 10.0)
"""How far fixed inputs lie from the first, so that length scales of every size are told apart."""

ROWS_LOOKED_AT = 4
"""So many rows of each round are probed as well, where rows are known."""

RELATIVE = 1e-9
ABSOLUTE = 1e-12


def why_not_comparable(before: RoundGame, after: RoundGame) -> str:
    """Why rewards of two rounds cannot be compared part by part; empty where they can be."""
    inputs = before.parties[0].inputs
    if after.parties[0].inputs != inputs:
        return (
            f"round {before.number} has {inputs} inputs and round {after.number}"
            f" {after.parties[0].inputs}, so that their models differ"
        )
    if before.encoding != after.encoding:
        return (
            "how tables become numbers (scaling, levels or columns) was fixed anew, so that nats of"
            " the two rounds are not of one kind"
        )
    if not same_model(before, after):
        return (
            "the model was learned anew or set otherwise, so that nats of the two rounds are not"
            " of one kind"
        )
    return ""


def same_model(before: RoundGame, after: RoundGame) -> bool:
    """Whether both rounds' models give rows the same values.

    Two models that give all single rows and all pairs of them the same values have the same prior
    covariance there, up to signs. The rows are some fixed ones and the first of each round.
    """
    first = before.model
    second = after.model
    if first is second:
        return True
    if type(first) is not type(second) or first.noise_variance != second.noise_variance:
        return False
    if first.label_sets != second.label_sets:
        return False
    X = np.concatenate([_fixed_inputs(before.parties[0].inputs), _rows(before), _rows(after)])
    return bool(np.allclose(_probed(first, X), _probed(second, X), rtol=RELATIVE, atol=ABSOLUTE))


def _fixed_inputs(inputs: int) -> FloatArray:
    """A few inputs on a line that is parallel to no axis [5, p]."""
    start = np.sin(np.arange(1.0, inputs + 1))
    direction = np.cos(np.arange(1.0, inputs + 1))
    return np.asarray(start + np.outer(DISTANCES, direction))


def _rows(game: RoundGame) -> FloatArray:
    """The first rows of a round that can be looked at [at most 4, p]."""
    rows = [party.shown_rows.X[:ROWS_LOOKED_AT] for party in game.parties]
    return np.concatenate(rows)[:ROWS_LOOKED_AT]


def _probed(model: Model, X: FloatArray) -> FloatArray:
    """The values of all single rows of X and of all pairs."""
    m = len(X)
    rows = tuple(Party(str(k), X[k : k + 1], np.zeros(1)) for k in range(m))
    first, second = np.triu_indices(m)
    S = np.zeros((len(first), m), dtype=bool)
    S[np.arange(len(first)), first] = True
    S[np.arange(len(first)), second] = True
    return model.space(Pool(rows, model)).values_of(S)


def fingerprint(party: PartyData, model: Model) -> str:
    """A hash of what a party's data are worth in any company."""
    rows = party.shown_rows
    if len(rows) == len(party):
        return digest_of(rows.X, rows.y, rows.noise_of_rows(model.noise_variance))
    # Sums: what the values depend on is then all in the party's own space.
    return model.space(Pool((party,), model)).digest()
