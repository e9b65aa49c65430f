"""What more rows would bring: beside parties that really have them."""

import numpy as np
import pytest

import fairpool as fp
from fairpool.contributions.concept import GIVEN
from fairpool.contributions.registry import CONCEPTS
from fairpool.rewards import more_rows
from fairpool.rewards.more_rows import how_many_more, outlook
from tests.support.examples import MODELS, make_parties

SIZES = (150, 260, 400)
RHO = 0.7


def rows_of(rng, count, shift):
    X = rng.standard_normal((count, 3)) * [1.0, 0.6, 0.3] + shift
    return X, X @ [1.0, -1.0, 2.0] + rng.normal(0, 0.5, count)


def real_parties(seed, more_of=None, more=0):
    """Three parties; one of them with more rows than it has otherwise."""
    parties = []
    for i, size in enumerate(SIZES):
        rng = np.random.default_rng((7, i))
        X, y = rows_of(rng, size, 0.5 * i)
        if i == more_of:
            X_more, y_more = rows_of(np.random.default_rng((8, i, seed)), more, 0.5 * i)
            X, y = np.vstack([X, X_more]), np.concatenate([y, y_more])
        parties.append(fp.Party(f"party {i}", X, y))
    return parties


def model():
    centres = np.random.default_rng(1).standard_normal((12, 3))

    def features(X):
        return np.exp(-0.5 * ((X[:, None] - centres) ** 2).sum(axis=2))

    return fp.BayesianLinearRegression(0.25, features=features)


def found_for(parties, of_model, concept=CONCEPTS["shapley"], rho=RHO):
    game = fp.InformationGain(of_model, parties)
    phi = concept.measure(
        game, rng=0, evaluations=None, target_standard_error=None, workers=fp_workers()
    )
    rewards = fp.RewardScheme(game, phi).rewards(rho)
    return outlook(game, concept, rho=rho, rewards=rewards), rewards, game


def fp_workers():
    from fairpool.compute.workers import Workers

    return Workers()


@pytest.mark.parametrize("i", [0, 1, 2])
def test_what_is_said_is_what_happens_when_such_rows_come(i):
    """Twelve times, new rows of the same kind really come; the estimate lies among these."""
    told, rewards, game = found_for(real_parties(0), model())
    more = told.parties[i]
    assert more.rows == 100
    nats, shares = [], []
    for seed in range(12):
        _, new, grown = found_for(real_parties(seed, more_of=i, more=more.rows), model())
        nats.append(new[i] - rewards[i])
        shares.append(new[i] / grown.total - rewards[i] / game.total)
    allowed = 3 * np.std(nats, ddof=1) + 0.1 * np.mean(nats)
    assert more.reward == pytest.approx(np.mean(nats), abs=allowed)
    assert more.reward > 0
    allowed = 3 * np.std(shares, ddof=1) + 0.1 * abs(np.mean(shares)) + 1e-12
    assert more.share == pytest.approx(np.mean(shares), abs=allowed)
    assert 0.2 * np.std(nats) < more.reward_error < 5 * np.std(nats)


def test_who_receives_the_best_model_gains_nats_and_no_share():
    told, rewards, game = found_for(real_parties(0), model())
    best = int(np.argmax(rewards))
    assert rewards[best] == pytest.approx(game.total)
    assert told.parties[best].share == pytest.approx(0, abs=1e-12)
    assert told.parties[best].share_error == pytest.approx(0, abs=1e-12)
    assert told.parties[best].reward > 0


def test_the_same_data_give_the_same_numbers():
    assert found_for(real_parties(0), model())[0] == found_for(real_parties(0), model())[0]


@pytest.mark.parametrize("name", MODELS)
def test_every_model_can_be_asked(name):
    told, _, _ = found_for(make_parties([12, 0, 9], 1), MODELS[name])
    assert told.parties[1] is None  # no rows: nothing to be like
    for i in (0, 2):
        assert told.parties[i].reward_error >= 0
        assert np.isfinite(told.parties[i].share)
    assert max(told.parties[i].reward for i in (0, 2)) > 0


def test_rows_by_sums_alone_give_the_same_as_rows():
    parties = real_parties(0)
    summed = [model_.summarise(party) for model_ in [model()] for party in parties]
    by_rows = found_for(parties, model())[0]
    by_sums = found_for(summed, model())[0]
    for a, b in zip(by_rows.parties, by_sums.parties, strict=True):
        assert a.reward == pytest.approx(b.reward, rel=1e-6)


def test_reasons_why_it_is_left_out(monkeypatch):
    game = fp.InformationGain(model(), real_parties(0))
    rewards = np.ones(3)
    given = outlook(game, GIVEN, rho=0.5, rewards=rewards)
    assert (given.parties, given.why_not) == ((None,) * 3, more_rows.NOT_MEASURED)
    many = fp.InformationGain(MODELS["blr"], make_parties([3] * 20, 0))
    sampled = outlook(many, CONCEPTS["shapley"], rho=0.5, rewards=np.ones(20))
    assert sampled.why_not == more_rows.SAMPLED
    monkeypatch.setattr(more_rows, "MOST_WORK", 1e3)
    long = outlook(game, CONCEPTS["shapley"], rho=0.5, rewards=rewards)
    assert (long.parties, long.why_not) == ((None,) * 3, more_rows.TOO_MUCH_WORK)


@pytest.mark.parametrize(("rows", "more"), [(0, 100), (1, 100), (1000, 1000), (99_999, 10_000)])
def test_a_round_number_of_rows(rows, more):
    assert how_many_more(rows) == more
