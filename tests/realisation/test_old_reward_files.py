"""Files that fairpool wrote once are read for ever; what is too old is refused with the reason."""

import json

import numpy as np
import pytest

import fairpool as fp
from fairpool.realisation.reward_file import VERSION
from tests.realisation.test_reward_file import rewrite
from tests.support.projects import fairpool
from tests.support.reward_files import FOLDER, TABLE, models, table

FILES = sorted(FOLDER.glob("v*/*.safetensors"))


def expected(path):
    return json.loads((path.parent / "expected.json").read_text())[path.stem]


def test_there_is_one_of_every_kind_and_version():
    for version in range(2, VERSION + 1):
        kinds = {path.stem for path in FILES if path.parent.name == f"v{version}"}
        assert kinds == {*models(), "updated"}
        assert kinds == set(json.loads((FOLDER / f"v{version}" / "expected.json").read_text()))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_it_opens_and_predicts_what_it_always_did(path, tmp_path):
    reward, known = fp.load_reward(path), expected(path)
    mean, variance = reward.predict_table(table())
    np.testing.assert_allclose(mean, known["mean"], rtol=1e-9)
    np.testing.assert_allclose(variance, known["variance"], rtol=1e-9)
    for name in ("party", "value", "target", "tau"):
        assert getattr(reward, name) == known[name]
    assert (reward.updated is not None) == (path.stem == "updated")
    rows = [
        ",".join(TABLE),
        *(",".join(map(str, row)) for row in zip(*TABLE.values(), strict=True)),
    ]
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n")
    done = fairpool("predict", path, "--data", tmp_path / "data.csv", "--json")
    predicted = [row["days"] for row in json.loads(done.stdout)]
    np.testing.assert_allclose(predicted, known["mean"], rtol=1e-9)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_inspect_says_what_it_is(path):
    said = json.loads(fairpool("inspect", path, "--json").stdout)
    assert said["reward for"] == "North"
    assert said["predicts"] == "days"
    assert said["worth"] == f"{expected(path)['value']:.6g} nats of information"
    assert (said["others' inputs"] == "contained") == (path.stem == "gp")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_that_says_version_1_is_refused_since_it_tells_too_much(path, tmp_path):
    file = tmp_path / "old.safetensors"
    file.write_bytes(path.read_bytes())
    rewrite(file, lambda d, t: d.update(version=1))
    for command in (
        ("inspect", file),
        ("predict", file, "--data", "nowhere.csv"),
        ("update", file, "--data", "nowhere.csv"),
    ):
        done = fairpool(*command)
        assert done.returncode == 2
        assert "version 1, which tells its holder more about other parties than it" in done.stderr
        assert "ask the operator for a new one" in done.stderr
