"""The installed command, end to end, on real files."""

import hashlib
import html
import json
import os
import shutil
import subprocess
import sys
import tracemalloc
from dataclasses import fields
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import typer

import fairpool as fp
from fairpool.consortium.contents import Content
from fairpool.consortium.learning import Learning, learn
from fairpool.consortium.output import render
from fairpool.consortium.preparation import Preparation, prepare
from fairpool.consortium.request import RunRequest
from fairpool.consortium.rounds.context import open_context
from fairpool.consortium.rounds.kept import NOISE
from fairpool.consortium.rounds.releasing import release
from fairpool.consortium.run import Run
from fairpool.consortium.run import run as whole_run
from fairpool.consortium.sample import Sample
from fairpool.consortium.scrutiny import scrutinise
from fairpool.consortium.statistics import Sums
from fairpool.consortium.surveys import Survey
from fairpool.consortium.valuation import Valuation, value
from fairpool.consortium.writing import refuse_output
from fairpool.consortium.writing import write as write_files
from fairpool.errors import DataError
from fairpool.realisation.reward_file import decode_reward
from tests.support.projects import (
    COMMAND,
    MODELS,
    fairpool,
    fairpool_process,
    finished_run,
    is_untouched,
    known_secret,
    party_table,
    prepared,
    project,
    rendered,
    reward_file,
    round_folder,
    sha256,
    table,
    write,
    written_run,
)

ROOT = Path(__file__).parents[2]
REWARD = "parties/Party-1/reward.safetensors"
PARTIES = """
[[parties]]
name = "Party 0"
data = "p0.parquet"
[[parties]]
name = "Party 1"
data = "p1.parquet"
"""


def result_of(out):
    return json.loads((out / "operator" / "result.json").read_text())


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A project with its result, to be read and not changed."""
    folder = project(tmp_path_factory.mktemp("finished"))
    done = fairpool("run", folder, "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("kind", MODELS)
def test_every_kind_of_model_from_csv_and_parquet(tmp_path, kind, suffix):
    model, rewards = MODELS[kind]
    folder = project(tmp_path / "project", model=model, suffix=suffix, rewards=rewards)
    done = fairpool("run", folder)
    assert done.returncode == 0, done.stderr
    out = round_folder(folder)
    assert "Party 1 receives" in done.stdout
    assert sorted(p.name for p in (out / "parties").iterdir()) == ["Party-0", "Party-1", "Party-2"]
    assert sorted(p.name for p in (out / "operator").iterdir()) == [
        "collaboration.toml",
        "inputs.sha256",
        "report.html",
        "result.json",
        "values.csv",
    ]
    result = result_of(out)
    values = pa.csv.read_csv(out / "operator" / "values.csv").to_pylist()
    assert len(values) == 8
    assert values[-1] == {"Party 0": 1, "Party 1": 1, "Party 2": 1, "value": result["total"]}
    assert result["parties"][1]["folder"] == "parties/Party-1"
    assert result["test"]["rows"] == 30
    assert (folder / "latest").read_text() == "rounds/0001\n"
    # The files alone predict as the models in memory do; their variances tell of no noise.
    again = finished_run(project(tmp_path / "again", model=model, suffix=suffix, rewards=rewards))
    files = rendered(again)
    data = table(7, 5)
    write(tmp_path / "new.csv", data)
    for i in range(3):
        file = out / "parties" / f"Party-{i}" / "reward.safetensors"
        memory = again.collaboration.models[i].predict(again.preparation.encoding.encode(data))
        loaded = fp.load_reward(file)
        X = loaded.encoding.encode(data)
        np.testing.assert_allclose(loaded.predict(X)[1], memory[1], rtol=1e-12, atol=1e-12)
        same = decode_reward(files[str(file.relative_to(out))], "rendered")
        np.testing.assert_allclose(same.predict(X), memory, rtol=1e-12, atol=1e-12)
    predicted = fairpool(
        "predict", file, "--data", tmp_path / "new.csv", "--out", tmp_path / "out.csv"
    )
    assert predicted.returncode == 0, predicted.stderr
    rows = pa.csv.read_csv(tmp_path / "out.csv").to_pydict()
    mean, variance = loaded.predict_table(data)
    np.testing.assert_allclose(rows["y"], mean, rtol=1e-12)
    np.testing.assert_allclose(rows["standard_deviation"], np.sqrt(variance), rtol=1e-12)
    np.testing.assert_allclose(rows["upper_95"], mean + 1.96 * np.sqrt(variance), rtol=1e-12)
    truth = np.array(data["y"])
    assert np.mean((truth > rows["lower_95"]) & (truth < rows["upper_95"])) > 0.5
    assert abs(np.mean(rows["y"]) - 57) < 20  # in the target's own units


def test_streamed_summaries_equal_rows_in_memory(tmp_path):
    folder = project(tmp_path)
    run = finished_run(folder)
    encoding = run.preparation.encoding
    parties = []
    for i, size in enumerate((40, 25, 30)):
        data = party_table(i, size)
        parties.append(fp.Party(f"Party {i}", encoding.encode(data), encoding.encode_target(data)))
    game = fp.InformationGain(run.built.model, parties)
    np.testing.assert_allclose(
        run.collaboration.game.values(), game.values(), rtol=1e-9, atol=1e-12
    )


def test_many_batches_give_the_same_as_one(tmp_path, monkeypatch):
    folder = project(tmp_path, suffix=".parquet")
    whole = finished_run(folder)
    monkeypatch.setattr("fairpool.consortium.reading.BATCH_ROWS", 7)
    monkeypatch.setattr("fairpool.consortium.learning.SAMPLE_ROWS", 10**6)
    parts = finished_run(folder)
    np.testing.assert_allclose(whole.collaboration.rewards, parts.collaboration.rewards, rtol=1e-8)


def test_a_sample_of_rows_stands_for_all(tmp_path, monkeypatch):
    folder = project(tmp_path, sizes=(400, 300, 200))
    monkeypatch.setattr("fairpool.consortium.learning.SAMPLE_ROWS", 50)
    run = finished_run(folder)
    assert run.collaboration.game.rows == (400, 300, 200)  # all are valued
    assert (run.residuals < 1.6).all()


def test_copies_are_found_in_a_share_of_the_rows(tmp_path, monkeypatch):
    folder = project(tmp_path, sizes=(3000, 3000))
    first = table(3000, 0)
    write(tmp_path / "p1.csv", pa.concat_tables([table(2000, 1, 0.4), first.slice(0, 1000)]))
    monkeypatch.setattr("fairpool.consortium.learning.MOST_KEYS", 3000)
    [text] = [w for w in finished_run(folder).warnings if "identical" in w]
    assert abs(int(text.split(" share ")[1].split()[0]) - 1000) < 150


def peak_of_run(folder):
    """The most bytes that arrays took at once: numpy's and Python's, and Arrow's."""
    arrow, before = pa.proxy_memory_pool(pa.default_memory_pool()), pa.default_memory_pool()
    pa.set_memory_pool(arrow)
    tracemalloc.start()
    try:
        finished_run(folder, rho=0)
        return tracemalloc.get_traced_memory()[1], arrow.max_memory()
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)


def wide_table(rows, seed, more=60):
    """Rows of 510 bytes as numbers."""
    rng = np.random.default_rng(seed)
    content = table(rows, seed)
    for k in range(more):
        content = content.append_column(f"w{k}", pa.array(rng.normal(size=rows)))
    return content


def test_a_parquet_file_is_streamed(tmp_path, monkeypatch):
    """Five times the rows take hardly more memory: the file is never in it as a whole."""
    monkeypatch.setattr("fairpool.consortium.sketching.MOST_SKETCHED", 10_000)
    monkeypatch.setattr("fairpool.consortium.reading.BATCH_ROWS", 8192)
    peaks = []
    for rows in (25_000, 125_000):
        folder = project(tmp_path / str(rows), suffix=".parquet", sizes=(), rewards=PARTIES)
        # A reader holds a page of every column, and its dictionary.
        pages = {"data_page_size": 2**16, "use_dictionary": False}
        pa.parquet.write_table(wide_table(rows, 0), folder / "p0.parquet", **pages)
        write(folder / "p1.parquet", wide_table(1000, 1))
        write(folder / "test.parquet", wide_table(30, 2))
        peaks.append(peak_of_run(folder))
    (few, few_of_arrow), (many, many_of_arrow) = peaks
    # Bytes: who a row is has 16, of which there are several copies while it is looked up.
    assert many - few < 220 * 100_000, peaks
    assert many_of_arrow - few_of_arrow < 2**23, peaks


@pytest.mark.soak
def test_the_command_takes_hardly_more_memory_for_ten_times_the_rows(tmp_path):
    peaks = []
    for rows in (200_000, 2_000_000):
        folder = project(tmp_path / str(rows), suffix=".parquet")
        write(folder / "p0.parquet", table(rows, 0))
        code = (
            "import resource, subprocess\n"
            f"subprocess.run([{str(COMMAND)!r}, 'run', {str(folder)!r}, '-q', '--rho', '0'],"
            " check=True)\n"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        peaks.append(int(done.stdout) / 1024)
    assert peaks[1] - peaks[0] < 120, (
        peaks
    )  # MiB; the table itself has 60 more as float64, and 8 bytes a row are kept
    assert result_of(round_folder(folder))["parties"][0]["rows"] == 2_000_000


def test_check_computes_nothing_and_lists_problems(tmp_path):
    folder = project(tmp_path, extra='features = ["x", "z", "kind"]')
    good = fairpool("check", folder)
    assert (good.returncode, "No errors; " in good.stdout) == (0, True)
    assert is_untouched(folder)
    (tmp_path / "p0.csv").write_text("x,z,kind,y\n1,2,red,oops\n")
    (tmp_path / "p1.csv").write_text("x,z,kind\n1,2,red\n")
    bad = fairpool("check", folder)
    assert bad.returncode == 2
    assert bad.stderr.count("error:") == 2
    as_json = fairpool("check", folder, "--json")
    assert as_json.returncode == 2
    assert len(json.loads(as_json.stdout)["errors"]) == 2


def test_init_runs_as_it_is_and_spares_what_is_there(tmp_path):
    assert fairpool("init", tmp_path / "new").returncode == 0
    assert fairpool("check", tmp_path / "new").returncode == 0
    again = fairpool("init", tmp_path / "new")
    assert again.returncode == 2
    assert "exists and is not empty" in again.stderr


def test_demo_twice_in_a_row(tmp_path):
    for _ in range(2):
        done = fairpool("demo", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "Hospital A receives the best model" in done.stdout
        assert (round_folder(tmp_path / "fairpool-demo") / "operator" / "report.html").is_file()
        assert str(round_folder("fairpool-demo") / "operator" / "report.html") in done.stdout
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("years of work")
    refused = fairpool("demo", "--out", tmp_path / "precious")
    assert refused.returncode == 2
    assert (tmp_path / "precious" / "thesis.txt").read_text() == "years of work"


def test_the_next_run_is_the_next_round_and_no_output_is_ever_replaced(finished, tmp_path):
    folder = tmp_path / "project"
    shutil.copytree(finished, folder)
    before = files_in(round_folder(folder))
    again = fairpool("run", folder, "--rho", "0.2", "--json")
    assert (again.returncode, again.stderr) == (0, "")
    result = json.loads(again.stdout)
    assert (result["round"], result["rho"]) == (2, 0.2)
    assert files_in(round_folder(folder)) == before
    assert {*files_in(round_folder(folder, 2))} <= {*before}
    assert reward_file(folder, "Party-1", 2).read_bytes() != before[REWARD]
    assert (folder / "latest").read_text() == "rounds/0002\n"
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").write_text("mine")
    refused = fairpool("run", folder, "--out", other)
    assert refused.returncode == 2
    assert "other exists already, and is never replaced" in refused.stderr
    assert (other / "file").read_text() == "mine"
    assert not [p for p in folder.rglob("*") if "partial" in p.name]


def test_what_stands_in_the_next_rounds_place_is_refused_before_anything_is_computed(tmp_path):
    folder = project(tmp_path)
    write(round_folder(folder) / "mine.csv", table(3, 1))
    (folder / "p0.csv").write_text("nothing that could be read")
    done = fairpool("run", folder)
    assert done.returncode == 2
    assert "rounds/0001 exists already, and is never replaced" in done.stderr
    assert [path.name for path in round_folder(folder).iterdir()] == ["mine.csv"]


@pytest.mark.parametrize("has_seed", [False, True])
def test_the_result_of_an_earlier_version_is_not_passed_over(tmp_path, has_seed):
    folder = project(tmp_path)
    old = folder / "result" / "operator" / "result.json"
    old.parent.mkdir(parents=True)
    old.write_text("{}")
    if has_seed:
        old.with_name("seed.txt").write_text("12345\n")
    done = fairpool("run", folder)
    assert done.returncode == 2
    assert "result: the result of an earlier version, whose noise is no row's own" in done.stderr
    assert "if its models were never handed out, remove it; if they were, move it" in done.stderr
    assert ("seed.txt is the seed of that noise" in done.stderr) == has_seed
    assert "12345" not in done.stderr
    assert is_untouched(folder)
    shutil.move(folder / "result", tmp_path / "elsewhere")
    assert fairpool("run", folder, "--quiet").returncode == 0


def test_a_preview_computes_what_the_round_gives_and_writes_nothing(tmp_path):
    folder = project(tmp_path / "p")
    before = files_in(folder)
    shown = fairpool("run", folder, "--preview", "--json")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert files_in(folder) == before
    told = fairpool("run", folder, "--preview")
    assert "This is a preview: nothing was released, and no model was written." in told.stdout
    filed = fairpool("run", folder, "--out", tmp_path / "out")
    assert "Report: " in filed.stdout
    assert "This is a preview" in filed.stdout
    assert files_in(folder) == before
    released = fairpool("run", folder, "--json")
    assert (released.returncode, released.stderr) == (0, "")
    preview, result = json.loads(shown.stdout), json.loads(released.stdout)
    files = files_in(tmp_path / "out")
    of_round = files_in(round_folder(folder))
    assert {*of_round} - {*files} == {name for name in of_round if name.endswith(".safetensors")}
    assert {*files} <= {*of_round}
    for one, other in zip(preview["parties"], result["parties"], strict=True):
        # Each has a secret of its own as yet, by which rows are summed up in another order.
        assert one["reward"] == pytest.approx(other["reward"], rel=1e-9)
        assert one["contribution"] == pytest.approx(other["contribution"], rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--rho", "1.5"), "rho 1.5 is outside 0 .. 1"),
        (("--rho", "kind"), 'rho "kind" is unknown'),
        (("--rho", "nan"), "rho nan is not a number"),
    ],
)
def test_bad_options_end_with_2_and_no_traceback(tmp_path, arguments, text):
    done = fairpool("run", project(tmp_path), *arguments)
    assert done.returncode == 2
    assert text in done.stderr
    assert "Traceback" not in done.stderr
    assert is_untouched(tmp_path)


def files_in(out):
    paths = sorted(path for path in out.rglob("*") if path.is_file())
    return {str(path.relative_to(out)): path.read_bytes() for path in paths}


def test_previews_of_one_collaboration_are_the_same_to_the_byte(tmp_path):
    folder = project(tmp_path / "p", model='kind = "sparse_gp"\ninducing_points = 12')
    (folder / ".fairpool").mkdir()
    known_secret().write(folder / ".fairpool" / "secret.key")
    outs = [tmp_path / "a", tmp_path / "b"]
    # Two processes: within one, Vega numbers the parts of its pictures on and on. And two folders.
    for out, cwd, folder in zip(outs, (tmp_path, tmp_path / "p"), ("p", "."), strict=True):
        done = fairpool_process("run", folder, "--out", out, cwd=cwd)
        assert done.returncode == 0, done.stderr
    first, second = (files_in(out) for out in outs)
    assert list(first) == list(second)
    for name, content in first.items():
        assert second[name] == content, name


def test_with_the_same_secret_the_same_noise_comes_again(tmp_path):
    folder = project(tmp_path, model='kind = "sparse_gp"\ninducing_points = 12')
    first, second, other = (rendered(finished_run(folder, seed=seed)) for seed in (1, 1, 2))
    rewards = [name for name in first if name.endswith(".safetensors")]
    assert len(rewards) == 3
    for name in rewards:
        assert second[name] == first[name]
    assert other[REWARD] != first[REWARD]


def assert_nearly_equal(one, other, where=""):
    """All that is in two results, numbers to nine digits."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key, entry in one.items():
            assert_nearly_equal(entry, other[key], f"{where}, {key}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for number, entry in enumerate(one):
            assert_nearly_equal(entry, other[number], f"{where}, {number}")
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9), where
    else:
        assert one == other, where


def test_every_collaboration_has_noise_of_its_own(tmp_path):
    outs = []
    for name in ("a", "b"):
        folder = project(tmp_path / name, model='kind = "sparse_gp"\ninducing_points = 12')
        assert fairpool("run", folder, "--quiet").returncode == 0
        outs.append(files_in(round_folder(folder)))
    first, second = outs
    assert list(first) == list(second)
    rewards = [decode_reward(files[REWARD], "r") for files in outs]
    a, b = (reward.posterior.weights for reward in rewards)
    assert (a != b).all()
    assert 0 < rewards[0].eta == pytest.approx(rewards[1].eta, rel=1e-9)
    results = [json.loads(files["operator/result.json"]) for files in outs]
    assert results[0].pop("test") != results[1].pop("test")  # scores depend on the noise
    for one, other in zip(results[0]["parties"], results[1]["parties"], strict=True):
        assert one.pop("against_alone").keys() == other.pop("against_alone").keys()  # they too
    # Nothing else does, but for the last digits: the secret decides which rows are summed up first.
    assert_nearly_equal(results[0], results[1])
    for name in ("collaboration.toml", "inputs.sha256"):
        assert first[f"operator/{name}"] == second[f"operator/{name}"]


def test_the_secret_is_in_no_file_that_is_handed_out(finished):
    secret = (finished / ".fairpool" / "secret.key").read_bytes()
    handed_out = [path for path in (finished / "rounds").rglob("*") if path.is_file()]
    forbidden = {secret, secret.strip(), secret.strip()[:16]}
    for path in (*handed_out, finished / "ledger.jsonl", finished / "latest"):
        content = path.read_bytes()
        assert not [key for key in forbidden if key in content], path


@pytest.mark.parametrize("kind", ["sparse_gp", "blr", "network"])
def test_canaries_of_one_party_are_in_no_byte_of_anothers_folder(tmp_path, kind):
    folder = project(tmp_path, model=MODELS[kind][0], rewards=MODELS[kind][1])
    own = party_table(1, 25).to_pydict()
    own["x"][3], own["z"][4], own["y"][5], own["kind"][6] = (
        7.1234567,
        3.7654321,
        61.987654,
        "CANARYLEVEL",
    )
    own["x"][7] = 123.4567125  # an outlier, alone in its cluster
    write(tmp_path / "p1.csv", pa.table(own))
    text = (folder / "collaboration.toml").read_text().replace('"Party 1"', '"CANARYNAME"')
    (folder / "collaboration.toml").write_text(text)
    done = fairpool("run", folder, "--rho", "0.2")
    assert done.returncode == 0, done.stderr
    encoding = prepared(folder).encoding
    encoded = encoding.encode(pa.table(own))
    others = [p for p in (round_folder(folder) / "parties").iterdir() if "CANARY" not in p.name]
    assert len(others) == 2
    forbidden = [
        b"CANARYLEVEL",
        b"CANARYNAME",
        b"7.1234567",
        b"3.7654321",
        b"61.987654",
        b"123.4567125",
    ]
    label = (61.987654 - encoding.target.mean) / encoding.target.scale
    numbers = (7.1234567, 3.7654321, 61.987654, 123.4567125, *encoded[[3, 4, 7], [0, 1, 0]], label)
    forbidden += [np.float64(number).tobytes() for number in numbers]
    for file in (f for p in others for f in p.rglob("*")):
        content = file.read_bytes()
        for canary in forbidden:
            assert canary not in content, (file, canary)


def kill_at_every_change(place, *befores):
    """What runs leave in `place` that are killed before each change of the disk.

    For each thing that it held before.
    """
    run = ["run", place, "--rho", "0.3", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.kill_points", place, *befores, "--", *run],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [[line for line in lines if line["from"] == before.name] for before in befores]


def in_round(content, number):
    place = f"rounds/{number:04d}/"
    return {name: digest for name, digest in content.items() if name.startswith(place)}


def test_a_run_killed_before_any_of_its_changes_leaves_no_half_of_a_round(tmp_path):
    new = project(tmp_path / "new", sizes=(19, 19))
    released = tmp_path / "released"
    shutil.copytree(new, released)
    assert fairpool("run", released, "--rho", "0.9", "--quiet").returncode == 0
    (tmp_path / "place").mkdir()
    for number, (before, states) in enumerate(
        zip((new, released), kill_at_every_change(tmp_path / "place", new, released), strict=True),
        1,
    ):
        old = {name: sha256(before / name) for name in files_in(before)}
        wanted = {*in_round(states[-1]["content"], number)}
        assert len(wanted) == 11 - 2 * (number - 1)  # no model, and no card, for the best one
        changes = [state["change"] for state in states[:-1]]
        in_place = next(
            place for place, change in enumerate(changes) if change.startswith("os.rename .000")
        )
        for place, state in enumerate(states):
            content, settled = state["content"], state["settled"]
            # Up to the one change that puts it in its place there is no such round, and then all.
            assert {*in_round(content, number)} == (wanted if place > in_place else set())
            # The next run finishes it, or there is no trace of it.
            files, told = settled["content"], settled["released"]
            assert (f"rounds/{number:04d}" in told) == (place > in_place), state["change"]
            assert {*in_round(files, number)} == (wanted if place > in_place else set())
            assert not [name for name in files if "partial" in name]
            for of_round in told.values():
                assert of_round.items() <= files.items()
            if told:
                assert files["latest"] == hashlib.sha256(f"{max(told)}\n".encode()).hexdigest()
            # What was there stays, but for what is told of the last round, and the noise in files,
            # of which there may be more (tests/consortium/rounds/test_kept.py).
            for name, digest in old.items():
                assert name in files
                if name not in ("ledger.jsonl", "latest", ".fairpool/lock") and NOISE not in name:
                    assert files[name] == digest
        # It was killed before every file.
        for name in {name.rpartition("/")[2] for name in wanted}:
            assert [change for change in changes[:in_place] if change == f"open {name}"], name
        for name in ("ledger.jsonl", ".latest."):
            assert [change for change in changes if change.startswith(f"open {name}")], name


def test_bad_labels_and_copies_are_reported(tmp_path):
    folder = project(tmp_path)
    own = table(30, 2, 0.8).to_pydict()
    own["y"] = [2000 - 30 * value for value in own["y"]]
    write(tmp_path / "p2.csv", pa.table(own))
    first = table(40, 0)
    write(
        tmp_path / "p1.csv",
        pa.concat_tables([party_table(1, 25), first.slice(0, 6), first.slice(0, 2)]),
    )
    done = fairpool("run", folder, "--rho", "0.2")
    assert done.returncode == 0, done.stderr
    warnings = " ".join(result_of(round_folder(folder))["warnings"])
    assert '"Party 1" has 2 row(s) that repeat another' in warnings
    assert '"Party 0" and "Party 1" share 6 identical row(s)' in warnings
    assert 'the labels of "Party 2" are' in warnings


def test_inspect_needs_nothing_but_the_file(finished, tmp_path):
    file = tmp_path / "alone.safetensors"
    shutil.copy(reward_file(finished, "Party-1"), file)
    shown = fairpool("inspect", file).stdout
    assert "Bayesian linear regression" in shown
    assert "x, z, kind" in shown
    assert json.loads(fairpool("inspect", file, "--json").stdout)["reward for"] == "Party 1"
    bad = fairpool("inspect", finished / "p0.csv")
    assert (bad.returncode, "Traceback" in bad.stderr) == (2, False)


def test_predict_refuses_what_it_cannot_use(finished, tmp_path):
    file = tmp_path / "reward.safetensors"
    shutil.copy(reward_file(finished, "Party-1"), file)
    shutil.copy(finished / "test.csv", tmp_path)
    printed = fairpool("predict", file, "--data", tmp_path / "test.csv")
    assert printed.stdout.startswith("y,standard_deviation,lower_95,upper_95\n")
    assert len(printed.stdout.splitlines()) == 31
    (tmp_path / "bad.csv").write_text("x,kind\n1,red\n")
    assert 'no column "z"' in fairpool("predict", file, "--data", tmp_path / "bad.csv").stderr
    (tmp_path / "bad.csv").write_text("x,z,kind\n1,red\n")
    refused = fairpool("predict", file, "--data", tmp_path / "bad.csv", "--out", tmp_path / "o.csv")
    assert "line 2: 2 values for 3 columns" in refused.stderr
    assert not (tmp_path / "o.csv").exists()
    for own in (file, tmp_path / "test.csv"):
        before = own.read_bytes()
        refused = fairpool(
            "predict", file, "--data", tmp_path / "test.csv", "--out", own, "--force"
        )
        assert "is the reward or the data itself" in refused.stderr
        assert own.read_bytes() == before
    as_json = json.loads(
        fairpool("predict", file, "--data", tmp_path / "test.csv", "--json").stdout
    )
    assert len(as_json) == 30
    assert set(as_json[0]) == {"y", "standard_deviation", "lower_95", "upper_95"}
    (tmp_path / "o.csv").write_text("mine")
    refused = fairpool(
        "predict", file, "--data", tmp_path / "test.csv", "--out", tmp_path / "o.csv"
    )
    assert refused.returncode == 2
    assert (tmp_path / "o.csv").read_text() == "mine"


def test_outliers_and_test_rows_seen_in_training_are_reported(tmp_path):
    folder = project(tmp_path)
    own = table(40, 0).to_pydict()
    own["y"][4] = 2000
    write(tmp_path / "p0.csv", pa.table(own))
    write(tmp_path / "test.csv", party_table(1, 25).slice(0, 10))
    warnings = " ".join(finished_run(folder, rho=0.1).warnings)
    assert 'p0.csv, line 6, column "y": 2000 is far from all others' in warnings
    assert "10 test row(s) are also among the parties' rows" in warnings


def test_one_party_cannot_work_out_anothers_rows_from_the_scaling(tmp_path):
    """n * mean - own sum would be the others' sum, were the scaling not rounded."""
    folder = project(tmp_path, sizes=(40, 2), rewards="share_inputs = true")
    run = finished_run(folder, rho=0.2)
    own, other = table(40, 0)["x"].to_numpy(), party_table(1, 2)["x"].to_numpy()
    guess = 42 * run.preparation.encoding.columns[0].mean - own.sum()
    assert abs(guess - other.sum()) > 0.1
    model = run.built.model
    assert model.noise_variance == float(f"{model.noise_variance:.2e}")


@pytest.mark.parametrize(
    ("kind", "public", "said"),
    [
        ("blr", False, "Its scaling was learned from all parties' rows, and is rounded."),
        (
            "sparse_gp",
            False,
            "Its scaling and inducing points (means of several rows) were learned",
        ),
        ("blr", True, "Its scaling comes from public data."),
    ],
)
def test_what_was_given_is_not_said_to_be_learned(tmp_path, kind, public, said):
    extra = 'public = { data = "public.csv" }' if public else ""
    model = f"{MODELS[kind][0]}\nlearn = false\nnoise_variance = 0.3"
    folder = project(tmp_path, model=model, extra=extra)
    if public:
        write(tmp_path / "public.csv", table(60, 8))
    written_run(folder, rho=0.3)
    letter = html.unescape((round_folder(folder) / "parties/Party-0/letter.html").read_text())
    assert said in letter
    assert "Its hyperparameters were given by the operator." in letter
    report = html.unescape((round_folder(folder) / "operator/report.html").read_text())
    assert "They were given; the scaling comes from " in report


def test_letters_say_what_the_file_reveals(tmp_path):
    letters = {}
    for kind in ("gp", "network", "sparse_gp"):
        model, rewards = MODELS[kind]
        folder = project(tmp_path / kind, model=model, rewards=rewards)
        written_run(folder, rho=0.3)
        letters[kind] = {
            p.name: (p / "letter.html").read_text()
            for p in (round_folder(folder) / "parties").iterdir()
        }
        for name, text in letters[kind].items():
            assert sha256(reward_file(folder, name)) in text
    assert all(
        "trained on all parties&#39; labels without noise" in t for t in letters["network"].values()
    )
    assert all("as all parties agreed" in t for t in letters["gp"].values())
    assert (
        sum("their labels as they are" in t for t in letters["gp"].values()) == 1
    )  # the best model's
    assert all(
        "and inducing points (means of several rows) were learned" in t
        for t in letters["sparse_gp"].values()
    )
    public = project(tmp_path / "public", extra='public = { data = "public.csv" }')
    write(tmp_path / "public" / "public.csv", table(60, 8))
    written_run(public, rho=0.3)
    assert (
        "come from public data"
        in (round_folder(public) / "parties/Party-0/letter.html").read_text()
    )


def test_a_letter_says_so_where_sums_are_sums_of_one_row(tmp_path):
    folder = project(tmp_path, sizes=(40, 1), rewards="share_inputs = true")
    written_run(folder, rho=0.3)
    of_many, of_one = (round_folder(folder) / f"parties/Party-{i}/letter.html" for i in range(2))
    said = "their rows can be computed from it, as all parties agreed"
    assert said in of_many.read_text()
    assert said not in of_one.read_text()


def test_a_place_that_cannot_be_written_to_is_refused_before_anything_is_computed(tmp_path):
    folder = project(tmp_path / "p")
    (tmp_path / "file").write_text("mine")
    for out in (tmp_path / "file" / "x", tmp_path / "file" / "x" / "y"):
        with pytest.raises(
            DataError,
            match=r"x.*: cannot be written, as .*file is no folder to write in; give another",
        ):
            refuse_output(out)
    done = fairpool("run", folder, "--out", tmp_path / "file" / "x")
    assert (done.returncode, "is no folder to write in" in done.stderr) == (2, True)
    assert (tmp_path / "file").read_text() == "mine"
    refuse_output(tmp_path / "new" / "and" / "deep")
    assert not (tmp_path / "new").exists()


def test_an_unexpected_fault_shows_no_traceback(monkeypatch, capsys):
    from fairpool.cli.screen import screen

    with pytest.raises(typer.Exit, match="2"), screen(quiet=False, as_json=False):
        raise RuntimeError("a bug")
    shown = capsys.readouterr().err
    assert "error: unexpected: RuntimeError: a bug; nothing was written" in shown
    assert "Traceback" not in shown
    monkeypatch.setenv("FAIRPOOL_DEBUG", "1")
    with pytest.raises(RuntimeError, match="a bug"), screen(quiet=False, as_json=False):
        raise RuntimeError("a bug")


def test_what_learning_warns_of_is_in_the_report_and_not_on_the_screen(tmp_path):
    folder = project(tmp_path)
    for i, size in enumerate(
        (40, 25, 30)
    ):  # labels without any noise: the best noise variance is the smallest
        data = party_table(i, size)
        write(
            tmp_path / f"p{i}.csv",
            data.set_column(3, "y", pa.array(2 * data["x"].to_numpy() - data["z"].to_numpy())),
        )
    done = fairpool("run", folder, "--rho", "0")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert any(
        "is at the end of the range searched" in text
        for text in result_of(round_folder(folder))["warnings"]
    )


@pytest.mark.parametrize("beside", [None, 'target = "something else"\n', "not TOML"])
def test_the_configuration_that_was_read_is_the_one_on_file(tmp_path, beside):
    folder = project(tmp_path / "p")
    other = (folder / "collaboration.toml").rename(folder / "other.toml")
    text = "# Ours.\n" + other.read_text()
    other.write_text(text)
    if beside is not None:
        (folder / "collaboration.toml").write_text(beside)
    done = fairpool("run", other, "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    filed = (round_folder(folder) / "operator" / "collaboration.toml").read_text()
    first_line, _, rest = filed.partition("\n")
    assert first_line == "# As used by this run: rho = 0.6 (asked for: 0.6 in this file)"
    assert rest == text


def test_a_configuration_changed_during_the_run_is_filed_as_it_was(tmp_path):
    folder = project(tmp_path / "p")
    text = (folder / "collaboration.toml").read_text()
    preparation = prepared(folder)
    (folder / "collaboration.toml").write_text("changed")
    run = scrutinise(value(learn(preparation)))
    write_files(render(run).files, tmp_path / "out")
    assert (tmp_path / "out" / "operator" / "collaboration.toml").read_text().endswith(text)


def test_a_byte_order_mark_is_no_part_of_a_configuration(tmp_path):
    folder = project(tmp_path / "p")
    text = (folder / "collaboration.toml").read_bytes()
    (folder / "collaboration.toml").write_bytes(b"\xef\xbb\xbf" + text)
    written_run(folder)
    filed = (round_folder(folder) / "operator" / "collaboration.toml").read_bytes()
    assert filed.endswith(b"\n" + text)
    assert b"\xef\xbb\xbf" not in filed


def test_the_recorded_hashes_are_those_of_what_was_looked_at(tmp_path):
    folder = project(tmp_path)
    expected = {
        f"{sha256(folder / name)}  {name}" for name in ("p0.csv", "p1.csv", "p2.csv", "test.csv")
    }
    run = finished_run(folder)
    (folder / "p0.csv").write_text("another")
    release(run)
    assert {
        *(round_folder(folder) / "operator" / "inputs.sha256").read_text().splitlines()
    } == expected


def test_the_stages_one_by_one_give_what_a_run_gives(tmp_path):
    folder = project(tmp_path)
    (folder / ".fairpool").mkdir()
    known_secret().write(folder / ".fairpool" / "secret.key")
    request = RunRequest(configuration=folder, rho=0.5)
    at_once = whole_run(request)
    preparation = prepare(request, context=open_context(folder))
    learning = learn(preparation)
    valuation = value(learning)
    stepwise = scrutinise(valuation)
    assert (stepwise.preparation, stepwise.built) == (preparation, learning.built)
    assert stepwise.collaboration == valuation.collaboration
    assert stepwise.notes == at_once.notes
    files, expected = rendered(stepwise), rendered(at_once)
    assert list(files) == list(expected)
    pages = {name for name in files if name.endswith(".html")}  # Vega numbers parts on and on
    for name in set(files) - pages:
        assert files[name] == expected[name], name


@pytest.mark.parametrize(
    "record", [RunRequest, Preparation, Learning, Valuation, Run, Sample, Sums, Survey, Content]
)
def test_what_stages_take_and_give_is_frozen_and_made_by_name(record):
    assert record.__dataclass_params__.frozen
    assert all(field.kw_only for field in fields(record))


def test_files_are_rendered_without_a_disk_and_written_as_they_are(tmp_path):
    done = whole_run(RunRequest(configuration=project(tmp_path / "p")))
    shutil.rmtree(tmp_path / "p")
    files = render(done).files
    before = os.umask(0o022)
    try:
        write_files(files, tmp_path / "out")
    finally:
        os.umask(before)
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert {str(path.relative_to(tmp_path / "out")): path.read_bytes() for path in written} == files
    assert {path.stat().st_mode & 0o777 for path in written} == {0o600}
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
