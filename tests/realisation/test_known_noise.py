"""Noise that somebody knows hides nothing: models with it are not handed out."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import fairpool as fp
from tests.support.examples import MODELS as EXAMPLES
from tests.support.examples import make_parties
from tests.support.noise_attacks import cancel, labels_in, search_seed
from tests.support.projects import (
    MODELS,
    fairpool,
    finished_run,
    project,
    reward_file,
    table,
    write,
)

SEED = 20201119
CANDIDATES = range(20201101, 20201131)
SIZES = (40, 12)
OTHERS = np.arange(sum(SIZES)) < SIZES[0]


def tables():
    """Two parties' tables, whose labels have two digits after the point."""
    found = []
    for i, size in enumerate(SIZES):
        rows = table(size, i, 0.4 * i).to_pydict()
        rows["y"] = [round(y, 2) for y in rows["y"]]
        found.append(pa.table(rows))
    return found


def two_parties(place):
    """A project whose second party is to work out the first one's labels."""
    model, rewards = MODELS["gp"]
    project(place, model=model, rewards=rewards, sizes=SIZES)
    for i, rows in enumerate(tables()):
        write(place / f"p{i}.csv", rows)
    return place


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return two_parties(tmp_path_factory.mktemp("two"))


def known(folder, *, rho):
    """The second party's model with noise from a seed, as a notebook makes it of the same rows."""
    run = finished_run(folder, rho=rho)
    encoding = run.preparation.encoding
    parties = []
    for i, rows in enumerate(tables()):
        labels = encoding.encode_target(rows)
        parties.append(fp.Party(f"Party {i}", encoding.encode(rows), labels))
    game = fp.InformationGain(run.built.model, parties)
    reward = fp.realise(game, run.collaboration.rewards, SEED)[1]
    return replace(reward, encoding=encoding)


def of_the_command(folder, *options, number=1):
    """The second party's model of a round."""
    done = fairpool("run", folder, "--quiet", *options)
    assert (done.returncode, done.stderr) == (0, "")
    return fp.load_reward(reward_file(folder, "Party-1", number))


def in_order(reward):
    """Where each row of the tables, one after the other, is among those of a model."""
    encoded = np.concatenate([reward.encoding.encode(rows) for rows in tables()])
    distances = np.abs(encoded[:, None, :] - reward.posterior.X[None, :, :]).max(axis=2)
    places = distances.argmin(axis=1)
    assert distances.min(axis=1).max() < 1e-12
    assert len({*places}) == sum(SIZES)
    return places


def off(reward, labels):
    """How far labels of the model's own units are from the true ones, at worst of the others'."""
    target = reward.encoding.target
    raw, _ = target.decode(labels, np.zeros(len(labels)))
    truth = np.concatenate([rows["y"].to_numpy() for rows in tables()])
    return np.abs(raw[in_order(reward)] - truth)[OTHERS].max()


def is_of_others(reward):
    """Which of a model's rows are not its owner's [m]."""
    others = np.zeros(len(OTHERS), dtype=bool)
    others[in_order(reward)[OTHERS]] = True
    return others


def test_a_seed_is_found_among_candidates_but_a_secret_has_none(folder, tmp_path):
    guessed = known(folder, rho=0.6)
    assert off(guessed, labels_in(guessed)) > 1
    assert search_seed(guessed, is_of_others(guessed), CANDIDATES) == SEED
    released = of_the_command(two_parties(tmp_path / "p"))
    assert released.eta == pytest.approx(guessed.eta)
    assert search_seed(released, is_of_others(released), CANDIDATES) is None


def test_noise_used_twice_cancels_but_a_path_does_not(folder, tmp_path):
    first, second = (known(folder, rho=rho) for rho in (0.6, 0.4))
    assert off(first, labels_in(first)) > 1
    assert off(first, cancel(first, second)) < 1e-9
    place = two_parties(tmp_path / "p")
    first = of_the_command(place, "--rho", "0.6")
    second = of_the_command(place, "--rho", "0.4", number=2)
    assert second.eta < first.eta
    assert off(first, cancel(first, second)) > 1


def test_the_command_has_no_seed(folder, tmp_path):
    done = fairpool("run", folder, "--out", tmp_path / "out", "--seed", "1")
    assert done.returncode == 2
    assert "No such option: --seed" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("rng", [0, SEED, np.random.default_rng(), np.random.default_rng(3)])
def test_what_was_drawn_from_a_given_rng_is_not_saved_by_mistake(rng, tmp_path):
    parties = make_parties([12, 11], 0)
    reward = fp.collaborate(parties, EXAMPLES["blr"], rho=0.5, rng=rng).models[0]
    assert reward.known_noise
    with pytest.raises(
        ValueError,
        match=r'the reward of "p0" has noise from an rng that you gave: .* can remove the noise .*'
        r"realise it again without rng; .* save it with known_noise=True",
    ):
        reward.save(tmp_path / "r")
    assert not list(tmp_path.iterdir())
    reward.save(tmp_path / "r", known_noise=True)
    assert b"known_noise" not in (tmp_path / "r").read_bytes()


def test_fresh_noise_is_the_default_and_is_saved(tmp_path):
    parties = make_parties([20, 8], 0)
    game = fp.InformationGain(EXAMPLES["blr"], parties)
    results = [fp.collaborate(parties, EXAMPLES["blr"], rho=0.5).models for _ in range(2)]
    results += [fp.realise(game, [model.target for model in results[0]]) for _ in range(2)]
    weights = [models[1].posterior.weights for models in results]
    assert len({tuple(w) for w in weights}) == 4
    for models in results:
        assert 0 < models[1].eta < np.inf
        assert not models[1].known_noise
        models[1].save(tmp_path / "r")
