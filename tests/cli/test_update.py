"""`fairpool update`: a party adds its new rows itself, and no file is lost or half-written."""

import json
import stat

import numpy as np
import pyarrow as pa
import pytest

import fairpool as fp
from tests.support.projects import MODELS, fairpool, project, reward_file, table, write

KINDS = [name for name in MODELS if name != "gp"]
NEW = table(20, 77, 0.2)


def handed_out(folder, name, rewards=""):
    """A party's folder: the reward, the rows it was made from, and those with new ones."""
    model, consent = MODELS[name]
    done = project(folder / "project", model=model, rewards=f"{consent}\n{rewards}")
    assert fairpool("run", done).returncode == 0
    file = reward_file(done, "Party-0")
    reward = folder / "reward.safetensors"
    reward.write_bytes(file.read_bytes())
    write(folder / "old.csv", table(40, 0))
    write(folder / "new.csv", NEW)
    write(folder / "mine.csv", pa.concat_tables([table(40, 0), NEW]))
    return reward


@pytest.fixture(scope="module")
def blr(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blr")
    handed_out(folder, "blr")
    return folder


@pytest.fixture
def mine(blr, tmp_path):
    """The same folder for every test."""
    for name in ("reward.safetensors", "old.csv", "new.csv", "mine.csv"):
        (tmp_path / name).write_bytes((blr / name).read_bytes())
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", KINDS)
def test_every_model_with_weights_takes_new_rows(name, tmp_path):
    reward = handed_out(tmp_path, name)
    out = tmp_path / "may.safetensors"
    done = fairpool("update", reward, "--data", tmp_path / "mine.csv", "--out", out)
    assert done.returncode == 0, done.stderr
    before, after = fp.load_reward(reward), fp.load_reward(out)
    assert f"With 60 rows of your own it is worth {after.value:.6g} nats" in done.stdout
    assert after.value > before.value
    encoding = before.encoding
    own = pa.concat_tables([table(40, 0), NEW])
    A = before.posterior.model.whitened_features(encoding.encode(own))
    y = encoding.encode_target(own)
    s2 = before.posterior.model.noise_variance
    others = before.posterior.others
    B = np.eye(A.shape[1]) + A.T @ A / s2 + others.precision
    weights = np.linalg.solve(B, A.T @ y / s2 + others.moment)
    np.testing.assert_allclose(after.posterior.weights, weights, rtol=1e-6, atol=1e-8)
    said = json.loads(fairpool("inspect", out, "--json").stdout)
    assert said["updated"].startswith("the recipient's own rows are now 60; the operator made it")
    assert said["worth"] == f"{after.value:.6g} nats of information"
    assert "updated" not in json.loads(fairpool("inspect", reward, "--json").stdout)
    added = tmp_path / "added.safetensors"
    new = tmp_path / "new.csv"
    assert fairpool("update", reward, "--data", new, "--add", "--out", added).returncode == 0
    np.testing.assert_allclose(
        fp.load_reward(added).posterior.weights, after.posterior.weights, rtol=1e-6, atol=1e-8
    )
    assert "the recipient added 20; the operator" in fairpool("inspect", added).stdout


def test_it_predicts_like_any_reward_and_can_be_updated_again(mine):
    file = mine / "reward-updated.safetensors"
    arguments = ("update", mine / "reward.safetensors", "--data", mine / "mine.csv")
    assert fairpool(*arguments).returncode == 0
    assert fairpool("predict", file, "--data", mine / "new.csv").returncode == 0
    again = mine / "again.safetensors"
    assert fairpool("update", file, "--data", mine / "mine.csv", "--out", again).returncode == 0
    np.testing.assert_allclose(
        fp.load_reward(again).posterior.weights,
        fp.load_reward(file).posterior.weights,
        rtol=1e-8,
        atol=1e-9,
    )


def test_the_new_file_is_for_its_owner_alone_and_lies_beside_the_old_one(mine):
    done = fairpool("update", mine / "reward.safetensors", "--data", mine / "mine.csv", "--json")
    said = json.loads(done.stdout)
    out = mine / "reward-updated.safetensors"
    assert said["out"] == str(out)
    assert said["rows"] == 60
    assert said["worth"] > said["worth_before"]
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_nothing_is_overwritten_unless_asked(mine):
    arguments = ("update", mine / "reward.safetensors", "--data", mine / "mine.csv")
    (mine / "there").write_text("precious")
    for out in ("there", "reward.safetensors", "mine.csv"):
        before = contents(mine)
        done = fairpool(*arguments, "--out", mine / out)
        assert done.returncode == 2
        assert f"{mine / out} exists already; give another --out, or --force" in done.stderr
        assert contents(mine) == before
    for out in ("reward.safetensors", "mine.csv"):
        done = fairpool(*arguments, "--out", mine / out, "--force")
        assert done.returncode == 2
        assert "is the reward or the data itself; give another --out" in done.stderr
    assert fairpool(*arguments, "--out", mine / "there", "--force").returncode == 0
    fp.load_reward(mine / "there")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("new.csv",), "are not among these, but its own rows are replaced by them; give all rows"),
        (("nowhere.csv",), "rows of your own: nowhere.csv is no file or folder"),
        (("empty.csv",), "empty.csv: it has no row; give the rows that the reward shall have"),
        (("lacking.csv",), 'rows of your own: lacking.csv: no column "y"; it has x, z, kind'),
        (("bad.csv",), "bad.csv, line 2, column \"y\": 'oops' is not a number; correct it"),
        (("bad.csv",), '1 missing value(s) (x 1), first at bad.csv, line 3, column "x"; fill in'),
        (("mine.csv", "--add", "--corrected"), "give one of them"),
    ],
)
def test_what_cannot_be_used_is_refused_in_words_and_nothing_is_written(mine, arguments, text):
    (mine / "empty.csv").write_text("x,z,kind,y\n")
    (mine / "lacking.csv").write_text("x,z,kind\n1,2,red\n")
    (mine / "bad.csv").write_text("x,z,kind,y\n1,2,red,oops\n,2,red,4\n")
    before = contents(mine)
    done = fairpool("update", "reward.safetensors", "--data", *arguments, cwd=mine)
    assert done.returncode == 2
    assert text in done.stderr
    assert "unexpected" not in done.stderr
    assert contents(mine) == before


def test_a_level_that_the_model_does_not_know_is_told_of(mine):
    strange = pa.table({"x": [1.0], "z": [2.0], "kind": ["blue"], "y": [50.0]})
    write(mine / "strange.csv", strange)
    done = fairpool("update", mine / "reward.safetensors", "--data", mine / "strange.csv", "--add")
    assert done.returncode == 0
    assert "strange.csv, line 2, column \"kind\": 'blue'" in done.stderr


def test_rows_that_were_left_out_need_a_word(mine):
    write(mine / "fewer.csv", table(40, 0).slice(1))
    arguments = ("update", mine / "reward.safetensors", "--data", mine / "fewer.csv")
    done = fairpool(*arguments)
    assert done.returncode == 2
    assert "say so (--corrected, or corrected=True)" in done.stderr
    assert fairpool(*arguments, "--corrected").returncode == 0


def test_an_exact_process_is_refused_with_the_reason(tmp_path):
    reward = handed_out(tmp_path, "gp")
    done = fairpool("update", reward, "--data", tmp_path / "mine.csv")
    assert done.returncode == 2
    assert f'{reward}: the reward of "Party 0" is an exact Gaussian process' in done.stderr


def test_a_full_covariance_takes_new_rows_alone(tmp_path):
    reward = handed_out(tmp_path, "blr", 'covariance = "full"')
    done = fairpool("update", reward, "--data", tmp_path / "mine.csv")
    assert done.returncode == 2
    assert 'covariance = "full", in which the rows of its recipient cannot be told' in done.stderr
    assert fairpool("update", reward, "--data", tmp_path / "new.csv", "--add").returncode == 0


def test_a_reward_without_names_is_for_python(tmp_path):
    game = fp.InformationGain(
        fp.BayesianLinearRegression(0.5),
        [fp.Party(name, np.eye(12, 2), np.zeros(12)) for name in "ab"],
    )
    fp.realise(game, game.alone, None)[0].save(tmp_path / "r")
    write(tmp_path / "mine.csv", NEW)
    done = fairpool("update", tmp_path / "r", "--data", tmp_path / "mine.csv")
    assert done.returncode == 2
    assert "knows no column names; use fairpool.realisation.update in Python" in done.stderr
