"""Classes in the command: from text labels to probabilities, report and letters."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import fairpool as fp
from fairpool.consortium.class_example import class_example_files
from fairpool.consortium.example import write_example
from fairpool.consortium.preparation import prepare
from fairpool.consortium.request import RunRequest
from fairpool.errors import RewardFileError
from fairpool.realisation import load_reward
from tests.classes.projects import LEVELS, MODELS, parties_of, project, refusal, table
from tests.support.projects import (
    fairpool,
    finished_run,
    reward_file,
    round_folder,
    write,
    written_run,
)


@pytest.mark.parametrize("kind", list(MODELS))
def test_from_text_labels_to_probabilities(tmp_path: Path, kind: str) -> None:
    model, rewards = MODELS[kind]
    folder = project(tmp_path, model, rewards)
    done = written_run(folder)
    out = round_folder(folder)
    result = json.loads((out / "operator/result.json").read_text())
    for reward, due in zip(done.collaboration.models, done.collaboration.rewards, strict=True):
        assert reward.posterior.worth == pytest.approx(due, rel=1e-9)
    everyone = result["test"]["everyone"]
    assert everyone["errors"] < 0.35
    assert everyone["log_loss"] < np.log(3) - 0.2
    assert result["test"]["classes"]["levels"] == list(LEVELS)
    confusion = np.array(result["test"]["classes"]["confusion"]["everybody's model"])
    assert 1 - confusion.trace() / 60 == pytest.approx(everyone["errors"])
    assert {one["evidence"]["verdict"] for one in result["parties"]} <= {"helps", "no evidence"}
    page = (out / "operator/report.html").read_text()
    assert "Which classes are confused?" in page
    assert "predicted müde" in page
    letter = (out / "parties/P1/letter.html").read_text()
    assert "For every row you get the most probable zustand" in letter
    reward = reward_file(folder, "P1")
    predicted = fairpool("predict", reward, "--data", tmp_path / "test.csv")
    assert predicted.returncode == 0, predicted.stderr
    rows = list(csv.DictReader(io.StringIO(predicted.stdout)))
    assert len(rows) == 60
    for row in rows:
        p = [float(row[f"probability of {level}"]) for level in LEVELS]
        assert sum(p) == pytest.approx(1, abs=1e-9)
        assert row["zustand"] == LEVELS[int(np.argmax(p))]
        assert 0 <= float(row["doubt"]) <= 0.5
    inspected = fairpool("inspect", reward)
    assert "for each of 3 classes" in inspected.stdout


def test_letters_say_that_noise_hides_no_class(tmp_path: Path) -> None:
    written_run(project(tmp_path, rewards='covariance = "hidden"'), rho=1.0)
    letters = [
        path.read_text() for path in (round_folder(tmp_path) / "parties").glob("*/letter.html")
    ]
    assert all("such a row shows its" in text for text in letters)


def test_sums_over_files_are_as_good_as_rows(tmp_path: Path) -> None:
    done = finished_run(project(tmp_path))
    rows = fp.InformationGain(done.built.model, parties_of(done))
    assert done.collaboration.game.values() == pytest.approx(rows.values(), abs=1e-9)
    unchecked = fp.uncheckable_information(rows)
    for ours, theirs in zip(done.uncheckable, unchecked, strict=True):
        assert ours.rows == theirs.rows
        assert ours.added == pytest.approx(theirs.added, abs=1e-8)
        assert ours.from_them == pytest.approx(theirs.from_them, abs=1e-8)
    realised = fp.realise(rows, done.collaboration.rewards)
    for ours, theirs in zip(done.collaboration.models, realised, strict=True):
        assert set(ours.exposure.outlying) == set(theirs.exposure.outlying)


def test_accents_may_be_written_in_two_ways(tmp_path: Path) -> None:
    folder = project(tmp_path)
    composed = finished_run(folder).collaboration.game.values()
    write(folder / "p1.csv", table(70, 1, ("gesund ", "mu\u0308de", " krank")))
    assert finished_run(folder).collaboration.game.values() == pytest.approx(composed, abs=1e-12)


def test_levels_come_from_the_configuration_or_public_data(tmp_path: Path) -> None:
    folder = project(tmp_path, target="")
    assert "has no levels, and there is no [public] data" in refusal(folder)
    assert "'gesund', 'krank', 'müde'" in refusal(folder)
    write(folder / "public.csv", table(200, 77))
    with (folder / "collaboration.toml").open("a") as file:
        file.write('[public]\ndata = "public.csv"\n')
    target = prepare(RunRequest(configuration=folder)).encoding.target
    assert target.levels == ("gesund", "krank", "müde")


def test_labels_that_are_no_classes_are_refused_or_merged(tmp_path: Path) -> None:
    folder = project(tmp_path, target='levels = ["gesund", "krank"]')
    text = refusal(folder)
    assert "'müde'" in text
    assert "one of the classes 'gesund', 'krank'" in text
    merged = project(tmp_path / "merged", target='levels = ["gesund"], other = "anders"')
    done = finished_run(merged)
    assert done.preparation.encoding.target.levels == ("gesund", "anders")
    assert done.collaboration.game.model.label_sets == 2


def test_rare_classes_are_refused_by_name(tmp_path: Path) -> None:
    folder = project(tmp_path)
    few = table(70, 1).to_pylist()
    rows = [row for row in few if row["zustand"] != "krank"]
    rows += [row for row in few if row["zustand"] == "krank"][:4]
    write(folder / "p1.csv", pa.Table.from_pylist(rows))
    text = refusal(folder)
    assert "party \"P1\" has 4 row(s) of class 'krank', and needs 10, or none" in text
    rows = [row for row in few if row["zustand"] != "krank"]
    write(folder / "p1.csv", pa.Table.from_pylist(rows))
    assert finished_run(folder).collaboration.game.n == 3  # none at all is no secret of few rows


@pytest.mark.parametrize(
    ("model", "rewards"),
    [('kind = "gp"', "share_inputs = true"), ('kind = "blr"', 'covariance = "full"')],
)
def test_what_tells_labels_needs_consent(tmp_path: Path, model: str, rewards: str) -> None:
    assert "would tell everybody's classes" in refusal(project(tmp_path / "a", model, rewards))
    blind = 'levels = ["gesund", "müde", "krank"], label_blind = true'
    prepare(RunRequest(configuration=project(tmp_path / "b", model, rewards, blind)))
    agreed = rewards + "\nshare_labels = true"
    prepare(RunRequest(configuration=project(tmp_path / "c", model, agreed)))


def test_unseen_classes_in_test_data_are_refused_and_in_predict_do_not_matter(
    tmp_path: Path,
) -> None:
    folder = project(tmp_path)
    write(folder / "test.csv", table(60, 99, ("gesund", "müde", "neu")))
    assert "'neu'" in refusal(folder)
    folder = project(tmp_path / "other")
    written_run(folder)
    write(tmp_path / "new.csv", table(5, 3, ("x", "y", "z")))
    reward = reward_file(folder, "P0")
    predicted = fairpool("predict", reward, "--data", tmp_path / "new.csv")
    assert predicted.returncode == 0, predicted.stderr
    assert len(predicted.stdout.splitlines()) == 6


def test_random_labels_are_named(tmp_path: Path) -> None:
    folder = project(tmp_path)
    content = table(70, 1)
    shuffled = np.random.default_rng(0).permutation(content["zustand"].to_pylist())
    write(folder / "p1.csv", content.set_column(2, "zustand", [pa.array(shuffled.tolist())]))
    done = finished_run(folder)
    assert done.evidence.harmful == (1,)
    assert any(note.party == "P1" and "label" in note.text for note in done.notes)


def test_a_recipient_updates_its_reward(tmp_path: Path) -> None:
    written_run(project(tmp_path))
    reward = reward_file(tmp_path, "P2")
    more = pa.concat_tables([table(80, 2), table(40, 55)])
    write(tmp_path / "more.csv", more)
    done = fairpool("update", reward, "--data", tmp_path / "more.csv")
    assert done.returncode == 0, done.stderr
    after = load_reward(reward.with_name("reward-updated.safetensors"))
    assert after.value > load_reward(reward).value


def test_the_demo(tmp_path: Path) -> None:
    done = fairpool("demo", "--classes", "--out", tmp_path / "demo", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    scores = json.loads((round_folder(tmp_path / "demo") / "operator/result.json").read_text())[
        "test"
    ]
    for alone, reward in zip(scores["alone"], scores["reward"], strict=True):
        assert reward["log_loss"] < alone["log_loss"]
    assert [party["name"] for party in result["parties"]] == ["Clinic A", "Clinic B", "Clinic C"]


def test_the_example_has_what_it_says(tmp_path: Path) -> None:
    write_example(tmp_path / "x", class_example_files())
    assert prepare(RunRequest(configuration=tmp_path / "x")).encoding.target.levels == (
        "benign",
        "malignant",
    )


def test_noise_is_not_asked_for_nor_taken(tmp_path: Path) -> None:
    given = finished_run(project(tmp_path / "a", 'kind = "blr"\nlearn = false'))
    assert not given.built.learned
    text = refusal(project(tmp_path / "b", 'kind = "blr"\nnoise_variance = 0.3'))
    assert "noise_variance has no meaning for a target of kind" in text


def test_what_a_range_of_the_column_would_mean_is_refused(tmp_path: Path) -> None:
    folder = project(tmp_path)
    with (folder / "collaboration.toml").open("a") as file:
        file.write("[columns.zustand]\nrange = [0, 1]\n")
    assert "range, outside and transform have no meaning" in refusal(folder)


def test_a_file_whose_classes_do_not_fit_its_model_is_refused(tmp_path: Path) -> None:
    done = finished_run(project(tmp_path))
    reward = done.collaboration.models[0]
    target = replace(reward.encoding.target, levels=("a", "b"))
    other = replace(reward, encoding=replace(reward.encoding, target=target))
    other.save(tmp_path / "reward.safetensors")
    with pytest.raises(RewardFileError, match=r"2 class\(es\) for a model of 3"):
        load_reward(tmp_path / "reward.safetensors")
