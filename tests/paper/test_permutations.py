import numpy as np

import fairpool as fp
from fairpool.paper.scatter import shapley_by_permutations
from tests.support.examples import MODELS, make_parties


def test_permutations_estimate_the_shapley_value_with_their_error():
    """App. E.4: simple random sampling; the stated error is that of repeated samples."""
    game = fp.InformationGain(MODELS["blr"], make_parties([3, 9, 5, 1, 7], 0))
    exact = fp.shapley(game).values
    found = [shapley_by_permutations(game, np.random.default_rng(seed)) for seed in range(40)]
    away = np.array([(phi.values - exact) / phi.standard_errors for phi in found])
    assert 0.7 < np.sqrt(np.mean(away**2)) < 1.3
    np.testing.assert_allclose([phi.values.sum() for phi in found], game.total, rtol=1e-12)
