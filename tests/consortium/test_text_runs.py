"""Collaborations with a column of free text, from the configuration to predictions."""

import csv
import json
import shutil
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import fairpool as fp
from fairpool.compute.workers import Workers
from fairpool.consortium import reading
from fairpool.consortium.prediction import predict_file
from fairpool.consortium.statistics import summarise_files
from fairpool.encoders import read_folder
from fairpool.encoding import TableEncoding
from fairpool.errors import EncoderError
from tests.support.encoders import MAKERS, noted, notes, static_encoder
from tests.support.projects import (
    MODELS,
    fairpool,
    finished_run,
    known_secret,
    prepared,
    round_folder,
    written_run,
)

REWARD = "rounds/0001/parties/Party-1/reward.safetensors"


def errors_of(*arguments):
    done = fairpool(*arguments, "--json")
    assert done.returncode == 2, done.stdout
    return json.loads(done.stdout)["errors"]


@pytest.mark.parametrize("encoder", MAKERS)
def test_a_text_goes_from_the_configuration_to_prediction(tmp_path, encoder):
    folder = noted(tmp_path / "p", encoder=encoder)
    assert fairpool("check", folder).returncode == 0
    run = fairpool("run", folder, "--json")
    assert run.returncode == 0, run.stderr
    tested = json.loads(run.stdout)["test"]["everyone"]
    labels = notes(40, 99)["y"].to_numpy()
    assert tested["rmse"] < 0.6 * labels.std()  # without the text, it would be nearly all of that
    inspected = json.loads(fairpool("inspect", folder / REWARD, "--json").stdout)
    sha256 = read_folder(folder / "encoders/mini").sha256
    needed = f'the encoder "mini" with sha256 {sha256}'
    assert inspected["encoders"] == f'"note" by {needed}, 8 number(s) each'
    letter = (round_folder(folder) / "parties/Party-1/letter.html").read_text()
    assert sha256 in letter
    (tmp_path / "new.csv").write_text(
        'x,note\n0,"good 😀 splendid"\n0,"Schlecht, ÜBEL awful"\n0,""\n0," \n "\n'
    )
    done = fairpool(
        "predict", folder / REWARD, "--data", tmp_path / "new.csv", "--encoders", folder
    )
    assert done.returncode == 0, done.stderr
    good, bad, *nothing = csv.DictReader(done.stdout.splitlines())
    assert float(good["y"]) > float(bad["y"]) + 3
    assert [row["reason"] for row in nothing] == ["note is missing"] * 2


@pytest.mark.parametrize("kind", MODELS)
def test_every_kind_of_model_reads_texts(tmp_path, kind):
    model, rewards = MODELS[kind]
    run = written_run(noted(tmp_path, model=model, rewards=rewards))
    table = notes(20, 7).drop_columns(["y"])
    expected = run.collaboration.models[1].predict_table(table)
    loaded = fp.load_reward(tmp_path / REWARD)
    found = loaded.predict_table(table, encoders=tmp_path / "encoders/mini")
    assert np.array(found) == pytest.approx(np.array(expected), rel=1e-9)


# Pins


def test_an_encoder_without_a_hash_is_refused_with_the_line_to_add(tmp_path):
    folder = noted(tmp_path, pinned=False)
    sha256 = read_folder(folder / "encoders/mini").sha256
    line = f'encoder_sha256 = "{sha256}"'
    for command in ("check", "run"):
        (error,) = errors_of(command, folder)
        assert error.startswith("[columns.note]: encoder_sha256 is missing; if ")
        assert error.endswith(f"add the line {line}")
    with (folder / "collaboration.toml").open("a") as file:
        file.write(line)
    assert fairpool("check", folder).returncode == 0


def test_another_encoder_in_its_place_is_refused(tmp_path):
    folder = noted(tmp_path)
    agreed = read_folder(folder / "encoders/mini").sha256
    static_encoder(folder / "encoders/mini", seed=1)
    other = read_folder(folder / "encoders/mini").sha256
    (error,) = errors_of("check", folder)
    assert f"its sha256 is {other}, but encoder_sha256 says {agreed}; put the encoder" in error


def test_problems_of_encoders_are_told_together_with_all_others(tmp_path):
    folder = noted(tmp_path)
    shutil.rmtree(folder / "encoders/mini")
    (folder / "p1.csv").unlink()
    encoder, file = errors_of("check", folder)
    assert "encoders/mini: there is no such folder; give that of an encoder" in encoder
    assert "p1.csv" in file


def test_a_plain_install_says_which_extra_is_needed(tmp_path, monkeypatch):
    folder = noted(tmp_path)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    (error,) = errors_of("check", folder)
    assert error.endswith("needs tokenizers; install it: pip install 'fairpool[encoders]'")


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ('kind = "number"\nencoder = "e"', 'encoder has no meaning for kind = "number" (only for'),
        ('encoder = "e"\nrange = [0, 1]', 'range has no meaning for kind = "text"'),
        ('encoder = "e"\nencoder_sha256 = "AB"', "'AB' is not allowed; give the 64 digits"),
        ('kind = "text"\nrole = "input"', "is never an input without an encoder; leave the role"),
        (f'kind = "text"\nencoder_sha256 = "{"0" * 64}"', "encoder_sha256 needs an encoder; give"),
    ],
)
def test_what_makes_no_sense_in_a_section_is_refused(tmp_path, section, said):
    folder = noted(tmp_path)
    file = folder / "collaboration.toml"
    before, _, _ = file.read_text().partition("[columns.note]")
    file.write_text(f"{before}[columns.note]\n{section}\n")
    assert any(said in error for error in errors_of("check", folder))


def test_a_text_without_an_encoder_is_still_no_input(tmp_path):
    folder = noted(tmp_path)
    file = folder / "collaboration.toml"
    before, _, _ = file.read_text().partition("[columns.note]")
    file.write_text(f'{before}[columns.note]\nkind = "text"\n')
    assert prepared(folder).encoding.features == ("x",)
    file.write_text(f'features = ["x", "note"]\n{file.read_text()}')
    assert any("never an input without an encoder" in error for error in errors_of("check", folder))


# Predicting


def test_a_party_needs_the_encoder_that_was_agreed_on(tmp_path):
    folder = noted(tmp_path / "p")
    written_run(folder)
    sha256 = read_folder(folder / "encoders/mini").sha256
    mine = tmp_path / "mine"
    mine.mkdir()
    reward = shutil.copy(folder / REWARD, mine)
    data = folder / "test.csv"
    (error,) = errors_of("predict", reward, "--data", data)
    assert f"{sha256} is needed, and under {mine} there is no encoder; give --encoders" in error
    other = static_encoder(mine / "mini", seed=1)
    (error,) = errors_of("predict", reward, "--data", data)
    assert f"another encoder is there ({other} has {read_folder(other).sha256})" in error
    shutil.copytree(folder / "encoders/mini", mine / "encoders/renamed")
    beside = fairpool("predict", reward, "--data", data)
    assert beside.returncode == 0, beside.stderr
    named = fairpool("predict", reward, "--data", data, "--encoders", folder / "encoders/mini")
    assert beside.stdout == named.stdout
    table = notes(3, 0)
    with pytest.raises(EncoderError, match=f'column "note": .*{sha256} is needed; give'):
        fp.load_reward(reward).predict_table(table)


def test_more_rows_of_ones_own_are_added_with_the_encoder(tmp_path):
    folder = noted(tmp_path)
    written_run(folder)
    data = folder / "more.csv"
    pa.csv.write_csv(pa.concat_tables([notes(60, 1), notes(30, 5)]), data)
    done = fairpool("update", folder / REWARD, "--data", data, "--encoders", folder, "--json")
    assert done.returncode == 0, done.stderr
    updated = json.loads(done.stdout)
    assert updated["worth"] > updated["worth_before"]
    assert fp.load_reward(updated["out"]).encoding == fp.load_reward(folder / REWARD).encoding


def test_the_file_holds_the_hash_and_no_weights(tmp_path):
    folder = noted(tmp_path)
    run = written_run(folder)
    content = (folder / REWARD).read_bytes()
    assert read_folder(folder / "encoders/mini").sha256.encode() in content
    assert str(tmp_path).encode() not in content
    assert fp.load_reward(folder / REWARD).encoding == run.preparation.encoding
    rows = (folder / "encoders/mini/model.safetensors").read_bytes()[-32:]
    assert rows not in content


def test_a_text_is_one_thing_to_guess_however_many_numbers_it_becomes(tmp_path):
    folder = noted(tmp_path)
    pa.csv.write_csv(notes(12, 1), folder / "p1.csv")
    (error,) = errors_of("check", folder)
    # max(10, 3 d T / (p + 1)), where p counts columns and d counts features and a bias.
    assert 'party "Party 1" has 12 distinct row(s), and needs 20:' in error
    assert "a model of 10 weights on 2 inputs" in error
    pa.csv.write_csv(notes(60, 1), folder / "p1.csv")
    written_run(folder)
    letter = (round_folder(folder) / "parties/Party-1/letter.html").read_text()
    assert "With fewer than 20 distinct rows and 2 models together" in letter


# Missing texts


def test_missing_texts_are_refused_dropped_or_imputed(tmp_path):
    (error, *_) = errors_of("check", noted(tmp_path / "a", gaps=0.2))
    assert "note" in error
    assert 'set missing = "drop"' in error
    dropped = prepared(noted(tmp_path / "b", 'missing = "drop"', gaps=0.2))
    lacking = sum(notes(60, i, gaps=0.2)["note"].null_count for i in range(3))
    assert sum(survey.dropped for survey in dropped.parties) == lacking > 0
    run = finished_run(noted(tmp_path / "c", 'missing = "impute"', gaps=0.2))
    encoding = run.preparation.encoding
    assert encoding.features[-1] == "note is missing"
    told = [note.text for note in run.notes if note.code == "imputed values"]
    assert any("are taken to be a text without words" in text for text in told)
    X = encoding.encode(pa.table({"x": [0.0, 0.0], "note": ["good", None]}))
    assert (X[:, -1].tolist(), X[1, 1:-1].any()) == ([0, 1], False)


def test_texts_of_blanks_are_missing_in_every_format(tmp_path):
    folder = noted(tmp_path, 'missing = "drop"', suffix=".parquet")
    table = notes(60, 1)
    texts = table["note"].to_pylist()
    texts[3] = ""
    texts[5] = " \t\n\u00a0"
    pa.parquet.write_table(table.set_column(1, "note", pa.array(texts)), folder / "p1.parquet")
    assert prepared(folder).parties[1].dropped == 2


def test_texts_may_have_lines_and_be_long_but_not_endless(tmp_path):
    folder = noted(tmp_path, suffix=".parquet")
    table = notes(60, 1)
    texts = table["note"].to_pylist()
    texts[3] = "good\nwheat\t\x1b[2J" + 20_000 * " soil"
    pa.parquet.write_table(table.set_column(1, "note", pa.array(texts)), folder / "p1.parquet")
    (error,) = errors_of("check", folder)
    assert "a text of 100015 characters; shorten it, or raise text_length in" in error
    assert "soil soil" not in error
    texts[3] = 100_000 * " soil"
    pa.parquet.write_table(table.set_column(1, "note", pa.array(texts)), folder / "p1.parquet")
    (error,) = errors_of("check", folder)
    assert "500000 bytes, and 100000 characters are allowed; shorten it, or raise text" in error
    texts[3] = "good\nwheat\t\x1b[2J" + 20_000 * " soil"
    pa.parquet.write_table(table.set_column(1, "note", pa.array(texts)), folder / "p1.parquet")
    text = (folder / "collaboration.toml").read_text()
    (folder / "collaboration.toml").write_text(f"{text}[limits]\ntext_length = 200_000\n")
    check = fairpool("check", folder)
    assert check.returncode == 0, check.stderr
    assert "soil soil" not in check.stdout  # texts are nobody's affair


# The same numbers for everybody


@pytest.mark.parametrize("encoder", MAKERS)
def test_batches_and_workers_give_the_same_numbers(tmp_path, monkeypatch, encoder):
    folder = noted(tmp_path, encoder=encoder, suffix=".parquet")
    preparation = prepared(folder)
    encoding = preparation.encoding
    table = notes(60, 0)
    whole = encoding.encode(table)
    parts = [encoding.encode(table.slice(start, 7)) for start in range(0, 60, 7)]
    assert np.concatenate(parts).tobytes() == whole.tobytes()
    run = finished_run(folder)
    again = finished_run(folder)
    for first, second in zip(run.collaboration.models, again.collaboration.models, strict=True):
        assert first.value == second.value
    model = run.built.model
    X = encoding.encode(table)
    expected = model.whitened_features(X)
    source = preparation.parties[0].source
    monkeypatch.setattr(reading, "BATCH_ROWS", 7)
    summary = summarise_files("Party 0", source, encoding=encoding, model=model)
    assert summary.gram == pytest.approx(expected.T @ expected, rel=1e-9, abs=1e-9)


def test_jobs_make_no_difference(tmp_path):
    folder = noted(tmp_path)
    (folder / ".fairpool").mkdir()
    known_secret().write(folder / ".fairpool" / "secret.key")
    results = []
    for jobs in (1, 2):
        done = fairpool("run", folder, "--jobs", jobs, "--out", folder / f"out{jobs}", "--json")
        assert done.returncode == 0, done.stderr
        results.append(json.loads(done.stdout)["total"])
    assert results[0] == results[1]


def test_predictions_in_batches_are_those_of_the_whole_table(tmp_path, monkeypatch):
    folder = noted(tmp_path)
    written_run(folder)
    whole = predict_file(folder / REWARD, folder / "test.csv", encoders=folder)
    monkeypatch.setattr(reading, "BATCH_ROWS", 7)
    parts = predict_file(folder / REWARD, folder / "test.csv", encoders=folder)
    assert np.array(parts.rows) == pytest.approx(np.array(whole.rows), rel=1e-12)


def test_made_up_rows_have_words_of_the_encoder(tmp_path):
    folder = noted(tmp_path, "[columns.x]\nrange = [-5, 5]\n")
    encoding = prepared(folder).encoding
    made_up = encoding.made_up()
    words = {row.tobytes() for row in made_up[:, 1:]}
    assert 15 < len(words) <= 23
    unbound = TableEncoding(
        columns=(fp.load_reward(_reward(folder)).encoding.columns), target=encoding.target
    )
    assert unbound.made_up() is None


def _reward(folder):
    written_run(folder)
    return folder / REWARD


def test_workers_of_other_processes_open_the_encoder_themselves(tmp_path):
    from concurrent.futures import ProcessPoolExecutor

    folder = noted(tmp_path, encoder="onnx")
    alone = prepared(folder).encoding
    with ProcessPoolExecutor(1) as pool:
        assert prepared(folder, Workers(executor=pool)).encoding == alone
        found = pool.submit(alone.encode, notes(10, 3)).result()
    assert found.tobytes() == alone.encode(notes(10, 3)).tobytes()
