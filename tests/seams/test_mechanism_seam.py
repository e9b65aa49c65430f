"""Mechanisms: another way to weaken rewards, carried from the configuration to the letter."""

import json

import numpy as np
import pytest

import fairpool as fp
from fairpool.realisation import MECHANISMS, Level
from fairpool.realisation.level import goals_of, level_at_end, level_between
from fairpool.realisation.mechanism import Explained
from fairpool.stored import number
from tests.support.examples import MODELS, P, make_parties
from tests.support.projects import fairpool, project


class Tempering:
    """A toy: the others' labels count for less, but nothing is added to them.

    The curve is that of noise on labels. (Whoever receives such a model can undo the tempering: it
    is no way to hide anything.)
    """

    name = "tempering"
    for_evaluation = False

    @property
    def words(self):
        return TemperingWords()

    def levels(self, game, rewards):
        levels = []
        for i, goal in enumerate(goals_of(game, rewards)):
            level = level_at_end(goal)
            levels.append(level or level_between(goal, game.reward_curve(i)))
        return tuple(levels)

    def release(self, game, levels, *, rng, draws):
        shape = () if draws is None else (draws,)
        none = [np.zeros((party.label_draws, *shape)) for party in game.pool.parties]
        posteriors = []
        for i, level in enumerate(levels):
            s2 = game.model.noise_variance
            eta = np.full(game.n, s2 * (1 - level.tau) / level.tau if level.tau else np.inf)
            eta[i] = 0.0
            posteriors.append(
                game.model.posterior_with_noise(game.pool, game.space, eta=eta, z=none)
            )
        return tuple(posteriors)

    def encode(self, level):
        return {"temper": level.tau}

    def decode(self, entries):
        value = number(entries["value"], "value", least=0)
        return Level(tau=number(entries["temper"], "temper", least=0, most=1), value=value)


class TemperingWords:
    heading = "tempered to"
    short_heading = "tempered\nto"
    term = Explained("tempered to", "How much the other parties' labels count.")
    secret = ""

    def short(self, level):
        return f"{level.tau:.0%}"

    def figure(self, level):
        return f"{level.tau:.1%}"

    def received(self, level, target):
        return f"The others' values of {target.name} count for {level.tau:.0%}."

    def labels(self, level):
        return "tempered"

    def sums(self, level):
        return ", in which the other parties count for less"

    def inspected(self, level):
        return Explained("tempered to", f"{level.tau:.3f}")


def test_a_new_mechanism_goes_from_the_configuration_to_the_letter(tmp_path, monkeypatch):
    monkeypatch.setitem(MECHANISMS, "tempering", Tempering())
    folder = project(tmp_path / "p", rewards='mechanism = "tempering"')
    run = fairpool("run", folder, "--json")
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    tempered = next(p for p in result["parties"] if 0 < p["temper"] < 1)
    assert "eta" not in tempered
    assert tempered["realised"] == pytest.approx(tempered["reward"], rel=1e-9)
    own = folder / "result" / tempered["folder"]
    letter = (own / "letter.html").read_text()
    assert f"The others' values of y count for {tempered['temper']:.0%}." in letter
    assert "The noise is drawn anew" not in letter
    assert "sums over all rows, in which the other parties count for less." in letter
    report = (folder / "result" / "operator" / "report.html").read_text()
    assert '<th class="n">tempered to</th>' in report
    assert f"{tempered['temper']:.1%}" in report
    assert "<dt>tempered to</dt>" in report
    inspected = fairpool("inspect", own / "reward.safetensors")
    assert f"{tempered['temper']:.3f}" in inspected.stdout
    reward = fp.load_reward(own / "reward.safetensors")
    assert reward.tau == tempered["temper"]
    assert np.isnan(reward.eta)
    assert reward.mechanism.name == "tempering"
    # Who does not know the mechanism cannot read the file, and is told so.
    monkeypatch.delitem(MECHANISMS, "tempering")
    with pytest.raises(ValueError, match='no mechanism "tempering"; there are "label_noise"'):
        fp.load_reward(own / "reward.safetensors")


def test_a_mechanism_that_is_not_known_is_refused(tmp_path):
    folder = project(tmp_path, rewards='mechanism = "fog"')
    check = fairpool("check", folder)
    assert check.returncode == 2
    assert "rewards, mechanism: 'fog' is not allowed; give one of label_noise" in check.stderr
    game = fp.InformationGain(MODELS["blr"], make_parties([5, 6], 0))
    with pytest.raises(ValueError, match='no mechanism "fog"; there are "label_noise"'):
        fp.realise(game, [game.total] * 2, 0, mechanism="fog")
    with pytest.raises(ValueError, match='no mechanism "5"; there are "label_noise"'):
        fp.realise(game, [game.total] * 2, 0, mechanism=5)
    with pytest.raises(ValueError, match="noise is a setting of noise on labels"):
        fp.realise(game, [game.total] * 2, 0, mechanism="label_noise", noise="standardised")


def test_a_mechanism_can_be_given_to_the_library():
    parties = make_parties([9, 12, 8], 0)
    result = fp.collaborate(parties, MODELS["gp"], rho="stable", rng=1, mechanism=Tempering())
    noisy = fp.collaborate(parties, MODELS["gp"], rho="stable", rng=1)
    X = np.random.default_rng(0).standard_normal((4, P))
    for ours, usual in zip(result.models, noisy.models, strict=True):
        assert ours.value == pytest.approx(usual.value, rel=1e-9)
        np.testing.assert_allclose(ours.predict(X)[1], usual.predict(X)[1], rtol=1e-7)
    assert "tempered" in repr(result)
