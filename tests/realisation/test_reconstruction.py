"""Rows of others out of a file: how far the attacks of docs/privacy.md get, around the bounds.

`python -m tests.support.reconstruction` prints the table of that page, in about ten minutes.
"""

from dataclasses import replace

import numpy as np
import pytest

import fairpool as fp
from fairpool.realisation.reward_file import decode_reward, reward_bytes
from tests.support.reconstruction import (
    HEADING,
    Case,
    attack,
    bound_of,
    mean_beyond_own,
    precision_beyond_own,
    scene,
    table,
)
from tests.support.several_files import ONE_RUN, TWO_RUNS, Files
from tests.support.several_files import attack as attack_several

FEW = {"full": Case(d=5, p=2, m=4, covariance="full"), "hidden": Case(d=12, p=2, m=2)}
BOUND = {"full": Case(d=5, p=2, m=23, covariance="full"), "hidden": Case(d=12, p=2, m=12)}


@pytest.mark.parametrize("covariance", ["full", "hidden"])
def test_attack_rows_come_out_below_the_bound_where_all_agreed(covariance):
    case = FEW[covariance]
    reward = scene(case).reward
    with pytest.raises(ValueError, match=f'"b" has {case.m} distinct row'):
        reward_bytes(reward, share_inputs=False, known_noise=True)
    # The attack needs nothing but the file.
    content = reward_bytes(reward, share_inputs=True, known_noise=True)
    loaded = decode_reward(content, "file").posterior
    np.testing.assert_array_equal(loaded.weights, reward.posterior.weights)
    np.testing.assert_array_equal(loaded.factor, reward.posterior.factor)
    successes = [attack(Case(**vars(case) | {"seed": seed})) for seed in range(3)]
    assert sum(success.all for success in successes) >= 2


@pytest.mark.parametrize("covariance", ["full", "hidden"])
def test_attack_no_row_comes_out_at_the_bound(covariance):
    case = BOUND[covariance]
    assert case.m == bound_of(case)
    one_less = scene(Case(**vars(case) | {"m": case.m - 1})).reward
    with pytest.raises(ValueError, match=f"needs {case.m}: a reward file"):
        reward_bytes(one_less, share_inputs=False, known_noise=True)
    reward_bytes(scene(case).reward, share_inputs=False, known_noise=True)
    successes = [attack(Case(**vars(case) | {"seed": seed}), starts=3) for seed in range(3)]
    assert not any(success.some for success in successes)
    assert np.median([success.error for success in successes]) > 0.6


@pytest.mark.soak
def test_attack_table():
    """Everything comes out far below the bounds, and at them nothing but what is luck."""
    print(f"\n{HEADING}")
    for line in table(draws=6):
        print(line)
        if line.case.m == line.bound:
            assert line.some <= 1 / 6
            assert line.all == 0
            assert line.error > 0.5
    assert line.case == Case(d=24, p=4, m=15)


def several(case, draws):
    """How often some row came out of one file, and of two; and the typical error of the latter."""
    attacks = {}
    for files in (1, 2):
        cases = [replace(case, files=files, seed=seed) for seed in range(draws)]
        attacks[files] = [attack_several(one) for one in cases]
    counts = [sum(success.some for success in attacks[files]) for files in (1, 2)]
    return *counts, np.median([success.error for success in attacks[2]])


@pytest.mark.parametrize(("how", "m"), [(ONE_RUN, 4), (TWO_RUNS, 6)])
def test_attack_rows_come_out_of_two_files_where_one_does_not_give_them(how, m):
    """Colluding recipients of one run, or one recipient over two runs, count as many files."""
    one, two, _ = several(Files(how=how, d=12, p=2, m=m), draws=8)
    assert one < 4
    assert two >= one + 3


@pytest.mark.parametrize("how", [ONE_RUN, TWO_RUNS])
def test_attack_no_row_comes_out_of_two_files_at_their_bound(how):
    case = Files(how=how, d=12, p=2, m=24)
    assert case.m == case.bound == 2 * replace(case, files=1).bound
    _, two, error = several(case, draws=3)
    assert two == 0
    assert error > 0.8


def one_hot(rng, rows, levels, chances):
    return np.eye(levels)[rng.choice(levels, rows, p=chances)]


@pytest.mark.parametrize("covariance", ["full", "hidden"])
def test_attack_how_many_of_each_level(covariance):
    """A full covariance counts the other's rows of every level; a hidden one does not."""
    rng = np.random.default_rng(3)
    chances = {"a": [0.4, 0.3, 0.2, 0.1], "b": [0.05, 0.05, 0.2, 0.7]}
    parties = []
    for name in ("a", "b"):
        levels = one_hot(rng, 80, 4, chances[name])
        X = np.column_stack([rng.standard_normal((80, 2)), levels])
        parties.append(fp.Party(name, X, X @ np.arange(6) + rng.standard_normal(80)))
    game = fp.InformationGain(fp.BayesianLinearRegression(1.0), parties)
    rewards = game.alone + 0.7 * (game.total - game.alone)
    reward = fp.realise(game, rewards, covariance=covariance)[0]
    reward_bytes(reward, share_inputs=False)  # 80 rows are enough for either
    gram = precision_beyond_own(reward, game.pool.statistics[0].told) * (1.0 + reward.eta)
    truth = parties[1].X[:, 2:].sum(axis=0)
    if covariance == "full":
        np.testing.assert_allclose(np.diag(gram)[2:6], truth, rtol=1e-8)
    else:
        # What it would take for the counts, even as shares of 80, is that of its own rows.
        guess = np.diag(gram)[2:6] / np.diag(gram)[2:6].sum() * 80
        assert np.abs(guess - truth).max() > 20
        assert np.argmax(guess) != np.argmax(truth)


@pytest.mark.parametrize("covariance", ["full", "hidden"])
def test_attack_two_of_three_parties_and_the_single_row_of_the_third(covariance):
    """What the two know is subtracted; one row is left. Without consent the file is refused."""
    rng = np.random.default_rng(5)
    sizes = {"a": 30, "b": 30, "c": 1}
    parties = []
    for name, rows in sizes.items():
        X = rng.standard_normal((rows, 3))
        parties.append(fp.Party(name, X, X.sum(axis=1) + 0.3 * rng.standard_normal(rows)))
    game = fp.InformationGain(fp.BayesianLinearRegression(0.1), parties)
    reward = fp.realise(game, [game.total] * 3, covariance=covariance)[0]
    with pytest.raises(ValueError, match='"c" has 1 distinct row'):
        reward_bytes(reward, share_inputs=False)
    a, b = (game.pool.statistics[i].told for i in (0, 1))
    row = parties[2].X[0]
    if covariance == "full":
        gram = precision_beyond_own(reward, a) - b.precision
        found = gram[:3, 3] / gram[3, 3]
        np.testing.assert_allclose(found, row, atol=1e-8)
        return
    # The mean alone is enough: without noise, what is left points to the row.
    mu = reward.posterior.weights
    told = mean_beyond_own(reward, a) - (b.moment - b.precision @ mu)
    np.testing.assert_allclose(told[:3] / told[3], row, atol=1e-6)
    assert reward.eta == 0


def test_attack_the_single_row_fails_where_there_are_twenty():
    """What is left is a sum over twenty rows, which none of them explains."""
    rng = np.random.default_rng(5)
    parties = []
    for name, rows in {"a": 30, "b": 30, "c": 20}.items():
        X = rng.standard_normal((rows, 3))
        parties.append(fp.Party(name, X, X.sum(axis=1) + 0.3 * rng.standard_normal(rows)))
    game = fp.InformationGain(fp.BayesianLinearRegression(0.1), parties)
    reward = fp.realise(game, [game.total] * 3)[0]
    reward_bytes(reward, share_inputs=False)
    a, b = (game.pool.statistics[i].told for i in (0, 1))
    told = mean_beyond_own(reward, a) - (b.moment - b.precision @ reward.posterior.weights)
    guess = told[:3] / told[3]
    assert np.linalg.norm(parties[2].X - guess, axis=1).min() > 0.5
