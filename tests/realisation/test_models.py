import pytest

import fairpool as fp
from tests.support.examples import MODELS, make_parties


@pytest.fixture(scope="module")
def result():
    return fp.collaborate(make_parties([25, 18, 30], 1), MODELS["blr"], rho=0.5, rng=0)


def test_models_go_by_name_and_by_place(result):
    models = result.models
    assert models.names == ("p0", "p1", "p2")
    assert models["p1"] is models[1]
    assert models[-1] is models["p2"]
    assert [model.party for model in models] == ["p0", "p1", "p2"]
    assert len(models) == 3


def test_a_slice_still_goes_by_name(result):
    last = result.models[1:]
    assert last.names == ("p1", "p2")
    assert last["p2"] is result.models[2]
    with pytest.raises(KeyError, match="there is no party 'p0'; there are 'p1', 'p2'"):
        last["p0"]


def test_realise_gives_models_by_name_as_well(result):
    models = fp.realise(result.game, result.rewards, rng=0)
    assert models["p2"].value == pytest.approx(result.models["p2"].value)
    assert repr(models).startswith("Models(ModelReward('p0', value ")


def test_a_party_that_does_not_exist_is_named(result):
    with pytest.raises(KeyError, match="there is no party 'north'; there are 'p0', 'p1', 'p2'"):
        result.models["north"]
    with pytest.raises(IndexError, match="out of range"):
        result.models[3]
