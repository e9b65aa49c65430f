"""Five farms' messy files, from a folder to letters, with the rewards of clean tables."""

import json
import re

import numpy as np
import pytest

from tests.support.farm import COPIED, ROWS, write_clean_farm, write_farm
from tests.support.projects import fairpool, reward_file, round_folder, written_run

FARMS = ("Ash", "Elm", "Fir", "Oak", "Yew")

CLEAN = """
target = "yield"

[columns]
plot_id.kind = "id"
sown.kind = "date"
rain_mm.missing = "impute"
soil = { kind = "category", levels = ["clay", "loam", "sand"] }
irrigated = { kind = "category", levels = ["no", "yes"] }
remark.kind = "text"

[model]
inducing_points = 20  # the smallest party has 50 rows, which are in four files
"""


def answer_yes(file, *settings):
    """Take the # away in front of these settings, as the guide says."""
    text = file.read_text()
    for setting in settings:
        assert f"\n# {setting}" in text, setting
        text = text.replace(f"\n# {setting}", f"\n{setting}")
    file.write_text(text)


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    folder = write_farm(tmp_path_factory.mktemp("messy") / "tables")
    assert fairpool("init", "--from", folder, "--target", "yield").returncode == 0
    unanswered = fairpool("check", folder, "--json")
    answer_yes(
        folder / "collaboration.toml",
        'missing = "impute"',
        'columns.rain_mm.named = "Niederschlag"',
        'columns.rain_mm.from = "inch"',
        'columns.temp_c.from = "fahrenheit"',
    )
    checked = fairpool("check", folder, "--json")
    run = written_run(folder, rho=0.5)
    return folder, unanswered, checked, run


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    folder = write_clean_farm(tmp_path_factory.mktemp("clean"))
    parties = [f'[[parties]]\nname = "{name}"\ndata = "{name}.csv"\n' for name in FARMS]
    (folder / "collaboration.toml").write_text("\n".join([CLEAN, *parties]))
    return written_run(folder, rho=0.5)


def test_check_asks_before_it_is_answered(messy):
    _, unanswered, _, _ = messy
    assert unanswered.returncode == 2
    told = json.loads(unanswered.stdout)
    questions = {}
    for column in told["columns"]:
        for cell in column["by"]:
            if "question" in cell:
                questions[column["column"], cell["owner"]] = cell["question"]
    assert questions == {("temp_c", "Fir"): "Fahrenheit?"}
    assert any("rain_mm" in problem for problem in told["errors"])


def test_answered_there_is_no_problem_and_no_question(messy):
    _, _, checked, _ = messy
    assert checked.returncode == 0, checked.stdout
    told = json.loads(checked.stdout)
    assert told["parties"] == {**ROWS, "Ash": ROWS["Ash"] + COPIED}
    assert not any("question" in cell for column in told["columns"] for cell in column["by"])


def test_rewards_are_those_of_clean_tables(messy, clean):
    ours, theirs = messy[3].collaboration, clean.collaboration
    assert ours.game.rows == theirs.game.rows
    for name in ("alone", "total"):
        assert getattr(ours.game, name) == pytest.approx(getattr(theirs.game, name), rel=1e-9)
    np.testing.assert_allclose(ours.contributions.values, theirs.contributions.values, rtol=1e-9)
    np.testing.assert_allclose(ours.rewards, theirs.rewards, rtol=1e-9)


def test_the_copied_block_is_told_of(messy):
    assert f'"Ash" and "Oak" share {COPIED} identical row(s)' in " ".join(messy[3].warnings)


def words_of(page):
    text = re.sub(r"<(style|script).*?</\1>", "", page.read_text(), flags=re.S)
    text = re.sub(r"<[^>]*>", " ", text).replace("&#34;", '"')
    return " ".join(text.split())


def test_each_letter_says_what_was_done_to_its_own_table_alone(messy):
    letters = {}
    for name in FARMS:
        letters[name] = words_of(round_folder(messy[0]) / "parties" / name / "letter.html")
    assert (
        'done to your table: the column "Niederschlag" was taken as "rain_mm"; "rain_mm" was'
        ' converted from inch to mm; "temp_c" was converted from fahrenheit to celsius; 2 missing'
        ' value(s) of "rain_mm" are taken to be'
    ) in letters["Fir"]
    for name in FARMS:
        for secret in ("Niederschlag", "converted from"):
            assert (secret in letters[name]) == (name == "Fir")
        for other in {*FARMS} - {name}:
            assert other not in letters[name]


def test_the_report_says_it_of_everybody(messy):
    report = words_of(round_folder(messy[0]) / "operator" / "report.html")
    section = report[report.index("What was done to the tables") :]
    assert "Ash 72 0 7 0 0" in section
    assert "Fir 50 0 2 0 2" in section
    assert 'Fir: the column "Niederschlag" was taken as "rain_mm"' in section
    result = json.loads((round_folder(messy[0]) / "operator" / "result.json").read_text())
    fir = result["parties"][2]["table"]
    assert fir == {
        "rows_read": 50,
        "dropped": 0,
        "imputed": {"rain_mm": 2},
        "clipped": {},
        "converted": {"rain_mm": ["inch", "mm"], "temp_c": ["fahrenheit", "celsius"]},
        "contributions": [],
        "epsilons": [],
    }


def test_a_farm_predicts_its_own_kind_of_table(messy):
    folder = messy[0]
    reward = reward_file(folder, "Fir")
    out = folder.parent / "predictions.csv"
    done = fairpool("predict", reward, "--data", folder / "Fir.csv", "--out", out)
    assert done.returncode == 0, done.stderr
    assert out.read_text().startswith("plot_id,")
