"""The command on long work: several jobs, stopping, resuming, precision."""

import json
import os
import signal
import subprocess
import time

import numpy as np
import pytest
import typer

from fairpool.cli.screen import screen
from fairpool.compute.checkpoint import Checkpoint
from fairpool.compute.workers import Workers
from tests.support.die_before import run_and_die
from tests.support.projects import COMMAND, fairpool, finished_run, is_untouched, project

MANY = 'kind = "gp"\nkernel = "rbf"\nlearn = false\nnoise_variance = 0.1'


def long_project(folder, sizes=(20,) * 9):
    """With so many parties, values are kept while it runs: in eight files."""
    return project(
        folder, model=MANY, sizes=sizes, rewards="share_inputs = true", suffix=".parquet"
    )


def check_that_it_stopped(folder, sign, code, errors):
    if sign == signal.SIGINT:
        assert code == 130
        assert (
            "stopped; no result was written, but what was computed is kept: go on with --resume"
            in errors
        )
        assert "Traceback" not in errors
    else:
        assert code == -sign
    assert is_untouched(folder)
    return len(list((folder / ".fairpool-checkpoint").rglob("*.npy")))


def check_that_it_goes_on(folder):
    resumed = fairpool("run", folder, "--resume", "--json", "--jobs", "2")
    assert (resumed.returncode, resumed.stderr) == (0, "")
    assert not (folder / ".fairpool-checkpoint").exists()  # and nothing else is touched
    fresh = finished_run(folder).collaboration
    for i, party in enumerate(json.loads(resumed.stdout)["parties"]):
        assert party["reward"] == pytest.approx(fresh.rewards[i], rel=1e-9)
        assert party["contribution"] == pytest.approx(fresh.contributions.values[i], rel=1e-9)


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_is_resumed_with_the_same_numbers(tmp_path, sign):
    folder = long_project(tmp_path / "stopped")
    # The key is kept first, so this is as the fourth array is to be kept.
    done = run_and_die(sign, 5, "os.rename .", ["run", folder])
    assert check_that_it_stopped(folder, sign, done.returncode, done.stderr) == 3
    check_that_it_goes_on(folder)


@pytest.mark.soak
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_a_run_stopped_while_it_computes_is_resumed_with_the_same_numbers(tmp_path, sign):
    folder = long_project(tmp_path / "stopped", sizes=(110,) * 12)
    process = subprocess.Popen(
        [COMMAND, "run", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    deadline = time.monotonic() + 120
    while len(list((folder / ".fairpool-checkpoint").rglob("*.npy"))) < 2:
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(sign)
    _, errors = process.communicate()
    assert 2 <= check_that_it_stopped(folder, sign, process.returncode, errors) < 8
    check_that_it_goes_on(folder)


def test_kept_values_are_used_for_the_same_data_and_not_for_changed_ones(tmp_path):
    folder = long_project(tmp_path)
    kept = tmp_path / "kept"
    done = []

    def run():
        def progress(text, count=0, total=None):
            if text == "valuing coalitions":
                done.append(count)

        done.clear()
        return finished_run(folder, workers=Workers(None, progress, Checkpoint(kept))).collaboration

    first = run()
    assert done == list(range(9))
    np.testing.assert_array_equal(run().contributions.values, first.contributions.values)
    assert done == [8]
    (folder / "p3.parquet").write_bytes((folder / "p4.parquet").read_bytes())
    changed = run()
    assert done == list(range(9))
    fresh = finished_run(folder).collaboration
    np.testing.assert_array_equal(changed.contributions.values, fresh.contributions.values)


def test_precision_and_evaluations_are_the_operators_choice(tmp_path):
    found = []
    for number, lines in enumerate(["evaluations = 400", "precision = 0.01"]):
        folder = project(
            tmp_path / str(number),
            sizes=(3, 9, 5, 7, 6) * 4,
            extra=f"[valuation]\n{lines}",
            rewards="share_inputs = true",
        )
        done = fairpool("run", folder, "--json")
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    few, precise = found
    assert few["evaluations"] == 400
    assert few["method"] == "sampled"
    average = few["total"] / 20
    assert max(p["standard_error"] for p in precise["parties"]) <= 0.01 * average
    assert precise["evaluations"] > 400
    in_doubt = [low < high for low, high in (p["reward_interval"] for p in few["parties"])]
    assert sum(in_doubt) >= 19  # all, but perhaps the best
    for p in few["parties"]:
        low, high = p["reward_interval"]
        assert low <= p["reward"] <= high
    low, high = few["rho_stable_interval"]
    assert low <= few["rho_stable"] <= high
    assert low < high


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (
            "precision = 2.0",
            "valuation, precision: 2.0 is not allowed; input should be less than 1",
        ),
        (
            "evaluations = 0",
            "valuation, evaluations: 0 is not allowed; input should be greater than or equal to 1",
        ),
        ("evaluation = 9", 'valuation, evaluation: unknown key; did you mean "evaluations"?'),
    ],
)
def test_a_wrong_valuation_is_refused(tmp_path, lines, text):
    done = fairpool("run", project(tmp_path, extra=f"[valuation]\n{lines}"))
    assert done.returncode == 2
    assert text in done.stderr


def test_too_few_evaluations_are_refused_with_the_fewest(tmp_path):
    folder = project(tmp_path, sizes=(3, 9, 5, 7, 6) * 4, extra="[valuation]\nevaluations = 40")
    for command in ("check", "run"):
        done = fairpool(command, folder)
        assert done.returncode == 2
        assert (
            "collaboration.toml: valuation, evaluations: 40 are too few for 20 parties; give at"
            " least " in done.stderr
        )
    assert is_untouched(folder)


def test_values_that_cannot_be_kept_are_told_to_the_operator(tmp_path):
    folder = long_project(tmp_path, sizes=(5,) * 9)
    (folder / ".fairpool-checkpoint").write_text("in the way")
    done = fairpool("run", folder, "--json")
    assert done.returncode == 0, done.stderr
    [text] = [text for text in json.loads(done.stdout)["warnings"] if "cannot be kept" in text]
    assert "a stopped run would begin anew" in text
    assert (folder / ".fairpool-checkpoint").read_text() == "in the way"


def test_a_run_stopped_before_anything_is_kept_says_so(capsys):
    with pytest.raises(typer.Exit, match="130"), screen(quiet=False, as_json=False):
        raise KeyboardInterrupt
    assert capsys.readouterr().err == "stopped; nothing was written\n"
