"""Each condition fails where it should, with the witness that shows it."""

import numpy as np
import pytest

import fairpool as fp
from tests.support.examples import MODELS, make_parties

GAME = fp.TableGame([0, 7, 5, 8], names=["a", "b"])
TWINS = fp.TableGame([0, 4, 4, 6], names=["a", "b"])
IDLE = fp.TableGame([0, 4, 0, 4], names=["a", "idle"])


@pytest.mark.parametrize(
    ("game", "rewards", "condition", "why", "parties"),
    [
        (GAME, [8, -1], "R1", '"b" receives -1', ("b",)),
        (GAME, [9, 5], "R2", '"a" receives 9, more than the 8 that {a, b} has', ("a",)),
        (GAME, [7.5, 5], "R3", "nobody in {a, b} receives its whole value 8; the most is 7.5", ()),
        (GAME, [8, 4.8], "R4", '"b" receives 4.8 but has 5 alone', ("b",)),
        (GAME, [8, 8], "R5", 'F3 fails: "a" adds at least as much as "b"', ("a", "b")),
        (
            GAME,
            [7, 6],
            "R6",
            '{a, b} have 8 by themselves, more than the 7 that "a" receives',
            ("a",),
        ),
        (GAME, [8, 5], "R7", "the rewards sum to 13, 81.2% of the largest possible 16", ()),
        (IDLE, [4, 4], "F1", '"idle" adds nothing to any coalition, but receives 4', ("idle",)),
        (
            TWINS,
            [6, 5],
            "F2",
            '"a" and "b" add the same to every coalition, but receive 6 and 5',
            ("a", "b"),
        ),
        (GAME, [7, 8], "F3", "and more to {}, but receives 7, not more than 8", ("a", "b")),
        (
            GAME,
            [8, 6],
            "Shapley fair",
            '"b" receives 6; contributions to the power 1 would give it 4.8',
            ("b",),
        ),
        (
            GAME,
            [6, 8],
            "rho-Shapley fair",
            '"b" contributes less than "a" but does not receive less',
            ("b", "a"),
        ),
        (IDLE, [4, 1], "rho-Shapley fair", '"idle" receives 1', ("idle",)),
        (
            GAME,
            [7, 4.8],
            "stable",
            "all of {a, b} receive at most 7, but have 8 by themselves",
            ("a",),
        ),
    ],
)
def test_failures_have_witnesses(game, rewards, condition, why, parties):
    found = fp.check_incentives(game, fp.shapley(game), rewards)[condition]
    assert found.holds is False
    assert why in found.why
    assert found.witness.parties == parties


def test_rounding_makes_nobody_useful_or_different():
    idle = fp.TableGame([0, 4, 1e-12, 4 + 1e-12], names=["a", "idle"])
    assert fp.check_incentives(idle, fp.shapley(idle), [4, 4])["F1"].holds is False
    twins = fp.TableGame([0, 4, 4 + 1e-12, 6], names=["a", "b"])
    assert fp.check_incentives(twins, fp.shapley(twins), [6, 5])["F2"].holds is False


def test_a_coalition_structure_changes_r2_and_r3():
    game = fp.TableGame([0, 4, 3, 6, 2, 5, 4, 7], names=["a", "b", "c"])
    phi = fp.shapley(game)
    found = fp.check_incentives(game, phi, [6, 5, 2], structure=[{"a", "b"}, {"c"}])
    assert [found[c].holds for c in ("R1", "R2", "R3", "R4")] == [True] * 4
    together = fp.check_incentives(game, phi, [6, 5, 2])
    assert together["R3"].holds is False
    greedy = fp.check_incentives(game, phi, [6, 5, 3], structure=[{0, 1}, {2}])["R2"]
    assert greedy.holds is False
    assert greedy.witness.coalition == ("c",)


@pytest.mark.parametrize(
    ("structure", "text"),
    [
        ([{0}], "leaves out {b}"),
        ([{0, 1}, {1}], "{b}, which is empty or overlaps another"),
        ([{0, 1}, set()], "{}, which is empty or overlaps"),
        ([{0, 2}], "no party 2"),
    ],
)
def test_a_structure_must_be_a_partition(structure, text):
    with pytest.raises(ValueError, match=text):
        fp.check_incentives(GAME, [5, 3], [8, 5], structure=structure)


@pytest.mark.parametrize("rewards", [[1.0], [1.0, np.nan], 3.0])
def test_rewards_must_be_one_per_party(rewards):
    with pytest.raises(ValueError, match="are not one finite number for each of the 2 parties"):
        fp.check_incentives(GAME, [5, 3], rewards)


def test_the_naive_schemes_violate_f3_where_the_paper_says_so():
    """Sec. 4.1.1: raising what party 0 adds to {1} changes neither v_i nor the order by it.

    Shapley values do notice.
    """
    game = fp.TableGame(
        [0, 2, 2, 3, 2, 4, 3, 5], names=["a", "b", "c"]
    )  # a adds more to {c} than b does
    found = fp.check_incentives(game, fp.shapley(game), fp.standalone(game).values)
    assert found["F3"].holds is False
    assert found["F3"].witness.parties == ("a", "b")
    assert fp.check_incentives(game, fp.shapley(game), fp.shapley(game).values)["F3"].holds
    raised = fp.TableGame([0, 2, 2, 3, 2, 4.5, 3, 5], names=["a", "b", "c"])
    for scheme in (fp.standalone, fp.leave_one_out):
        found = fp.check_strict_monotonicity(
            game, "a", scheme(game).values, raised, scheme(raised).values
        )
        assert found.holds is False
        assert found.witness.parties == ("a",)


def test_strict_monotonicity_says_when_it_does_not_apply():
    r = np.array([8.0, 4.8])
    for after, text in (
        ([0, 7, 6, 9], "coalitions without"),
        ([0, 6, 5, 9], "did not become more valuable"),
        ([0, 7.5, 5, 8], "already received all"),
    ):
        found = fp.check_strict_monotonicity(GAME, "a", r, fp.TableGame(after, names=["a", "b"]), r)
        assert found.holds
        assert text in found.why


def test_f4_is_undecided_for_rewards_that_are_not_theorem_1s():
    found = fp.check_incentives(GAME, fp.shapley(GAME), [7, 4.2])
    assert found["F4"].holds is None
    assert "check_strict_monotonicity" in found["F4"].why
    assert found["R5"].holds is None


def test_verdicts_are_had_by_number_and_name():
    found = fp.check_incentives(GAME, fp.shapley(GAME), [8, 5])
    assert found[0] is found["R1"]
    assert len(found[:2]) == 2
    assert [v.condition for v in found] == [
        *(f"R{k}" for k in range(1, 8)),
        *(f"F{k}" for k in range(1, 5)),
        "Shapley fair",
        "rho-Shapley fair",
        "stable",
    ]
    assert "R7: fails -- the rewards sum to 13" in str(found)
    with pytest.raises(KeyError, match="R9"):
        found["R9"]


def test_many_parties_stability_needs_one_coalition_each():
    game = fp.InformationGain(MODELS["blr"], make_parties([3, 9] * 10, 0))
    phi = fp.shapley(game, "sampled", 0)
    scheme = fp.RewardScheme(game, phi)
    assert fp.check_incentives(game, phi, scheme.rewards("stable"))["stable"].holds
    found = fp.check_incentives(game, phi, game.alone)["stable"]
    assert found.holds is False
    assert len(found.witness.coalition) > 1


def test_many_parties_of_unknown_properties_are_undecided():
    X = np.zeros((1, 3))
    game = fp.ValidationGain(MODELS["blr"], make_parties([2] * 20, 0), X, [0.0])
    found = fp.check_incentives(game, np.ones(20), np.ones(20))
    assert [found[c].holds for c in ("R6", "stable", "F1", "R5")] == [None] * 4


@pytest.mark.parametrize(
    ("rewards", "structure", "holds", "why"),
    [
        ([8, 8], None, True, "every reward is as large as it can be"),
        ([9, 8], None, False, '"a" receives 9, more than the 8 that can be given (R2)'),
        (
            [9, 7],
            None,
            False,
            '"a" receives 9, more than the 8',
        ),  # although the sum is the largest possible
        ([7, 5], [{"a"}, {"b"}], True, "every reward is as large as it can be"),
        ([8, 8], [{"a"}, {"b"}], False, '"b" receives 8, more than the 5 that can be given (R2)'),
        ([7, 4], [{"a"}, {"b"}], False, "the rewards sum to 11, 91.7% of the largest possible 12"),
    ],
)
def test_group_welfare_is_that_of_feasible_rewards_in_the_structure(rewards, structure, holds, why):
    found = fp.check_incentives(GAME, fp.shapley(GAME), rewards, structure=structure)["R7"]
    assert (found.holds, why in found.why) == (holds, True)


def test_where_nobody_contributes_anything_definitions_1_and_2_hold_by_their_words():
    """r_i = k phi_i with phi = 0 is true of rewards that are all 0, for any k, and no others."""
    game = fp.TableGame([0, 0, 0, 0], names=["a", "b"])
    for condition in ("Shapley fair", "rho-Shapley fair"):
        assert fp.check_incentives(game, [0, 0], [0, 0])[condition].holds is True
        found = fp.check_incentives(game, [0, 0], [0, 1])[condition]
        assert found.holds is False
        assert found.witness.parties == ("b",)


def test_the_core_and_efficiency_of_game_theory_do_not_suit_rewards_that_can_be_copied():
    """Sec. 4.1 and 4.1.2, footnotes.

    They sum over a coalition, where freely replicable rewards ask for one member.
    """
    rewards = np.array([7.5, 7.0])
    sums = np.array([0, rewards[0], rewards[1], rewards.sum()])
    assert (
        sums >= GAME.values()
    ).all()  # the core: no coalition has more than its members receive together
    assert fp.check_incentives(GAME, fp.shapley(GAME), rewards)["stable"].holds is False
    fair = fp.RewardScheme(GAME, fp.shapley(GAME)).rewards("rational")
    assert fair.sum() > GAME.total  # efficiency would share v_N out; copies cost nothing
    verdicts = fp.check_incentives(GAME, fp.shapley(GAME), fair)
    assert verdicts["R2"].holds
    assert verdicts["R3"].holds
