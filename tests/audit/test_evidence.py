"""What labels say of each party: against simulation, on honest parties and on altered ones."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool.audit.agreement import agreement_of
from fairpool.audit.evidence import LabelVerdict
from fairpool.information.own_noise import OwnLabels, noise_factor
from tests.support.collaborations import (
    ATTACKED,
    SHAPES,
    attacked,
    honest,
    judged,
    learned_model,
    rates,
)
from tests.support.examples import MODELS, make_parties


def verdicts(evidence):
    return [one.verdict for one in evidence.parties]


@pytest.mark.parametrize("name", ["gp", "sparse", "blr-prior", "blr-wide", "network"])
def test_what_is_expected_is_the_mean_of_labels_from_the_model(name):
    """The closed form against simulated labels, through every kind of model."""
    parties = make_parties([14, 9, 11], 3)
    space = fp.EvidenceGain(MODELS[name], parties).space
    found = agreement_of(space, (0, 1, 2), rng=np.random.default_rng(0), simulations=20_000)
    off = found.drawn.mean(axis=1) - found.expected
    assert (np.abs(off) < 5 * found.deviation / np.sqrt(20_000)).all()
    np.testing.assert_allclose(found.expected_pairs.sum(axis=1), found.expected, atol=1e-9)
    np.testing.assert_allclose(found.pairs.sum(axis=1), found.phi, atol=1e-9)


@pytest.mark.parametrize("name", ["gp", "sparse"])
def test_labels_drawn_from_the_model_look_like_its_own(name):
    """Labels of rows simulated outside have the distribution that moments are drawn from."""
    model, parties = MODELS[name], make_parties([12, 10, 8], 3)
    game = fp.EvidenceGain(model, parties)
    found = agreement_of(game.space, (0, 1, 2), rng=np.random.default_rng(0), simulations=4000)
    rng = np.random.default_rng(1)
    X = np.concatenate([p.X for p in parties])
    A = model.whitened_features(X) if hasattr(model, "whitened_features") else None
    K = model.covariance(X) if A is None else A @ A.T
    root = np.linalg.cholesky(K + model.noise_variance * np.eye(len(X)))
    phi = []
    for _ in range(400):
        y = np.split(root @ rng.standard_normal(len(X)), [12, 22])
        drawn = [fp.Party(p.name, p.X, labels) for p, labels in zip(parties, y, strict=True)]
        phi.append(fp.shapley(fp.EvidenceGain(model, drawn)).values)
    spread = np.std(phi, axis=0)
    np.testing.assert_allclose(spread, found.deviation, rtol=0.2)
    off = np.mean(phi, axis=0) - found.expected
    assert (np.abs(off) < 5 * spread / np.sqrt(400)).all()


def test_rows_sums_and_kernels_are_judged_alike():
    rng = np.random.default_rng(0)
    rows = attacked(honest(rng), "reversed labels", rng)
    model = learned_model(rows)
    parties = [fp.Party(f"p{i}", X, y) for i, (X, y) in enumerate(rows)]
    by_rows = fp.judge_evidence(fp.EvidenceGain(model, parties), rng=1, simulations=300)
    sums = [model.summarise(party) for party in parties]
    by_sums = fp.judge_evidence(fp.EvidenceGain(model, sums), rng=1, simulations=300)
    assert verdicts(by_rows) == verdicts(by_sums)
    assert by_rows.harmful == (ATTACKED,)
    for one, other in zip(by_rows.parties, by_sums.parties, strict=True):
        assert one.phi == pytest.approx(other.phi, rel=1e-6)
        assert one.noise_factor == pytest.approx(other.noise_factor, rel=1e-4)


def test_an_exact_process_finds_it_as_well():
    rng = np.random.default_rng(3)
    rows = attacked(honest(rng, sizes=(40, 40, 40)), "reversed labels", rng)
    model = fp.GaussianProcess(1.0 * RBF(2.0), 0.4)
    assert judged(rows, rng=rng, model=model).harmful == (ATTACKED,)


def test_two_parties_who_disagree_are_both_named_or_none():
    rng = np.random.default_rng(0)
    rows = attacked(honest(rng, sizes=(80, 80)), "reversed labels", rng)
    model = learned_model(honest(np.random.default_rng(1)))
    found = judged(rows, rng=rng, model=model)
    assert verdicts(found) == [LabelVerdict.DISPUTED] * 2
    assert found.parties[0].phi == pytest.approx(found.parties[1].phi)


def test_who_has_no_rows_is_not_judged_and_one_alone_neither():
    rng = np.random.default_rng(0)
    rows = honest(rng, sizes=(70, 70, 70))
    model = learned_model(rows)
    empty = (rows[0][0][:0], rows[0][1][:0])
    found = judged([rows[0], empty, rows[1]], rng=rng, model=model)
    assert verdicts(found)[1] == LabelVerdict.NO_DATA
    assert not found.pairs[1].any()
    alone = judged([rows[0], empty], rng=rng, model=model)
    assert verdicts(alone) == [LabelVerdict.NO_EVIDENCE, LabelVerdict.NO_DATA]


def test_two_liars_are_found_one_after_the_other():
    rng = np.random.default_rng(2)
    rows = honest(rng, sizes=(60,) * 6)
    for liar in (1, 4):
        rows[liar] = (rows[liar][0], rng.permutation(-rows[liar][1]))
    assert judged(rows, rng=rng).harmful == (1, 4)


def test_more_than_sixteen_parties_are_judged_by_some_orders():
    rng = np.random.default_rng(2)
    rows = attacked(honest(rng, sizes=(20,) * 18), "reversed labels", rng)
    found = judged(rows, rng=rng, simulations=200)
    assert found.harmful == (ATTACKED,)


@pytest.mark.parametrize("factor", [0.25, 1.0, 4.0])
def test_how_noisy_labels_are_by_themselves(factor):
    """The factor against the likelihood of all rows, maximised over a grid."""
    rng = np.random.default_rng(0)
    model = MODELS["sparse"]
    X = rng.standard_normal((60, 3))
    A = model.whitened_features(X)
    noise = np.sqrt(factor * model.noise_variance) * rng.standard_normal(60)
    party = fp.Party("p", X, A @ rng.standard_normal(A.shape[1]) + noise)
    other = fp.Party("q", X[:5], party.y[:5])
    space = fp.EvidenceGain(model, [party, other]).space
    found = space.noise_factors()[0]
    grid = np.exp(np.linspace(-4, 4, 400))

    def penalised(f):
        likelihood = model.log_marginal_likelihood(X, party.y, f * model.noise_variance)
        return likelihood - 5 * np.log(f) - 5 / f

    best = grid[np.argmax([penalised(f) for f in grid])]
    assert found == pytest.approx(best, rel=0.03)
    assert found == pytest.approx(factor, rel=0.7)


def test_no_rows_are_as_noisy_as_the_model_says():
    assert noise_factor(OwnLabels(np.ones(2), np.zeros(2), squares=0.0, rows=0)) == 1


@pytest.mark.parametrize("shape", ["Friedman, fair shares", "diabetes, sorted by BMI"])
def test_a_few_honest_collaborations_are_not_flagged(shape):
    """A small share of `test_calibration` below."""
    found = rates("none", runs=5, seed=7, **SHAPES[shape])
    assert found.flagged + found.neighbours == 0
    assert found.helps >= 4


@pytest.mark.parametrize(
    "attack", ["reversed labels", "labels off by one deviation", "600 invented rows"]
)
def test_a_few_altered_collaborations_are(attack):
    found = rates(attack, runs=5, seed=7, **SHAPES["Friedman, fair shares"])
    assert found.flagged == 5
    assert found.neighbours == 0
