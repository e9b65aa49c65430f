"""Theorem 1's promises, over random monotone and submodular games."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairpool as fp
from tests.support.games import tables

pytestmark = pytest.mark.filterwarnings("ignore:fairness and stability conflict:fairpool.FairpoolWarning")

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
    """Every coalition has a member who receives at least what the coalition has, for any rewards."""
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


@given(tables(least=2), st.data(), rhos)
def test_f4_more_valuable_data_earns_more(v, data, rho):
    n = len(v).bit_length() - 1
    i = data.draw(st.integers(0, n - 1))
    base = data.draw(st.integers(0, 2**n - 1)) | 1 << i
    masks = np.arange(len(v))
    after = v + data.draw(st.integers(1, 9)) * ((masks & base) == base)  # still monotone: only supersets gain
    before_scheme, after_scheme = scheme_of(v), scheme_of(after)
    found = fp.check_strict_monotonicity(
        before_scheme.game, i, before_scheme.rewards(rho), after_scheme.game, after_scheme.rewards(rho)
    )
    assert found.holds, found
    assert found.why.startswith(f'"{i}" receives') or "already received all" in found.why


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
    with pytest.raises(ValueError, match=r'party "1": target 4.8 is below its own value 5 \(R4\); use rho <= 0.92008'):
        fp.realise(scheme.game, scheme.rewards(1), rng=0)


@pytest.mark.parametrize("rho", [-0.1, 1.1, float("nan"), float("inf")])
def test_rho_outside_0_to_1_is_refused(rho):
    with pytest.raises(ValueError, match=r"rho .* is outside 0 .. 1"):
        scheme_of([0, 7, 5, 8]).rewards(rho)


def test_an_unknown_word_for_rho_is_refused():
    with pytest.raises(ValueError, match=r'rho "kind" is unknown; give a number in 0 .. 1, or one of fair, rational'):
        scheme_of([0, 7, 5, 8]).rewards("kind")


@pytest.mark.parametrize("phi", [[1.0], [1.0, np.nan], [[1.0, 2.0]]])
def test_contributions_must_be_one_per_party(phi):
    with pytest.raises(ValueError, match="are not one finite number for each of the 2 parties"):
        fp.RewardScheme(fp.TableGame([0, 7, 5, 8]), phi)
