"""A small file must not cost the operator hours, or all memory."""

import contextlib
import gzip
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairpool.compute.workers import Workers
from fairpool.consortium import decoding
from fairpool.consortium.faults import Columns
from fairpool.consortium.heads import column_names
from fairpool.consortium.intake import survey
from fairpool.consortium.limits import Limits
from fairpool.consortium.survey_problems import survey_problems
from fairpool.consortium.tables import Source
from fairpool.errors import ConfigurationError, DataError
from tests.support.projects import fairpool, is_untouched, prepared, project, table, write


def limited(folder, **limits):
    """A project with these limits."""
    lines = "".join(f"{key} = {value}\n" for key, value in limits.items())
    with (folder / "collaboration.toml").open("a") as file:
        file.write(f"[limits]\n{lines}")
    return folder


def refused(folder):
    """The problems of a project, without its path; the command says the same."""
    with pytest.raises(ConfigurationError, match=r".") as caught:
        prepared(folder)
    done = fairpool("run", folder)
    assert done.returncode == 2
    assert [f"error: {problem}" for problem in caught.value.problems] == done.stderr.splitlines()
    assert is_untouched(folder)
    return [problem.replace(f"{folder}/", "") for problem in caught.value.problems]


def widened(file, columns):
    """Put further columns of ones behind those of a CSV file."""
    head, *lines = file.read_text().splitlines()
    names = "".join(f",c{k}" for k in range(columns))
    text = "\n".join([head + names, *(line + ",1" * columns for line in lines)])
    file.write_text(text + "\n")


# Columns


@pytest.mark.parametrize("columns", [40_000, 80_000])
def test_a_header_of_very_many_columns_is_refused(tmp_path, columns):
    """They took 16 s and over a minute."""
    folder = project(tmp_path)
    widened(folder / "p0.csv", columns)
    assert refused(folder) == [
        f'party "Party 0": p0.csv: {columns + 4} columns are more than the 10000 allowed; if that'
        " is right, raise columns in [limits]"
    ]


def test_many_columns_that_only_one_file_has_take_no_time(tmp_path):
    """Every name was looked for in a list of all others. (They took half a minute.)"""
    folder = project(tmp_path)
    widened(folder / "p0.csv", 9000)
    unused = [note.text for note in prepared(folder).notes if note.code == "unused column"]
    assert len(unused) == 21
    assert unused[19:] == [
        'column "c19" is not used: only p0.csv has it',
        "and 8980 more column(s) not used",
    ]


def test_many_columns_that_all_files_have_take_no_time(tmp_path):
    """Every name was looked for in a list that was made anew for it. (They took two minutes.)"""
    folder = project(tmp_path)
    for name in ("p0.csv", "p1.csv", "p2.csv", "test.csv"):
        widened(folder / name, 2000)
    found = prepared(folder)
    assert len(found.encoding.features) == 2004
    constant = [note.text for note in found.notes if note.code == "constant column"]
    assert len(constant) == 21
    assert constant[-1] == "and 1980 more column(s) that have the same value everywhere"


def test_a_limit_can_be_raised_and_lowered(tmp_path):
    folder = limited(project(tmp_path), columns=3)
    assert len(refused(folder)) == 4  # the parties' files and the test data
    text = (folder / "collaboration.toml").read_text()
    (folder / "collaboration.toml").write_text(text.replace("columns = 3", "columns = 4"))
    assert prepared(folder).configuration.limits == Limits(columns=4)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("rows = 0", "limits, rows: 0 is not allowed; input should be greater than or equal to 1"),
        ("rows = 1.5", "limits, rows: 1.5 is not allowed"),
        ("spread = 0.5", "limits, spread: 0.5 is not allowed"),
        ("row = 5", 'limits, row: unknown key; did you mean "rows"?'),
    ],
)
def test_limits_are_checked_themselves(tmp_path, line, problem):
    folder = project(tmp_path)
    with (folder / "collaboration.toml").open("a") as file:
        file.write(f"[limits]\n{line}\n")
    with pytest.raises(ConfigurationError, match=re.escape(problem)):
        prepared(folder)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_long_column_name_is_refused(tmp_path, suffix):
    folder = project(tmp_path, suffix=suffix)
    write(folder / f"p1{suffix}", table(25, 1).rename_columns(["x", "z" * 70_000, "kind", "y"]))
    [problem] = [problem for problem in refused(folder) if "Party 1" in problem]
    assert problem.startswith(
        f'party "Party 1": p1{suffix}: the 70000 characters of the column name \'zzzz'
    )
    assert problem.endswith(
        "are more than the 500 allowed; if that is right, raise name_length in [limits]"
    )
    assert len(problem) < 300


def test_a_head_without_end_is_not_read_to_its_end(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("x," * 5000)
    with pytest.raises(DataError, match="a line of more than 560 characters; see columns in"):
        column_names(file, Limits(columns=10, name_length=53))
    file.write_text("x,y\n" + "1" * 5000)
    assert column_names(file, Limits(columns=10, name_length=53)) == ("x", "y")


def test_of_many_names_that_cannot_be_used_some_are_listed(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text(",".join(f"c{k % 100}" for k in range(200)) + "\n")
    with pytest.raises(DataError, match='two columns are named "c0"') as caught:
        column_names(file)
    assert len(caught.value.problems) == 21
    assert caught.value.problems[-1].endswith("a.csv: and 80 more such column name(s)")


# Rows


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_too_many_rows_are_refused(tmp_path, suffix):
    folder = limited(project(tmp_path, suffix=suffix), rows=35)
    [problem] = refused(folder)
    rows = "40 rows or more" if suffix == ".csv" else "40 rows"
    assert problem == (
        f'party "Party 0": {rows} are more than the 35 allowed; if that is right, raise rows in'
        " [limits]"
    )


def test_reading_stops_where_the_limit_is_passed(tmp_path, monkeypatch):
    monkeypatch.setattr("fairpool.consortium.reading.BATCH_ROWS", 100)
    write(tmp_path / "a.csv", table(5000, 0))
    columns = Columns(number_inputs=("x", "z", "y"), text_inputs=("kind",))
    limits = Limits(rows=250)
    found = survey(Source("a", (tmp_path / "a.csv",)), columns, Workers(), limits=limits)
    assert found.rows == 300
    assert len(survey_problems(found, columns, limits=limits)) == 1


def test_a_small_parquet_file_of_very_many_rows_is_refused_unread(tmp_path):
    """790 KiB of 60 million rows took 20 s and 1.6 GiB."""
    folder = project(tmp_path, suffix=".parquet")
    rows = 12_000_000
    zeros = pa.array(np.zeros(rows))
    kind = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), pa.array(["red"]))
    content = pa.table({"x": zeros, "z": zeros, "kind": kind, "y": zeros})
    pq.write_table(content, folder / "p0.parquet", compression="zstd", row_group_size=rows)
    [problem] = refused(folder)
    assert re.fullmatch(
        r'party "Party 0": p0.parquet: its 12000000 rows are a table of 0\.358 GiB: \d+ times its'
        r" size are more than the 500 allowed; if that is right, raise expansion in \[limits\]",
        problem,
    )


@pytest.mark.parametrize("first", ["1,2,red,3", "oops,2,red,3"])
def test_a_packed_file_of_endless_rows_is_not_read_to_its_end(tmp_path, monkeypatch, first):
    """With a fault in its first row it was: row by row, however much there was."""
    monkeypatch.setattr(decoding, "SMALL_TABLE", 1 << 18)
    unpacked = []

    def counted(self, size=-1):
        content = read(self, size)
        unpacked.append(len(content))
        return content

    read = decoding._Unpacked.read
    monkeypatch.setattr(decoding._Unpacked, "read", counted)
    folder = limited(project(tmp_path), expansion=20)
    toml = folder / "collaboration.toml"
    toml.write_text(toml.read_text().replace('"p0.csv"', '"p0.csv.gz"'))
    with gzip.open(folder / "p0.csv.gz", "wb") as packed:
        packed.write(f"x,z,kind,y\n{first}\n".encode())
        packed.write(b"1,2,red,3\n" * (1 << 20))
    [problem] = refused(folder)
    assert re.search(
        r"GiB of text or more: \d+ times its size are more than the 20 allowed", problem
    )
    assert sum(unpacked) < 60 * (10 << 17)


def test_a_small_table_may_be_stored_in_next_to_nothing(tmp_path):
    folder = project(tmp_path, suffix=".parquet")
    zeros = pa.array(np.zeros(100_000))
    content = pa.table({"x": zeros, "z": zeros, "kind": ["red"] * 100_000, "y": zeros})
    pq.write_table(content, folder / "p0.parquet", compression="zstd")
    assert (folder / "p0.parquet").stat().st_size * 500 < 100_000 * 4 * 8
    assert prepared(folder).parties[0].rows == 100_000


# Levels


def long_levels(rows, length):
    """A table whose text is stored once and stands in every row."""
    codes = pa.array(np.zeros(rows, np.int32))
    levels = pa.DictionaryArray.from_arrays(codes, pa.array(["a" * length]))
    return table(rows, 0).set_column(2, "kind", levels)


def test_a_text_that_is_stored_once_does_not_fill_memory(tmp_path):
    """10 KiB of 2000 rows took 2 GiB; 100,000 rows would have taken 100."""
    folder = project(tmp_path, suffix=".parquet")
    pq.write_table(long_levels(100_000, 1_000_000), folder / "p0.parquet")
    assert (folder / "p0.parquet").stat().st_size < 5_000_000
    before = pa.default_memory_pool().max_memory()
    [problem] = refused(folder)
    assert problem == (
        'party "Party 0": p0.parquet, row 1, column "kind": a text of 1000000 bytes, and 500'
        " characters are allowed; is it free text? leave it out of features, or raise name_length"
        " in [limits]"
    )
    assert pa.default_memory_pool().max_memory() - before < 1 << 28


def test_texts_of_one_length_do_not_fill_memory(tmp_path):
    folder = project(tmp_path, suffix=".parquet")
    texts = pa.array([b"a" * 2000] * 40, pa.binary(2000))
    write(folder / "p0.parquet", table(40, 0).set_column(2, "kind", texts))
    [problem] = refused(folder)
    assert 'column "kind" has type fixed_size_binary[2000], not categories' in problem


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_long_level_is_refused_before_anything_is_computed(tmp_path, suffix):
    folder = project(tmp_path, suffix=suffix)
    kinds = ["red"] * 10 + ["b" * 600] * 30
    write(folder / f"p0{suffix}", table(40, 0).set_column(2, "kind", pa.array(kinds)))
    [problem] = refused(folder)
    where = "line 12" if suffix == ".csv" else "row 11"
    assert f'p0{suffix}, {where}, column "kind": \'bbbb' in problem
    assert problem.endswith(
        "600 characters (and 29 more), is too long for a level; is it free text? leave it out of"
        " features, or raise name_length in [limits]"
    )


def test_long_names_of_the_configuration_are_refused_before_anything_is_computed(tmp_path):
    """Levels of a megabyte failed after the whole run."""
    folder = project(tmp_path)
    text = (folder / "collaboration.toml").read_text()
    levels = f'{{ kind = ["red", "green", "{"b" * 1_000_000}"] }}'
    (folder / "collaboration.toml").write_text(text.replace('["kind"]', levels))
    [problem] = refused(folder)
    assert problem.startswith("collaboration.toml: categorical: kind: 'bbbb")
    assert problem.endswith(
        "1000000 characters are more than the 500 allowed; if that is right, raise name_length in"
        " [limits]"
    )
    long = "f" * 1_000_000
    text = text.replace('["kind"]', f'["kind", "{long}"]')
    (folder / "collaboration.toml").write_text(f'features = ["x", "{long}"]\n{text}')
    for problem in refused(folder):
        assert len(problem) < 400


def test_a_column_of_levels_that_cannot_be_shown_is_one_fault(tmp_path):
    """One search for each of them took minutes."""
    folder = project(tmp_path, suffix=".parquet")
    rows = 50_000
    kinds = pa.array([f"{k}\x07" for k in range(rows)])
    write(folder / "p0.parquet", table(rows, 0).set_column(2, "kind", kinds))
    [levels, problem] = refused(folder)
    assert (
        "p0.parquet, row 1, column \"kind\": the level '0\\x07' cannot be shown (and 49999"
        in problem
    )
    assert "has more than 100 levels" in levels


# What is no text


def not_utf8(rows, first):
    """A column of text that is not UTF-8 from a row on."""
    texts = [b"red"] * first + [b"\xff\xfe"] * (rows - first)
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    buffers = pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"".join(texts))
    return pa.StringArray.from_buffers(rows, *buffers)


def test_text_of_parquet_that_is_not_utf8_is_named(tmp_path):
    """It was an unexpected error."""
    folder = project(tmp_path, suffix=".parquet")
    write(folder / "p0.parquet", table(40, 0).set_column(2, "kind", not_utf8(40, 7)))
    assert refused(folder) == [
        'party "Party 0": p0.parquet, row 8, column "kind": not UTF-8 text; save it as UTF-8'
    ]


def test_a_name_of_parquet_that_is_not_utf8_is_named(tmp_path):
    folder = project(tmp_path, suffix=".parquet")
    file = folder / "p0.parquet"
    write(file, table(40, 0).rename_columns(["x", "zzzzé", "kind", "y"]))
    file.write_bytes(file.read_bytes().replace("zzzzé".encode(), b"zzzz\xff\xfe"))
    [problem] = [problem for problem in refused(folder) if "Party 0" in problem]
    assert problem == (
        'party "Party 0": p0.parquet: a column name is not UTF-8 text; rename it, or save the file'
        " again"
    )


def test_damaged_heads_of_parquet_files_are_refused_or_read(tmp_path):
    """Some of their details can end the process, or are no text: these are not looked at."""
    folder = project(tmp_path, suffix=".parquet")
    file = folder / "p0.parquet"
    content = file.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(150):
        damaged = bytearray(content)
        for place in rng.integers(len(content) // 2, len(content), 2):
            damaged[place] = rng.integers(256)
        file.write_bytes(damaged)
        with contextlib.suppress(ConfigurationError):
            prepared(folder)
