"""A model card goes with every model, says what the letter says, and nothing of others."""

import hashlib
import html
import json
import re
from dataclasses import replace

import pytest

from fairpool.__about__ import __version__
from fairpool.audit import LabelVerdict
from fairpool.notes import Note
from fairpool.report.model_card import as_markdown
from tests.support.projects import fairpool, finished_run, project, rendered, round_folder

NAMES = ("Party 0", "Party 1", "Party 2")
CONTACT = "Data office, data@example.org"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = project(tmp_path_factory.mktemp("card"), extra=f'contact = "{CONTACT}"')
    done = fairpool("run", made, "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    return made


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return finished_run(project(tmp_path_factory.mktemp("computed")))


def party_folder(folder, i):
    return round_folder(folder) / "parties" / f"Party-{i}"


def page(folder, i):
    text = (party_folder(folder, i) / "letter.html").read_text()
    body = re.sub(r"<(style|svg|title)\b.*?</\1>", " ", text, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


def card(folder, i):
    return (party_folder(folder, i) / "model-card.md").read_text()


@pytest.mark.parametrize("i", range(3))
def test_a_card_names_file_record_and_whom_to_ask(folder, i):
    text = card(folder, i)
    reward = (party_folder(folder, i) / "reward.safetensors").read_bytes()
    assert hashlib.sha256(reward).hexdigest() in text
    record = json.loads((folder / "ledger.jsonl").read_text().splitlines()[-1])
    assert f"`{record['body']['head']}`" in text
    assert f"made | {record['time'][:10]}, by fairpool {__version__}" in text
    assert f"questions | {CONTACT} |" in text
    assert "predicts | y |" in text
    assert "from | x, z, kind |" in text


@pytest.mark.parametrize("i", range(3))
def test_a_card_is_about_one_party(folder, i):
    text = card(folder, i)
    assert f"The model of Party {i}" in text
    for other in {*NAMES} - {f"Party {i}"}:
        assert other not in text
    result = json.loads((round_folder(folder) / "operator" / "result.json").read_text())
    worth, alone = result["parties"][i]["realised"], result["parties"][i]["value"]
    assert f"worth | {worth:.2f} nats" in text
    assert f"alone have {alone:.2f}" in text
    assert f"{result['parties'][i]['contribution']:.2f}" not in text.replace(f"{alone:.2f}", "")


def test_a_card_is_one_of_the_hashes_of_the_ledger(folder):
    record = json.loads((folder / "ledger.jsonl").read_text().splitlines()[-1])
    for i in range(3):
        path = f"parties/Party-{i}/model-card.md"
        assert record["body"]["files"][path] == hashlib.sha256(card(folder, i).encode()).hexdigest()


def test_a_letter_says_date_version_installation_and_whom_to_ask(folder):
    record = json.loads((folder / "ledger.jsonl").read_text().splitlines()[-1])
    for i in range(3):
        text = page(folder, i)
        assert f"round 1, {record['time'][:10]}" in text
        assert f'pip install "fairpool>={__version__}"' in text
        assert f"Made by fairpool {__version__}. Questions: {CONTACT}." in text
        assert "model-card.md beside it" in text


def test_a_preview_has_no_date_and_nobody_is_named_where_nobody_is(run):
    files = rendered(run)
    for i in range(3):
        text = files[f"parties/Party-{i}/model-card.md"].decode()
        assert f"| made | by fairpool {__version__} |" in text
        assert "questions" not in text
        assert "Questions" not in files[f"parties/Party-{i}/letter.html"].decode()


def test_what_labels_lack_is_among_the_limits(run):
    before = rendered(run)["parties/Party-1/model-card.md"].decode()
    assert "times the standard deviation" not in before
    found = replace(run.evidence.parties[1], verdict=LabelVerdict.NOISY, noise_factor=49.0)
    parties = (run.evidence.parties[0], found, run.evidence.parties[2])
    files = rendered(replace(run, evidence=replace(run.evidence, parties=parties)))
    card = files["parties/Party-1/model-card.md"].decode()
    assert "about 7.0 times the standard deviation of the other parties'" in card
    for other in (0, 2):
        assert "7.0 times" not in files[f"parties/Party-{other}/model-card.md"].decode()


def test_a_finding_says_that_there_is_one_and_not_how_others_differ(run):
    secret = "p1.csv, line 7: 1234.5 is far from all others (the middle is 42.42)"
    notes = (Note(code="outlier", party="Party 1", text=secret),) * 2
    files = rendered(replace(run, notes=(*run.notes, *notes)))
    for i in range(3):
        letter = files[f"parties/Party-{i}/letter.html"].decode()
        assert letter.count("Some values of your table lie far from all others") == (i == 1)
        for text in ("line 7", "1234.5", "42.42"):
            assert text not in letter


def test_markdown_takes_no_name_for_a_command():
    name = "</td> **bold** [a](javascript:alert) | `code` <script> # $x$ ~~no~~ \\"
    written = as_markdown(name)
    assert re.findall(r"(?<!\\)[*\[\]<>|`#$~]", written) == []
    assert re.sub(r"\\(.)", r"\1", written) == name
