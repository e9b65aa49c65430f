"""Noise on contributions, by the commands: three parties' machines and the operator's."""

import json
import re
import shutil

import pytest

from tests.support.projects import fairpool, round_folder, write
from tests.support.sums import COLUMNS, numbers

PARTIES = {"North": 3.0, "South": 20.0, "West": None}
"""And their epsilon."""


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """What is on every machine after a round, and what `fairpool contribute` said."""
    folder = tmp_path_factory.mktemp("machines")
    said = {}
    with pytest.MonkeyPatch.context() as monkeypatch:

        def run(machine, *words):
            monkeypatch.setenv("FAIRPOOL_HOME", str(folder / machine / "home"))
            done = fairpool(*words, cwd=folder / machine)
            assert done.returncode == 0, (words, done.stdout, done.stderr)
            return done.stdout

        sections = []
        for seed, name in enumerate(PARTIES):
            (folder / name).mkdir()
            write(folder / name / "mine.csv", numbers(2000, seed))
            (key,) = re.findall(r'key = "ed25519:\w+"', run(name, "keys", "new"))
            data = f'data = "{name}.contribution"'
            sections.append(f'[[parties]]\nname = "{name}"\n{key}\n{data}\n')
        project = folder / "Operator" / "project"
        project.mkdir(parents=True)
        (project / "collaboration.toml").write_text(
            'name = "Noise"\nfeatures = ["x", "z", "kind"]\n[target]\ncolumn = "y"\n'
            "[columns.y]\nrange = [0, 100]\n"
            + COLUMNS
            + '[model]\nkind = "fourier"\nkernel = "rbf(1.5)"\nfeatures = 6\nlearn = false\n'
            "noise_variance = 0.2\n[rewards]\nrho = 0.6\n" + "".join(sections)
        )
        fingerprint = run("Operator", "plan", "project").rstrip().splitlines()[-1].strip()
        for name, epsilon in PARTIES.items():
            shutil.copy(project / "plan.json", folder / name)
            words = ["contribute", "plan.json", "--data", "mine.csv", "--out", "my.contribution"]
            words += ["--yes", "--trust", fingerprint]
            if epsilon is not None:
                words += ["--epsilon", epsilon]
            said[name] = run(name, *words)
            shutil.copy(folder / name / "my.contribution", project / f"{name}.contribution")
        said["check"] = run("Operator", "check", "project")
        said["receipts"] = run("Operator", "receipts", "project")
        said["run"] = run("Operator", "run", "project")
    return folder, said


def about(folder):
    """What the operator's result says of each party."""
    operator = round_folder(folder / "Operator" / "project") / "operator"
    parties = json.loads((operator / "result.json").read_text())["parties"]
    return {party["name"]: party for party in parties}


@pytest.mark.parametrize("name", ["North", "South"])
def test_what_a_party_is_told_beforehand_is_about_what_its_data_are_worth(name, walked):
    folder, said = walked
    figures = re.search(r"worth about (\S+) instead of (\S+) nats", said[name]).groups()
    expected, exact = (float(figure) for figure in figures)
    worth = about(folder)[name]["value"]
    assert worth == pytest.approx(expected, rel=0.2)
    assert worth < exact
    assert "instead of" not in said["West"]


def test_even_the_number_of_rows_has_noise(walked):
    folder, said = walked
    assert about(folder)["West"]["rows"] == 2000
    for name in ("North", "South"):
        rows = about(folder)[name]["rows"]
        assert f"(their number has noise, too: {rows})" in " ".join(said[name].split())
        assert f"{name}: about {rows} rows" in said["check"]
        assert f"about {rows} rows of {name}" in said["receipts"]
        assert f"about {rows} " in said["run"]
    assert "West: 2000 rows" in said["check"]
    assert ": 2000 rows of West" in said["receipts"]
    assert re.search(r"West\W+2000 ", said["run"])


def test_numbers_of_rows_with_noise_are_rough_wherever_they_stand(walked):
    folder, _ = walked
    project = folder / "Operator" / "project"
    listed = fairpool("rounds", project).stdout
    told = json.loads(fairpool("rounds", project, "--json").stdout)["rounds"][0]["parties"]
    assert [one["rows_have_noise"] for one in told] == [True, True, False]
    for name, one in zip(PARTIES, told, strict=True):
        is_rough = PARTIES[name] is not None
        cell = re.search(rf"│ {name} +│ (about )?", listed)
        assert bool(cell[1]) == is_rough
        inspected = fairpool("inspect", project / f"{name}.contribution").stdout
        assert bool(re.search(rf"^rows: +about {one['rows']}$", inspected, re.M)) == is_rough
        letter = (round_folder(project) / "parties" / name / "letter.html").read_text()
        assert (f"About {one['rows']:,} rows" in letter) == is_rough


def test_a_letter_without_any_comparison_says_so(walked):
    folder, _ = walked
    for name in PARTIES:
        parties = round_folder(folder / "Operator" / "project") / "parties"
        letter = " ".join((parties / name / "letter.html").read_text().split())
        assert "there were no rows on which the two could be compared" in letter


def test_the_recipient_verifies_its_value_from_its_noisy_contribution(walked, monkeypatch):
    folder, _ = walked
    parties = round_folder(folder / "Operator" / "project") / "parties"
    for name in PARTIES:
        monkeypatch.setenv("FAIRPOOL_HOME", str(folder / name / "home"))
        (reward,) = (parties / name).glob("*.safetensors")
        done = fairpool(
            "verify",
            reward,
            "--letter",
            parties / name / "letter.html",
            "--contribution",
            "my.contribution",
            "--plan",
            "plan.json",
            cwd=folder / name,
        )
        assert done.returncode == 0, (done.stdout, done.stderr)
        assert "othing is FALSE" in done.stdout
        assert re.search(r"value of your data[^\n]*\n?[^\n]*", done.stdout)
        named = r"names\s+the\s+contribution\s+\w+\s+of\s+(about\s+)?\d+\s+rows"
        assert bool(re.search(named, done.stdout)[1]) == (PARTIES[name] is not None)


def test_what_an_error_is_is_said_only_where_there_is_one(walked):
    folder, _ = walked
    folder = round_folder(folder / "Operator" / "project")
    for name in PARTIES:
        letter = (folder / "parties" / name / "letter.html").read_text()
        section = letter.partition("Does it predict better")[2].partition("<h2>")[0]
        assert "information of" in section
        assert "±" not in section
    assert "by chance alone, in one or two" not in (folder / "operator/report.html").read_text()


def better_than_alone(folder, monkeypatch, *more):
    monkeypatch.setenv("FAIRPOOL_HOME", str(folder / "North" / "home"))
    handed_out = round_folder(folder / "Operator" / "project") / "parties" / "North"
    (reward,) = handed_out.glob("*.safetensors")
    words = ["verify", reward, "--letter", handed_out / "letter.html", "--data", "mine.csv"]
    done = fairpool(*words, *more, "--json", cwd=folder / "North")
    lines = json.loads(done.stdout)["findings"]
    (text,) = [line["text"] for line in lines if line["about"] == "better than alone"]
    return text


def test_alone_are_the_rows_whether_or_not_the_contribution_is_given(walked, monkeypatch):
    folder, _ = walked
    by_rows = better_than_alone(folder, monkeypatch)
    sent = ("--contribution", "my.contribution", "--plan", "plan.json")
    assert better_than_alone(folder, monkeypatch, *sent) == by_rows
    assert "in the reward with noise alone (fairpool update)" in by_rows


def test_an_auditor_recomputes_a_round_with_noisy_contributions(walked):
    folder, _ = walked
    done = fairpool("audit", "project", 1, cwd=folder / "Operator")
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "othing is FALSE" in done.stdout


def test_at_home_a_recipient_puts_its_rows_in_place_of_its_noisy_sums(walked, monkeypatch):
    folder, said = walked
    monkeypatch.setenv("FAIRPOOL_HOME", str(folder / "North" / "home"))
    parties = round_folder(folder / "Operator" / "project") / "parties"
    (reward,) = (parties / "North").glob("*.safetensors")
    words = ["update", reward, "--data", "mine.csv", "--out", "updated.safetensors"]
    done = fairpool(*words, cwd=folder / "North")
    assert done.returncode == 0, done.stderr
    worth, before = re.search(r"worth (\S+) nats; before, (\S+)", done.stdout).groups()
    exact = re.search(r"instead of (\S+) nats", said["North"])[1]
    assert float(worth) > float(exact)
    assert float(worth) > float(before) + 1
