import io
import json

import numpy as np
import pytest
from rich.console import Console

import fairpool as fp
from tests.support.examples import MODELS, P, make_parties


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("rho", ["stable", "rational", 0.3])
def test_the_whole_chain(name, rho):
    parties = make_parties([25, 18, 30], 1)
    result = fp.collaborate(parties, MODELS[name], rho=rho, rng=0)
    assert result.game.total == pytest.approx(result.contributions.values.sum())
    np.testing.assert_array_equal(result.rewards, result.scheme.rewards(rho))
    np.testing.assert_allclose([m.value for m in result.models], result.rewards, rtol=1e-9)
    assert [m.party for m in result.models] == ["p0", "p1", "p2"]
    assert result.incentives["R4"].holds
    assert result.models[0].predict(np.zeros((2, P)))[0].shape == (2,)


def test_the_result_explains_itself():
    result = fp.collaborate(make_parties([25, 8, 0], 1), MODELS["gp"], rho=0.5, rng=0)
    text = " ".join(repr(result).split())
    assert "3 parties, rho = 0.5" in text
    assert "p0 receives the best model, because nobody contributes more." in text
    assert "p1 receives " in text
    assert "of what the largest contributor does and rho is 0.5." in text
    assert "p2 receives 0% of the best model's information, and contributes nothing." in text
    assert "Conditions that hold: R1, R2, R3" in text
    assert "R7: fails -- the rewards sum to" in text
    console = Console(width=100, file=io.StringIO())
    console.print(result)
    assert "p1" in console.file.getvalue()


def test_to_dict_is_plain_json():
    result = fp.collaborate(make_parties([25, 8, 0], 1), MODELS["gp"], rho=0.5, rng=0)
    d = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert [p["name"] for p in d["parties"]] == ["p0", "p1", "p2"]
    assert [p["rows"] for p in d["parties"]] == [25, 8, 0]
    assert d["parties"][2]["eta"] is None
    assert d["parties"][1]["reward"] == pytest.approx(result.rewards[1])
    assert {v["condition"] for v in d["incentives"]} >= {"R1", "F4", "stable"}


def test_the_same_seed_gives_the_same_models():
    parties = make_parties([25, 8, 12], 1)
    X = np.zeros((2, P))
    a, b, other = (
        fp.collaborate(parties, MODELS["gp"], rng=seed).models[1].predict(X)[0]
        for seed in (4, 4, 5)
    )
    np.testing.assert_array_equal(a, b)
    assert (a != other).all()


def test_summaries_go_through_the_whole_chain():
    model = MODELS["blr"]
    parties = make_parties([25, 8, 12], 1)
    by_rows = fp.collaborate(parties, model)
    result = fp.collaborate([model.summarise(p) for p in parties], model)
    np.testing.assert_allclose(result.rewards, by_rows.rewards, rtol=1e-9)
    assert result.residuals is None
    assert result.to_dict()["parties"][0]["rows"] == 25


def test_many_parties_are_sampled_and_shown_with_errors():
    result = fp.collaborate(make_parties([3, 5] * 10, 1), MODELS["blr"], rho="stable")
    assert result.contributions.method == "sampled"
    assert "+-" in repr(result)
    assert result.incentives["stable"].holds


def test_a_target_below_a_partys_own_value_is_refused_before_anything_is_trained():
    X = np.linspace(0, 1, 12)[:, None]
    parties = [fp.Party("large", X, X[:, 0]), fp.Party("inside", X[3:9] + 1e-3, X[3:9, 0])]
    model = fp.BayesianLinearRegression(0.01)
    with pytest.raises(
        ValueError, match=r'party "inside": target .* is below its own value .*use rho <= 0\.'
    ):
        fp.collaborate(parties, model, rho="fair")
    assert fp.collaborate(parties, model, rho="rational").incentives["R4"].holds


def test_names_are_never_markup():
    result = fp.collaborate(
        [fp.Party("[/x]", *_xy(0)), fp.Party("[red]y", *_xy(1))], MODELS["gp"], rho=0.1
    )
    assert "[/x]" in repr(result)
    assert "[red]y" in repr(result)


def test_residuals_stand_beside_the_values():
    result = fp.collaborate(make_parties([25, 8, 0], 1), MODELS["gp"], rho=0.5, rng=0)
    residuals = [party["label_residual"] for party in result.to_dict()["parties"]]
    assert residuals[0] == pytest.approx(result.residuals[0])
    assert residuals[2] is None


def _xy(seed):
    party = make_parties([6], seed)[0]
    return party.X, party.y
