import numpy as np
import pytest

import fairpool as fp
from tests.support import oracles
from tests.support.examples import MODELS, P, labels, make_parties


def test_coalitions_by_index_or_name():
    game = fp.TableGame([0, 1, 2, 4, 3, 5, 6, 9], names=["a", "b", "c"])
    assert (game.n, game.total, game.alone.tolist()) == (3, 9.0, [1.0, 2.0, 3.0])
    assert game.value({0, 2}) == game.value(["a", "c"]) == 5
    assert game.value([]) == 0
    np.testing.assert_array_equal(game.values_of(np.eye(3, dtype=bool)), game.alone)


@pytest.mark.parametrize(
    ("coalition", "text"),
    [
        ({3}, "no party 3"),
        ({-1}, "no party -1"),
        (["x"], 'no party is named "x"'),
        (2, "2 is not a coalition"),
        ("a", "'a' is not"),
    ],
)
def test_bad_coalitions_are_refused(coalition, text):
    with pytest.raises(ValueError, match=text):
        fp.TableGame([0, 1, 2, 4, 3, 5, 6, 9], names=["a", "b", "c"]).value(coalition)


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ([0, 1, 2], r"shape \(3,\), needs one value for each of 2\*\*n coalitions"),
        ([0], r"shape \(1,\)"),
        ([[0, 1], [2, 3]], r"shape \(2, 2\)"),
        ([0, 1, np.nan, 2], "has nan at index 2"),
        (["a", "b"], "must be made of numbers"),
    ],
)
def test_bad_tables_are_refused(table, text):
    with pytest.raises(ValueError, match=text):
        fp.TableGame(table)


def test_a_tables_names_must_fit():
    with pytest.raises(ValueError, match="for 2 parties, but there are 1 names"):
        fp.TableGame([0, 1, 2, 3], names=["a"])


def test_a_game_of_ones_own_needs_names_and_one_method():
    class Cardinality(fp.Game):
        names = ("a", "b", "c")

        def value_of_mask(self, mask):
            return float(mask.bit_count() ** 0.5)

    np.testing.assert_allclose(fp.shapley(Cardinality()).values, 3**0.5 / 3)
    sampled = fp.shapley(Cardinality(), "sampled", 0)
    np.testing.assert_allclose(sampled.values, 3**0.5 / 3, atol=4 * sampled.standard_errors.max())


@pytest.mark.parametrize("name", MODELS)
def test_validation_gain_is_the_gain_in_mnlp(name):
    model = MODELS[name]
    parties = make_parties([12, 0, 15], 4, lambda size, rng: rng.uniform(0.2, 1, size))
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20, P))
    y = labels(X, rng)
    game = fp.ValidationGain(model, parties, X, y)
    assert game.value([]) == 0
    prior = fp.mnlp(y, *model.posterior(parties[1].X, parties[1].y).predict(X))
    for coalition in ({0}, {0, 2}, {0, 1, 2}):
        C = [parties[i] for i in sorted(coalition)]
        training = [
            np.concatenate([getattr(p, a) for p in C]) for a in ("X", "y", "noise_variance")
        ]
        expected = prior - fp.mnlp(y, *oracles.predict(model, *training, X))
        assert game.value(coalition) == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_summaries_must_fit_together():
    model = MODELS["blr"]
    parties = make_parties([3, 4], 0)
    summaries = [model.summarise(p) for p in parties]
    other = fp.BayesianLinearRegression(0.5, bias=False).summarise(parties[1])
    for bad, text in (
        ([summaries[0], summaries[0]], '2 parties are named "p0"'),
        ([summaries[0], other], 'the summary of "p1" was made with another model'),
    ):
        with pytest.raises(ValueError, match=text):
            fp.InformationGain(model, bad)
    for some in (summaries, [parties[0], summaries[1]]):
        with pytest.raises(ValueError, match="a Gaussian process needs every party's rows"):
            fp.InformationGain(MODELS["gp"], some)
