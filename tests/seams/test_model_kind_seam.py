"""Model kinds: a new one, carried from the configuration to letter, file and prediction."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

import fairpool as fp
from fairpool.consortium.configuration_file import load_configuration
from fairpool.keys import Key, above
from fairpool.model_kinds import KINDS, Disclosure, Stored, kind_of
from fairpool.model_kinds.weights import WeightKind, decode_weights, encode_weights
from fairpool.models import WeightModel
from fairpool.models.hyperparameters import Learned
from tests.support.projects import fairpool, project, round_folder


@dataclass(frozen=True, eq=False)
class Average(WeightModel):
    """A toy: every label is one unknown number, plus noise."""

    noise_variance: float
    deviation: float

    def whitened_features(self, X):
        return np.full((len(X), 1), self.deviation)

    def learn(self, X, y, rng=None, *, restarts=0, noise_bounds=(1e-5, 1e5)):
        noise = float(np.clip(np.var(y), *noise_bounds))
        return Learned(replace(self, noise_variance=noise), ())


class AverageKind(WeightKind):
    """The same for collaborations and reward files."""

    name = "average"
    title = "one number for all"
    keys = {"deviation": Key(type=float, default=1.0, check=above(0))}  # noqa: RUF012
    learning_rows = 1000
    disclosure = Disclosure(learned=("scaling", "spread"))

    def weights(self, settings, *, inputs, rows):
        return 1

    def build(self, settings, data):
        return Average(data.noise, settings.deviation)

    def rounded(self, model):
        return replace(model, noise_variance=float(f"{model.noise_variance:.1e}"))

    def describe(self, model, settings, encoding):
        return {"prior deviation": f"{model.deviation:g}"}

    def suits(self, model):
        return isinstance(model, Average)

    def encode(self, posterior):
        model = posterior.model
        description = {
            "kind": "Average",
            "noise_variance": model.noise_variance,
            "deviation": model.deviation,
        }
        return encode_weights(posterior, Stored(description, {}))

    def recognises(self, description):
        return description["kind"] == "Average"

    def decode(self, stored):
        model = Average(stored.description["noise_variance"], stored.description["deviation"])
        return decode_weights(stored, model)


@pytest.fixture
def average(monkeypatch):
    monkeypatch.setitem(KINDS, "average", AverageKind())


@pytest.mark.usefixtures("average")
def test_a_new_kind_goes_from_the_configuration_to_letter_and_prediction(tmp_path, monkeypatch):
    folder = project(tmp_path / "p", model='kind = "average"\ndeviation = 2.5')
    run = fairpool("run", folder, "--json")
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    assert result["model"]["prior deviation"] == "2.5"
    assert result["parties"][0]["value"] > 0
    own = round_folder(folder) / result["parties"][1]["folder"]
    letter = (own / "letter.html").read_text()
    assert (
        "Its scaling, hyperparameters and spread were learned from all parties&#39; rows" in letter
    )
    inspected = fairpool("inspect", own / "reward.safetensors")
    assert "one number for all" in inspected.stdout
    predicted = fairpool("predict", own / "reward.safetensors", "--data", folder / "test.csv")
    assert predicted.returncode == 0, predicted.stderr
    # Who does not know the kind cannot read the file, and is told so.
    monkeypatch.delitem(KINDS, "average")
    with pytest.raises(ValueError, match="no model of kind 'Average' is known"):
        fp.load_reward(own / "reward.safetensors")


@pytest.mark.usefixtures("average")
def test_the_keys_of_a_new_kind_are_checked_like_all_others(tmp_path):
    for model, text in (
        ('kind = "average"\ndeviation = 0.0', "model, deviation: 0.0 is not allowed"),
        ('kind = "blr"\ndeviation = 2.0', 'deviation has no meaning for kind = "blr"'),
        ('kind = "average"\nkernel = "rbf"', 'kernel has no meaning for kind = "average"'),
        ('kind = "avarage"', 'did you mean "average"?'),
    ):
        folder = project(tmp_path, model=model)
        check = fairpool("check", folder)
        assert check.returncode == 2
        assert text in check.stderr


def test_a_model_without_a_kind_can_be_used_but_not_saved(tmp_path):
    party = fp.Party("a", [[0.0], [1.0]], [1.0, 2.0])
    result = fp.collaborate([party], Average(0.5, 1.0))
    with pytest.raises(ValueError, match="a model of type Average cannot be put into a file"):
        result.models[0].save(tmp_path / "r")


@pytest.mark.parametrize(("key", "declared"), [("prior_variance", 4.0), ("learn", 1.0)])
def test_a_key_is_declared_once(key, declared, tmp_path, monkeypatch):
    """Otherwise one kind's default would silently become the other's."""
    kind = AverageKind()
    kind.keys = {key: Key(type=float, default=declared, check=above(0))}
    monkeypatch.setitem(KINDS, "average", kind)
    with pytest.raises(TypeError, match=f'"average" declares the key "{key}"'):
        load_configuration(project(tmp_path))


def test_a_kind_that_is_registered_later_comes_first(monkeypatch):
    class Own(fp.BayesianLinearRegression):
        pass

    class OwnKind(AverageKind):
        def suits(self, model):
            return isinstance(model, Own)

    own = OwnKind()
    assert kind_of(Own(0.5)) is KINDS["blr"]
    monkeypatch.setitem(KINDS, "own", own)
    assert kind_of(Own(0.5)) is own
    assert kind_of(fp.BayesianLinearRegression(0.5)) is KINDS["blr"]


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_is_registered_under_its_name(name):
    assert KINDS[name].name == name
