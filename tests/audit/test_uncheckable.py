"""What nobody can check: against games without the rows in question."""

import numpy as np
import pytest

import fairpool as fp
from fairpool.audit.uncheckable import LEFT_OPEN
from tests.support.examples import MODELS, NOISES, P, make_parties
from tests.support.projects import finished_run, project

FAR = np.array([2.0, 0.0, 0.0])


def naive(model, parties, i):
    """Flag rows one by one, and value everybody's data without them."""
    party = parties[i]
    noise = party.noise_of_rows(model.noise_variance)
    others = [p for j, p in enumerate(parties) if j != i]
    X = np.vstack([p.X for p in others])
    their_noise = np.concatenate([p.noise_of_rows(model.noise_variance) for p in others])
    given = model.posterior(X, np.zeros(len(X)), their_noise)
    nothing = model.posterior(np.empty((0, P)), np.empty(0))
    open_ = []
    for k in range(len(party)):
        left, before = (
            p.predict(party.X[[k]])[1][0] - model.noise_variance for p in (given, nothing)
        )
        open_.append(left >= LEFT_OPEN * before and np.isfinite(noise[k]))
    rest = ~np.array(open_)
    checkable = fp.Party(party.name, party.X[rest], party.y[rest], noise[rest])
    total = fp.InformationGain(model, parties).total
    without = fp.InformationGain(model, [*others, checkable]).total
    return sum(open_), total - fp.InformationGain(model, others).total, total - without


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("noises", NOISES)
def test_it_is_what_is_lost_without_these_rows(name, noises):
    model = MODELS[name]
    parties = make_parties([14, 9, 1], 2, NOISES[noises])
    parties[1] = fp.Party("far", parties[1].X + FAR, parties[1].y, parties[1].noise_variance)
    for i, found in enumerate(fp.uncheckable_information(fp.InformationGain(model, parties))):
        rows, added, from_them = naive(model, parties, i)
        assert found.rows == rows
        np.testing.assert_allclose(found.added, added, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.from_them, from_them, rtol=1e-9, atol=1e-9)
        assert 0 <= found.share <= 1


def test_some_models_have_such_rows_and_some_do_not():
    """The oracle above is not about nothing."""
    parties = make_parties([14, 9], 2)
    far = [parties[0], fp.Party("far", parties[1].X + 2 * FAR, parties[1].y)]
    for name in ("gp", "sparse"):
        near = fp.uncheckable_information(fp.InformationGain(MODELS[name], parties))
        found = fp.uncheckable_information(fp.InformationGain(MODELS[name], far))
        assert near[1].rows < found[1].rows
        assert found[1].share > near[1].share
    blr = fp.uncheckable_information(fp.InformationGain(MODELS["blr"], parties))
    assert [one.share for one in blr] == [0, 0]


def test_copies_of_others_rows_can_all_be_checked():
    a, b = make_parties([30, 10], 2)
    copy = fp.Party("copy", a.X, a.y)
    found = fp.uncheckable_information(fp.InformationGain(MODELS["gp"], [a, b, copy]))
    assert found[2].rows == 0
    assert found[2].share == 0


def test_without_rows_or_without_others_nothing_is_known():
    model = MODELS["blr"]
    a, b, empty = make_parties([10, 12, 0], 2)
    game = fp.InformationGain(model, [model.summarise(a), b, empty])
    first, second, third = fp.uncheckable_information(game)
    assert first is third is None
    assert second.added > 0
    assert fp.uncheckable_information(fp.InformationGain(model, [a, empty])) == (None, None)


MODEL = {
    "blr": 'kind = "blr"',
    "sparse_gp": 'kind = "sparse_gp"\ninducing_points = 8',
    "gp": 'kind = "gp"',
}


@pytest.mark.parametrize(
    ("kind", "rewards"),
    [
        ("blr", ""),
        ("sparse_gp", ""),
        ("sparse_gp", "share_inputs = true"),
        ("gp", "share_inputs = true"),
    ],
)
def test_a_run_finds_in_files_what_the_library_finds_in_rows(tmp_path, kind, rewards):
    run = finished_run(project(tmp_path, model=MODEL[kind], rewards=rewards))
    assert run.collaboration.game.rows == (40, 25, 30)
    game = fp.InformationGain(run.built.model, run_parties(run))
    for found, expected in zip(run.uncheckable, fp.uncheckable_information(game), strict=True):
        assert found.rows == expected.rows
        np.testing.assert_allclose(found.added, expected.added, rtol=1e-9)
        np.testing.assert_allclose(found.from_them, expected.from_them, rtol=1e-9, atol=1e-9)


def run_parties(run):
    """The rows of a run's parties, as its model sees them."""
    from fairpool.consortium.sample import take_sample

    parties = []
    for survey, section in zip(
        run.preparation.parties, run.preparation.configuration.parties, strict=True
    ):
        sample = take_sample(
            survey, run.preparation.encoding, most=None, seen=1.0, progress=lambda *_: None
        )
        parties.append(fp.Party(section.name, sample.X, sample.y))
    return parties
