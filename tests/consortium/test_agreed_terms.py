"""What is released is on the terms of the plan; a preview says what is not."""

import json
from dataclasses import replace

import pytest

from fairpool.consortium.agreed_terms import contradictions
from fairpool.consortium.configuration_file import load_configuration
from fairpool.consortium.planning import plan_of, write_plan
from fairpool.consortium.request import RunRequest
from fairpool.consortium.rounds.releasing import release
from fairpool.consortium.run import run
from fairpool.errors import PlanError
from fairpool.signatures import SigningKey
from tests.support.planned import MADE, edit, planned_project
from tests.support.projects import LISTED, fairpool, project

RANGES = (
    "[columns.x]\nrange = [-9, 9]\n[columns.z]\nrange = [0, 5]\n[columns.y]\nrange = [0, 150]\n"
)
SENT = "{party}.contribution"
FEATURES = 'features = ["x", "z", "kind"]\n'


@pytest.fixture
def folder(tmp_path):
    """Three parties who send rows, and a plan all the same."""
    folder = project(tmp_path, extra=FEATURES + RANGES, categorical=LISTED)
    write_plan(folder, made=MADE)
    return folder


def test_nothing_contradicts_the_plan_that_a_configuration_gave(tmp_path):
    folder = planned_project(tmp_path, rewards="rho = 0.3\nfalse_alarms = 0.02", data=SENT)
    assert not [*contradictions(plan_of(folder, made=MADE), load_configuration(folder))]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("rho = 0.3", "rho is 'stable' in the plan, and 0.3 here"),
        ('covariance = "full"', "covariance is 'hidden' in the plan, and 'full' here"),
        ("colluding = 1", "colluding is None in the plan, and 1 here"),
        ("share_labels = true", "share_labels is False in the plan, and True here"),
        ('on_harm = "exclude"', "on_harm is 'warn' in the plan, and 'exclude' here"),
    ],
)
def test_every_term_that_is_another_one_is_found(tmp_path, lines, found):
    folder = planned_project(tmp_path, data=SENT)
    plan = plan_of(folder, made=MADE)
    edit(folder, "[rewards]", f"[rewards]\n{lines}")
    assert [*contradictions(plan, load_configuration(folder))] == [found]


def test_a_party_that_the_plan_does_not_have_is_found_and_one_that_has_left_is_not(tmp_path):
    folder = planned_project(tmp_path, data=SENT)
    configuration = load_configuration(folder)
    plan = plan_of(folder, made=MADE)
    without_north = replace(plan, parties=plan.parties[1:])
    assert [*contradictions(without_north, configuration)] == ['the plan does not have "North"']
    staying = configuration.model_copy(update={"parties": configuration.parties[1:]})
    assert not [*contradictions(plan, staying)]


def test_a_run_on_other_terms_is_a_preview_at_most(folder):
    edit(folder, "rho = 0.6", "rho = 0.5")
    done = fairpool("run", folder)
    assert done.returncode == 2
    assert "rho is 0.6 in the plan, and 0.5 here" in done.stderr
    assert "fairpool plan" in done.stderr
    assert not (folder / "rounds").exists()
    preview = fairpool("run", folder, "--preview", "--json")
    assert preview.returncode == 0, preview.stderr
    assert any("rho is 0.6 in the plan" in text for text in json.loads(preview.stdout)["warnings"])


def test_another_rho_on_the_command_line_is_a_preview_at_most(folder):
    done = fairpool("run", folder, "--rho", "0.5")
    assert done.returncode == 2
    assert "rho is 0.6 in the plan, and 0.5 here" in done.stderr
    other = run(RunRequest(configuration=folder, rho=0.5))
    with pytest.raises(PlanError, match=r"rho is 0\.6 in the plan"):
        release(other)
    assert not (folder / "ledger.jsonl").exists()


def test_a_run_on_the_terms_of_the_plan_is_released_by_its_model(folder):
    assert fairpool("check", folder).returncode == 0
    done = fairpool("run", folder, "--json")
    assert done.returncode == 0, done.stderr
    warnings = json.loads(done.stdout)["warnings"]
    assert not [text for text in warnings if "plan.json" in text]
    assert (folder / "rounds" / "0001").is_dir()


def test_check_refuses_a_configuration_that_changed_what_rows_are_summed_up_by(folder):
    edit(folder, "range = [0, 5]", "range = [0, 6]")
    done = fairpool("check", folder)
    assert done.returncode == 2
    assert "of columns is not what it said when plan.json was written" in done.stderr
    assert fairpool("plan", folder).returncode == 0
    assert fairpool("check", folder).returncode == 0


def test_check_refuses_a_plan_that_somebody_else_signed(folder):
    key = folder / ".fairpool" / "operator.key"
    key.unlink()
    SigningKey.fresh().write(key)
    done = fairpool("check", folder)
    assert done.returncode == 2
    assert "somebody else signed this plan" in done.stderr
    assert "fairpool plan --replace" in done.stderr


def test_check_refuses_a_damaged_plan(folder):
    file = folder / "plan.json"
    file.write_bytes(file.read_bytes()[:-200])
    done = fairpool("check", folder)
    assert done.returncode == 2
    assert "plan.json: no signed plan of fairpool" in done.stderr
    assert "Traceback" not in done.stderr
