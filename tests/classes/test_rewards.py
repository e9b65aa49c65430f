"""Rewards of classes: worth exactly what is due, in files that keep labels."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairpool as fp
from fairpool.errors import RewardFileError
from fairpool.models import ClassPosterior
from fairpool.realisation.disclosure import Exposure
from fairpool.realisation.update import update
from tests.classes.conftest import base_models, parties_of_classes, rows_of_classes

SIZES = (120, 90, 150)


def realised(base: Any, k: int, share: float = 0.5, **settings: Any) -> Any:
    game = fp.InformationGain(fp.Classifier(base, k), parties_of_classes(k, SIZES))
    rewards = game.alone + share * (game.total - game.alone)
    return game, rewards, fp.realise(game, rewards, **settings)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.9, 1.0])
def test_models_are_worth_exactly_their_rewards(base: Any, k: int, share: float) -> None:
    _, rewards, models = realised(base, k, share)
    for model, reward in zip(models, rewards, strict=True):
        assert model.value == pytest.approx(reward, rel=1e-9)
        assert model.posterior.worth == pytest.approx(reward, rel=1e-9)


def test_one_noise_variance_for_all_classes_and_rows(base: Any) -> None:
    """The noise that was found makes the reward data worth the reward, by a dense oracle."""
    game, rewards, models = realised(base, 3)
    X = np.concatenate([party.X for party in game.pool.parties])
    y = np.concatenate([party.y for party in game.pool.parties])
    owner = np.repeat(np.arange(3), SIZES)
    K = (
        base.kernel(X)
        if isinstance(base, fp.GaussianProcess)
        else base.whitened_features(X) @ base.whitened_features(X).T
    )
    coding = game.model.coding
    for i, model in enumerate(models):
        value = 0.0
        for c in range(3):
            noise = coding.noise(y, c) + np.where(owner == i, 0.0, model.eta)
            root = 1 / np.sqrt(noise)
            value += 0.5 * np.linalg.slogdet(np.eye(len(y)) + root[:, None] * K * root)[1]
        assert value == pytest.approx(rewards[i], rel=1e-9)


def test_hidden_precisions_have_one_kappa(weight_base: Any) -> None:
    game, _, models = realised(weight_base, 3, public=rows_of_classes(3, 50, 7)[0])
    for i, model in enumerate(models):
        others = model.posterior.others.precision
        assert others == pytest.approx(np.broadcast_to(others[0], others.shape), rel=1e-9)
        for c, of_class in enumerate(model.posterior.of_classes):
            own = game.pool.of_classes[c].statistics[i].told.precision
            B = np.eye(len(own)) + own + others[c]
            assert of_class.factor @ of_class.factor.T == pytest.approx(B, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("label_blind", [False, True])
def test_files_come_back_as_they_were(weight_base: Any, label_blind: bool, tmp_path: Path) -> None:
    model = fp.Classifier(weight_base, 2, label_blind=label_blind)
    game = fp.InformationGain(model, parties_of_classes(2, SIZES))
    reward = fp.realise(game, game.alone + 0.5 * (game.total - game.alone))[0]
    reward.save(tmp_path / "reward.safetensors")
    loaded = fp.load_reward(tmp_path / "reward.safetensors")
    Z, _ = rows_of_classes(2, 20, 77)
    p, variance = loaded.predict(Z)
    assert p.shape == (20, 2)
    assert (p == reward.predict(Z)[0]).all()
    assert (variance == reward.predict(Z)[1]).all()
    assert isinstance(loaded.posterior, ClassPosterior)
    assert loaded.posterior.model.label_blind == label_blind
    again = tmp_path / "again.safetensors"
    loaded.save(again)
    assert again.read_bytes() == (tmp_path / "reward.safetensors").read_bytes()


def test_a_kernel_for_each_class_in_a_file(tmp_path: Path) -> None:
    bases = base_models()
    sparse = bases["sparse_gp"]
    other = fp.SparseGaussianProcess(0.5 * sparse.kernel, 1.0, sparse.inducing_points + 0.1)
    game = fp.InformationGain(fp.Classifier([sparse, other], 2), parties_of_classes(2, SIZES))
    reward = fp.realise(game, game.alone + 0.5 * (game.total - game.alone))[0]
    reward.save(tmp_path / "reward.safetensors")
    loaded = fp.load_reward(tmp_path / "reward.safetensors")
    Z, _ = rows_of_classes(2, 5, 77)
    assert (loaded.predict(Z)[0] == reward.predict(Z)[0]).all()


def test_labels_need_consent_where_a_file_would_tell_them(tmp_path: Path) -> None:
    place = tmp_path / "reward.safetensors"
    for kind, settings in (("blr", {"covariance": "full"}), ("gp", {})):
        _, _, models = realised(base_models()[kind], 2, **settings)
        with pytest.raises(RewardFileError, match="tells the classes of other parties' rows"):
            models[0].save(place, share_inputs=True)
        models[0].save(place, share_inputs=True, share_labels=True)
        assert fp.load_reward(place).value == models[0].value
    blind = fp.Classifier(base_models()["blr"], 2, label_blind=True)
    game = fp.InformationGain(blind, parties_of_classes(2, SIZES))
    rewards = game.alone + 0.5 * (game.total - game.alone)
    fp.realise(game, rewards, covariance="full")[0].save(place)  # its weights do not see labels


def test_rare_classes_are_refused(tmp_path: Path) -> None:
    parties = parties_of_classes(2, SIZES)
    y = np.zeros(SIZES[1])
    y[:9] = 1
    few = fp.Party("p1", parties[1].X, y)
    for all_parties, refused in (([parties[0], few], True), (parties[:2], False)):
        game = fp.InformationGain(fp.Classifier(base_models()["blr"], 2), all_parties)
        reward = fp.realise(game, game.alone + 0.5 * (game.total - game.alone))[0]
        if refused:
            with pytest.raises(
                RewardFileError, match=r'"p1" has 9 row\(s\) of class 1, and needs 10'
            ):
                reward.save(tmp_path / "reward.safetensors")
        else:
            reward.save(tmp_path / "reward.safetensors")
    # Of sums over rows the same is known.
    model = fp.Classifier(base_models()["blr"], 2)
    game = fp.InformationGain(model, [model.summarise(party) for party in (parties[0], few)])
    reward = fp.realise(game, game.alone + 0.5 * (game.total - game.alone))[0]
    assert reward.exposure.rare["p1"].rows == 9


def test_rows_that_are_needed_grow_with_classes() -> None:
    """3 d k T / (p + 1) with a hidden covariance."""
    exposure = Exposure(
        rows={"b": 1000}, releases={"b": 2}, weights=30 * 5, inputs=4, hidden=True, classes=5
    )
    assert exposure.fewest_rows(2) == 3 * 30 * 5 * 2 / 5
    small = Exposure(
        rows={"b": 100}, releases={"b": 2}, weights=30 * 5, inputs=4, hidden=True, classes=5
    )
    (problem,) = small.problems()
    assert "needs 180: " in problem
    assert "30 weights for each of 5 classes" in problem
    assert "use at most 16 weights" in problem  # 3 * 16 * 5 * 2 / 5 = 96


def test_a_recipient_adds_its_own_rows(weight_base: Any) -> None:
    game, _, models = realised(weight_base, 2)
    X, y = rows_of_classes(2, 40, 55)
    own = game.pool.parties[0]
    everything = fp.Party("p0", np.concatenate([own.X, X]), np.concatenate([own.y, y]))
    replaced = update(models[0], everything)
    added = update(models[0], fp.Party("p0", X, y), add=True)
    Z, _ = rows_of_classes(2, 9, 56)
    assert replaced.predict(Z)[0] == pytest.approx(added.predict(Z)[0], abs=1e-9)
    assert replaced.value > models[0].value
    same = update(models[0], own)
    assert same.predict(Z)[0] == pytest.approx(models[0].predict(Z)[0], abs=1e-9)
    assert same.value == pytest.approx(models[0].value, rel=1e-9)


def test_draws_for_evaluation(base: Any) -> None:
    _, _, models = realised(base, 3, rng=0, draws=4)
    p, variance = models[0].predict(np.zeros((2, 2)))
    assert p.shape == (2, 3, 4)
    assert variance.shape == (2, 4)
    assert p.sum(axis=1) == pytest.approx(np.ones((2, 4)))


def test_checks_of_trust(base: Any) -> None:
    game, _, _ = realised(base, 2)
    residuals = fp.held_out_residuals(game)
    first, *others = game.pool.parties
    flipped = fp.Party(first.name, first.X, 1 - first.y)
    lying = fp.InformationGain(game.model, [flipped, *others])
    assert fp.held_out_residuals(lying)[0] > 2 > residuals.max()
    unchecked = fp.uncheckable_information(game)
    assert all(0 <= one.share <= 1 for one in unchecked)
    total = fp.uncheckable_information(game)[0]
    without = game.total - game.value([1, 2])
    assert total.added == pytest.approx(without, abs=1e-8)
