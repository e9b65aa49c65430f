"""`fairpool inspect` of whatever fairpool writes: what it is, and which command is for it."""

import json
import shutil
from dataclasses import replace

import pytest

from fairpool.consortium.inspection import inspect_file
from fairpool.errors import FairpoolError
from fairpool.exchange.arrival import Sender, arrive
from fairpool.exchange.attestation import attested
from fairpool.exchange.contribution_file import Privacy
from fairpool.exchange.receipt import receipt_for
from fairpool.report.sealed_letter import unsealed
from tests.support.exchange import KEYS, OPERATOR, a_contribution, a_plan, signed_plan
from tests.support.projects import fairpool, project, round_folder

PLAN = signed_plan(a_plan())


def written(path, content):
    path.write_bytes(content)
    return path


def said(path):
    done = fairpool("inspect", path)
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


def test_a_plan_is_told_with_what_it_discloses(tmp_path):
    path = written(tmp_path / "anything", PLAN.document.content)
    text = said(path)
    assert "plan for: Trial" in text
    assert "c ('x', 'y')" in text
    assert f"North (key {KEYS['North'].public.fingerprint})" in text
    assert f"operator: {OPERATOR.public.fingerprint}" in text
    assert "The operator sees sums over your rows." in text
    plain = json.loads(fairpool("inspect", path, "--json").stdout)
    assert plain["digest"] == PLAN.digest
    assert plain["fewest_rows"] == PLAN.plan.fewest_rows
    assert plain["parties"][0]["key"] == str(KEYS["North"].public)


def test_a_plan_of_classes_is_told(tmp_path):
    plan = signed_plan(a_plan(classes=True))
    text = said(written(tmp_path / "plan.json", plan.document.content))
    assert "predicts: y ('red', 'green', 'blue')" in text
    assert "for each of 3 classes" in text
    assert "and of each class 10 or none" in text


def test_a_contribution_is_told_with_the_arrays_that_it_holds(tmp_path):
    file = a_contribution(PLAN, rows=77, earlier=("ab" * 32,), left_out=5)
    path = written(tmp_path / "north.contribution", file.to_bytes())
    text = said(path)
    for words in (
        "contribution of: North",
        f"signed with the key: {KEYS['North'].public.fingerprint}",
        f"for the operator: {OPERATOR.public.fingerprint}",
        "rows: 77",
        "rows left out: 5 ",
        "gram (4 x 4), moment (4), squares (a number); no row",
        "noise on it: none",
        "rows may be seen: no",
        "1 earlier contribution(s)",
        "replaces: none",
        f"plan's hash: {PLAN.digest}",
    ):
        assert words in text
    assert "rows of each class" not in text
    plain = json.loads(fairpool("inspect", path, "--json").stdout)
    assert plain["digest"] == file.digest
    assert plain["arrays"] == {"gram": [4, 4], "moment": [4], "squares": []}


def test_a_contribution_says_what_its_party_chose(tmp_path):
    privacy = Privacy(epsilon=3.0, delta=1e-6, noise=7.5)
    file = a_contribution(PLAN, privacy=privacy, rows_may_be_seen=True, replaces=("cd" * 32,))
    found = inspect_file(written(tmp_path / "a.contribution", file.to_bytes()))
    assert found.entries["noise on it"].endswith("it hides single rows: epsilon 3, delta 1e-06")
    assert found.entries["rows"].startswith("about ")
    assert found.entries["rows may be seen"].startswith("yes")
    assert found.entries["replaces"] == "cd" * 8


def test_a_contribution_of_classes_has_counts(tmp_path):
    file = a_contribution(signed_plan(a_plan(classes=True)), rows=90)
    found = inspect_file(written(tmp_path / "a.contribution", file.to_bytes()))
    counts = [int(count) for count in found.entries["rows of each class"].split(", ")]
    assert tuple(counts) == file.manifest.counts
    assert sum(counts) == 90


def test_a_receipt_is_told(tmp_path):
    content = a_contribution(PLAN).to_bytes()
    sender = Sender(id="North", name="North", key=KEYS["North"].public)
    arrived = arrive(content, "north.contribution", plan=PLAN, sender=sender)
    receipt = receipt_for(arrived, PLAN, "2020-01-03T00:00:00Z", OPERATOR)
    text = said(written(tmp_path / "north.receipt", receipt.document.content))
    assert "receipt for: North" in text
    assert f"contribution: {arrived.file.digest}" in text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{}", "no signed plan of fairpool"),
        (b'{"body":', "no signed plan of fairpool"),
        (PLAN.document.content.replace(b'"Trial"', b'"Trail"'), "its signature is wrong"),
        (a_contribution(PLAN).to_bytes()[:-8], "cut short"),
        (a_contribution(PLAN).to_bytes().replace(b"North", b"South"), "its signature is wrong"),
        (b"", "no file that fairpool writes"),
    ],
    ids=["empty object", "cut plan", "edited plan", "cut sums", "edited sums", "nothing"],
)
def test_what_is_not_as_it_was_signed_is_refused(tmp_path, content, reason):
    path = written(tmp_path / "file", content)
    with pytest.raises(FairpoolError, match=reason):
        inspect_file(path)
    done = fairpool("inspect", path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_names_that_a_terminal_would_obey_are_not_in_what_is_printed(tmp_path):
    plan = replace(a_plan(), name="North \U000e0041 plan")
    path = written(tmp_path / "plan.json", plan.signed(OPERATOR).content)
    done = fairpool("inspect", path)
    assert "\U000e0041" not in done.stdout + done.stderr


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A folder in which `fairpool run` has written all that it writes."""
    folder = project(tmp_path_factory.mktemp("inspected") / "p")
    assert fairpool("run", folder).returncode == 0
    return folder


OPERATOR_FILES = {
    "report.html": ("the operator's report", "hand it to nobody"),
    "result.json": ("every number of a run", "--json"),
    "values.csv": ("the value of every group's data", "report.html"),
    "collaboration.toml": ("a collaboration's configuration", "fairpool check FOLDER"),
    "inputs.sha256": ("the SHA-256 of every table", "sha256sum --check"),
}
PARTY_FILES = {
    "letter.html": ("letter to: Party 0", "fairpool verify reward.safetensors --letter"),
    "model-card.md": ("a model card", "fairpool inspect reward.safetensors"),
    "reward.safetensors": ("reward for: Party 0", "noise on others"),
}
FOLDER_FILES = {
    "ledger.jsonl": ("a ledger", "fairpool ledger verify FOLDER"),
    "latest": ("which round is the latest", "fairpool rounds FOLDER"),
    "collaboration.toml": ("a collaboration's configuration", "fairpool run FOLDER"),
    ".fairpool/secret.key": ("a secret from which noise is made", "show it to nobody"),
    ".fairpool/operator.key": ("a private signing key", "show it to nobody"),
    ".fairpool/lock": ("fairpool keeps for itself", "back it up"),
}


def every_kind(folder):
    for name, words in FOLDER_FILES.items():
        yield folder / name, words
    for name, words in OPERATOR_FILES.items():
        yield round_folder(folder) / "operator" / name, words
    for name, words in PARTY_FILES.items():
        yield round_folder(folder) / "parties" / "Party-0" / name, words


def test_every_file_of_a_release_is_known_with_the_command_for_it(released, tmp_path):
    known = [path for path, _ in every_kind(released)]
    of_round = [path for path in round_folder(released).rglob("*") if path.is_file()]
    assert {path.name for path in of_round} <= {path.name for path in known}
    for path, words in every_kind(released):
        anywhere = path
        if path.parent.name != ".fairpool":  # its content tells, whatever it is called
            anywhere = written(tmp_path / "file", path.read_bytes())
        for word in words:
            assert word in said(anywhere), path
        assert json.loads(fairpool("inspect", anywhere, "--json").stdout)


def test_nothing_of_a_key_is_shown(released):
    for name in ("secret.key", "operator.key"):
        path = released / ".fairpool" / name
        digits = path.read_text().split()[-1]
        assert digits[:8] not in fairpool("inspect", path, "--json").stdout + said(path)


def test_whatever_lies_in_the_folder_of_state_is_known_by_its_place(released):
    kept = [path for path in (released / ".fairpool").rglob("*") if path.is_file()]
    assert len(kept) > 6
    for path in kept:
        assert "this is: " in said(path), path


def test_a_letter_is_checked_to_the_last_word(released, tmp_path):
    letter = round_folder(released) / "parties" / "Party-1" / "letter.html"
    text = said(letter)
    assert "share of the round:" in text
    assert "Every word of it is as it was signed" in text
    for old, new in ((b"To Party 1", b"To Party 7"), (b"information", b"informatics")):
        changed = written(tmp_path / "letter.html", letter.read_bytes().replace(old, new, 1))
        done = fairpool("inspect", changed)
        assert done.returncode == 2
        assert "something in it was changed; ask for it again" in " ".join(done.stderr.split())


def test_a_letter_without_a_model_names_the_one_that_is_there(released, tmp_path):
    folder = shutil.copytree(released, tmp_path / "p")
    assert fairpool("run", folder).returncode == 0
    text = said(round_folder(folder, 2) / "parties" / "Party-1" / "letter.html")
    assert "new model: none; the party keeps the model that it has" in text
    assert "No model came with it." in text


def test_a_letter_that_nobody_signed_is_told_as_that(released, tmp_path):
    out = tmp_path / "preview"
    assert fairpool("run", released, "--out", out).returncode == 0
    text = said(out / "parties" / "Party-1" / "letter.html")
    assert "letter: Test: Party 1" in text
    assert "Nobody has signed it" in text


def test_a_statement_and_an_attestation_are_told(released, tmp_path):
    page = (round_folder(released) / "parties" / "Party-1" / "letter.html").read_bytes()
    text = said(written(tmp_path / "statement", unsealed(page, "letter.html").statement))
    assert "statement to: Party 1" in text
    assert "fairpool verify" in text
    findings = [{"about": "ledger", "answer": "verified", "text": "all"}]
    told = {"number": 1, "release": "ab" * 32, "findings": findings}
    for ok, answer in ((True, "nothing is FALSE"), (False, "something is FALSE")):
        signed = attested(KEYS["North"], ok=ok, **told)
        text = said(written(tmp_path / "attestation", signed.content))
        assert f"found: {answer}, in 1 lines" in text
        assert f"signed with the key: {KEYS['North'].public.fingerprint}" in text


def test_what_other_commands_write_is_known(released, tmp_path):
    reward = round_folder(released) / "parties" / "Party-0" / "reward.safetensors"
    predictions, audited = tmp_path / "predictions.csv", tmp_path / "audit.json"
    for words in (
        ("predict", reward, "--data", released / "test.csv", "--out", predictions),
        ("audit", released, 1, "--out", audited),
        ("export", reward, "--to", tmp_path / "coefficients.json"),
        ("export", reward, "--to", tmp_path / "model.onnx"),
        ("agreement", released, "--out", tmp_path / "agreement.md"),
        ("keys", "new", "--out", tmp_path / "my.key"),
    ):
        done = fairpool(*words)
        assert done.returncode == 0, (words, done.stderr)
    assert "predictions of `fairpool predict`" in said(predictions)
    assert "what an audit found" in said(audited)
    assert "the coefficients of a linear reward" in said(tmp_path / "coefficients.json")
    assert "a reward as an ONNX model" in said(tmp_path / "model.onnx")
    assert "a template of a data agreement" in said(tmp_path / "agreement.md")
    assert "a private signing key" in said(tmp_path / "my.key")


@pytest.mark.parametrize("name", ["p0.csv", "rounds"])
def test_what_is_no_file_of_fairpool_says_what_to_do(released, name):
    done = fairpool("inspect", released / name)
    assert done.returncode == 2
    error = " ".join(done.stderr.split())
    assert "Traceback" not in error
    if name == "rounds":
        assert "this is a folder; give a file in it" in error
    else:
        assert "no file that fairpool writes" in error
        assert "fairpool contribute" in error
