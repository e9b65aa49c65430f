"""Tables as parties have them: after reading, they are as if they had been plain ones."""

import gzip
import io
import zipfile
from dataclasses import replace
from datetime import datetime

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import fairpool as fp
from fairpool.compute.workers import Workers
from fairpool.consortium import hashing_stream, reading
from fairpool.consortium.faults import Columns
from fairpool.consortium.heads import column_names
from fairpool.consortium.intake import survey
from fairpool.consortium.limits import Limits
from fairpool.consortium.prediction import predict_file
from fairpool.consortium.reading import Piece, Reading
from fairpool.consortium.survey_problems import survey_problems
from fairpool.consortium.tables import Source
from fairpool.errors import ConfigurationError, DataError
from fairpool.realisation.reward_file import reward_bytes
from fairpool.tables.delivery import Delivery, OwnColumn
from fairpool.tables.dialect import Dialect
from tests.support.dialects import packed, saved, text_file, workbook
from tests.support.projects import (
    fairpool,
    finished_run,
    prepared,
    round_folder,
    sha256,
    table,
    written_run,
)

PLAIN = {
    "rain": [540.25, None, -1234567.5, 0.0],
    "soil": ["clay", 'sandy; or "loam"', None, "größer, ä"],
    "sown": [19723.0, 19843.0, None, 0.0],
}
"""A table; the last column has dates."""


def read(file, delivery=None, *, numbers=("rain",), texts=("soil",), dates=("sown",), **options):
    """All rows of a file, and what was read."""
    one = Reading(
        piece=Piece(file=file),
        numbers=numbers,
        texts=texts,
        dates=dates,
        delivery=delivery or Delivery(),
        **options,
    )
    tables = [batch.columns for batch in one]
    assert one.passage.sha256 == sha256(file)
    assert one.passage.rows == sum(part.num_rows for part in tables)
    return pa.concat_tables(tables) if tables else None


DIALECTS = {
    "semicolons": Dialect(separator=";", decimal=","),
    "thousands": Dialect(separator=";", decimal=",", thousands="."),
    "apostrophes": Dialect(separator="\t", thousands="'"),
    "latin": Dialect(separator="|", encoding="iso8859-1"),
    "utf-16": Dialect(separator=",", decimal=",", encoding="utf-16"),
    "tokens": Dialect(missing=("-", "n.a.")),
    "blanks": Dialect(separator=";", decimal=",", thousands="\u00a0"),
    "titles": Dialect(separator=";", header=4),
}


@pytest.mark.parametrize("gz", [False, True])
@pytest.mark.parametrize("small", [1 << 24, 0, 40])
@pytest.mark.parametrize("name", DIALECTS)
def test_a_table_in_any_dialect_is_read_as_the_plain_one(tmp_path, monkeypatch, name, small, gz):
    monkeypatch.setattr(hashing_stream, "SMALL_FILE", small)
    dialect = DIALECTS[name]
    content = text_file(
        PLAIN,
        separator=dialect.separator,
        decimal=dialect.decimal,
        thousands=dialect.thousands,
        encoding=dialect.encoding,
        missing=(*dialect.missing, "NA")[0],
        dates=("sown",),
        form="%d.%m.%Y",
        line="\r\n",
    )
    titles = 'The farm; 2024\r\n\r\nall "plots"\r\n'
    if dialect.header > 1:
        content = titles.encode() + content
    file = tmp_path / ("a.csv.gz" if gz else "a.csv")
    file.write_bytes(packed(content) if gz else content)
    found = read(file, Delivery(dialect=dialect))
    assert found.select(list(PLAIN)).to_pydict() == PLAIN
    assert column_names(file, delivery=Delivery(dialect=dialect)) == tuple(PLAIN)


def test_a_workbook_is_read_as_the_plain_table(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(workbook(PLAIN, dates=("sown",)))
    assert read(tmp_path / "a.xlsx").select(list(PLAIN)).to_pydict() == PLAIN


def titled_workbook(columns):
    """A workbook with a title over all its columns, and an empty row, above the table."""
    book = openpyxl.load_workbook(io.BytesIO(workbook(columns, dates=("sown",))))
    book.active.insert_rows(1, 2)
    book.active["A1"] = "The farm, 2024"
    book.active.merge_cells("A1:C1")
    return saved(book)


def test_a_title_above_the_table_is_not_read(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(titled_workbook(PLAIN))
    own = Delivery(dialect=Dialect(header=3))
    assert read(tmp_path / "a.xlsx", own).select(list(PLAIN)).to_pydict() == PLAIN
    assert column_names(tmp_path / "a.xlsx", delivery=own) == tuple(PLAIN)


@pytest.mark.parametrize("blank", [" ", "\u00a0", "\u202f"])
def test_one_blank_between_thousands_stands_for_all(tmp_path, blank):
    (tmp_path / "a.csv").write_text("rain\n1\u00a0234.5\n1 234.5\n1\u202f234.5\n12.5\n")
    dialect = Dialect(thousands=blank)
    found = read(tmp_path / "a.csv", Delivery(dialect=dialect), texts=(), dates=())
    assert found["rain"].to_pylist() == [1234.5] * 3 + [12.5]


def test_texts_of_a_workbook_are_read_in_its_dialect(tmp_path):
    book = openpyxl.Workbook()
    for row in (
        ["rain", "soil", "sown"],
        ["1.234,5", 3, "31.12.2024"],
        [],
        [7, True, datetime(2024, 12, 31, 12)],
        ["-", "-", "-"],
    ):
        book.active.append(row)
    (tmp_path / "a.xlsx").write_bytes(saved(book))
    dialect = Dialect(decimal=",", thousands=".", missing=("-",))
    assert read(tmp_path / "a.xlsx", Delivery(dialect=dialect)).to_pydict() == {
        "rain": [1234.5, 7.0, None],
        "sown": [20088.0, 20088.5, None],
        "soil": ["3", "TRUE", None],
    }


def test_dates_of_parquet_files_may_be_typed_or_text(tmp_path):
    moments = pa.array([datetime(2024, 1, 1), None], pa.timestamp("us", "UTC"))
    for values in (moments, moments.cast(pa.date32()), pa.array(["1.1.2024", None])):
        pq.write_table(pa.table({"sown": values}), tmp_path / "a.parquet")
        own = Delivery(columns=(OwnColumn(name="sown", date_format="%d.%m.%Y"),))
        found = read(tmp_path / "a.parquet", own, numbers=(), texts=())
        assert found.to_pydict() == {"sown": [19723.0, None]}


def test_what_stands_for_missing_does_so_in_parquet_files_too(tmp_path):
    columns = {"rain": [1, -999, 3], "soil": ["clay", "-999", "n.a."]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    found = read(
        tmp_path / "a.parquet", Delivery(dialect=Dialect(missing=("-999", "n.a."))), dates=()
    )
    assert found.to_pydict() == {"rain": [1.0, None, 3.0], "soil": ["clay", None, None]}


OWN = Delivery(
    dialect=Dialect(separator=";", decimal=","),
    columns=(
        OwnColumn(name="rain", named="Regen", own_unit="inch", unit="mm"),
        OwnColumn(name="warm", named="rain", own_unit="fahrenheit", unit="celsius"),
        OwnColumn(name="soil", constant="clay"),
        OwnColumn(name="depth", constant=12.5),
        OwnColumn(name="sown", constant="2024-01-01"),
    ),
)


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "xlsx", "parquet"])
def test_own_headers_units_and_constants_become_the_collaborations(tmp_path, kind):
    """Two headers are swapped, so that renaming one after the other would lose a column."""
    columns = {"Regen": [1.0, None], "rain": [212.0, 32.0]}
    file = tmp_path / f"a.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table(columns), file)
    elif kind == "xlsx":
        file.write_bytes(workbook(columns))
    else:
        content = text_file(columns, separator=";", decimal=",")
        file.write_bytes(packed(content) if kind == "csv.gz" else content)
    found = read(file, OWN, numbers=("rain", "warm", "depth"))
    expected = {
        "rain": [25.4, None],
        "warm": [100.0, 0.0],
        "depth": [12.5, 12.5],
        "sown": [19723.0, 19723.0],
        "soil": ["clay", "clay"],
    }
    assert found.column_names == list(expected)
    for name, values in expected.items():
        assert found[name].to_pylist() == pytest.approx(values, abs=1e-12), name
    assert {*column_names(file, delivery=OWN)} == {*expected}


WORDS = st.text(
    st.characters(codec="cp1252", exclude_categories=["C"]), min_size=1, max_size=6
).filter(
    lambda word: (
        word.isprintable()
        and word.strip() not in Dialect().missing_tokens
        and word not in ("-", "n.a.")
    )
)
ROWS = st.lists(
    st.tuples(
        st.none() | st.floats(-1e15, 1e15),
        st.none() | WORDS,
        st.none() | st.integers(0, 30000).map(float),
    ),
    min_size=1,
    max_size=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    rows=ROWS,
    separator=st.sampled_from([",", ";", "\t", "|"]),
    marks=st.sampled_from([(".", ""), (",", ""), (",", "."), (".", ","), (".", "'"), (",", " ")]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-32-be"]),
    missing=st.sampled_from(["", "NA", "-", "n.a."]),
    form=st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d %b %Y", "%Y-%m-%dT%H:%M:%SZ"]),
    gz=st.booleans(),
    block=st.sampled_from([200, 1 << 22]),
)
@example(
    rows=[(-0.5, "a b", 1.0)],
    separator=";",
    marks=(",", "."),
    encoding="utf-16",
    missing="-",
    form="%d.%m.%Y",
    gz=True,
    block=1 << 22,
)
def test_whatever_is_written_in_whatever_way_is_read(
    tmp_path, monkeypatch, rows, separator, marks, encoding, missing, form, gz, block
):
    monkeypatch.setattr(reading, "CSV_BLOCK", block)
    columns = dict(zip(("rain", "soil", "sown"), map(list, zip(*rows, strict=True)), strict=True))
    decimal, thousands = marks
    content = text_file(
        columns,
        separator=separator,
        decimal=decimal,
        thousands=thousands,
        encoding=encoding,
        missing=missing,
        dates=("sown",),
        form=form,
    )
    file = tmp_path / ("a.csv.gz" if gz else "a.csv")
    file.write_bytes(packed(content) if gz else content)
    dialect = Dialect(
        separator=separator,
        decimal=decimal,
        thousands=thousands,
        encoding="utf-8" if encoding == "utf-8-sig" else encoding,
        missing=("-", "n.a."),
    )
    assert not dialect.problems()
    own = Delivery(
        dialect=dialect,
        columns=(OwnColumn(name="sown", date_format="" if form[1] == "Y" else form),),
    )
    if form.endswith("Z"):
        own = Delivery(dialect=dialect)
    found = read(file, own)
    assert found.select(list(columns)).to_pydict() == columns
    # The reading that tells of faults sees the same, and finds none.
    source = Source("a", (file,), own)
    wanted = Columns(number_inputs=("rain", "sown"), text_inputs=("soil",), dates=("sown",))
    seen = survey(source, wanted, Workers())
    assert {fault.kind for fault in seen.faults.found.values()} <= {"missing"}


# Whole collaborations

COMMON = """
name = "Farm"
target = "y"
categorical = { kind = ["green", "red"] }
[columns.x]
unit = "mm"
[columns.z]
unit = "celsius"
[model]
kind = "blr"
[rewards]
rho = 0.6
"""


def plain_farm(folder):
    folder.mkdir()
    parties = ""
    for i, size in enumerate((40, 25, 30)):
        columns = table(size, i, 0.4 * i).to_pydict()
        (folder / f"p{i}.csv").write_bytes(text_file(columns))
        parties += f'[[parties]]\nname = "P{i}"\ndata = "p{i}.csv"\n'
    (folder / "collaboration.toml").write_text(COMMON + parties)
    return folder


def messy_farm(folder):
    """The same rows: semicolons and inches, a packed file and a folder of workbooks."""
    folder.mkdir()
    first, second, third = (table(n, i, 0.4 * i).to_pydict() for i, n in enumerate((40, 25, 30)))
    own = {
        "Regen": [value / 25.4 for value in first["x"]],
        "z": [value * 9 / 5 + 32 for value in first["z"]],
        "Art": first["kind"],
        "Ertrag": first["y"],
    }
    content = text_file(own, separator=";", decimal=",", thousands=".", encoding="cp1252")
    (folder / "p0.csv").write_bytes(content)
    (folder / "p1.csv.gz").write_bytes(packed(text_file(second, separator="\t")))
    (folder / "months").mkdir()
    (folder / "months" / "~$1.xlsx").write_bytes(b"Excel has it open")
    for month in range(3):
        rows = slice(10 * month, 10 * month + 10)
        part = {name: values[rows] for name, values in third.items()}
        (folder / "months" / f"{month}.xlsx").write_bytes(workbook(part))
    parties = """
[[parties]]
name = "P0"
data = "p0.csv"
reading = { separator = ";", decimal = ",", thousands = ".", encoding = "windows-1252" }
columns.x = { named = "Regen", from = "inch" }
columns.z = { from = "fahrenheit" }
columns.kind = { named = "Art" }
columns.y = { named = "Ertrag" }
[[parties]]
name = "P1"
data = ["p1.csv.gz"]
reading = { separator = "\\t" }
[[parties]]
name = "P2"
data = "months/"
"""
    (folder / "collaboration.toml").write_text(COMMON + parties)
    return folder


def test_messy_tables_give_the_rewards_of_clean_ones(tmp_path):
    clean = finished_run(plain_farm(tmp_path / "clean"))
    messy = finished_run(messy_farm(tmp_path / "messy"))
    np.testing.assert_allclose(messy.collaboration.rewards, clean.collaboration.rewards, rtol=1e-9)
    # Some name files, of which the messy ones have other names.
    assert [note.code for note in messy.notes] == [note.code for note in clean.notes]


def test_a_party_predicts_a_table_as_it_delivered_its_own(tmp_path):
    folder = messy_farm(tmp_path / "p")
    run = written_run(folder)
    parties = round_folder(folder) / "parties"
    rows = table(7, 50).to_pydict()
    agreed = tmp_path / "agreed.csv"
    agreed.write_bytes(text_file({name: rows[name] for name in ("x", "z", "kind")}))
    own = tmp_path / "own.csv"
    columns = {
        "Regen": [value / 25.4 for value in rows["x"]],
        "z": [value * 9 / 5 + 32 for value in rows["z"]],
        "Art": rows["kind"],
    }
    own.write_bytes(
        text_file(columns, separator=";", decimal=",", thousands=".", encoding="cp1252")
    )
    reward = parties / "P0" / "reward.safetensors"
    expected = predict_file(reward, agreed, as_agreed=True)
    found = predict_file(reward, own)
    for one, other in zip(found.rows, expected.rows, strict=True):
        assert one == pytest.approx(other, rel=1e-9)
    done = fairpool("predict", reward, "--data", agreed, "--as-agreed", "--json")
    assert done.returncode == 0
    done = fairpool("predict", reward, "--data", agreed)
    assert done.returncode == 2
    assert "its columns are separated by commas" in done.stderr
    assert "give --as-agreed for one with commas, decimal points, and" in done.stderr
    # Nobody else's file tells how the first party's tables come.
    for name in ("P1", "P2"):
        assert b"Regen" not in (parties / name / "reward.safetensors").read_bytes()
    loaded = fp.load_reward(reward)
    assert loaded.delivery == run.collaboration.models[0].delivery
    assert loaded.delivery.header("y") == "Ertrag"  # which `fairpool update` needs


def test_a_reward_for_plain_tables_says_nothing_of_how_they_come(tmp_path):
    run = finished_run(plain_farm(tmp_path / "p"))
    reward = run.collaboration.models[0]
    content = reward_bytes(reward, share_inputs=False)
    assert b"delivery" not in content
    assert b"is_date" not in content


# What is wrong, in words


FARM = {
    "rain": [540.5, 541.5, 542.5, 543.5],
    "soil": ["clay", "sand", "clay", "sand"],
    "sown": [19000.0, 19001.0, 19002.0, 19003.0],
    "y": [1.0, 2.0, 3.0, 4.0],
}
HEAD = """
target = "y"
features = ["rain", "soil", "sown"]
categorical = { soil = ["clay", "sand"] }
[columns.rain]
unit = "mm"
[columns.sown]
kind = "date"
[model]
kind = "blr"
[rewards]
share_inputs = true
[[parties]]
name = "Oak"
data = "oak.csv"
[[parties]]
name = "Fir"
"""


def farm(folder, content, *, name="fir.csv", own=""):
    """Two parties, of which the second one's table and settings are given."""
    (folder / "oak.csv").write_bytes(text_file(FARM, dates=("sown",)))
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "collaboration.toml").write_text(f'{HEAD}data = "{name}"\n{own}\n')
    return folder


def problems(folder):
    with pytest.raises(ConfigurationError, match=r"Fir|fir|parties 2") as caught:
        prepared(folder)
    return [text.replace(f"{folder}/", "") for text in caught.value.problems]


GOOD = text_file(FARM, dates=("sown",))
SEMICOLONS = text_file(FARM, dates=("sown",), separator=";", decimal=",")


def test_the_table_that_the_others_are_made_of_is_good(tmp_path):
    assert prepared(farm(tmp_path, GOOD)).encoding.dates == ("sown",)


def replaced(old, new, content=GOOD):
    assert old in content.decode()
    return content.decode().replace(old, new)


def two_sheets():
    book = openpyxl.load_workbook(io.BytesIO(workbook(FARM, dates=("sown",))))
    book.create_sheet("More").append(["rain"])
    return saved(book)


def merged_head():
    book = openpyxl.load_workbook(io.BytesIO(workbook(FARM, dates=("sown",))))
    book.active.merge_cells("B1:C1")
    return saved(book)


def hidden_sheet():
    book = openpyxl.load_workbook(io.BytesIO(workbook(FARM, dates=("sown",))))
    book.active.sheet_state = "hidden"
    book.create_sheet("Notes")
    return saved(book)


def with_cell(address, value):
    book = openpyxl.load_workbook(io.BytesIO(workbook(FARM, dates=("sown",))))
    book.active[address] = value
    book.active[address].number_format = "General"
    return saved(book)


def with_directory_later(content):
    """A zip archive that says that its directory begins a byte later than it does."""
    end = content.rindex(b"PK\x05\x06")
    place = int.from_bytes(content[end + 16 : end + 20], "little")
    return content[: end + 16] + (place + 1).to_bytes(4, "little") + content[end + 20 :]


BAD = {
    "separator": (
        SEMICOLONS,
        "",
        'party "Fir": fir.csv: its columns are separated by semicolons; save it with commas, or'
        ' say separator = ";" in its reading',
    ),
    "other separator": (
        GOOD,
        'reading = { separator = ";" }',
        "fir.csv: its columns are separated by commas; save it with semicolons, or say separator ="
        ' "," in its reading',
    ),
    "decimal comma": (
        SEMICOLONS,
        'reading = { separator = ";" }',
        "fir.csv, line 2, column \"rain\": '540,5' is not a number (and 3 more); write numbers with"
        ' a decimal point, and without commas, or say decimal = "," in its reading',
    ),
    "decimal point": (
        replaced(",", ";"),
        'reading = { separator = ";", decimal = "," }',
        "fir.csv, line 2, column \"rain\": '540.5' is not a number (and 3 more); write numbers with"
        ' a decimal comma, and without points, or say decimal = "." in its reading',
    ),
    "thousands": (
        replaced("540.5", '"1,540.5"'),
        "",
        "fir.csv, line 2, column \"rain\": '1,540.5' is not a number; write numbers with a decimal"
        ' point, and without commas, or say thousands = "," in its reading',
    ),
    "wrong thousands": (
        replaced("540.5", "54.05"),
        'reading = { decimal = ",", thousands = "." }',
        "fir.csv, line 2, column \"rain\": '54.05' is not a number",
    ),
    "encoding": (
        replaced("clay", "lehmü").encode("cp1252"),
        "",
        "fir.csv, line 2: not UTF-8 text (byte 0xfc) (and 1 more); save it as UTF-8, or give its"
        " encoding in its reading",
    ),
    "other encoding": (
        replaced("clay", "lehm\x81").encode("latin-1"),
        'reading = { encoding = "cp1252" }',
        "fir.csv, line 2: not cp1252 text (byte 0x81); give its encoding in its reading, or save it"
        " as UTF-8",
    ),
    "unknown encoding": (
        GOOD,
        'reading = { encoding = "latin-one" }',
        "parties 2, reading, encoding: 'latin-one' is no encoding that is read; did you mean"
        ' "latin-1"?',
    ),
    "unknown key of reading": (
        GOOD,
        'reading = { seperator = ";" }',
        'parties 2, reading, seperator: unknown key; did you mean "separator"?',
    ),
    "unknown key of a column": (
        GOOD,
        'columns.rain = { form = "inch" }',
        'parties 2, columns, rain, form: unknown key; did you mean "from"?',
    ),
    "separators that are none": (
        GOOD,
        'reading = { separator = ";;" }',
        "parties 2, reading: separator ';;' is not one sign, such as ;",
    ),
    "unknown unit": (
        GOOD,
        'columns.rain = { from = "inche" }',
        "columns, rain, from: 'inche' is no unit that is known; did you mean \"inches\"?",
    ),
    "unit of another kind": (
        GOOD,
        'columns.rain = { from = "fahrenheit" }',
        'parties 2, columns, rain: from "fahrenheit" measures temperature, and "mm" length; give a'
        " unit such as m",
    ),
    "unit without a unit": (
        GOOD,
        'columns.depth = { from = "inch" }',
        'parties 2, columns, depth: from "inch" needs to know into what; say unit = "..." in'
        " [columns.depth]",
    ),
    "named": (
        replaced("rain", "Regen (mm)"),
        'columns.rain = { named = "Regen" }',
        'party "Fir": fir.csv: no column "Regen", which is to be "rain"; it has Regen (mm), soil,'
        ' sown, y (is it "Regen (mm)"?)',
    ),
    "named twice": (
        GOOD,
        'columns.rain = { named = "N" }\ncolumns.soil = { named = "N" }',
        'columns, soil: named "N" is also the header of "rain"; one header is one column',
    ),
    "named and there": (
        replaced(
            "soil",
            "Boden,rain2",
            replaced("clay", "clay,1", replaced("sand", "sand,1").encode()).encode(),
        ),
        'columns.soil = { named = "Boden" }\ncolumns.rain = { named = "rain2" }',
        'fir.csv: it has the columns "rain2", which is to be "rain", and "rain" itself; leave'
        " `named` out",
    ),
    "constant and there": (
        GOOD,
        'columns.soil = { constant = "clay" }',
        'fir.csv: it has a column "soil", which is given as the constant of all rows; leave the'
        " constant out",
    ),
    "constant of another kind": (
        replaced("rain", "other"),
        'columns.rain = { constant = "none" }',
        'party "Fir": the constant \'none\' of "rain" is not a number; give one, such as 0',
    ),
    "constant with a unit": (
        replaced("rain", "other"),
        'columns.rain = { constant = 1, from = "inch" }',
        "parties 2, columns, rain: a constant, and from; a column that is not recorded has nothing",
    ),
    "constant level": (
        replaced("soil", "other"),
        'columns.soil = { constant = "peat" }',
        "is not among the levels listed under categorical ('clay', 'sand')",
    ),
    "title": (
        "The farm,,,\n" + GOOD.decode(),
        "",
        'fir.csv: no columns "rain", "sown", "y", "soil"; it has The farm, "", "", "" (is that a'
        " title? say which line names the columns, such as header = 3 in its reading)",
    ),
    "below a title": (
        "The farm\n\n" + replaced("541.5", "much"),
        "reading = { header = 3 }",
        "fir.csv, line 5, column \"rain\": 'much' is not a number",
    ),
    "below a title (csv.gz)": (
        packed(("The farm\n" + replaced("541.5,sand", "541.5,sand,")).encode()),
        "reading = { header = 2 }",
        "fir.csv.gz, line 4: 5 values for 4 columns",
    ),
    "below a title (xlsx)": (
        with_cell("A3", "lots"),
        "reading = { header = 2 }",
        "fir.xlsx: no columns",
    ),
    "header beyond the end": (
        GOOD,
        "reading = { header = 9 }",
        "fir.csv: it has no line 9, which is to name the columns; correct header in its reading",
    ),
    "header that is none": (
        GOOD,
        "reading = { header = 0 }",
        "parties 2, reading: header 0 is no line from 1 to 1001",
    ),
    "currency": (
        replaced("540.5", "$540.5"),
        "",
        "fir.csv, line 2, column \"rain\": '$540.5' is not a number; write numbers without $, or",
    ),
    "percent": (
        replaced("540.5", "54.05 %"),
        "",
        "'54.05 %' is not a number; write numbers without %",
    ),
    "ambiguous dates": (
        text_file(
            FARM | {"sown": [19754.0, 19756.0, 19758.0, 19760.0]}, dates=("sown",), form="%d.%m.%Y"
        ),
        "",
        "fir.csv, line 2, column \"sown\": '01.02.2024' may have the day or the month first, and no"
        ' date of the file tells which; say date_format = "%d.%m.%Y" or "%m.%d.%Y" in its columns',
    ),
    "two orders": (
        replaced("2022-01-08", "31/12/2022", replaced("2022-01-09", "12/31/2022").encode()),
        "",
        "is not a date",
    ),
    "no date": (
        replaced("2022-01-09", "soon"),
        "",
        "fir.csv, line 3, column \"sown\": 'soon' is not a date; correct it, or say how the file"
        ' writes dates, such as date_format = "%d.%m.%Y" in its columns',
    ),
    "another date": (
        replaced("2022-01-09", "2022-02-30"),
        'columns.sown = { named = "sown", date_format = "%Y-%m-%d" }',
        "fir.csv, line 3, column \"sown\": '2022-02-30' is not a date",
    ),
    "date format": (
        GOOD,
        'columns.sown = { date_format = "DD.MM.YYYY" }',
        "parties 2, columns, sown, date_format: 'DD.MM.YYYY' needs a year and a month, such as",
    ),
    "own header": (
        replaced("540.5", "x", replaced("rain", "Regen").encode()),
        'columns.rain = { named = "Regen", from = "inch" }',
        "fir.csv, line 2, column \"Regen\" (rain): 'x' is not a number",
    ),
    "missing token": (
        replaced("540.5", "-"),
        'reading = { missing = ["-"] }\ncolumns.rain = { from = "inch" }',
        '1 missing value(s) (rain 1), first at fir.csv, line 2, column "rain"; fill them in',
    ),
    "two sheets (xlsx)": (
        two_sheets(),
        "",
        'fir.xlsx: it has 2 sheets with data, "Data", "More"; say which one has the table: sheet ='
        ' "Data" in its reading',
    ),
    "no such sheet (xlsx)": (
        two_sheets(),
        'reading = { sheet = "data" }',
        'fir.xlsx: no sheet "data"; it has "Data", "More"',
    ),
    "hidden sheet (xlsx)": (hidden_sheet(), "", "fir.xlsx: the file is empty; its first line must"),
    "merged head (xlsx)": (
        merged_head(),
        "",
        "fir.xlsx: cells of its first row are merged (B1 to C1); the row that names the columns"
        " must have one name for every column; if it is another one, say which: header = 2",
    ),
    "no workbook (xlsx)": (
        GOOD,
        "",
        "fir.xlsx: not a workbook, or damaged; ask for it again",
    ),
    "workbook cut short (xlsx)": (
        workbook(FARM)[:3000],
        "",
        "fir.xlsx: not a workbook, or damaged; ask for it again",
    ),
    "parts that begin before it (xlsx)": (
        with_directory_later(workbook(FARM)),
        "",
        "fir.xlsx: not a workbook, or damaged; ask for it again",
    ),
    "a text in a sheet (xlsx)": (
        with_cell("A3", "lots"),
        "",
        "fir.xlsx, sheet row 3, column \"rain\": 'lots' is not a number",
    ),
    "an error in a sheet (xlsx)": (
        with_cell("A3", "=1/0"),
        "",
        '1 missing value(s) (rain 1), first at fir.xlsx, sheet row 3, column "rain"; fill them in,'
        ' or set missing = "drop" to leave those rows out (a cell with an error, or a formula',
    ),
    "a number for a date (xlsx)": (
        with_cell("C4", 45000),
        "",
        "fir.xlsx, sheet row 4, column \"sown\": '45000' is not a date",
    ),
    "ambiguous texts (xlsx)": (
        with_cell("C5", "1/2/2024"),
        "",
        "fir.xlsx, sheet row 5, column \"sown\": '1/2/2024' may have the day or the month first",
    ),
    "cut short (csv.gz)": (
        packed(GOOD)[:-20],
        "",
        "fir.csv.gz: the gzip file is cut short; ask for it again",
    ),
    "not packed (csv.gz)": (
        GOOD,
        "",
        "fir.csv.gz: not a gzip file, or damaged; ask for it again",
    ),
    "damaged (csv.gz)": (
        packed(GOOD)[:-8] + b"\0\0\0\0" + packed(GOOD)[-4:],
        "",
        "fir.csv.gz: not a gzip file, or damaged; ask for it again (CRC check failed",
    ),
    "bad value (csv.gz)": (
        packed(replaced("541.5", "much").encode()),
        "",
        "fir.csv.gz, line 3, column \"rain\": 'much' is not a number",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_tables_and_settings_are_told_with_what_to_do(tmp_path, what):
    content, own, message = BAD[what]
    suffix = what[what.index("(") + 1 : -1] if what.endswith(")") else "csv"
    folder = farm(tmp_path, content, name=f"fir.{suffix}", own=own)
    found = problems(folder)
    assert any(message in text for text in found), found
    done = fairpool("check", folder)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_values_and_places_beyond_the_first_batch_are_right(tmp_path, monkeypatch):
    """A file whose early dates have one order and late ones another is an error, not a mix."""
    monkeypatch.setattr(reading, "CSV_BLOCK", 400)
    dates = ["01/02/2024"] * 60 + ["31/01/2024"] + ["03/04/2024"] * 60 + ["12/31/2024"]
    lines = [f"{day};1,5" for day in dates]
    (tmp_path / "a.csv").write_text("sown;rain\n" + "\n".join(lines) + "\n")
    own = Delivery(dialect=Dialect(separator=";", decimal=","))
    columns = Columns(number_inputs=("rain", "sown"), dates=("sown",))
    seen = survey(Source("a", (tmp_path / "a.csv",), own), columns, Workers())
    [problem] = survey_problems(seen, columns)
    assert "a.csv, line 123, column \"sown\": '12/31/2024' is not a date" in problem.text
    with pytest.raises(DataError, match=r"line 123.*is not a date as the file's others are \(%d/"):
        read(tmp_path / "a.csv", own, texts=())


# Small files that are large tables


def test_a_packed_file_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("fairpool.consortium.decoding.SMALL_TABLE", 1 << 20)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"x,y\n" + b"1,2\n" * 300_000))
    columns = Columns(number_inputs=("x", "y"))
    source = Source("a", (tmp_path / "a.csv.gz",))
    said = "times its size are more than the 100 allowed; if that is right, raise expansion"
    with pytest.raises(DataError, match=said):
        survey(source, columns, Workers(), limits=Limits(expansion=100))
    assert not survey_problems(
        survey(source, columns, Workers(), limits=Limits(expansion=5000)), columns
    )


def sheet_with(cells):
    """A workbook with these cells, in the plain XML of a sheet."""
    book = io.BytesIO(workbook({"x": [1.0]}))
    out = io.BytesIO()
    with zipfile.ZipFile(book) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.infolist():
            content = old.read(part)
            if part.filename == "xl/worksheets/sheet1.xml":
                start, _, rest = content.partition(b"<sheetData>")
                end = rest.partition(b"</sheetData>")[2]
                content = start + b"<sheetData>" + cells + b"</sheetData>" + end
            new.writestr(part.filename, content)
    return out.getvalue()


@pytest.mark.parametrize(
    "cells",
    [
        b'<row r="1"><c r="A1"><v>1</v></c></row>'
        b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
        b"<row r='1048576'><c r = 'XFD1048576'><v>1</v></c></row>",
        b'<row r="1"><c r="A1"><v>1</v></c></row>' + b" " * 400_000_000,
    ],
)
def test_workbooks_that_would_fill_memory_are_refused_before_they_are_opened(tmp_path, cells):
    (tmp_path / "a.xlsx").write_bytes(sheet_with(cells))
    with pytest.raises(DataError, match=r"a\.xlsx: a sheet of .* raise expansion in \[limits\]"):
        column_names(tmp_path / "a.xlsx", Limits())


def test_a_text_that_stands_in_every_cell_is_refused(tmp_path):
    cells = b"".join(b'<row><c t="s"><v>0</v></c></row>' for _ in range(60_000))
    content = sheet_with(cells)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", 8) as new:
        for part in old.infolist():
            new.writestr(part.filename, old.read(part))
        text = b"<sst><si><t>" + b"x" * 30_000 + b"</t></si></sst>"
        new.writestr("xl/sharedStrings.xml", text)
    (tmp_path / "a.xlsx").write_bytes(out.getvalue())
    with pytest.raises(DataError, match=r"a\.xlsx: a sheet of"):
        column_names(tmp_path / "a.xlsx", Limits())


# Reward files


def test_what_a_reward_file_says_of_tables_is_checked(tmp_path):
    run = finished_run(messy_farm(tmp_path / "p"))
    reward = run.collaboration.models[0]
    good = reward_bytes(reward, share_inputs=False)
    assert good == reward_bytes(reward, share_inputs=False)
    bad = [
        Delivery(dialect=Dialect(separator="\n")),
        Delivery(dialect=Dialect(encoding="idna")),
        Delivery(dialect=Dialect(missing=("x" * 2000,))),
        Delivery(dialect=Dialect(header=10**9)),
        Delivery(dialect=Dialect(header="2")),
        Delivery(columns=(OwnColumn(name="x", own_unit="zork", unit="mm"),)),
        Delivery(columns=(OwnColumn(name="x", date_format="%Q"),)),
        Delivery(columns=(OwnColumn(name="x", constant=1e200),)),
        Delivery(columns=(OwnColumn(name="x", named="a"), OwnColumn(name="x", named="b"))),
    ]
    for delivery in bad:
        content = reward_bytes(replace(reward, delivery=delivery), share_inputs=False)
        (tmp_path / "bad.safetensors").write_bytes(content)
        with pytest.raises(fp.errors.RewardFileError, match="not a usable reward file"):
            fp.load_reward(tmp_path / "bad.safetensors")
