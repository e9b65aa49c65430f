"""[columns.NAME] and its shorthands: what they mean, and what cannot be said."""

import json
from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from fairpool.columns import Bounds
from fairpool.consortium.configuration_file import load_configuration
from tests.support.projects import fairpool, prepared, project, table, write


def said(folder, sections, extra="", categorical='{ kind = ["green", "red"] }'):
    """A project whose configuration says something of columns."""
    project(folder, extra=extra, categorical=categorical)
    with (folder / "collaboration.toml").open("a") as file:
        file.write(sections)
    return folder


def refused(folder):
    """The problems that a check tells, without the file's name."""
    check = fairpool("check", folder, "--json")
    assert check.returncode == 2, check.stdout
    errors = json.loads(check.stdout)["errors"]
    return [error.replace(f"{folder}/", "").replace("collaboration.toml: ", "") for error in errors]


def test_shorthands_and_sections_mean_the_same(tmp_path):
    short = said(
        tmp_path / "a",
        "",
        extra='features = ["x", "kind"]\nmissing = "drop"',
        categorical='{ kind = ["green", "red"] }',
    )
    sections = """
[columns.z]
role = "ignore"
[columns.kind]
kind = "category"
levels = ["green", "red"]
missing = "drop"
[columns.x]
missing = "drop"
[columns.y]
kind = "target"
missing = "drop"
"""
    long = said(tmp_path / "b", sections, categorical="[]")
    first, second = prepared(short), prepared(long)
    assert first.encoding == second.encoding
    for name in ("x", "kind", "y"):
        assert first.plan.column(name).rules == second.plan.column(name).rules


def test_a_plan_answers_for_every_column(tmp_path):
    sections = """
[columns.x]
unit = "mm"
range = [0, 3000]
outside = "clip"
transform = "log"
missing = { tokens = ["999"], do = "impute" }
[columns.day]
kind = "date"
range = [2015-01-01, "2024-12-31"]
[columns.plot]
kind = "id"
"""
    plan = load_configuration(said(tmp_path, sections.replace("range = [0,", "range = [1,"))).plan
    x = plan.column("x")
    assert (x.unit, x.kind, x.is_input) == ("mm", "number", True)
    assert (x.rules.bounds, x.rules.clips, x.rules.log) == (Bounds(1, 3000), True, True)
    assert (x.rules.tokens, x.rules.missing) == (("999",), "impute")
    day = plan.column("day")
    assert (day.read_as, day.rules.bounds) == ("date", Bounds(16436, 20088))
    assert plan.ids == ("plot",)
    assert not plan.may_be_input("plot")
    assert plan.column("whatever").kind == "number"
    assert plan.column("kind").levels == ("green", "red")


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ('[columns.x]\nkind = "numbr"', "columns, x, kind: 'numbr' is not allowed; did you mean"),
        ("[columns.x]\nrnage = [0, 1]", 'columns, x, rnage: unknown key; did you mean "range"?'),
        ("[columns.x]\nrange = [0]", "columns, x, range: [0] is not allowed; give two numbers"),
        ("[columns.x]\nrange = [5, 5]", "range: [5, 5] is not allowed; the first must be below"),
        ('[columns.x]\nrange = [0, "much"]', "'much' is not allowed; give a number, or a date"),
        ("[columns.x]\nrange = [0, inf]", "inf is not allowed; give a number of at most 1e+100"),
        ("[columns.x]\nrange = [0, true]", "True is not allowed; give a number of at most"),
        ("[columns.x]\nrange = [0, 2020-01-01]", "is not allowed; give two numbers, or two dates"),
        (
            '[columns.x]\noutside = "keep"',
            "outside: 'keep' is not allowed; give one of refuse, cli",
        ),
        ('[columns.x]\nmissing = "guess"', "columns, x, missing: 'guess' is not allowed; give one"),
        (
            '[columns.x]\nmissing = { token = ["9"] }',
            'columns, x, missing, token: unknown key; did you mean "tokens"?',
        ),
        ('[columns.x]\ntransform = "root"', "transform: 'root' is not allowed; give one of log"),
        (
            '[columns.x]\nrole = "output"',
            "role: 'output' is not allowed; give one of input, ignore",
        ),
        ("[columns.kind]\nlevels = []", "columns, kind, levels: [] is not allowed; list should"),
    ],
)
def test_values_that_are_not_allowed(tmp_path, sections, expected):
    (problem,) = refused(said(tmp_path, sections))
    assert expected in problem


@pytest.mark.parametrize(
    ("sections", "extra", "expected"),
    [
        (
            '[columns.kind]\nkind = "number"',
            "",
            'categorical lists "kind", but [columns.kind] says kind = "number"; leave one of them',
        ),
        (
            '[columns.kind]\nlevels = ["red"]',
            "",
            'categorical lists other levels of "kind" than [columns.kind] does; leave one of the',
        ),
        (
            '[columns.x]\nkind = "id"',
            'features = ["x", "z", "kind"]',
            'features lists "x", but [columns.x] says kind = "id", which is never an input; leave',
        ),
        (
            '[columns.x]\nrole = "ignore"',
            'features = ["x", "z", "kind"]',
            'features lists "x", but [columns.x] says role = "ignore"; leave one of them out',
        ),
        (
            '[columns.x]\nrole = "input"',
            'features = ["z", "kind"]',
            '[columns.x] says role = "input", but features does not list "x"; add it there',
        ),
        (
            '[columns.x]\nmissing = "impute"',
            'missing = "drop"',
            'missing = "drop" is for all columns, but [columns.x] says missing = "impute"; leave',
        ),
        (
            '[columns.x]\nkind = "target"',
            "",
            '[columns.x] says kind = "target", but the target is "y"; say target = "x", or give',
        ),
        (
            '[columns.y]\nkind = "category"',
            "",
            '[columns.y] says kind = "category", but target says that it is predicted, as kind =',
        ),
        (
            '[columns.y]\nrole = "input"',
            "",
            '[columns.y] says role = "input", but target says that it is predicted; leave the role',
        ),
        (
            '[columns.y]\nlevels = ["a"]',
            "",
            "[columns.y]: levels have no meaning for a target of kind",
        ),
        (
            '[columns.y]\nmissing = "impute"',
            "",
            '[columns.y]: missing = "impute" has no meaning for the target, since nothing is',
        ),
        (
            '[columns.x]\nkind = "text"\nrole = "input"',
            "",
            '[columns.x] says kind = "text" and role = "input", but such a column is never an',
        ),
        (
            '[columns.x]\nkind = "id"\nunit = "mm"',
            "",
            '[columns.x]: unit has no meaning for kind = "id"; leave it out',
        ),
        (
            '[columns.x]\nkind = "number"\nlevels = ["a"]',
            "",
            '[columns.x]: levels has no meaning for kind = "number" (only for category); leave it',
        ),
        (
            "[columns.kind]\nkind = 'category'\nrange = [0, 1]",
            "",
            '[columns.kind]: range has no meaning for kind = "category" (only for number, date)',
        ),
        (
            "[columns.kind]\nkind = 'category'\ntransform = 'log'",
            "",
            '[columns.kind]: transform has no meaning for kind = "category" (only for number)',
        ),
        (
            '[columns.x]\noutside = "clip"',
            "",
            "[columns.x]: outside = 'clip' needs a range; give one",
        ),
        (
            '[columns.x]\nrange = [0, 9]\noutside = "clip"\ntransform = "log"',
            "",
            '[columns.x]: transform = "log" needs a range above 0, and it begins at 0; begin it',
        ),
        (
            "[columns.x]\noutside = 'clip'\nrange = [2000-01-01, 2020-01-01]",
            "",
            '[columns.x]: a range of dates needs kind = "date"; give it, or a range of numbers',
        ),
        (
            "[columns.x]\nkind = 'date'\noutside = 'clip'\nrange = [0, 9]",
            "",
            '[columns.x]: the range of kind = "date" must be two dates, such as [2015-01-01,',
        ),
        (
            '[columns.kind]\nlevels = ["green", "red", "red"]',
            "",
            '[columns.kind]: the level "red" is listed twice; leave one of them out',
        ),
        (
            '[columns.x]\nmissing = { tokens = ["n.a."] }',
            "",
            "[columns.x]: missing, tokens: 'n.a.' is not a number, and the column is read as",
        ),
        (
            '[columns.x]\nkind = "date"\nmissing = { tokens = ["0000-00-00"] }',
            "",
            "[columns.x]: missing, tokens: '0000-00-00': give tokens of dates under missing in",
        ),
        (
            '[columns.kind]\nlevels = ["green", "red"]\nmissing = { tokens = ["red"] }',
            "",
            '[columns.kind]: "red" is both a level and a token of missing values',
        ),
        (
            "[columns.rian]\nunit = 'mm'",
            "",
            "[columns.rian]: no file has such a column; correct its name",
        ),
        (
            "[columns.kinds]\nkind = 'category'",
            "",
            '[columns.kinds]: no file has such a column; did you mean "kind"?',
        ),
    ],
)
def test_what_does_not_fit_together_is_told_with_both_places(tmp_path, sections, extra, expected):
    problems = refused(said(tmp_path, sections, extra))
    assert any(expected in problem for problem in problems), problems


def test_a_section_of_a_column_that_not_all_parties_have_is_told(tmp_path):
    folder = said(tmp_path, "[columns.z]\nunit = 'mm'\n")
    write(folder / "p1.csv", table(25, 1).drop_columns(["z"]))
    problems = refused(folder)
    assert any("[columns.z]: not all parties have this column" in problem for problem in problems)


def test_an_id_must_not_be_called_as_a_prediction_is(tmp_path):
    folder = said(tmp_path, "[columns.lower_95]\nkind = 'id'\n")
    for i in range(3):
        ids = pa.array([f"r{k}" for k in range(40)])
        write(folder / f"p{i}.csv", table(40, i).append_column("lower_95", ids))
    (problem,) = refused(folder)
    assert problem == (
        "[columns.lower_95]: kind = \"id\" would put two columns 'lower_95' into predictions;"
        " rename it"
    )


def with_values(folder, name, values, party=1):
    """Put values into the first rows of a column of a party's file."""
    content = table(25, party)
    column = content[name].to_pylist()
    column[: len(values)] = values
    place = content.column_names.index(name)
    write(folder / f"p{party}.csv", content.set_column(place, name, pa.array(column)))


@pytest.mark.parametrize(
    ("section", "name", "values", "expected"),
    [
        (
            "[columns.z]\nrange = [0, 5]",
            "z",
            [6.5, 7.0],
            'party "Party 1": p1.csv, line 2, column "z": 6.5 is outside 0 .. 5 (and 1 more);'
            ' correct it, or say outside = "clip" in [columns.z]',
        ),
        (
            "[columns.z]\ntransform = 'log'",
            "z",
            [1.0, 0.0],
            'party "Party 1": p1.csv, line 3, column "z": 0 has no logarithm; correct it, or leave'
            ' out transform = "log"',
        ),
        (
            "[columns.y]\nrange = [0, 200]",
            "y",
            [-1.0],
            'party "Party 1": p1.csv, line 2, column "y": \'-1.0\' is not a number in 0 .. 200;'
            " correct it (a target must be a number in 0 .. 200)",
        ),
        (
            "[columns.y]\ntransform = 'log'",
            "y",
            [-1.0],
            'party "Party 1": p1.csv, line 2, column "y": \'-1.0\' is not a number above 0, which'
            " has a logarithm; correct it (a target must be a number above 0, which has a"
            " logarithm)",
        ),
        (
            "[columns.z]\nmissing = 'impute'",
            "x",
            [None],
            'party "Party 1": 1 missing value(s) (x 1), first at p1.csv, line 2, column "x"; fill'
            ' them in, or set missing = "drop" to leave those rows out',
        ),
        (
            "[columns.z]\nmissing = { tokens = ['-9'] }",
            "z",
            [-9.0],
            'party "Party 1": 1 missing value(s) (z 1), first at p1.csv, line 2, column "z"; fill'
            ' them in, or set missing = "drop" to leave those rows out',
        ),
    ],
)
def test_values_that_cannot_be_used_are_told_with_file_and_line(
    tmp_path, section, name, values, expected
):
    folder = said(tmp_path, section)
    with_values(folder, name, values)
    assert refused(folder) == [expected]


def test_a_date_outside_its_range_is_told_as_a_date(tmp_path):
    folder = said(tmp_path, "[columns.z]\nkind = 'date'\nrange = [1970-01-01, 1970-01-06]")
    for file in ("p0.csv", "p1.csv", "p2.csv", "test.csv"):
        content = table(25, 1)
        days = [date(1970, 1, 1 + k % 6) for k in range(25)]
        if file == "p1.csv":
            days[0] = date(1971, 2, 5)
        write(folder / file, content.set_column(1, "z", pa.array(days)))
    assert refused(folder) == [
        'party "Party 1": p1.csv, line 2, column "z": 1971-02-05 is outside 1970-01-01 ..'
        ' 1970-01-06; correct it, or say outside = "clip" in [columns.z]'
    ]


def test_a_text_in_a_ranged_column_is_told_once(tmp_path):
    """It is read as 0 meanwhile, which is outside, or has no logarithm."""
    folder = said(tmp_path, "[columns.z]\nrange = [1, 9]\n[columns.x]\ntransform = 'log'\n")
    rows = "".join(f"{k + 1},{k + 1},red,{k}\n" for k in range(5))
    (folder / "p1.csv").write_text(f"x,z,kind,y\n{rows}1,many,red,4\nfew,2,red,4\n")
    problems = [problem for problem in refused(folder) if "Party 1" in problem]
    assert len(problems) == 2
    assert "'few' is not a number" in problems[0]
    assert "'many' is not a number" in problems[1]


@pytest.mark.parametrize(
    ("labels", "listed"),
    [([0.0, 1.0], "0, 1"), ([1.5, 2.5], "1.5, 2.5"), ([1.0, 2.0, 3.0], "1, 2, 3")],
)
def test_a_target_of_few_values_is_asked_about(tmp_path, labels, listed):
    folder = project(tmp_path)
    rng = np.random.default_rng(0)
    for i in range(3):
        content = table(40, i)
        write(folder / f"p{i}.csv", content.set_column(3, "y", [rng.choice(labels, 40)]))
    notes = [note for note in prepared(folder).notes if note.code == "classes"]
    assert [note.text for note in notes] == [
        f'the target "y" has only the values {listed}: are classes meant? It is predicted as a'
        ' number, which may lie between them or beyond; say kind = "classes" in [target] if they'
        " are"
    ]


def test_a_target_of_many_values_is_not_asked_about(tmp_path):
    folder = project(tmp_path)
    assert all(note.code != "classes" for note in prepared(folder).notes)
    for i in range(3):
        write(folder / f"p{i}.csv", table(40, i).set_column(3, "y", pa.array([*range(40)])))
    assert all(note.code != "classes" for note in prepared(folder).notes)


def test_a_target_of_text_is_refused_with_that_question(tmp_path):
    folder = project(tmp_path)
    labels = pa.array(["ill", "well"] * 20)
    write(folder / "p1.csv", table(40, 1).set_column(3, "y", labels))
    (problem,) = refused(folder)
    assert problem == (
        'party "Party 1": p1.csv, line 2, column "y": \'ill\' is not a number (and 39 more);'
        " correct it (a target must be a number); are classes meant?"
        ' Say so: target = { column = "...", kind = "classes" }'
    )
