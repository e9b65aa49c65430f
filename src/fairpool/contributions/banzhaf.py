"""The Banzhaf index, another solution concept that suits Theorem 1 (App. D.3, footnote)."""

import numpy as np

from fairpool.coalitions import with_party, without_party
from fairpool.contributions.contributions import Contributions, exactly
from fairpool.values import Game


def banzhaf(game: Game) -> Contributions:
    """Each party's average marginal contribution over all coalitions of the others, each as likely.

    Paper: App. D.3, footnote to party monotonicity. Unlike Shapley values they need not sum to v_N.

    >>> from fairpool import TableGame
    >>> banzhaf(TableGame([0, 7, 5, 8]))
    Contributions([5. 3.], banzhaf)
    """
    v = game.values()
    return exactly([np.mean(with_party(v, i) - without_party(v, i)) for i in range(game.n)], "banzhaf")
