"""`fairpool export`."""

import json
from dataclasses import replace

import numpy as np
import pytest

import fairpool as fp
from fairpool.tables.delivery import Delivery, OwnColumn
from tests.support.projects import fairpool
from tests.support.reward_files import FOLDER, TABLE
from tests.support.without_fairpool import ASK_COEFFICIENTS, ASK_ONNX, answer_of

FILES = [file for file in sorted(FOLDER.glob("v*/*.safetensors")) if file.stem != "gp"]
LINEAR = FOLDER / "v2" / "blr.safetensors"


def expected(file):
    return json.loads((file.parent / "expected.json").read_text())[file.stem]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_exported_file_predicts_without_fairpool_what_the_reward_does(file, tmp_path):
    done = fairpool("export", file, "--to", tmp_path / "model.onnx")
    assert done.returncode == 0, done.stderr
    assert "It takes 'age', 'dose', 'sex' and gives 'mean', 'variance'." in done.stdout
    answer = answer_of(ASK_ONNX, tmp_path / "model.onnx", TABLE)
    np.testing.assert_allclose(answer["mean"], expected(file)["mean"], rtol=1e-9)
    np.testing.assert_allclose(answer["variance"], expected(file)["variance"], rtol=1e-9)
    assert answer["facts"]["fairpool.party"] == "North"
    assert "recipient added 4 row(s)" in answer["about"] or file.stem != "updated"


def test_coefficients_predict_without_fairpool_what_the_reward_does(tmp_path):
    done = fairpool("export", LINEAR, "--to", tmp_path / "c.json", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"to": str(tmp_path / "c.json"), "inputs": [], "outputs": []}
    answer = answer_of(ASK_COEFFICIENTS, tmp_path / "c.json", TABLE)
    np.testing.assert_allclose(answer["mean"], expected(LINEAR)["mean"], rtol=1e-9)
    np.testing.assert_allclose(answer["variance"], expected(LINEAR)["variance"], rtol=1e-9)


def test_who_has_columns_of_its_own_is_told_that_these_are_the_collaborations(tmp_path):
    own = Delivery(columns=(OwnColumn(name="age", named="Alter"),))
    replace(fp.load_reward(LINEAR), delivery=own).save(tmp_path / "r", known_noise=True)
    done = fairpool("export", tmp_path / "r", "--to", tmp_path / "model.onnx")
    said = " ".join(done.stdout.split())
    assert "Columns are the collaboration's" in said
    assert 'age as "Alter"' in said
    assert "Columns are" not in fairpool("export", LINEAR, "--to", tmp_path / "m.onnx").stdout


def refused(done, words):
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_model_of_rows_is_refused(tmp_path):
    done = fairpool("export", FOLDER / "v2" / "gp.safetensors", "--to", tmp_path / "model.onnx")
    refused(done, "contains other parties' inputs")
    assert [*tmp_path.iterdir()] == []


def test_nothing_is_replaced_without_being_told(tmp_path):
    out = tmp_path / "model.onnx"
    out.write_text("mine")
    refused(
        fairpool("export", LINEAR, "--to", out), "exists already; give another --to, or --force"
    )
    assert out.read_text() == "mine"
    assert fairpool("export", LINEAR, "--to", out, "--force").returncode == 0
    assert out.read_bytes() != b"mine"


def test_the_reward_itself_is_not_replaced(tmp_path):
    reward = tmp_path / "reward.json"
    reward.write_bytes(LINEAR.read_bytes())
    refused(fairpool("export", reward, "--to", reward, "--force"), "is the reward itself")
    assert reward.read_bytes() == LINEAR.read_bytes()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("model.txt", "files that end with .txt; give a name that ends with .onnx"),
        ("missing/model.onnx", "cannot be written"),
    ],
)
def test_a_place_that_cannot_be_is_refused(name, words, tmp_path):
    refused(fairpool("export", LINEAR, "--to", tmp_path / name), words)
    assert [*tmp_path.iterdir()] == []


def test_a_file_that_is_no_reward_is_refused(tmp_path):
    (tmp_path / "x.safetensors").write_text("no")
    done = fairpool("export", tmp_path / "x.safetensors", "--to", tmp_path / "model.onnx")
    refused(done, "not a reward file, or cut short")
