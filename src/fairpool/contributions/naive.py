"""Sec. 4.1.1: two simple schemes that the paper compares with; neither is fair (F3 and F4 fail)."""

from fairpool.contributions.concept import Concept, Words
from fairpool.contributions.contributions import Contributions, exactly
from fairpool.values import Game
from fairpool.values.game import check_game


def standalone(game: Game) -> Contributions:
    """v_i: what a party's data is worth by itself.

    Paper: Sec. 4.1.1, scheme (a). It ignores how much others already know.
    """
    check_game(game)
    return exactly(game.alone, "standalone", STANDALONE)


def leave_one_out(game: Game) -> Contributions:
    """v_N - v_{N without i}: what is lost when a party leaves.

    Paper: Sec. 4.1.1, scheme (b). Two parties with the same data are both worth nothing by it.
    """
    check_game(game)
    return exactly(game.total - game.without_one, "leave one out", LEAVE_ONE_OUT)


def _measure_standalone(game: Game, **_: object) -> Contributions:
    return standalone(game)


def _measure_leave_one_out(game: Game, **_: object) -> Contributions:
    return leave_one_out(game)


# Both look at one coalition per party, so nothing needs to be sampled, however many parties there
# are. Each number is an average of marginal contributions, if only of a single one. Neither is
# strictly party monotone: what a party adds to other coalitions may rise, and its number stays.

STANDALONE = Concept(
    name="standalone",
    measure=_measure_standalone,
    words=Words(
        letter="what your data are worth by themselves, whatever the other parties have",
        glossary=(
            "What a party's data is worth by itself, whatever the other parties have: the same as"
            " alone, v_i."
        ),
        from_values="what a party's data is worth by itself",
        tells=(
            "As contributions are what parties have alone, the numbers in this letter tell the"
            " largest of these values."
        ),
    ),
    averages_marginals=True,
)

LEAVE_ONE_OUT = Concept(
    name="leave_one_out",
    measure=_measure_leave_one_out,
    words=Words(
        letter="what would be lost if your data were left out and all others' stayed",
        glossary=(
            "What is lost if a party's data is left out and all others' stays. Of two parties whose"
            " data tell the same, neither contributes much, whatever these data are worth."
        ),
        from_values="what is lost if a party leaves and all others stay",
        tells=(
            "As contributions are what is lost without a party, the numbers in this letter tell the"
            " value of all other parties' data together."
        ),
    ),
    averages_marginals=True,
)
