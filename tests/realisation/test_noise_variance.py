import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairpool as fp
from tests.support import oracles
from tests.support.examples import MODELS, NOISES, make_parties


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("noise", NOISES)
def test_eta_realises_the_target(name, noise):
    model = MODELS[name]
    parties = make_parties([15, 8, 30], 7, NOISES[noise])
    game = fp.InformationGain(model, parties)
    for share in (1e-6, 0.01, 0.5, 0.999, 1 - 1e-7):
        targets = game.alone + share * (game.total - game.alone)
        for i, (level, target) in enumerate(
            zip(fp.noise_levels(game, targets), targets, strict=True)
        ):
            assert 0 < level.eta < np.inf
            assert level.value == pytest.approx(target, rel=1e-9)
            assert oracles.reward_data_gain(model, parties, i, level.eta) == pytest.approx(
                target, rel=1e-9
            )


def test_the_ends_are_snapped():
    game = fp.InformationGain(MODELS["gp"], make_parties([5, 6], 0))
    tiny = 1e-10 * game.total
    for targets in (
        [game.total, game.alone[1]],
        [game.total - tiny, game.alone[1] + tiny],
        [game.total + tiny, game.alone[1] - tiny],
    ):
        best, own = fp.noise_levels(game, targets)
        assert (best.eta, best.tau, best.value) == (0.0, 1.0, game.total)
        assert (own.eta, own.tau, own.value) == (np.inf, 0.0, game.alone[1])


@given(st.integers(0, 1000), st.floats(0.001, 0.999))
def test_eta_falls_as_the_reward_rises(seed, share):
    game = fp.InformationGain(MODELS["blr"], make_parties([5, 6, 4], seed))
    low, high = (
        fp.noise_levels(game, game.alone + s * (game.total - game.alone))
        for s in (share / 2, share)
    )
    assert all(a.eta > b.eta for a, b in zip(low, high, strict=True))


def test_unreachable_targets_are_refused():
    game = fp.InformationGain(MODELS["gp"], make_parties([5, 6], 0))
    with pytest.raises(ValueError, match=r'party "p0": target 99 is above v_N = .* \(R2\)'):
        fp.noise_levels(game, [99, game.total])
    with pytest.raises(
        ValueError, match=r'party "p1": target 0.1 is below its own value .* \(R4\); use rho <= '
    ):
        fp.noise_levels(game, [game.total, 0.1])
    with pytest.raises(ValueError, match="are not one finite number for each of the 2 parties"):
        fp.noise_levels(game, [game.total])


def test_unreachable_among_many_parties_names_the_remedy_without_enumerating():
    game = fp.InformationGain(MODELS["blr"], make_parties([3] * 20, 0))
    with pytest.raises(ValueError, match='use a smaller rho, such as "rational"'):
        fp.noise_levels(game, np.zeros(20))


def test_a_table_has_no_data_to_realise():
    with pytest.raises(ValueError, match="has no data to make models of"):
        fp.realise(fp.TableGame([0, 7, 5, 8]), [8, 5], rng=0)


def test_no_party_s_matrix_outlives_its_search(monkeypatch):
    """Of large games curves are not kept; neither may the solver keep them."""
    import tracemalloc

    monkeypatch.setattr("fairpool.values.information_gain.MOST_CURVE_BYTES", 0)
    game = fp.InformationGain(MODELS["gp"], make_parties([60] * 8, 0))
    targets = (game.alone + game.total) / 2
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        fp.noise_levels(game, targets)
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert kept < 8 * 420**2  # less than one of the eight
