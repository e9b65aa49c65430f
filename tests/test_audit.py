import numpy as np
import pytest

import fairpool as fp
from fairpool.audit import duplicates_of_keys
from tests.support.examples import MODELS, P, labels, make_parties


def test_duplicates_are_counted_within_and_across():
    a, b, c = make_parties([5, 4, 3], 0)
    a = fp.Party("a", np.vstack([a.X, a.X[:2], a.X[:1]]), np.concatenate([a.y, a.y[:2], a.y[:1]]))
    b = fp.Party("b", np.vstack([b.X, a.X[2:4]]), np.concatenate([b.y, a.y[2:4]]))
    found = fp.find_duplicates([a, b, c])
    assert found.within.tolist() == [3, 0, 0]
    assert found.shared.tolist() == [[0, 2, 0], [2, 0, 0], [0, 0, 0]]
    assert found.warnings == (
        '"a" has 3 row(s) that repeat another of its own; copies inflate its value',
        '"a" and "b" share 2 identical row(s); is one a copy of the other?',
    )


def test_duplicates_of_many_keys_are_those_of_sets():
    rng = np.random.default_rng(0)
    keys = [rng.integers(0, 60, size).astype(np.uint64) for size in (0, 1, 30, 50, 200)]
    found = duplicates_of_keys([str(i) for i in range(5)], keys)
    sets = [set(own.tolist()) for own in keys]
    assert found.within.tolist() == [
        len(own) - len(distinct) for own, distinct in zip(keys, sets, strict=True)
    ]
    for i, mine in enumerate(sets):
        for j, theirs in enumerate(sets):
            assert found.shared[i, j] == (0 if i == j else len(mine & theirs))


def test_the_same_inputs_with_other_labels_are_not_copies():
    X = np.zeros((3, P))
    found = fp.find_duplicates([fp.Party("a", X, [1, 2, 3]), fp.Party("b", -X, [4, 5, 6])])
    assert not found.warnings


def test_bad_labels_show_in_the_residuals():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, P))
    y = labels(X, rng)
    parties = [
        fp.Party(name, X[k : k + 40], y[k : k + 40]) for name, k in (("a", 0), ("b", 40), ("c", 80))
    ]
    model = fp.GaussianProcess(MODELS["gp"].kernel, 0.09)
    good = fp.held_out_residuals(fp.InformationGain(model, parties))
    assert (good < 1.5).all()
    bad = [*parties[:2], fp.Party("c", parties[2].X, -5 * parties[2].y)]
    assert fp.held_out_residuals(fp.InformationGain(model, bad))[2] > 3
    # Information gain does not notice: it never looks at labels.
    np.testing.assert_array_equal(
        fp.InformationGain(model, bad).values(), fp.InformationGain(model, parties).values()
    )


def test_residuals_use_the_partys_own_noise_and_need_somebody_to_compare_with():
    a, b, empty = make_parties([30, 30, 0], 0)
    noisy = fp.Party("noisy", b.X, b.y, 100.0)
    found = fp.held_out_residuals(fp.InformationGain(MODELS["blr"], [a, noisy, empty]))
    assert found[1] < 0.3
    assert np.isnan(found[2])
    assert np.isnan(fp.held_out_residuals(fp.InformationGain(MODELS["blr"], [a]))).all()


def test_collaborate_warns_of_copies():
    a, b = make_parties([10, 10], 0)
    copy = fp.Party("copy", a.X, a.y)
    with pytest.warns(fp.FairpoolWarning, match='"p0" and "copy" share 10 identical'):
        result = fp.collaborate([a, b, copy], MODELS["gp"], rho=0.1)
    assert any("share 10 identical" in text for text in result.warnings)
    assert (result.residuals > 0).all()
