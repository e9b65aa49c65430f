"""A covariance that hides the others' inputs: worth as much, and what attacks get from it."""

import struct
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import least_squares
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool.parties import Told
from fairpool.realisation import hidden_covariance
from fairpool.realisation.disclosure import Exposure
from fairpool.realisation.hidden_covariance import Spread, hidden, price_notes
from fairpool.realisation.reward_file import decode_reward, reward_bytes
from tests.support.examples import MODELS, P, make_parties

WEIGHTS = [name for name, model in MODELS.items() if hasattr(model, "summarise")]


def realised(name, sizes=(30, 25, 40), covariance="hidden", share=0.5):
    game = fp.InformationGain(MODELS[name], make_parties(sizes, 1))
    rewards = game.alone + share * (game.total - game.alone)
    return game, fp.realise(game, rewards, None, covariance=covariance)


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_it_is_worth_exactly_the_reward_and_predicts_the_same_means(name, share):
    game, models = realised(name, share=share)
    X = np.random.default_rng(0).standard_normal((9, P))
    rewards = game.alone + share * (game.total - game.alone)
    rng = np.random.default_rng(5)
    full = fp.realise(game, rewards, np.random.default_rng(5), covariance="full")
    models = fp.realise(game, rewards, rng)
    for i, (ours, trained) in enumerate(zip(models, full, strict=True)):
        assert ours.posterior.worth == pytest.approx(rewards[i], rel=1e-9)
        np.testing.assert_allclose(ours.predict(X)[0], trained.predict(X)[0], rtol=1e-9, atol=1e-9)
        assert ours.covariance_price >= -1e-9
        assert trained.covariance_price == 0


@pytest.mark.parametrize("name", WEIGHTS)
def test_the_price_is_the_divergence_between_both_posteriors(name):
    game, models = realised(name)
    rewards = game.alone + 0.5 * (game.total - game.alone)
    full = fp.realise(game, rewards, covariance="full")
    for model, trained in zip(models, full, strict=True):
        Bt, B = (one.posterior.factor @ one.posterior.factor.T for one in (model, trained))
        log_determinants = np.linalg.slogdet(B)[1] - np.linalg.slogdet(Bt)[1]
        divergence = (np.trace(np.linalg.solve(B, Bt)) - len(B) + log_determinants) / 2
        assert model.covariance_price == pytest.approx(divergence, rel=1e-6, abs=1e-9)
        assert model.covariance_price > 0


@pytest.mark.parametrize(("box", "told"), [((-2, 2), False), ((1.7, 1.72), True)])
def test_a_high_price_is_told_with_what_helps(box, told):
    """Where the others sit in a narrow box that nobody knows of, hiding it costs much."""
    rng = np.random.default_rng(0)
    parties = []
    for name, (low, high) in {"a": (-2, 2), "b": box, "c": box}.items():
        X = rng.uniform(low, high, (60, 2))
        parties.append(fp.Party(name, X, np.sin(X).sum(axis=1) + 0.1 * rng.standard_normal(60)))
    U = rng.uniform(-2, 2, (15, 2))
    game = fp.InformationGain(fp.SparseGaussianProcess(RBF(0.8), 0.1, U), parties)
    models = fp.realise(game, [game.total] * 3, public=rng.uniform(-2, 2, (500, 2)))
    notes = price_notes(models[:1], game.alone[:1], propose_ranges=True)
    share = models[0].covariance_price / (models[0].value - game.alone[0])
    assert (share > 0.05) == told
    assert [note.party for note in notes] == ["a"] * told
    for note in notes:
        assert f"differs by {models[0].covariance_price:.3g} nats" in note.text
        assert "declare the range of every column" in note.text


@given(st.integers(1, 6), st.floats(1e-15, 50), st.integers(0, 10**6))
def test_kappa_is_found_for_any_reward(d, more, seed):
    rng = np.random.default_rng(seed)
    A, C = rng.standard_normal((2, 2 * d, d)) * 10.0 ** rng.uniform(-2, 2, (2, 1, d))
    model = fp.BayesianLinearRegression(0.5, bias=False)
    own = Told(A.T @ A, rng.standard_normal(d))
    alone = 0.5 * np.linalg.slogdet(np.eye(d) + own.precision)[1]
    trained = model.posterior_from_moments(own.precision + C.T @ C, own.moment, d)
    covered = hidden(trained, own=own, M=C.T @ C, value=alone + more)
    assert covered.posterior.worth == pytest.approx(alone + more, rel=1e-9)


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("ulps", [-3, -1, 1, 2, 3, 10, 1000, 10**6])
def test_who_is_due_its_own_data_alone_is_due_them_up_to_rounding(name, ulps):
    """A correction of rounding errors once made a model worth ten nats of one due eight."""
    game, _ = realised(name)
    for i, alone in enumerate(game.alone):
        trained = game.model.posterior_with_noise(
            game.pool,
            game.space,
            eta=np.where(np.arange(game.n) == i, 0.0, np.inf),
            z=[np.zeros(party.label_draws) for party in game.pool.parties],
        )
        own = game.pool.statistics[i].told
        M = Spread.of(game.model, P, None).gram(own)
        value = alone + ulps * np.spacing(alone)
        covered = hidden(trained, own=own, M=M, value=value)
        assert covered.posterior.worth == pytest.approx(alone, rel=1e-9)
        assert abs(covered.price) < 1e-6


@pytest.mark.parametrize("name", ["sparse", "blr"])
def test_what_stands_for_the_others_lets_the_recipient_add_rows_of_its_own(name):
    """With h and kappa M, the recipient's model is made anew from its own rows, old and new."""
    game, models = realised(name)
    reward, own = models[0], game.pool.statistics[0].told
    others = reward.posterior.others
    again = game.model.posterior_from_moments(
        own.precision + others.precision, own.moment + others.moment, P
    )
    np.testing.assert_allclose(again.weights, reward.posterior.weights, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(again.factor, reward.posterior.factor, rtol=1e-10, atol=1e-12)


def others_gram(reward, own):
    """The attack: the precision, less the prior's and one's own."""
    L = reward.posterior.factor
    return L @ L.T - np.eye(len(L)) - own.precision


@pytest.mark.parametrize("covariance", ["full", "hidden"])
def test_attack_the_others_second_moments(covariance):
    """From a full covariance they come out exactly, whatever the noise; from a hidden one not."""
    game, models = realised("blr", sizes=(60, 60), covariance=covariance)
    own = game.pool.statistics[0].told
    s2 = game.model.noise_variance
    guess = others_gram(models[0], own) * (s2 + models[0].eta)
    truth = game.pool.statistics[1].gram
    error = np.abs(guess - truth).max() / np.abs(truth).max()
    assert error < 1e-9 if covariance == "full" else error > 0.2


@pytest.mark.parametrize("covariance", ["full", "hidden"])
def test_attack_rows_by_least_squares_on_the_features(covariance):
    """Twelve rows of two inputs, 14 inducing points: a full covariance gives them away."""
    rng = np.random.default_rng(2)
    U = rng.uniform(-2, 2, (14, 2))
    model = fp.SparseGaussianProcess(RBF(0.8), 0.1, U)
    X = rng.uniform(-1.5, 1.5, (12, 2))
    parties = [
        fp.Party("a", rng.uniform(-2, 2, (40, 2)), rng.standard_normal(40)),
        fp.Party("b", X, rng.standard_normal(12)),
    ]
    game = fp.InformationGain(model, parties)
    rewards = game.alone + 0.6 * (game.total - game.alone)
    reward = fp.realise(game, rewards, None, covariance=covariance)[0]
    told = others_gram(reward, game.pool.statistics[0].told) * (0.1 + reward.eta)

    def misfit(flat):
        A = model.whitened_features(flat.reshape(-1, 2))
        return (A.T @ A - told)[np.triu_indices(14)]

    best = np.inf
    for start in range(6):
        guess = least_squares(misfit, np.random.default_rng(start).uniform(-1.5, 1.5, 24))
        rows = guess.x.reshape(-1, 2)
        distance = np.linalg.norm(rows[:, None] - X, axis=2)
        best = min(best, float(np.median(distance.min(axis=0))))
    assert best < 1e-4 if covariance == "full" else best > 0.05


def test_a_file_holds_no_last_weights():
    """The network's own last layer predicts from everybody's exact labels, whatever the reward."""
    _, models = realised("network", sizes=(30, 30, 30), share=0.1)
    network = MODELS["network"].features
    content = reward_bytes(models[0], share_inputs=False)
    assert b"last_weights" not in content
    for weight in network.last_weights:
        assert struct.pack("<d", weight) not in content
    assert decode_reward(content, "file").posterior.model.features.last_weights is None


def test_small_parties_are_not_written_to_files(tmp_path):
    _, models = realised("sparse", sizes=(30, 5, 40))
    with pytest.raises(ValueError, match='party "p1" has 5 distinct row') as caught:
        models[0].save(tmp_path / "r")
    assert "and needs 11: 2 reward files" in str(caught.value)
    assert not list(tmp_path.iterdir())
    models[0].save(tmp_path / "agreed", share_inputs=True)
    models[1].save(tmp_path / "r")  # the others are large enough


@pytest.mark.parametrize(
    ("hidden_", "weights", "inputs", "releases", "fewest"),
    [
        (True, 40, 11, 1, 10),
        (True, 40, 1, 1, 60),
        (True, 40, 1, 2, 120),
        (True, 40, 11, 5, 50),
        # Each mean is d numbers, but all means together tell no more than a full covariance.
        (True, 4, 3, 2, 10),
        (True, 4, 3, 19, 12),
        (False, 4, 3, 19, 12),
        (False, 5, 4, 1, 15),
        (False, 40, 10, 1, 246),
        (False, 40, 10, 9, 246),
    ],
)
def test_the_bounds(hidden_, weights, inputs, releases, fewest):
    def problems(rows):
        return Exposure(
            rows={"b": rows},
            releases={"b": releases},
            weights=weights,
            inputs=inputs,
            hidden=hidden_,
        ).problems()

    assert problems(fewest) == []
    (text,) = problems(fewest - 1)
    assert f"needs {fewest}: " in text
    assert ('covariance = "hidden"' in text) is not hidden_
    assert (f"{releases} reward files" in text) is (releases > 1)
    assert ("set colluding" in text) is (hidden_ and releases > 1)


def small_third(share, colluding=None):
    """Three parties, a model of 24 weights on 3 inputs, and 20 rows of the third one."""
    U = np.random.default_rng(3).standard_normal((24, P))
    model = fp.SparseGaussianProcess(RBF(1.5), 0.1, U)
    game = fp.InformationGain(model, make_parties((40, 50, 20), 1))
    rewards = game.alone + np.array(share) * (game.total - game.alone)
    return fp.realise(game, rewards, colluding=colluding)


def test_a_party_whose_rows_are_in_two_files_needs_twice_as_many(tmp_path):
    models = small_third([0.5, 1.0, 1.0])
    assert models[0].exposure.releases == {"p0": 2, "p1": 2, "p2": 2}
    for model in models[:2]:
        with pytest.raises(ValueError, match=r'"p2" has 20 .*needs 36: 2 reward files'):
            model.save(tmp_path / "r")
    models[2].save(tmp_path / "of the third")  # whose own rows are no secret to itself
    small_third([0.5, 1.0, 1.0], colluding=1)[0].save(tmp_path / "alone")


def test_who_receives_nothing_of_the_others_does_not_count(tmp_path):
    models = small_third([0.5, 0.0, 0.5])
    # To the second, who has no such file, two can be held together; to the others, one.
    assert models[0].exposure.releases == {"p0": 1, "p1": 2, "p2": 1}
    models[0].save(tmp_path / "r")


def test_the_message_says_how_many_weights_would_do():
    few = Exposure(rows={"b": 50}, releases={"b": 4}, weights=50, inputs=5, hidden=True)
    (text,) = few.problems()
    assert "needs 100: 4 reward files" in text
    assert "use at most 25 weights or inducing points, add rows" in text
    assert replace(few, weights=25).problems() == []
    assert replace(few, weights=26).problems() != []
    (text,) = replace(few, rows={"b": 9}).problems()  # no model is small enough
    assert "; add rows, set colluding" in text


@pytest.mark.parametrize("colluding", [0, 1.5, True, "all"])
def test_how_many_collude_is_a_count(colluding):
    with pytest.raises(ValueError, match=r"colluding .* is not a whole number from 1"):
        small_third([1.0, 1.0, 1.0], colluding=colluding)


def test_a_row_that_is_there_twice_counts_once(tmp_path):
    parties = make_parties([30, 30], 1)
    copied = fp.Party("p1", np.tile(parties[1].X[:6], (5, 1)), np.tile(parties[1].y[:6], 5))
    game = fp.InformationGain(MODELS["blr"], [parties[0], copied])
    reward = fp.realise(game, (game.alone + game.total) / 2, None)[0]
    with pytest.raises(ValueError, match='party "p1" has 6 distinct row'):
        reward.save(tmp_path / "r")


def test_the_spread_of_public_data_is_taken_where_there_are_some():
    model = MODELS["blr"]
    X = np.random.default_rng(0).standard_normal((500, P)) * [1, 5, 0.1]
    spread = Spread.of(model, P, X)
    assert spread.share == 1
    A = model.whitened_features(X)
    np.testing.assert_allclose(spread.public, A.T @ A / 500)


def test_a_covariance_that_there_is_not_is_refused():
    game = fp.InformationGain(MODELS["blr"], make_parties([5, 6], 0))
    with pytest.raises(ValueError, match='no covariance "foggy"; there are "hidden" and "full"'):
        fp.realise(game, [game.total] * 2, None, covariance="foggy")


@pytest.mark.parametrize("more", [0.0, 1e-16, 1e-14, 1e-12, 1e-9, 1e-3])
def test_a_reward_of_hardly_more_than_ones_own_is_worth_it(more):
    """Where the difference is rounding alone, a search for kappa once went anywhere."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((15, 6))
    B = rng.standard_normal((40, 6))
    R = np.eye(6) + A.T @ A
    value = 0.5 * np.linalg.slogdet(R)[1] * (1 + more)
    pencil = hidden_covariance.Pencil(R, B.T @ B / 40)
    kappa = hidden_covariance._kappa([pencil], value)
    assert 0.5 * np.linalg.slogdet(R + kappa * B.T @ B / 40)[1] == pytest.approx(value, rel=2e-12)
