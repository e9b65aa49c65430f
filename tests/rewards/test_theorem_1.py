"""Theorem 1's promises, over random monotone and submodular games."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairpool as fp
from fairpool.errors import RewardError
from tests.support.games import tables

pytestmark = pytest.mark.filterwarnings(
    "ignore:fairness and stability conflict:fairpool.FairpoolWarning"
)

rhos = st.floats(0.01, 1)


def scheme_of(v):
    game = fp.TableGame(v)
    return fp.RewardScheme(game, fp.shapley(game))


def verdicts(scheme, rho):
    return fp.check_incentives(scheme.game, scheme.contributions, scheme.rewards(rho))


@given(tables(), rhos)
def test_rewards_are_valid_fair_and_rho_shapley_fair(v, rho):
    found = verdicts(scheme_of(v), rho)
    for condition in ("R1", "R2", "R3", "R5", "F1", "F2", "F3", "F4", "rho-Shapley fair"):
        assert found[condition].holds, found[condition]


@given(tables())
def test_rho_1_is_purely_shapley_fair(v):
    assert verdicts(scheme_of(v), "fair")["Shapley fair"].holds


@given(tables())
def test_rho_0_is_maximum_welfare(v):
    scheme = scheme_of(v)
    assert (scheme.rewards("welfare") == v[-1]).all()
    assert verdicts(scheme, "welfare")["R7"].holds


@given(tables())
def test_rho_r_is_where_individual_rationality_switches(v):
    scheme = scheme_of(v)
    assert verdicts(scheme, "rational")["R4"].holds
    above = max(scheme.rho_rational * 1.001, 0.001)
    if above <= 1:
        assert verdicts(scheme, min(scheme.rho_rational * 0.999, 1.0))["R4"].holds
        found = verdicts(scheme, above)["R4"]
        assert found.holds is False
        assert found.witness.numbers["r_i"] < found.witness.numbers["v_i"]


@given(tables())
def test_rho_s_is_where_stability_switches(v):
    scheme = scheme_of(v)
    assert scheme.rho_stable <= scheme.rho_rational
    found = verdicts(scheme, "stable")
    assert found["R6"].holds
    assert found["stable"].holds
    assert found["R4"].holds
    above = max(scheme.rho_stable * 1.001, 0.001)
    if above <= 1:
        assert verdicts(scheme, min(scheme.rho_stable * 0.999, 1.0))["R6"].holds
        assert verdicts(scheme, above)["R6"].holds is False


@given(tables(), rhos)
def test_r6_holds_exactly_when_definition_3_does(v, rho):
    found = verdicts(scheme_of(v), rho)
    assert found["R6"].holds == found["stable"].holds


@given(tables(), st.lists(st.floats(0, 1), min_size=5, max_size=5))
def test_definition_3_equals_its_words(v, shares):
    """Each coalition has a member who receives at least what the coalition has, for any rewards."""
    game = fp.TableGame(v)
    r = np.array(shares[: game.n]) * game.total
    found = fp.check_incentives(game, fp.shapley(game), r)["stable"]
    best = [max(r[i] for i in range(game.n) if C >> i & 1) for C in range(1, len(v))]
    gain = max(v_C - most for v_C, most in zip(v[1:], best, strict=True))
    assert found.holds == (gain <= 1e-9 * game.total)
    if not found.holds:
        assert found.witness.numbers["v_C"] - found.witness.numbers["r_i"] == pytest.approx(gain)


@given(tables(), rhos)
def test_a_smaller_rho_gives_nobody_less(v, rho):
    scheme = scheme_of(v)
    assert (scheme.rewards(rho / 2) >= scheme.rewards(rho)).all()


@st.composite
def improvements(draw):
    """A game, one of its parties, and the game after that party's data got better."""
    v = draw(tables(least=2))
    n = len(v).bit_length() - 1
    i = draw(st.integers(0, n - 1))
    base = draw(st.integers(0, 2**n - 1)) | 1 << i
    masks = np.arange(len(v))
    return (
        v,
        i,
        v + draw(st.integers(1, 9)) * ((masks & base) == base),
    )  # still monotone: only supersets gain


@given(improvements(), rhos)
def test_f4_more_valuable_data_earns_more(improvement, rho):
    v, i, after = improvement
    before_scheme, after_scheme = scheme_of(v), scheme_of(after)
    found = fp.check_strict_monotonicity(
        before_scheme.game,
        i,
        before_scheme.rewards(rho),
        after_scheme.game,
        after_scheme.rewards(rho),
    )
    assert found.holds, found
    assert found.why.startswith(f'"{i}" receives') or "already received all" in found.why


@pytest.mark.parametrize("solution", [fp.shapley, fp.banzhaf])
@given(improvement=improvements())
def test_party_monotonicity_nobody_gains_more_than_whose_data_got_better(solution, improvement):
    v, i, after = improvement
    before, later = fp.TableGame(v), fp.TableGame(after)
    found = fp.check_party_monotonicity(before, i, solution(before), later, solution(later))
    assert found.holds, found
    assert "rises more than that of" in found.why


def test_party_monotonicity_fails_with_a_witness_and_says_when_it_does_not_apply():
    before = fp.TableGame([0, 2, 2, 3], names=["a", "b"])
    after = fp.TableGame([0, 2, 2, 4], names=["a", "b"])
    phi = fp.shapley(before).values
    found = fp.check_party_monotonicity(before, "a", phi, after, phi + np.array([0.25, 0.75]))
    assert found.holds is False
    assert found.witness.parties == ("a", "b")
    assert found.witness.coalition == ("b",)
    assert found.witness.numbers == {"phi'_i - phi_i": 0.25, "phi'_j - phi_j": 0.75}
    sampled = fp.Contributions(phi, np.full(2, 0.1), "sampled", 10)
    assert fp.check_party_monotonicity(before, "a", sampled, after, phi).holds is None
    assert (
        "did not become more valuable"
        in fp.check_party_monotonicity(before, "a", phi, before, phi).why
    )
    with pytest.raises(ValueError, match="the games are of 2 and 1 parties"):
        fp.check_party_monotonicity(before, "a", phi, fp.TableGame([0, 1]), [1.0])


@given(tables())
def test_shapley_fairness_breaks_individual_rationality_where_app_c_says(v):
    """App. C: v_i / phi_i > v_N / phi*, the same as R4's verdict at rho = 1, and as rho_r < 1."""
    scheme = scheme_of(v)
    phi = scheme.contributions.values
    expected = [
        str(i) for i in range(len(phi)) if v[1 << i] * phi.max() > v[-1] * phi[i] * (1 + 1e-9)
    ]
    assert list(scheme.worse_off_when_fair) == expected
    assert verdicts(scheme, "fair")["R4"].holds == (not expected)
    assert (scheme.rho_rational < 1 - 1e-9) == bool(expected)  # 1, but for rounding


@given(tables(), rhos)
def test_the_benefit_of_a_smaller_rho_is_larger_for_who_contributes_less(v, rho):
    """Sec. 4.2: r_i at rho over r_i at 1 is (phi* / phi_i)^(1 - rho)."""
    scheme = scheme_of(v)
    ratios, fair = scheme.benefit_ratios(rho), scheme.rewards("fair")
    paid = fair > 0
    np.testing.assert_allclose(
        ratios[paid], (scheme.rewards(rho) / np.where(paid, fair, 1.0))[paid], rtol=1e-9
    )
    assert (ratios >= 1).all()
    order = np.argsort(scheme.phi[paid])
    assert (np.diff(ratios[paid][order]) <= 1e-12).all()
    assert (ratios[~paid] == 1).all()
    assert np.isinf(scheme.benefit_ratios("welfare")[~paid]).all()


@given(tables())
def test_shapley_values_themselves_are_fair(v):
    """Proposition 1."""
    game = fp.TableGame(v)
    phi = fp.shapley(game)
    found = fp.check_incentives(game, phi, phi.values)
    assert all(found[condition].holds for condition in ("F1", "F2", "F3"))


def test_example_1():
    scheme = scheme_of([0, 7, 5, 8])
    assert scheme.contributions.values.tolist() == [5, 3]
    np.testing.assert_allclose(scheme.rewards("fair"), [8, 4.8])
    assert verdicts(scheme, 1)["R4"].holds is False
    assert scheme.rho_rational == pytest.approx(0.92009, abs=5e-6)
    np.testing.assert_allclose(scheme.rewards("rational"), [8, 5])
    with pytest.raises(
        ValueError,
        match=r'party "1": target 4.8 is below its own value 5 \(R4\); use rho <= 0.92008',
    ):
        fp.realise(scheme.game, scheme.rewards(1), rng=0)


@pytest.mark.parametrize("rho", [-0.1, 1.1, float("inf"), np.float32(2)])
def test_rho_outside_0_to_1_is_refused(rho):
    with pytest.raises(ValueError, match=r"rho .* is outside 0 .. 1"):
        scheme_of([0, 7, 5, 8]).rewards(rho)


@pytest.mark.parametrize(
    ("rho", "echo"),
    [
        (None, "None"),
        (True, "True"),
        (float("nan"), "nan"),
        (b"fair", "b'fair'"),
        ([0.5], "[0.5]"),
        ([0.5] * 5000, "[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, ...]"),
        (1 + 0j, "(1+0j)"),
    ],
)
def test_a_rho_that_is_no_number_is_called_that(rho, echo):
    expected = (
        f"rho {echo} is not a number; give one in 0 .. 1, or one of fair, rational, stable, welfare"
    )
    with pytest.raises(RewardError, match=f"^{re.escape(expected)}$"):
        scheme_of([0, 7, 5, 8]).rewards(rho)


def test_an_unknown_word_for_rho_is_refused():
    with pytest.raises(
        ValueError,
        match=r'rho "kind" is unknown; give a number in 0 .. 1, or one of fair, rational',
    ):
        scheme_of([0, 7, 5, 8]).rewards("kind")


@pytest.mark.parametrize("phi", [[1.0], [1.0, np.nan], [[1.0, 2.0]]])
def test_contributions_must_be_one_per_party(phi):
    with pytest.raises(ValueError, match="are not one finite number for each of the 2 parties"):
        fp.RewardScheme(fp.TableGame([0, 7, 5, 8]), phi)
