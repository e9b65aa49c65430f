"""Cases that a literal reading of the paper gets wrong: one test per case, named after it."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool.realisation.noise import label_noise
from tests.support.examples import MODELS, P, labels, make_parties


def scheme_of(v, names=None):
    game = fp.TableGame(v, names)
    return fp.RewardScheme(game, fp.shapley(game))


def test_phi_equals_phi_star_puts_no_constraint_on_rho():
    twins = scheme_of([0, 4, 4, 6])
    assert twins.rho_rational == twins.rho_stable == np.inf
    assert twins.rewards("stable").tolist() == [6, 6]


@pytest.mark.filterwarnings("ignore:.*identical row:fairpool.FairpoolWarning")
def test_twins_tie_although_floating_point_tells_them_apart():
    a, b = make_parties([9, 7], 0)
    for name, model in MODELS.items():
        game = fp.InformationGain(model, [a, b, fp.Party("twin", b.X, b.y)])
        phi = fp.shapley(game)
        scheme = fp.RewardScheme(game, phi)
        assert scheme.lesser(1) == scheme.lesser(2), name
        assert {1, 2} <= set(scheme.lesser(1))
        assert scheme.rewards(0.7)[1] == scheme.rewards(0.7)[2]
        # Even where one is larger by a rounding error, in either direction.
        for i in (1, 2):
            values = phi.values.copy()
            values[i] *= 1 + 4e-16
            assert {1, 2} <= set(fp.RewardScheme(game, values).lesser(3 - i))


def test_phi_0_gets_nothing_for_rho_above_0_and_all_as_welfare():
    v = [0, 4, 0, 4, 3, 6, 3, 6]
    scheme = scheme_of(v)
    assert scheme.rewards(1e-6)[1] == 0
    assert scheme.rho_rational > 0
    welfare = scheme.rewards("welfare")
    assert welfare[1] == 6
    found = fp.check_incentives(scheme.game, scheme.contributions, welfare)
    assert found["F1"].holds is False
    assert found["R5"].holds is False


def test_phi_0_receives_the_prior():
    parties = [*make_parties([9, 7], 0), fp.Party("empty", np.empty((0, P)), [])]
    for model in MODELS.values():
        reward = fp.collaborate(parties, model, rho=0.5).models[2]
        assert (reward.target, reward.value, reward.eta) == (0, 0, np.inf)
        X = np.ones((3, P))
        np.testing.assert_allclose(
            reward.predict(X), model.posterior(np.empty((0, P)), []).predict(X)
        )


def test_v_n_0_means_no_rewards_and_a_clear_warning():
    parties = [fp.Party("a", np.zeros((3, P)), [1, 2, 3]), fp.Party("b", np.zeros((2, P)), [4, 5])]
    model = fp.BayesianLinearRegression(0.1, bias=False)
    with pytest.warns(
        fp.FairpoolWarning,
        match="everybody's data together is worth v_N = 0: there is nothing to give",
    ):
        result = fp.collaborate(parties, model)
    assert result.rewards.tolist() == [0, 0]
    assert "receives nothing" in result.explain()[0]


def test_rho_r_and_rho_s_above_1_are_clipped_when_used_and_reported_true():
    result = fp.collaborate(make_parties([9, 8], 0), MODELS["gp"], rho="stable")
    assert result.scheme.rho_stable > 1
    assert result.rho == 1
    assert result.to_dict()["rho_stable"] == result.scheme.rho_stable


def test_rho_s_0_is_a_conflict_that_names_the_coalition():
    v = [0, 5, 3, 6, 3, 6, 6, 6]  # b and c together have all; a contributes most
    game = fp.TableGame(v, ["a", "b", "c"])
    with pytest.warns(
        fp.FairpoolWarning,
        match=r"fairness and stability conflict \(rho_s = 0\): {b, c} have data worth",
    ):
        scheme = fp.RewardScheme(game, fp.shapley(game))
    assert scheme.rho_stable == 0
    assert (scheme.rewards("stable") == 6).all()


def test_r_below_v_is_refused_with_party_values_and_rho_r():
    scheme = scheme_of([0, 7, 5, 8], ["a", "b"])
    with pytest.raises(
        ValueError,
        match=r'party "b": target 4.8 is below its own value 5 \(R4\); use rho <= 0.92008',
    ):
        fp.realise(scheme.game, scheme.rewards("fair"), 0)


def test_r_at_the_ends_snaps_to_no_noise_and_all_noise():
    game = fp.InformationGain(MODELS["gp"], make_parties([5, 6], 0))
    best, own = fp.realise(game, [game.total * (1 - 1e-12), game.alone[1] * (1 + 1e-12)], 0)
    assert (best.eta, own.eta) == (0, np.inf)


@pytest.mark.filterwarnings("ignore:.*identical row:fairpool.FairpoolWarning")
def test_sampled_phi_has_errors_safe_c_i_and_undecided_fairness():
    a, b, c, d = make_parties([9, 7, 12, 5], 3)
    game = fp.InformationGain(MODELS["gp"], [a, b, c, d, fp.Party("twin", b.X, b.y)])
    exact = fp.RewardScheme(game, fp.shapley(game))
    for seed in range(20):
        phi = fp.shapley(game, "sampled", seed)
        assert (phi.standard_errors > 0).all()
        scheme = fp.RewardScheme(game, phi)
        assert {1, 4} <= set(scheme.lesser(1))
        assert {1, 4} <= set(scheme.lesser(4))
        low, high = scheme.rho_stable_interval
        assert low - 1e-9 <= exact.rho_stable <= high + 1e-9
        found = fp.check_incentives(game, phi, scheme.rewards("stable"))
        assert found["stable"].holds  # exactly, whatever the sampling error
        assert found["R6"].holds is not False
        for condition in ("F1", "F2", "F3", "F4", "R5", "Shapley fair"):
            assert found[condition].holds is None
            assert "sampled" in found[condition].why


def test_sampled_r6_is_undecided_only_where_the_order_is():
    game = fp.TableGame([0, 4, 3, 6], ["a", "b"])
    r = [6.0, 3.5]
    for errors, expected in (([0.0, 0.0], True), ([0.1, 0.1], True), ([2.0, 2.0], None)):
        phi = fp.Contributions(np.array([3.5, 2.5]), np.array(errors), "sampled", 100)
        assert fp.check_incentives(game, phi, r)["R6"].holds is expected
    three = fp.TableGame([0, 4, 3, 6, 1, 5, 4, 7], ["a", "b", "c"])
    phi = fp.Contributions(np.array([4.0, 3.0, 2.9]), np.array([0.1, 0.1, 0.1]), "sampled", 100)
    found = fp.check_incentives(three, phi, [7.0, 4.5, 2.0])["R6"]
    assert found.holds is None  # c may contribute as much as b, and would then have to receive 4
    assert "within sampling error" in found.why
    assert fp.check_incentives(three, phi, [7.0, 2.0, 2.0])["R6"].holds is False
    # By the estimates it fails, since {b, c} have 4; but if c contributes more than b, only {b}
    # matters to b.
    assert fp.check_incentives(three, phi, [7.0, 3.5, 4.0])["R6"].holds is None


def test_exact_is_the_default_while_values_are_affordable():
    game = fp.InformationGain(MODELS["gp"], make_parties([2] * 10, 0))
    assert fp.shapley(game).method == "exact"


@pytest.mark.filterwarnings(
    "ignore:the best noise variance:fairpool.FairpoolWarning"
)  # of tiny coalitions
def test_hyperparameters_are_fixed_before_valuing():
    """One model serves every coalition, and values are monotone.

    Fitted per coalition they would not be.
    """
    parties = make_parties([10, 10, 10], 0)
    start = fp.GaussianProcess(1.0 * RBF(1.0), 0.5)
    pooled = [np.concatenate([getattr(p, a) for p in parties]) for a in ("X", "y")]
    fixed = start.fit_hyperparameters(*pooled)
    assert fp.check_properties(fp.InformationGain(fixed, parties))["monotone"].holds
    broken = 0
    for seed in range(5):
        parties = make_parties([10, 10, 10], seed)
        v = np.zeros(8)
        for mask in range(1, 8):
            C = [p for i, p in enumerate(parties) if mask >> i & 1]
            X, y = (np.concatenate([getattr(p, a) for p in C]) for a in ("X", "y"))
            v[mask] = fp.InformationGain(start.fit_hyperparameters(X, y), C).total
        broken += fp.check_properties(fp.TableGame(v))["monotone"].holds is False
    assert broken >= 4


def test_mnlp_gain_that_is_not_monotone_voids_theorem_1_and_says_which():
    rng = np.random.default_rng(0)
    good, bad = make_parties([30, 30], 0)
    liar = fp.Party("liar", bad.X, -10 * bad.y)
    X = rng.standard_normal((50, P))
    game = fp.ValidationGain(MODELS["gp"], [good, liar], X, labels(X, rng))
    found = fp.check_properties(game)
    assert found["monotone"].holds is False
    assert "liar" in found["monotone"].why
    with pytest.warns(fp.FairpoolWarning) as said:
        scheme = fp.RewardScheme(game, fp.shapley(game))
    texts = " ".join(str(w.message) for w in said)
    assert game.total < 0
    assert "there is nothing to give, and all rewards are 0" in texts
    assert not scheme.rewards(0.5).any()
    mild = fp.ValidationGain(
        MODELS["gp"], [good, fp.Party("liar", bad.X, bad.y + 0.8)], X, labels(X, rng)
    )
    with pytest.warns(
        fp.FairpoolWarning, match=r"Theorem 1's promises do not hold: the values are not monotone"
    ):
        fp.RewardScheme(mild, fp.shapley(mild))


def test_negative_contributions_are_named_and_get_nothing():
    game = fp.TableGame([0, 5, 0.5, 4], ["a", "b"])
    with pytest.warns(fp.FairpoolWarning) as said:
        scheme = fp.RewardScheme(game, fp.shapley(game))
    texts = [str(w.message) for w in said]
    assert '"b" contribute less than nothing; their rewards are 0' in texts
    assert any(
        'not monotone (adding "b" to {a} lowers its value from 5 to 4)' in text for text in texts
    )
    assert scheme.rewards(0.5).tolist() == [4, 0]


@pytest.mark.filterwarnings("ignore:Theorem 1:fairpool.FairpoolWarning")
def test_values_above_the_total_leave_no_rational_rho():
    game = fp.TableGame([0, 5, 6, 4.5, 1, 5, 6, 5], ["a", "b", "c"])
    scheme = fp.RewardScheme(game, [3.0, 2.5, 0.5])
    with pytest.raises(
        ValueError,
        match="no rho is \"rational\": some coalition's data is worth more than everybody's",
    ):
        scheme.rewards("rational")


def test_training_on_reward_data_keeps_own_noise_and_predicts_with_it():
    """Own rows keep s2, the others' have s2 + eta; nothing is refitted.

    Predictions add s2, never eta.
    """
    model = fp.GaussianProcess(2.0 * RBF(0.5), 0.3)
    parties = make_parties([8, 8], 0)
    game = fp.InformationGain(model, parties)
    reward = fp.realise(game, [game.total, (game.alone[1] + game.total) / 2], 0)[1]
    np.testing.assert_allclose(1 / reward.posterior.scale**2, np.repeat([0.3 + reward.eta, 0.3], 8))
    assert reward.posterior.model is model
    far = np.full((1, P), 1e3)
    assert reward.predict(far)[1][0] == pytest.approx(2.0 + 0.3)


def test_two_releases_to_colluding_parties_reveal_no_more_than_the_better_one():
    eta = [0.3, 0.9]
    z = dict(label_noise("nested", eta, (100_000,), np.random.default_rng(0)))
    # Equal standardised noise would give y exactly: the combination that cancels it leaves plenty
    # here.
    a = 1 / (1 - np.sqrt(eta[0] / eta[1]))
    assert np.var(a * z[0] + (1 - a) * z[1]) > 0.3
    fixed = dict(label_noise("standardised", [0.3], (100,), np.random.default_rng(0)))[0]
    other = dict(label_noise("standardised", [0.9], (100,), np.random.default_rng(0)))[0]
    np.testing.assert_allclose(a * fixed + (1 - a) * other, 0, atol=1e-12)


def test_exact_gp_reward_file_is_written_only_by_agreement(tmp_path):
    game = fp.InformationGain(MODELS["gp"], make_parties([5, 6], 0))
    reward = fp.realise(game, [game.total] * 2)[0]
    with pytest.raises(
        ValueError, match="share_inputs=True; otherwise use Bayesian linear regression"
    ):
        reward.save(tmp_path / "r")
    reward.save(tmp_path / "r", share_inputs=True)
    assert fp.load_reward(tmp_path / "r").holds_inputs_of_others


def test_information_gain_never_looks_at_y_so_copies_and_bad_labels_are_reported():
    a, b = make_parties([10, 10], 0)
    garbage = fp.Party("p1", b.X, np.random.default_rng(0).uniform(-99, 99, 10))
    values = [fp.InformationGain(MODELS["gp"], [a, party]).values() for party in (b, garbage)]
    np.testing.assert_array_equal(*values)
    result = fp.collaborate([a, garbage], MODELS["gp"], rho=0.1)
    assert result.residuals[1] > 10
    doubled = fp.Party("p1", np.vstack([b.X, b.X]), np.concatenate([b.y, b.y]))
    assert fp.InformationGain(MODELS["gp"], [a, doubled]).alone[1] > values[0][2]
    with pytest.warns(fp.FairpoolWarning, match='"p1" has 20 row.* exactly, in 10 groups'):
        fp.collaborate([a, doubled], MODELS["gp"], rho=0.1)


def test_infinite_noise_is_a_row_that_tells_nothing():
    a, b = make_parties([5, 6], 0)
    silent = fp.Party("p1", b.X, b.y, np.inf)
    game = fp.InformationGain(MODELS["gp"], [a, silent])
    assert game.alone[1] == 0
    assert game.total == pytest.approx(game.alone[0])


def test_a_rho_that_follows_the_values_may_break_f4_and_the_verdict_says_for_which_rho_it_holds():
    """Theorem 1 proves F4 for a fixed rho; "stable" and "rational" move with the values."""
    before, after = (
        fp.TableGame([0, 0, 10, 12, 0, 7, 13, 14]),
        fp.TableGame([0, 0, 10, 12, 0, 7, 13, 18]),
    )
    schemes = [fp.RewardScheme(game, fp.shapley(game)) for game in (before, after)]
    moving = [scheme.rewards("stable") for scheme in schemes]
    assert fp.check_strict_monotonicity(before, 0, moving[0], after, moving[1]).holds is False
    fixed = [scheme.rewards(schemes[0].rho_stable) for scheme in schemes]
    assert fp.check_strict_monotonicity(before, 0, fixed[0], after, fixed[1]).holds is True
    verdict = fp.check_incentives(before, schemes[0].contributions, moving[0])["F4"]
    assert "a rho that stays the same" in verdict.why
    given = fp.check_incentives(before, schemes[0].contributions.values, moving[0])["F4"]
    assert given.holds is None  # contributions of unknown origin prove nothing


@pytest.mark.filterwarnings("ignore:fairness and stability:fairpool.FairpoolWarning")
def test_only_welfare_gives_something_for_nothing():
    v = np.array([0, 5, 3, 6, 3, 6, 6, 6])
    scheme = scheme_of(np.concatenate([v, v]), ["a", "b", "c", "idle"])
    assert scheme.rho_stable == 0
    assert scheme.rewards("stable").tolist() == [6, 6, 6, 0]
    assert scheme.rewards("welfare").tolist() == [6, 6, 6, 6]


@pytest.mark.filterwarnings("ignore:Theorem 1:fairpool.FairpoolWarning")
def test_who_has_more_alone_than_all_together_leaves_no_rational_rho():
    game = fp.TableGame([0, 5, 0.5, 4])
    with pytest.warns(fp.FairpoolWarning, match="contribute less than nothing"):
        scheme = fp.RewardScheme(game, fp.shapley(game))
    assert scheme.rho_rational == -np.inf
    with pytest.raises(ValueError, match='no rho is "rational"'):
        scheme.rewards("rational")


def test_contributions_of_nothing_although_there_is_something_are_reported():
    twins = fp.TableGame([0, 4, 4, 4])
    with pytest.warns(fp.FairpoolWarning, match="nobody's contribution is above 0"):
        assert not fp.RewardScheme(twins, fp.leave_one_out(twins)).rewards(0.5).any()


def test_an_unreachable_target_is_refused_even_where_no_rho_binds():
    with pytest.raises(ValueError, match=r"target 3 is below its own value 4 .R4.; use rho <= 1"):
        fp.realise(fp.TableGame([0, 4, 4, 6]), [6, 3], 0)


def test_twins_tie_even_where_rounding_is_large():
    rng = np.random.default_rng(0)
    model = fp.GaussianProcess(1e5 * RBF(1e3), 1e-4)
    for _ in range(20):
        X, other = rng.standard_normal((6, P)), rng.standard_normal((9, P))
        game = fp.InformationGain(
            model, [fp.Party(n, x, x[:, 0]) for n, x in (("a", X), ("b", X), ("c", other))]
        )
        scheme = fp.RewardScheme(game, fp.shapley(game))
        assert scheme.phi[0] == scheme.phi[1]


@pytest.mark.parametrize("noise", [1e-2, 1e-4, 1e-6])
def test_dtc_with_every_input_inducing_equals_the_gp_at_tiny_noise(noise):
    parties = make_parties([12, 9], 0)
    X = np.vstack([p.X for p in parties])
    kernel = RBF(2.0)
    exact = fp.InformationGain(fp.GaussianProcess(kernel, noise), parties).total
    for U in (X, np.vstack([X, X])):  # and inducing points that coincide change nothing
        sparse = fp.InformationGain(fp.SparseGaussianProcess(kernel, noise, U), parties).total
        assert sparse == pytest.approx(exact, rel=1e-7)


def test_a_single_row_of_the_others_is_known_from_the_precision_and_said_so(tmp_path):
    a = make_parties([9], 0)[0]
    game = fp.InformationGain(MODELS["blr"], [a, fp.Party("one", [[3.25, -1.5, 1.0]], [2.0])])
    reward, _ = fp.realise(game, (game.alone + game.total) / 2, None)
    with pytest.raises(ValueError, match='party "one" has 1 distinct row'):
        reward.save(tmp_path / "r")


def test_the_centre_of_a_cluster_of_one_row_counts_as_that_row():
    a, b = make_parties([20, 20], 0)
    far = fp.Party("far", np.vstack([b.X, [[50.0, 50.0, 50.0]]]), np.append(b.y, 1.0))
    U = fp.inducing_points(np.vstack([a.X, far.X]), 6, rng=0)
    game = fp.InformationGain(fp.SparseGaussianProcess(RBF(), 0.1, U), [a, far])
    assert fp.realise(game, [game.total] * 2, 0)[0].holds_inputs_of_others
    safe = fp.inducing_points(np.vstack([a.X, far.X]), 6, rng=0, least_rows=3)
    assert len(safe) < len(U)
    game = fp.InformationGain(fp.SparseGaussianProcess(RBF(), 0.1, safe), [a, far])
    assert not fp.realise(game, [game.total] * 2, 0)[0].holds_inputs_of_others


def test_noise_that_is_not_nested_never_leaves(tmp_path):
    game = fp.InformationGain(MODELS["blr"], make_parties([9, 8], 0))
    reward = fp.realise(game, (game.alone + game.total) / 2, 0, noise="standardised")[0]
    with pytest.raises(ValueError, match="is for evaluation"):
        reward.save(tmp_path / "r")
