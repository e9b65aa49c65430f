"""The template of a data agreement says what the configuration says, and leaves the rest blank."""

import re

import pytest

from fairpool.consortium.configuration_file import load_configuration
from fairpool.consortium.data_agreement import ON_HARM, RHO, data_agreement, render_agreement
from tests.support.exchange import KEYS, a_plan, signed_plan
from tests.support.projects import fairpool, project

BLANK = r"\_\_\_\_"


def made(folder, **settings):
    return data_agreement(project(folder, **settings))


def test_parties_target_and_contact_are_filled_in(tmp_path):
    text = made(tmp_path, extra='contact = "Data office"\nfeatures = ["x", "z"]')
    assert "(contact: Data office)" in text
    assert "to predict y from x, z." in text
    for i in range(3):
        assert f"| Party {i} | Party {i} | its rows |" in text
        assert len(re.findall(rf"^\| Party {i} \|", text, re.M)) == 2  # who, and signatures
    assert text.count(BLANK) > 10


@pytest.mark.parametrize("rho", RHO)
def test_every_word_for_rho_is_explained(tmp_path, rho):
    text = made(tmp_path, extra="")
    assert "ρ is 0.6." in text
    path = tmp_path / "collaboration.toml"
    path.write_text(path.read_text().replace("rho = 0.6", f'rho = "{rho}"'))
    assert f"ρ is {RHO[rho]}." in data_agreement(path)


@pytest.mark.parametrize(
    ("rewards", "said"),
    [
        ("share_inputs = true", "**All parties agree** that rows of small parties"),
        ("share_labels = true", "**All parties agree** that labels of their rows"),
        ('covariance = "full"', "a file tells sums over the others' rows exactly"),
        ("colluding = 1", "at most 1 recipient may put"),
        ("false_alarms = 0.05", "about 5%"),
        *((f'on_harm = "{word}"', said) for word, said in ON_HARM.items()),
    ],
)
def test_what_was_chosen_is_said(tmp_path, rewards, said):
    assert said in made(tmp_path, rewards=rewards).replace("\\", "")


def test_what_was_not_chosen_is_not_said(tmp_path):
    text = made(tmp_path)
    assert "agree**" not in text
    assert "all recipients may put their files together" in text
    assert "as it wishes" not in text
    assert "The plan" not in text


def test_a_party_that_keeps_its_rows_sends_sums_and_the_plan_is_named(tmp_path):
    folder = project(tmp_path)
    path = folder / "collaboration.toml"
    key = next(iter(KEYS.values())).public
    text = path.read_text().replace('data = "p0.csv"', f'key = "{key}"\nmost = 0.6')
    path.write_text(text)
    plan = signed_plan(a_plan())
    told = render_agreement(load_configuration(folder), plan)
    assert "| Party 0 | Party 0 | sums over its rows, signed with its own key" in told
    assert "| Party 1 | Party 1 | its rows |" in told
    assert "Party 0 holds at most 60% of that value" in told
    assert plan.digest in told
    assert plan.operator.fingerprint in told


def test_an_exact_gaussian_process_needs_a_word_on_inputs(tmp_path):
    agreed = {"model": 'kind = "gp"\nkernel = "rbf"', "rewards": "share_inputs = true"}
    assert "inputs of all parties' rows; **all parties agree to that**" in made(tmp_path, **agreed)


def test_hostile_names_stay_text(tmp_path):
    folder = project(tmp_path)
    path = folder / "collaboration.toml"
    path.write_text(path.read_text().replace('"Party 1"', '"a|b <script>*x*"'))
    text = data_agreement(folder)
    assert text.count(r"a\|b \<script\>\*x\*") >= 2
    assert "<script>" not in text.replace(r"\<", "")


def test_the_command_prints_it_or_writes_a_new_file(tmp_path):
    folder = project(tmp_path / "project")
    printed = fairpool("agreement", folder)
    assert (printed.returncode, printed.stderr) == (0, "")
    assert printed.stdout == data_agreement(folder)
    out = tmp_path / "agreement.md"
    done = fairpool("agreement", folder, "--out", out)
    assert done.returncode == 0
    assert out.read_text() == printed.stdout
    again = fairpool("agreement", folder, "--out", out)
    assert again.returncode == 2
    assert "exists already" in again.stderr
    nowhere = fairpool("agreement", folder, "--out", tmp_path / "none" / "a.md")
    assert nowhere.returncode == 2
    assert "cannot be written" in nowhere.stderr


def test_a_configuration_that_is_refused_makes_none(tmp_path):
    (tmp_path / "collaboration.toml").write_text('target = "y"\n')
    done = fairpool("agreement", tmp_path)
    assert done.returncode == 2
    assert "parties: missing" in done.stderr
