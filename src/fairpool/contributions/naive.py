"""Sec. 4.1.1: two simple schemes that the paper compares with; neither is fair (F3 and F4 fail)."""

import numpy as np

from fairpool.contributions.contributions import Contributions, exactly
from fairpool.values import Game
from fairpool.values.game import check_game


def standalone(game: Game) -> Contributions:
    """v_i: what a party's data is worth by itself.

    Paper: Sec. 4.1.1, scheme (a). It ignores how much others already know.
    """
    check_game(game)
    return exactly(game.alone, "standalone")


def leave_one_out(game: Game) -> Contributions:
    """v_N - v_{N without i}: what is lost when a party leaves.

    Paper: Sec. 4.1.1, scheme (b). Two parties with the same data are both worth nothing by it.
    """
    check_game(game)
    everyone = set(range(game.n))
    return exactly(
        np.array([game.total - game.value(everyone - {i}) for i in range(game.n)]), "leave one out"
    )
