"""Mechanisms: another way to weaken rewards, carried from the configuration to the letter."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

import fairpool as fp
from fairpool.realisation import MECHANISMS, Level
from fairpool.realisation.level import goals_of, level_at_end, level_between
from fairpool.realisation.mechanism import Explained
from fairpool.stored import number
from tests.support.examples import MODELS, P, make_parties
from tests.support.projects import fairpool, project, round_folder


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
    secret = ""

    def term(self, target):
        return Explained("tempered to", f"How much the other parties' {target.name} counts.")

    def figure(self, level, target):
        return f"{level.tau:.1%}"

    def unit(self, target):
        return f"Tempered to: how much of the others' {target.name} counts."

    def received(self, level, target, *, own):
        return f"The others' values of {target.name} count for {level.tau:.0%}."

    def labels(self, level):
        return "tempered"

    def sums(self, level):
        return ", in which the other parties count for less"

    def inspected(self, level, target):
        return Explained("tempered to", f"{level.tau:.3f}")


@dataclass(frozen=True)
class InTurnCurve:
    """The others' data join one party after the other, of which the last one counts in part."""

    precisions: list
    i: int

    slope = 1.0  # where the search begins; it need not be exact

    def shares(self, tau):
        """How much of every party's data is in [n]."""
        others = len(self.precisions) - 1
        shares = np.clip(tau * others - np.arange(others), 0, 1)
        return np.insert(shares, self.i, 1.0)

    def value(self, tau):
        shares = self.shares(tau)
        B = np.eye(len(self.precisions[0]))
        for share, precision in zip(shares, self.precisions, strict=True):
            B += share * precision
        return 0.5 * np.linalg.slogdet(B)[1]

    def for_many(self):
        return self


class InTurn(Tempering):
    """Another toy, with a curve and a release of its own: nothing of noise on labels is used."""

    name = "in_turn"

    def levels(self, game, rewards):
        levels = []
        for i, goal in enumerate(goals_of(game, rewards)):
            levels.append(level_at_end(goal) or level_between(goal, self.curve(game, i)))
        return tuple(levels)

    def curve(self, game, i):
        return InTurnCurve([known.told.precision for known in game.pool.statistics], i)

    def release(self, game, levels, *, rng, draws):
        posteriors = []
        for i, level in enumerate(levels):
            shares = self.curve(game, i).shares(level.tau)
            told = [known.told for known in game.pool.statistics]
            precision = sum(share * one.precision for share, one in zip(shares, told, strict=True))
            moment = sum(share * one.moment for share, one in zip(shares, told, strict=True))
            posterior = game.model.posterior_from_moments(precision, moment, game.pool.inputs)
            posteriors.append(posterior)
        return tuple(posteriors)


@pytest.mark.parametrize("covariance", ["full", "hidden"])
def test_a_mechanism_may_have_a_curve_of_its_own(tmp_path, monkeypatch, covariance):
    monkeypatch.setitem(MECHANISMS, "in_turn", InTurn())
    parties = make_parties([30, 40, 35], 0)
    game = fp.InformationGain(MODELS["blr"], parties)
    rewards = game.alone + np.array([0.9, 0.4, 1.0]) * (game.total - game.alone)
    models = fp.realise(game, rewards, mechanism="in_turn", covariance=covariance)
    usual = fp.realise(game, rewards, covariance=covariance)
    for model, reward, noisy in zip(models, rewards, usual, strict=True):
        assert model.posterior.worth == pytest.approx(reward, rel=1e-9)
        model.save(tmp_path / "r")
        loaded = fp.load_reward(tmp_path / "r")
        assert (loaded.mechanism.name, loaded.tau) == ("in_turn", model.tau)
        assert (model.tau == 1) == (noisy.tau == 1)
        assert model.tau == 1 or abs(model.tau - noisy.tau) > 0.01  # another curve
    # All of the first of the others is in, and of the second a part.
    own, first = (game.pool.statistics[j].told for j in (0, 1))
    assert 0.5 < models[0].tau < 1
    assert 0.5 * np.linalg.slogdet(np.eye(4) + own.precision + first.precision)[1] < rewards[0]


def test_a_new_mechanism_goes_from_the_configuration_to_the_letter(tmp_path, monkeypatch):
    monkeypatch.setitem(MECHANISMS, "tempering", Tempering())
    folder = project(tmp_path / "p", rewards='mechanism = "tempering"')
    run = fairpool("run", folder, "--json")
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    tempered = next(p for p in result["parties"] if 0 < p["temper"] < 1)
    assert "eta" not in tempered
    assert tempered["realised"] == pytest.approx(tempered["reward"], rel=1e-9)
    own = round_folder(folder) / tempered["folder"]
    letter = (own / "letter.html").read_text()
    assert f"The others' values of y count for {tempered['temper']:.0%}." in letter
    assert "The noise is drawn anew" not in letter
    assert "sums over all rows, in which the other parties count for less." in letter
    report = (round_folder(folder) / "operator" / "report.html").read_text()
    assert '<th class="n">tempered\nto</th>' in report
    assert f"{tempered['temper']:.1%}" in report
    assert "<dt>tempered to</dt>" in report
    assert "Tempered to: how much of the others&#39; y counts." in report
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
