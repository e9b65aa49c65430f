"""The Banzhaf index of more parties than can be enumerated: sampled, with errors that hold."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairpool as fp
from fairpool.compute.checkpoint import Checkpoint
from fairpool.compute.workers import Workers
from fairpool.contributions.complements import fewest_evaluations
from tests.support import oracles
from tests.support.examples import MODELS, make_parties
from tests.support.games import tables
from tests.support.row_games import banzhaf_weights, exact_contributions, row_game


def rows_of(n, seed=0, spread=1.0):
    """Some parties have many rows, most have few."""
    sizes = 6 * np.random.default_rng(seed).lognormal(sigma=spread, size=n)
    return [max(1, int(size)) for size in sizes]


def z_scores(game, phi, evaluations, seeds):
    """How many standard errors each estimate is off [seeds, n]."""
    found = []
    for seed in seeds:
        sampled = fp.banzhaf(game, "sampled", seed, evaluations=evaluations)
        assert sampled.evaluations <= evaluations
        found.append((sampled.values - phi) / sampled.standard_errors)
    return np.array(found)


def test_the_exact_index_of_a_row_game_is_the_definitions():
    rows = [1, 4, 2, 9, 2]
    expected = oracles.banzhaf(row_game(rows).values())
    np.testing.assert_allclose(exact_contributions(rows, banzhaf_weights(5)), expected, rtol=1e-9)


@pytest.mark.parametrize("factor", [1, 4])
def test_the_95_percent_interval_holds_from_the_least_budget_on(factor):
    rows = rows_of(30)
    phi = exact_contributions(rows, banzhaf_weights(30))
    z = z_scores(row_game(rows), phi, factor * fewest_evaluations(30), range(60))
    inside = np.abs(z) <= 1.96
    largest = np.argsort(-phi)[:8]
    assert 0.93 <= inside.mean() <= 0.99
    assert inside[:, largest].mean() >= 0.93
    assert np.abs(z.mean()) < 0.3


@pytest.mark.soak
@pytest.mark.parametrize("spread", [0.3, 1.0])
@pytest.mark.parametrize("factor", [1, 3])
@pytest.mark.parametrize("n", [17, 60])
def test_the_interval_holds_for_every_kind_of_party(n, factor, spread):
    rows = rows_of(n, spread=spread)
    phi = exact_contributions(rows, banzhaf_weights(n))
    inside = (
        np.abs(z_scores(row_game(rows), phi, factor * fewest_evaluations(n), range(300))) <= 1.96
    )
    for group in np.array_split(np.argsort(phi), 4):
        assert 0.925 <= inside[:, group].mean() <= 0.995


@given(tables(least=1, most=6), st.integers(0, 100))
def test_small_games_are_sampled_without_a_fuss(v, seed):
    """Parties that are all alike, useless or alone included."""
    game = fp.TableGame(v)
    phi = fp.banzhaf(game, "sampled", seed, evaluations=4000)
    margin = 7 * phi.standard_errors + 1e-9 * v.max()
    assert (np.abs(phi.values - oracles.banzhaf(v)) <= margin).all()


def test_what_is_sampled_says_so_and_fairness_is_then_undecided():
    game = fp.InformationGain(MODELS["blr"], make_parties([3, 5] * 9, 0))
    phi = fp.banzhaf(game, rng=0)
    assert (phi.method, phi.exact) == ("banzhaf sampled", False)
    assert phi.evaluations <= 5000 + 50 * 18
    assert (phi.standard_errors > 0).all()
    assert "+-" in repr(phi)
    scheme = fp.RewardScheme(game, phi)
    verdicts = fp.check_incentives(game, phi, scheme.rewards("stable"))
    assert verdicts["F4"].holds is verdicts["R5"].holds is None
    assert "the contributions are sampled" in verdicts["F4"].why
    assert verdicts["stable"].holds
    low, high = scheme.rho_stable_interval
    assert low < high


def test_up_to_sixteen_parties_and_wherever_values_are_known_it_is_exact():
    for n, method in ((16, "banzhaf"), (17, "banzhaf sampled")):
        game = fp.InformationGain(MODELS["blr"], make_parties([1] * n, 0))
        assert fp.banzhaf(game, rng=0, evaluations=300).method == method
    game.values()
    assert fp.banzhaf(game).method == "banzhaf"


def test_estimates_keep_within_what_a_party_adds_first_and_last():
    rows = rows_of(40)
    game = row_game(rows)
    phi = fp.banzhaf(game, "sampled", 0, evaluations=fewest_evaluations(40))
    assert (phi.values >= game.total - game.without_one - 1e-12).all()
    assert (phi.values <= game.alone + 1e-12).all()


def test_the_numbers_depend_neither_on_workers_nor_on_stops(tmp_path):
    def game():
        return fp.InformationGain(MODELS["blr"], make_parties([3, 5] * 10, 0))

    alone = fp.banzhaf(game(), rng=4, evaluations=1000)
    with ThreadPoolExecutor(3) as pool:
        np.testing.assert_array_equal(
            fp.banzhaf(game(), rng=4, evaluations=1000, executor=pool).values, alone.values
        )
    for _ in range(2):
        done = []
        workers = Workers(
            progress=lambda *what, done=done: done.append(what), checkpoint=Checkpoint(tmp_path)
        )
        phi = fp.banzhaf(game(), rng=4, evaluations=1000, executor=workers)
        np.testing.assert_array_equal(phi.values, alone.values)
        np.testing.assert_array_equal(phi.standard_errors, alone.standard_errors)
    assert done[0][1] == done[0][2] > 0  # all were kept


def test_values_of_any_scale():
    v = fp.InformationGain(MODELS["blr"], make_parties([3, 5] * 3, 0)).values()
    usual = fp.banzhaf(fp.TableGame(v), "sampled", 1)
    for scale in (1e-160, 1e160):
        scaled = fp.banzhaf(fp.TableGame(scale * v), "sampled", 1)
        np.testing.assert_allclose(scaled.values / scale, usual.values, rtol=1e-9)
        np.testing.assert_allclose(scaled.standard_errors / scale, usual.standard_errors, rtol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            {"method": "magic"},
            'no method "magic" for the Banzhaf index; there are "exact", "sampled" and "auto"',
        ),
        (
            {"method": "sampled", "evaluations": 2},
            "evaluations 2 are too few for 2 parties; give at least 68",
        ),
    ],
)
def test_bad_requests_are_refused(arguments, text):
    with pytest.raises(ValueError, match=text):
        fp.banzhaf(fp.TableGame([0, 7, 5, 8]), **arguments)


def test_a_sample_that_does_not_fit_into_memory_is_refused(monkeypatch):
    monkeypatch.setattr("fairpool.compute.memory.machine_memory", lambda: 2**20)
    with pytest.raises(
        ValueError,
        match=r"a sample of 1000000 coalitions of 3 parties needs about .*; give fewer eval",
    ):
        fp.banzhaf(fp.TableGame(np.arange(8.0)), "sampled", evaluations=1_000_000)
