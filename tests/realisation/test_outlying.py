"""A label far from all others gives its row away, whatever the covariance hides."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool.realisation import outlying
from fairpool.realisation.outlying import LabelSums, View, outlying_rows
from tests.support.examples import MODELS, NOISES, make_parties
from tests.support.reconstruction import locate, mean_beyond_own

ROW = 11
WIDTH = 2.0


def collaboration(far, *, seed=0, share=0.5, covariance="hidden", own=40, p=2):
    """Two parties far above the bound, of which the second has one label that is `far` off."""
    rng = np.random.default_rng(seed)
    model = fp.SparseGaussianProcess(RBF(1.0), 0.1, rng.uniform(-WIDTH, WIDTH, (20, p)))
    parties = []
    for name, size in (("a", own), ("b", 60)):
        X = rng.uniform(-WIDTH, WIDTH, (size, p))
        y = np.sin(X).sum(axis=1) + rng.normal(0, 0.3, size)
        if name == "b":
            y[ROW] += far
        parties.append(fp.Party(name, X, y))
    game = fp.InformationGain(model, parties)
    rewards = game.alone + share * (game.total - game.alone)
    return game, fp.realise(game, rewards, covariance=covariance)[0]


def located(game, reward, seed=0):
    """How far off the attack is: whose features point to what the mean tells?"""
    told = mean_beyond_own(reward, game.pool.statistics[0].told)
    guess = locate(game.model, told, WIDTH, game.pool.inputs, np.random.default_rng(seed))
    return float(np.linalg.norm(guess - game.pool.rows[1].X[ROW]))


@pytest.mark.parametrize("covariance", ["hidden", "full"])
def test_attack_an_outlying_label_locates_its_row_and_is_refused(covariance, tmp_path):
    """It worked on files of 60 rows, where 20 were thought to be enough."""
    errors = []
    for seed in range(6):
        game, reward = collaboration(100.0, seed=seed, covariance=covariance)
        assert covariance == "full" or reward.exposure.small == []
        errors.append(located(game, reward))
        with pytest.raises(ValueError, match=r'"b", row 11 \(counting from 0\): its label is so'):
            reward.save(tmp_path / "r")
        assert not list(tmp_path.iterdir())
        reward.save(tmp_path / "agreed", share_inputs=True)
        (tmp_path / "agreed").unlink()
    assert np.median(errors) < 0.2  # of a square four wide, in which a guess is 2 off


def test_ordinary_labels_are_not_located_and_not_refused(tmp_path):
    errors = []
    for seed in range(6):
        game, reward = collaboration(0.0, seed=seed)
        errors.append(located(game, reward))
        reward.save(tmp_path / "r")
    assert np.median(errors) > 0.7


@pytest.mark.parametrize("own", [0, 5, 40])
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_however_much_the_recipient_knows(own, share):
    """Its own model may be none: all labels are then new to it, and still one stands out."""
    for seed in range(4):
        assert collaboration(0.0, seed=seed, own=own, share=share)[1].exposure.outlying == {}
        _, reward = collaboration(100.0, seed=seed, own=own, share=share)
        assert reward.exposure.outlying["b"].share > 0.5


def naive_share(game, reward, party, hidden):
    """Both shares of every row, with every matrix written out; one noise variance for all."""
    model, own = game.model, game.pool.statistics[0].told
    rows = game.pool.rows[party]
    R = np.eye(len(own.moment)) + own.precision
    A = model.whitened_features(rows.X)
    noise = rows.noise_of_rows(model.noise_variance) + reward.eta
    B = R.copy()
    for other in game.pool.rows[1:]:
        a = model.whitened_features(other.X)
        B += (a.T / (other.noise_of_rows(model.noise_variance) + reward.eta)) @ a
    T = R @ np.linalg.inv(B) if hidden else np.eye(len(B))
    e = rows.y - model.prior_mean_at(rows.X) - A @ np.linalg.solve(R, own.moment)
    terms = [T @ a * r / n for a, r, n in zip(A, e, noise, strict=True)]
    S = np.sum(terms, axis=0)
    square = max(S @ S, sum(t @ t for t in terms))
    for a, n in zip(A, noise, strict=True):
        square += reward.eta * np.sum((T @ a / n) ** 2)
    return max(
        min(t @ S / square, (t @ S) ** 2 / (t @ t) / square) if t @ S > 0 else 0.0 for t in terms
    )


@pytest.mark.parametrize("noise", ["model", "per party", "per row"])
@pytest.mark.parametrize("name", ["blr", "blr-prior", "sparse", "network"])
@pytest.mark.parametrize("covariance", ["hidden", "full"])
def test_shares_are_those_of_the_definition(name, noise, covariance):
    parties = make_parties((30, 12, 15), 1, NOISES[noise])
    y = parties[1].y.copy()
    y[3] += 40
    parties[1] = fp.Party("p1", parties[1].X, y, parties[1].noise_variance)
    game = fp.InformationGain(MODELS[name], parties)
    rewards = game.alone + 0.5 * (game.total - game.alone)
    reward = fp.realise(game, rewards, covariance=covariance)[0]
    for j in (1, 2):
        expected = naive_share(game, reward, j, covariance == "hidden")
        row = reward.exposure.outlying.get(f"p{j}")
        if row is None:
            assert expected <= 0.5
        else:
            assert row.share == pytest.approx(expected, rel=1e-6)
    assert reward.exposure.outlying["p1"].place == "row 3 (counting from 0)"


def test_rows_that_tell_nothing_do_not_stand_out():
    """Features that are all zero, labels that are as predicted, and no rows at all."""
    model = fp.SparseGaussianProcess(RBF(1.0), 0.1, np.zeros((1, 2)))
    view = View(own=np.zeros(1), W=np.eye(1), eta=0.0)
    far = fp.Party("b", np.full((3, 2), 1e3), [1.0, 2.0, 1e6])
    silent = fp.Party("b", np.zeros((3, 2)), np.zeros(3))
    nobody = fp.Party("b", np.empty((0, 2)), [])
    for party in (far, silent, nobody):
        assert outlying_rows(model, party, {"a": view}) == {}


def test_of_sums_alone_nobody_can_say(tmp_path):
    """A party that sends sums must look at its labels itself; `fairpool run` has the rows."""
    game, _ = collaboration(100.0)
    parties = [game.pool.rows[0], game.model.summarise(game.pool.rows[1])]
    game = fp.InformationGain(game.model, parties)
    reward = fp.realise(game, game.alone + 0.5 * (game.total - game.alone))[0]
    assert reward.exposure.outlying == {}
    reward.save(tmp_path / "r")


@pytest.mark.parametrize("at_once", [1, 20, 1 << 20])
@pytest.mark.parametrize("weighted", [False, True])
def test_several_recipients_at_once_see_what_each_does(monkeypatch, at_once, weighted):
    monkeypatch.setattr(outlying, "NUMBERS_AT_ONCE", at_once)
    rng = np.random.default_rng(4)
    A = rng.standard_normal((9, 3))
    A[4] = 0.0  # a row that tells nothing
    y = rng.standard_normal(9)
    y[2] += 30
    weight = rng.uniform(0.5, 2, 9) if weighted else np.ones(9)
    gram, moment = (A * weight[:, None]).T @ A, (A * weight[:, None]).T @ y
    own = np.concatenate([rng.standard_normal((5, 3)), np.linalg.solve(gram, moment)[None]])
    sums = LabelSums.of(own, gram, moment)
    largest, squares = sums.of_rows(A, y, weight)
    shares = sums.shares(largest, squares)
    for i, weights in enumerate(own):
        one = View(own=weights, W=None, eta=0.0).label_sum(gram, moment, gram)
        parts = one.parts(A, y, weight)
        square = one.sum_of_squares(A, y, weight)
        assert sums.squares[i] == pytest.approx(one.square, rel=1e-9, abs=1e-12)
        assert squares[i] == pytest.approx(square, rel=1e-12)
        if i < 5:
            assert largest[i] == pytest.approx(parts.max(), rel=1e-9)
            assert shares[i] == pytest.approx(one.share(parts.max(), square), rel=1e-9)
    assert shares.max() > 0.5
    assert shares[5] < 1e-9  # its own data tell it the sum already


def test_where_all_rows_are_as_expected_nothing_stands_out():
    A = np.random.default_rng(0).standard_normal((4, 2))
    own = np.ones((3, 2))
    sums = LabelSums.of(own, A.T @ A, A.T @ A @ own[0])
    assert sums.shares(*sums.of_rows(A, A @ own[0])).max() < 1e-6
