"""The wheel, installed without extras into a new environment outside of the checkout, does what it
is for.

What the development extras bring hides what is imported but not declared; here nothing does.
"""

import csv
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.installation import CHECKOUT, distribution, new_environment

pytestmark = pytest.mark.plain_install

ROUND = "rounds/0001"
ONLY_FOR_THE_TESTS = {
    "build",
    "coverage",
    "distributed",
    "hypothesis",
    "model2vec",
    "onnx",
    "onnxruntime",
    "pandas",
    "polars",
    "pytest",
    "selenium",
    "sphinx",
    "twine",
    "tokenizers",
}


@pytest.fixture(scope="module")
def published():
    with distribution() as files:
        yield files


@pytest.fixture(scope="module")
def installation(published):
    with new_environment(sys.executable) as found:
        done = found.pip("install", published[0])
        assert done.returncode == 0, done.stderr
        yield found


def test_wheel_and_source_archive_can_be_published(published):
    assert [path.suffix for path in published] == [".whl", ".gz"]
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *published],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.count("PASSED")) == (0, 2), done.stdout


@pytest.fixture(scope="module")
def demo(installation):
    printed = installation.output("fairpool", "demo")
    return printed, installation.work / "fairpool-demo"


def test_it_is_the_wheel_that_runs_and_no_extra_is_there(installation):
    program = "import fairpool, sys; print(fairpool.__file__); print(sys.prefix)"
    file, prefix = map(Path, installation.output("python", "-c", program).splitlines())
    assert prefix in file.parents
    assert CHECKOUT not in file.parents
    listed = installation.output(
        "python", "-m", "pip", "--disable-pip-version-check", "list", "--format", "json"
    )
    names = {entry["name"].lower().replace("_", "-") for entry in json.loads(listed)}
    assert "fairpool" in names
    assert names & ONLY_FOR_THE_TESTS == set()
    assert "No broken requirements" in installation.output(
        "python", "-m", "pip", "--disable-pip-version-check", "check"
    )


def test_help_and_version(installation):
    text = installation.output("fairpool", "--help")
    for command in ("demo", "init", "check", "run", "predict", "inspect", "update", "reproduce"):
        assert f" {command} " in text
    assert installation.output("fairpool", "--version").startswith("fairpool ")


def test_wrong_usage_ends_with_2_and_no_traceback(installation):
    for arguments in (["nonsense"], ["predict"], ["run", "--jobs", "none", "."]):
        done = installation.run("fairpool", *arguments)
        assert done.returncode == 2
        assert "Usage: fairpool" in done.stderr
        assert "Traceback" not in done.stderr


def test_the_demo_gives_every_party_a_model_and_a_letter(demo):
    printed, folder = demo
    assert "Hospital A receives the best model, because nobody contributes more." in printed
    assert (
        "vega" in (folder / ROUND / "operator" / "report.html").read_text(encoding="utf-8").lower()
    )
    parties = folder / ROUND / "parties"
    assert {party.name for party in parties.iterdir()} == {"Hospital-A", "Hospital-B", "Hospital-C"}
    for party in parties.iterdir():
        names = {file.name for file in party.iterdir()}
        assert names == {"letter.html", "model-card.md", "reward.safetensors"}


def test_a_service_is_reached_without_any_extra(installation):
    program = (
        "import fairpool as fp; client = fp.Client('http://127.0.0.1:7', 'fp_' + 43 * 'x');"
        " print(client)\ntry: client.account()\nexcept fp.FairpoolError as error: print(error)"
    )
    printed = installation.output("python", "-c", program)
    assert "Client('http://127.0.0.1:7')\nhttp://127.0.0.1:7: cannot be reached" in printed


def test_predict(installation, demo):
    folder = demo[1]
    reward = folder / ROUND / "parties" / "Hospital-B" / "reward.safetensors"
    text = installation.output("fairpool", "predict", reward, "--data", folder / "test.csv")
    rows = list(csv.DictReader(text.splitlines()))
    truth = list(csv.DictReader((folder / "test.csv").read_text().splitlines()))
    assert len(rows) == len(truth) == 88
    inside = 0
    for row, true in zip(rows, truth, strict=True):
        assert float(row["lower_95"]) < float(row["progression"]) < float(row["upper_95"])
        inside += float(row["lower_95"]) < float(true["progression"]) < float(row["upper_95"])
    assert inside > 0.8 * len(rows)


def test_inspect(installation, demo):
    reward = demo[1] / ROUND / "parties" / "Hospital-B" / "reward.safetensors"
    found = json.loads(installation.output("fairpool", "inspect", reward, "--json"))
    assert found["reward for"] == "Hospital B"
    assert found["model"] == "sparse Gaussian process"
    assert found["sha256"] == hashlib.sha256(reward.read_bytes()).hexdigest()


def test_what_needs_an_extra_says_which(installation, demo):
    done = installation.run(
        "fairpool", "run", demo[1], "--preview", "--cluster", "tcp://127.0.0.1:9"
    )
    assert done.returncode == 2
    assert (
        done.stderr
        == "error: --cluster needs dask.distributed; install it: pip install 'fairpool[cluster]'\n"
    )


def test_the_service_needs_an_extra_and_says_which(installation, tmp_path):
    done = installation.run("fairpool", "serve", "--folder", tmp_path / "pool")
    assert done.returncode == 2
    assert (
        done.stderr
        == "error: the service needs more packages; install them: pip install 'fairpool[server]'\n"
    )
    assert not (tmp_path / "pool").exists()


RELEASED = shutil.ignore_patterns("rounds", ".fairpool*", "ledger.jsonl", "latest")
"""What a round leaves in a folder."""


def test_texts_need_an_extra_and_say_which(installation, demo):
    folder = installation.work / "texts"
    shutil.copytree(demo[1], folder, ignore=RELEASED)
    encoder = folder / "encoder"
    encoder.mkdir()
    for name in ("model.safetensors", "tokenizer.json"):
        (encoder / name).write_bytes(b"{}")
    with (folder / "collaboration.toml").open("a") as file:
        file.write('[columns.bp]\nencoder = "encoder"\n')
    done = installation.run("fairpool", "check", folder, "--quiet")
    assert done.returncode == 2
    assert done.stderr.startswith("error: [columns.bp]: the encoder ")
    assert "needs tokenizers; install it: pip install 'fairpool[encoders]'\n" in done.stderr


def test_images_need_an_extra_and_say_which(installation, demo):
    folder = installation.work / "images"
    shutil.copytree(demo[1], folder, ignore=RELEASED)
    encoder = folder / "encoder"
    encoder.mkdir()
    for name in ("model.onnx", "preprocessor_config.json"):
        (encoder / name).write_bytes(b"{}")
    with (folder / "collaboration.toml").open("a") as file:
        file.write('[columns.bp]\nkind = "image"\nencoder = "encoder"\n')
    done = installation.run("fairpool", "check", folder, "--quiet")
    assert done.returncode == 2
    assert done.stderr.startswith("error: [columns.bp]: the encoder ")
    assert "needs pillow; install it: pip install 'fairpool[encoders]'\n" in done.stderr


def test_the_library(installation):
    program = "import fairpool as fp; print(fp.shapley(fp.TableGame([0, 7, 5, 8])))"
    assert installation.output("python", "-c", program) == "Contributions([5. 3.], exact)\n"
