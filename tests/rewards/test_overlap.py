"""What two parties tell twice, from the values of pairs."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool.rewards import overlap
from fairpool.rewards.overlap import pairwise_overlap
from tests.support.examples import MODELS, make_parties


@pytest.mark.parametrize("name", MODELS)
def test_it_is_what_the_values_of_pairs_lack(name):
    game = fp.InformationGain(MODELS[name], make_parties([7, 0, 9, 5], 3))
    found = pairwise_overlap(game)
    for i in range(4):
        for j in range(4):
            together = game.value({i, j})
            naive = game.value({i}) + game.value({j}) - together
            assert found[i, j] == pytest.approx(naive if i != j else game.value({i}), abs=1e-9)
    assert (found[1] == 0).all()


def test_twins_overlap_in_nearly_all_and_strangers_in_nothing():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    y = rng.standard_normal(40)
    parties = [fp.Party("a", X, y), fp.Party("twin", X, -y), fp.Party("far", X + 100, y)]
    found = pairwise_overlap(fp.InformationGain(fp.GaussianProcess(RBF(), 0.01), parties))
    assert found[0, 1] > 0.7 * found[0, 0]
    assert found[0, 2] == pytest.approx(0, abs=1e-9)


def test_of_many_parties_pairs_are_valued_where_that_is_quick(monkeypatch):
    game = fp.InformationGain(MODELS["blr"], make_parties([3] * 20, 0))
    found = pairwise_overlap(game)
    assert not game.tabulated
    assert found.shape == (20, 20)
    assert found[3, 17] == pytest.approx(
        game.alone[3] + game.alone[17] - game.value({3, 17}), abs=1e-9
    )
    monkeypatch.setattr(overlap, "MOST_WORK", 10.0)
    assert pairwise_overlap(game) is None
