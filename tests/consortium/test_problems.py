"""Wrong success, and what is said instead: every problem of every file at once, and warnings that
name their cause.
"""

import json
import pickle
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fairpool as fp
from fairpool.cli import app
from fairpool.consortium.prediction import predict_file
from fairpool.errors import ConfigurationError, DataError, FairpoolWarning
from tests.support.projects import (
    LISTED,
    finished_run,
    is_untouched,
    prepared,
    project,
    reward_file,
    round_folder,
    table,
    write,
    written_run,
)


def problems_of(folder):
    with pytest.raises(ConfigurationError, match=r"party|parties|data|categorical") as caught:
        prepared(folder)
    return [problem.replace(f"{folder}/", "") for problem in caught.value.problems]


def edit(folder, old, new):
    file = folder / "collaboration.toml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def with_column(folder, name, values, files=("p0.csv", "p1.csv", "p2.csv", "test.csv")):
    """Put a column in front of the others; `values` makes it from the number of rows."""
    for file in files:
        data = pd.read_csv(folder / file)
        data.insert(0, name, values(len(data)))
        data.to_csv(folder / file, index=False)


# Levels


def test_levels_that_are_not_listed_are_refused_for_every_source(tmp_path):
    folder = project(tmp_path, extra='public = { data = "public.csv" }')
    write(folder / "public.csv", table(20, 7))
    edit(folder, 'categorical = ["kind"]', 'categorical = { kind = ["R", "G"] }')
    (folder / "p0.csv").write_text("x,z,kind,y\n1,2,R,3\n\n1,2,red,3\n2,1,green,1\n2,2,red,4\n")
    write(folder / "p1.csv", table(9, 1).set_column(2, "kind", pa.array(["R"] * 5 + ["G"] * 4)))
    found = problems_of(folder)
    assert found[-1] == (
        'party "Party 0": p0.csv, line 4, column "kind": \'red\' is not among the levels listed'
        " under categorical"
        " ('R', 'G'); 3 row(s) have such a level ('red' 2, 'green' 1); correct the data, or add the"
        " level to the list"
    )
    # The worst first: those of most rows.
    assert [problem.split(":")[0] for problem in found] == [
        'party "Party 2"',
        "test data",
        "public data",
        'party "Party 0"',
    ]


def test_unlisted_levels_of_several_files_are_one_problem(tmp_path):
    folder = project(tmp_path)
    for name in "ba":
        write(
            folder / "many" / f"{name}.csv",
            table(9, 0).set_column(2, "kind", pa.array([f"{name}{k}" for k in range(9)])),
        )
    edit(folder, '"p0.csv"', '"many"')
    edit(folder, 'categorical = ["kind"]', 'categorical = { kind = ["red", "green"] }')
    [problem] = problems_of(folder)
    assert "many/a.csv, line 2, column \"kind\": 'a0' is not among" in problem
    assert (
        "18 row(s) have such a level ('a0' 1, 'a1' 1, 'a2' 1, 'a3' 1, 'a4' 1 and 13 more)"
        in problem
    )


def test_an_identifier_among_listed_levels_is_counted_in_full(tmp_path):
    folder = project(tmp_path, sizes=(1000, 30))
    write(
        folder / "p0.csv",
        table(1000, 0).set_column(2, "kind", pa.array([f"id{k}" for k in range(1000)])),
    )
    edit(folder, 'categorical = ["kind"]', 'categorical = { kind = ["red", "green"] }')
    [problem] = problems_of(folder)
    assert "1000 row(s) have such a level" in problem


def test_listed_levels_that_no_row_has_are_named(tmp_path):
    folder = project(tmp_path)
    edit(folder, 'categorical = ["kind"]', 'categorical = { kind = ["red", "blue", "green"] }')
    assert prepared(folder).warnings == (
        'categorical column "kind": listed levels that no row has: "blue"; look for another'
        " spelling",
    )


def test_a_listed_level_that_a_csv_file_takes_for_missing_is_refused(tmp_path):
    folder = project(tmp_path)
    edit(folder, 'categorical = ["kind"]', 'categorical = { kind = ["red", "none", "green"] }')
    [problem] = problems_of(folder)
    assert 'categorical, kind: "none" stands for a missing value in a CSV file' in problem


def test_levels_that_public_or_training_data_lack_are_warned_of_and_told_to_no_party(tmp_path):
    folder = project(tmp_path, extra='public = { data = "public.csv" }')
    write(folder / "public.csv", table(60, 7))
    kinds = pa.array(["CANARYLEVEL"] * 5 + ["red", "green"] * 10)
    write(folder / "p1.csv", table(25, 1).set_column(2, "kind", kinds))
    write(
        folder / "test.csv",
        table(5, 2).set_column(2, "kind", pa.array(["red", "TESTLEVEL", "red", "red", "red"])),
    )
    run = written_run(folder, rho=0.3)
    lacking = (
        'categorical column "kind": levels that public data lack ("CANARYLEVEL" of party "Party 1")'
        ' count as "none'
    )
    tested = (
        'categorical column "kind": levels that models do not know ("TESTLEVEL" of test data)'
        ' count as "none of'
    )
    for expected in (lacking, tested):
        assert any(expected in warning for warning in run.warnings), run.warnings
    assert b"CANARYLEVEL" in (round_folder(folder) / "operator/report.html").read_bytes()
    for file in (round_folder(folder) / "parties").rglob("*.*"):
        assert b"LEVEL" not in file.read_bytes(), file


def test_a_category_of_one_level_tells_nothing_and_one_of_many_numbers_may_be_none(tmp_path):
    folder = project(tmp_path)
    for i, size in enumerate((40, 25, 30)):
        write(folder / f"p{i}.csv", table(size, i).set_column(2, "kind", pa.array(["red"] * size)))
    write(folder / "test.csv", table(9, 5).set_column(2, "kind", pa.array(["red"] * 9)))
    learned, same = prepared(folder).warnings
    assert learned.startswith('categorical column "kind": its levels are learned from the parties')
    assert same == 'column "kind" has the same value everywhere, and tells nothing'
    for i in range(3):
        write(
            folder / f"p{i}.csv",
            table(40, i).set_column(2, "kind", pa.array([str(k % 21) for k in range(40)])),
        )
    write(folder / "test.csv", table(9, 5).set_column(2, "kind", pa.array(["7"] * 9)))
    _, warning = prepared(folder).warnings
    assert warning == (
        'categorical column "kind" has 21 levels, all of them numbers; if it is a quantity, do not'
        " list it there"
    )


# Columns that are no data


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "__index_level_0__"])
def test_an_index_column_of_pandas_is_left_out_unless_it_is_listed(tmp_path, name):
    folder = project(tmp_path, categorical=LISTED)
    with_column(folder, name, range)
    found = prepared(folder)
    assert found.encoding.features == ("x", "z", "kind=green", "kind=red")
    [warning] = found.warnings
    assert warning.startswith("p0.csv, p1.csv, p2.csv: ")
    assert (f'column "{name}"' if name else "a column without a name") + " is not used" in warning
    if name:
        edit(folder, 'target = "y"', f'target = "y"\nfeatures = ["x", "{name}"]\n')
        edit(folder, f"categorical = {LISTED}", "")
        found = prepared(folder)
        assert found.encoding.features == ("x", name)
        assert found.warnings == ()


def test_an_index_column_of_parquet_is_left_out(tmp_path):
    folder = project(tmp_path, suffix=".parquet", categorical=LISTED)
    data = pd.read_parquet(folder / "p0.parquet")
    data[data["x"] > -1].to_parquet(folder / "p0.parquet")
    found = prepared(folder)
    assert found.encoding.features == ("x", "z", "kind=green", "kind=red")
    assert found.warnings[0].startswith('p0.parquet: column "__index_level_0__" is not used')


def test_any_number_of_columns_without_a_name_are_left_out(tmp_path):
    """As spreadsheets write them."""
    folder = project(tmp_path, categorical=LISTED)
    lines = (folder / "p0.csv").read_text().splitlines()
    (folder / "p0.csv").write_text("\n".join(f"{line},," for line in lines) + "\n")
    found = prepared(folder)
    assert found.parties[0].rows == 40
    [warning] = found.warnings
    assert warning == (
        "p0.csv: a column without a name is not used (pandas writes row numbers so); if it is data,"
        " name it"
    )
    (folder / "p0.csv").write_text(",,\n1,2,3\n")
    assert "p0.csv: line 1 names no column; say which one does" in problems_of(folder)[0]


@pytest.mark.parametrize(("name", "start"), [("id", 0), ("Row_Number", 1), ("index", 1)])
def test_a_column_that_counts_rows_is_named(tmp_path, name, start):
    folder = project(tmp_path, categorical=LISTED)
    with_column(folder, name, lambda rows: range(start, start + rows))
    [warning] = prepared(folder).warnings
    assert warning == (
        f'column "{name}" counts the rows of every file; if it is but a row number, list the'
        " features without it"
    )
    data = pd.read_csv(folder / "p1.csv")
    data[name] += 1000
    data.to_csv(folder / "p1.csv", index=False)
    assert prepared(folder).warnings == ()


def test_a_column_that_counts_under_another_name_is_data(tmp_path):
    folder = project(tmp_path, categorical=LISTED)
    with_column(folder, "day", range)
    assert prepared(folder).warnings == ()


def test_rows_are_counted_over_batches_and_files(tmp_path, monkeypatch):
    monkeypatch.setattr("fairpool.consortium.reading.BATCH_ROWS", 7)
    folder = project(tmp_path, categorical=LISTED)
    with_column(folder, "id", range)
    (folder / "many").mkdir()
    for name in ("p0.csv", "p1.csv"):
        (folder / name).rename(folder / "many" / name)
    edit(folder, '[[parties]]\nname = "Party 1"\ndata = "p1.csv"\n', "")
    edit(folder, '"p0.csv"', '"many"')
    assert any(
        'column "id" counts the rows of every file' in warning
        for warning in prepared(folder).warnings
    )


def test_columns_that_differ_only_in_case_or_blanks_are_named(tmp_path):
    folder = project(tmp_path)
    write(folder / "p0.csv", table(40, 0).rename_columns(["x", " Z", "kind", "y"]))
    assert prepared(folder).warnings[-1] == (
        'columns " Z" and "z" differ only in case or blanks; if they are the same, give them one'
        " name in all files"
    )
    write(folder / "p0.csv", table(40, 0).rename_columns(["x", "z", "kind", "Y"]))
    [problem] = problems_of(folder)
    assert problem.endswith(
        'no column "y"; it has x, z, kind, Y (is it "Y"? names must agree in case and blanks)'
    )


# Every problem at once

BAD = """\
x,z,w,kind,y
abc,1,1,red,2
1,2,green,3
1,"2,5",1,blue,inf
,1,2024-01-05,red,-1e300

q,1,1,red,text
1,2,3
"""


def test_every_bad_column_of_a_csv_file_is_listed(tmp_path):
    folder = project(tmp_path)
    edit(folder, 'target = "y"', 'target = "y"\nfeatures = ["x", "z", "w", "kind", "v", "u"]')
    edit(folder, 'categorical = ["kind"]', 'categorical = { kind = ["red", "green"] }')
    (folder / "p0.csv").write_text(BAD)
    of_first = [problem for problem in problems_of(folder) if "Party 0" in problem]
    beginnings = [
        'p0.csv: no columns "v", "u"; it has x, z, w, kind, y',
        "p0.csv, line 3: 4 values for 5 columns (and 1 more such row(s)); a value with a comma in"
        " it needs quotes",
        "p0.csv, line 2, column \"x\": 'abc' is not a number (and 1 more); correct it, or if the"
        " whole column is",
        'p0.csv, line 4, column "y": inf is infinite or beyond 1e+100 (and 1 more); correct it',
        "p0.csv, line 4, column \"z\": '2,5' is not a number; write numbers with a decimal point,"
        " and without commas",
        "p0.csv, line 5, column \"w\": '2024-01-05' is not a number; turn it into a number (such as"
        " days since a date)",
        "p0.csv, line 7, column \"y\": 'text' is not a number; correct it (a target must be a"
        " number)",
        "p0.csv, line 4, column \"kind\": 'blue' is not among the levels listed under categorical"
        " ('red', 'green')",
        '1 missing value(s) (x 1), first at p0.csv, line 5, column "x"; fill them in, or set'
        ' missing = "drop"',
    ]
    assert len(of_first) == len(beginnings), of_first
    for problem, beginning in zip(of_first, beginnings, strict=True):
        assert problem.startswith(f'party "Party 0": {beginning}')


def test_every_bad_column_of_a_parquet_file_is_listed(tmp_path):
    folder = project(tmp_path, suffix=".parquet")
    edit(folder, 'target = "y"', 'target = "y"\nfeatures = ["x", "z", "w", "kind"]')
    columns = {
        "x": pa.array(list("abcde")),
        "z": pa.array([1, 2, 3, 4, 5], pa.timestamp("ms")),
        "kind": pa.array([[1]] * 5),
        "y": pa.array([1.0, None, float("inf"), 2.0, 3.0]),
    }
    write(folder / "p1.parquet", pa.table(columns))
    of_second = [
        problem.removeprefix('party "Party 1": ')
        for problem in problems_of(folder)
        if "Party 1" in problem
    ]
    assert of_second == [
        'p1.parquet: no column "w"; it has x, z, kind, y',
        'p1.parquet: column "x" has type string, not numbers; list it under categorical, or leave'
        " it out of features",
        'p1.parquet: column "z" has type timestamp[ms], not numbers; turn it into a number (such as'
        " days since a date),"
        " or leave it out of features",
        'p1.parquet: column "kind" has type list<element: int64>, not categories; leave it out of'
        " features",
        'p1.parquet, row 3, column "y": inf is infinite or beyond 1e+100; correct it',
        '1 missing value(s) (y 1), first at p1.parquet, row 2, column "y"; fill them in, or set'
        ' missing = "drop" to'
        " leave those rows out",
    ]


def test_every_file_of_a_party_is_looked_at_and_the_worst_is_told_first(tmp_path):
    folder = project(tmp_path)
    (folder / "many").mkdir()
    (folder / "many" / "a.csv").write_text("x,z,kind,y\n1,2,red,3\nbad,2,red,3\n")
    (folder / "many" / "b.csv").write_text("x,z,kind,y,y\n")
    (folder / "many" / "c.csv").write_text("x,z,kind,y\n1,worse,red,\n")
    (folder / "many" / "d.csv").write_text("x,z,y\n1,2,3\n")
    (folder / "p2.csv").unlink()
    edit(folder, '"p0.csv"', '"many"')
    edit(folder, 'target = "y"', 'target = "y"\nfeatures = ["x", "z", "kind"]')
    found = problems_of(folder)
    expected = [
        "b.csv: two columns",
        "p2.csv is no file",
        'd.csv: no column "kind"',
        "a.csv, line 3",
        "c.csv, line 2",
        "1 missing value(s) (y 1), first at many/c.csv, line 2",
    ]
    assert len(found) == len(expected), found
    for problem, part in zip(found, expected, strict=True):
        assert part in problem


def test_what_is_listed_of_one_file_is_bounded(tmp_path):
    folder = project(tmp_path)
    names = [f"c{k}" for k in range(50)]
    for i in range(3):
        write(folder / f"p{i}.csv", pa.table({name: ["no"] * 4 for name in [*names, "y"]}))
    edit(folder, 'categorical = ["kind"]', "")
    edit(folder, '[test]\ndata = "test.csv"', "")
    found = problems_of(folder)
    assert len(found) == 3 * 21
    assert found[60] == 'party "Party 0": p0.csv: and 31 more problem(s)'
    (folder / "p0.csv").write_text(",".join([*names, "y"]) + "\n" + "x" * 5000 + ",1" * 50 + "\n")
    assert len(problems_of(folder)[0]) < 300


def test_lines_and_counts_are_right_beyond_the_rows_that_are_looked_at_together(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("fairpool.consortium.tolerant_reading.TOLERANT_ROWS", 3)
    folder = project(tmp_path)
    lines = [f"{k},1,red,{k}" for k in range(20)]
    lines[7], lines[11], lines[15] = "1,2", "1,,red,3", "1,bad,red,3"
    (folder / "p0.csv").write_text("x,z,kind,y\n" + "\n".join(lines) + "\n")
    width, number, missing = problems_of(folder)
    assert "p0.csv, line 9: 2 values for 4 columns;" in width
    assert "p0.csv, line 17, column \"z\": 'bad' is not a number;" in number
    assert 'first at p0.csv, line 13, column "z"' in missing


def test_a_byte_that_is_not_utf8_hides_no_other_problem(tmp_path):
    folder = project(tmp_path)
    text = (folder / "p0.csv").read_text() + "1,2,r\xe9d,oops\n"
    (folder / "p0.csv").write_bytes(text.encode("latin-1"))
    encoding, number = problems_of(folder)
    assert "p0.csv, line 42: not UTF-8 text (byte 0xe9); save it as UTF-8" in encoding
    assert "p0.csv, line 42, column \"y\": 'oops' is not a number" in number
    (folder / "p0.csv").write_bytes("x,z,kind,\xe9\n1,2,red,3\n".encode("latin-1"))
    assert problems_of(folder)[0].endswith(
        "p0.csv: not UTF-8 text (byte 0xe9); save it as UTF-8, or give its encoding in its reading"
    )


def test_a_quote_that_is_never_closed_is_an_error_with_a_line(tmp_path):
    folder = project(tmp_path)
    (folder / "p0.csv").write_text('x,z,kind,y\n1,2,red,3\n1,2,"red,3\n' + "1,2,red,3\n" * 20_000)
    [problem] = problems_of(folder)
    assert "p0.csv, line 3: cannot be read (field larger than field limit" in problem
    assert problem.endswith("look for a quote that is never closed")
    (folder / "p0.csv").write_text('x,z,kind,y\n1,2,red,3\n1,2,"red,3\n' + "1,2,red,3\n" * 20)
    [problem] = problems_of(folder)
    assert "p0.csv, line 3: 3 values for 4 columns" in problem


def test_a_row_of_several_lines_is_named_by_its_first(tmp_path):
    folder = project(tmp_path)
    (folder / "p0.csv").write_text('x,z,kind,note,y\n1,2,red,"a\nb",3\n\n1,,red,"c\nd\ne",3\n')
    [problem] = problems_of(folder)
    assert 'first at p0.csv, line 5, column "z"' in problem
    (folder / "p0.csv").write_text('x,z,kind,note,y\n1,2,red,"a\nb",3\n\n1,bad,red,"c\nd\ne",3\n')
    [problem] = problems_of(folder)
    assert 'p0.csv, line 5, column "z"' in problem


def test_large_whole_numbers_are_read_from_parquet_as_from_csv(tmp_path):
    times = pa.array([2**60 + 12345 * k for k in range(40)])
    features = {}
    for suffix in (".csv", ".parquet"):
        folder = project(tmp_path / suffix[1:], suffix=suffix)
        for name in ("p0", "p1", "p2"):
            write(folder / f"{name}{suffix}", table(40, 0).set_column(0, "x", times))
        features[suffix] = prepared(folder).encoding
    assert features[".csv"] == features[".parquet"]


def test_a_damaged_parquet_file_hides_no_other_problem(tmp_path):
    folder = project(
        tmp_path, suffix=".parquet", sizes=(5000, 30), extra='features = ["x", "z", "kind", "w"]'
    )
    content = bytearray((folder / "p0.parquet").read_bytes())
    content[200 : len(content) // 2] = b"\x07" * (len(content) // 2 - 200)
    (folder / "p0.parquet").write_bytes(content)
    damaged, lacking, *_ = problems_of(folder)
    assert 'p0.parquet: no column "w"' in lacking
    assert "p0.parquet: damaged; ask for it again" in damaged


def test_a_target_of_another_type_is_no_category(tmp_path):
    folder = project(tmp_path, suffix=".parquet")
    write(folder / "p0.parquet", table(3, 0).set_column(3, "y", pa.array(["low", "high", "low"])))
    [problem] = problems_of(folder)
    assert problem.endswith(
        'column "y" has type string, not numbers; a target must be a number; are classes meant?'
        ' Say so: target = { column = "...", kind = "classes" }'
    )


def test_parties_without_a_column_in_common_are_told_so(tmp_path):
    folder = project(tmp_path)
    for i in range(3):
        write(folder / f"p{i}.csv", table(9, i).select(["x", "y"]).rename_columns([f"x{i}", "y"]))
    edit(folder, 'categorical = ["kind"]', "")
    assert problems_of(folder) == [
        "no column is shared by all parties; name the features, and give all files those columns"
    ]


def test_a_parquet_file_without_rows_must_have_the_columns_too(tmp_path):
    folder = project(tmp_path, suffix=".parquet", extra='features = ["x", "z", "kind"]')
    write(folder / "many" / "a.parquet", table(20, 0))
    lacking = table(0, 0).select(["x", "y"])
    write(folder / "many" / "b.parquet", lacking)
    pq.ParquetWriter(
        folder / "many" / "c.parquet", lacking.schema
    ).close()  # not even a group of rows
    edit(folder, '"p0.parquet"', '"many"')
    found = problems_of(folder)
    assert len(found) == 2
    for name, problem in zip("bc", found, strict=True):
        assert f'{name}.parquet: no columns "z", "kind"; it has x, y' in problem


def test_problems_travel_between_processes():
    error = pickle.loads(pickle.dumps(DataError("first", "second")))
    assert error.problems == ("first", "second")
    assert str(error) == "first\nsecond"


def test_check_and_run_show_the_same_list(tmp_path, capsys):
    folder = project(tmp_path)
    (folder / "p0.csv").write_text("x,z,kind,y\nno,2,red,never\n")
    (folder / "p1.csv").write_text("x,z,kind,y\n1,,red,2\n")
    shown = []
    for command in ("check", "run"):
        for option in ((), ("--json",)):
            assert app([command, str(folder), *option], standalone_mode=False) == 2
            said = capsys.readouterr()
            errors = [line.removeprefix("error: ") for line in said.err.splitlines() if line]
            shown.append(json.loads(said.out)["errors"] if option else errors)
    assert len(shown[0]) == 3
    assert shown == [shown[0]] * 4
    assert is_untouched(folder)


# Predicting


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predict")
    run = finished_run(project(folder), rho=0.3)
    file = folder / "reward.safetensors"
    replace(run.collaboration.models[1], encoding=run.preparation.encoding).save(file)
    return file


UNKNOWN = (
    "is not among the levels that the model knows ('green', 'red'); 3 row(s) ('blue' 2, 'pink' 1)"
    " are treated as none"
)


def strangers():
    return table(6, 4).set_column(
        2, "kind", pa.array(["red", "blue", "pink", "green", "blue", "red"])
    )


def test_predict_warns_of_levels_that_the_model_does_not_know(tmp_path, trained, capsys):
    write(tmp_path / "new.csv", strangers())
    write(tmp_path / "known.csv", table(6, 4))
    found = predict_file(trained, tmp_path / "new.csv")
    [note] = found.notes
    assert note.code == "unknown level"
    assert f"new.csv, line 3, column \"kind\": 'blue' {UNKNOWN}" in note.text
    assert (found.names[0], len(found.rows)) == ("y", 6)
    for options in (["--json"], ["--quiet"], ["--out", str(tmp_path / "out.csv")]):
        app(
            ["predict", str(trained), "--data", str(tmp_path / "new.csv"), *options],
            standalone_mode=False,
        )
        shown = capsys.readouterr()
        assert shown.err.startswith("Warning: ")
        assert UNKNOWN in shown.err
        if options == ["--json"]:
            assert len(json.loads(shown.out)) == 6
    app(["predict", str(trained), "--data", str(tmp_path / "known.csv")], standalone_mode=False)
    assert capsys.readouterr().err == ""


def test_predict_table_warns_of_unknown_levels_and_refuses_missing_ones(trained):
    reward = fp.load_reward(trained)
    with pytest.warns(FairpoolWarning) as said:
        mean, _ = reward.predict_table(strangers())
    assert str(said[0].message).startswith(
        f"column \"kind\", row 1 (counting from 0): 'blue' {UNKNOWN}"
    )
    assert said[0].filename == __file__
    assert len(mean) == 6
    with pytest.raises(DataError, match='column "kind" lacks 1 value'):
        reward.predict_table(table(2, 0).set_column(2, "kind", pa.array(["red", None])))


def test_predict_lists_every_problem_of_its_data(tmp_path, trained):
    (tmp_path / "a.csv").write_text("x,z,kind\n1,2,red\n1,blue\n")
    (tmp_path / "b.csv").write_text("x\n1\n")
    with pytest.raises(DataError, match="2 values for 3 columns") as caught:
        predict_file(trained, tmp_path)
    found = [problem.replace(f"{tmp_path}/", "") for problem in caught.value.problems]
    beginnings = [
        'data to predict: b.csv: no columns "z", "kind"; it has x',
        "data to predict: a.csv, line 3: 2 values for 3 columns;",
    ]
    assert len(found) == len(beginnings)
    for problem, beginning in zip(found, beginnings, strict=True):
        assert problem.startswith(beginning)
    (tmp_path / "a.csv").write_text("x,x\n")
    (tmp_path / "b.csv").write_text("")
    with pytest.raises(
        DataError, match=r'a\.csv: two columns are named "x".*\n.*b\.csv: the file is empty'
    ):
        predict_file(trained, tmp_path)


def test_what_does_not_fit_in_the_configuration_is_told_together_with_the_data(tmp_path):
    folder = project(
        tmp_path,
        extra='features = ["x", "z", "x", "y", "kind"]',
        model='kind = "blr"\nlearn = false',
    )
    text = (folder / "collaboration.toml").read_text().replace('"Party 1"', '"Party 0"')
    (folder / "collaboration.toml").write_text(text)
    (folder / "p2.csv").write_text("x,z,kind,y\n1,2,red,oops\n")
    with pytest.raises(ConfigurationError, match="listed twice") as caught:
        prepared(folder)
    found = caught.value.problems
    assert pickle.loads(pickle.dumps(caught.value)).problems == found
    for part in (
        "learn = false needs noise_variance",
        'features: the column "x" is listed twice',
        'the target "y" is also listed under features',
        'two parties are named "Party 0"',
        "'oops' is not a number",
    ):
        assert sum(part in problem for problem in found) == 1, found
    assert len(found) == 5


def test_a_party_that_predicts_is_not_sent_to_a_configuration(tmp_path):
    folder = project(tmp_path / "p")
    written_run(folder)
    reward = reward_file(folder, "Party-0")
    with pytest.raises(
        DataError, match=r"nowhere.csv is no file or folder, and matches none; give another --data$"
    ):
        predict_file(reward, tmp_path / "nowhere.csv")
    (tmp_path / "bad.csv").write_text("x,z\nlarge,2\n")
    with pytest.raises(DataError, match=r'no column "kind"; it has x, z$'):
        predict_file(reward, tmp_path / "bad.csv")
