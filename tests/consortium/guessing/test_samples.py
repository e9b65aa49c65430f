"""Bounded parts of files, hostile ones included."""

import csv
import gzip
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairpool.consortium.guessing import samples
from fairpool.consortium.guessing.samples import read_sample
from fairpool.errors import DataError


def test_a_small_file_is_looked_at_whole(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("\ufeffa;b\n1,5;x\n2,5;y\n\n")
    sample = read_sample(file)
    assert sample.names == ("a", "b")
    assert sample.rows == (("1,5", "x"), ("2,5", "y"))
    assert sample.whole
    assert (sample.separator.sign, sample.encoding.name) == (";", "utf-8")


def test_of_a_large_file_the_head_and_the_middle_are_read_and_no_more(tmp_path):
    file = tmp_path / "large.csv"
    with file.open("w") as stream:
        stream.write("number,text\n")
        stream.writelines(f"{k},{'x' * 50}\n" for k in range(200_000))
    sample = read_sample(file)
    numbers = [int(row[0]) for row in sample.rows]
    assert numbers[0] == 0
    assert any(90_000 < number < 110_000 for number in numbers)
    assert len(numbers) <= 2 * samples.MOST_ROWS
    assert max(numbers) < 150_000
    assert not sample.whole


def test_a_file_of_64_gigabytes_takes_no_longer(tmp_path):
    file = tmp_path / "huge.csv"
    with file.open("wb") as stream:
        stream.write(b"a,b\n1,2\n" * 100_000)
        stream.truncate(1 << 36)  # sparse: nothing but zeros from there on
    assert read_sample(file).names == ("a", "b")


def test_zipped(tmp_path):
    file = tmp_path / "a.csv.gz"
    file.write_bytes(gzip.compress(b"a\tb\n1\t2\n"))
    sample = read_sample(file)
    assert (sample.names, sample.rows, sample.whole) == (("a", "b"), (("1", "2"),), True)


def test_a_bomb_is_not_unpacked(tmp_path):
    file = tmp_path / "bomb.csv.gz"
    file.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 5_000_000))
    sample = read_sample(file)
    assert len(sample.rows) <= samples.MOST_ROWS
    assert not sample.whole


def test_parquet_with_types(tmp_path):
    file = tmp_path / "a.parquet"
    table = pa.table({"x": [1.5, None, 2.0], "d": [date(2024, 12, 31)] * 3, "t": ["a", "b", None]})
    pq.write_table(table, file)
    sample = read_sample(file)
    assert sample.names == ("x", "d", "t")
    assert sample.rows == (
        ("1.5", "2024-12-31", "a"),
        ("", "2024-12-31", "b"),
        ("2", "2024-12-31", ""),
    )
    assert sample.whole


def test_quoted_separators_and_line_breaks(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text('a,b\n"x, y;z","line\nbreak"\n"1",2\n')
    sample = read_sample(file)
    assert sample.rows == (("x, y;z", "line\nbreak"), ("1", "2"))


def test_ten_thousand_columns(tmp_path):
    file = tmp_path / "wide.csv"
    names = [f"a_rather_long_name_of_column_{k}" for k in range(10_000)]
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        writer.writerows([["1"] * 10_000] * 3)
    sample = read_sample(file)
    assert sample.names == tuple(names)
    assert len(sample.rows) >= 1


def test_header_only_one_column_and_old_line_ends(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("a,b\n")
    assert (read_sample(file).names, read_sample(file).rows) == (("a", "b"), ())
    file.write_text("alone\n1\n2\n")
    assert read_sample(file).rows == (("1",), ("2",))
    file.write_bytes(b"a,b\r1,2\r")
    assert read_sample(file).rows == (("1", "2"),)


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("empty.csv", b"", "the file is empty"),
        ("blank.csv", b"\n\n \n", "the file is empty"),
        ("garbage.csv", bytes(range(256)) * 10, "not a text file"),
        ("garbage.parquet", b"PAR1 or not", "cannot be read"),
        ("garbage.csv.gz", b"no gzip", "cannot be read"),
        ("cut.csv.gz", gzip.compress(b"a,b\n1,2\n" * 1000, mtime=0)[:20], "cannot be read"),
        ("garbage.xlsx", b"no workbook", "cannot be read|not an Excel file|workbook"),
    ],
)
def test_hostile_files_are_refused_by_name(tmp_path, name, content, match):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(DataError, match=match) as caught:
        read_sample(file)
    assert all(problem.startswith(str(file)) for problem in caught.value.problems)


def test_a_workbook(tmp_path):
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    sheet.append(["x", "sown", "soil"])
    sheet.append([1.5, date(2024, 12, 31), "clay"])
    sheet.append([])
    sheet.append([2, date(2024, 1, 2), None])
    file = tmp_path / "a.xlsx"
    book.save(file)
    sample = read_sample(file)
    assert sample.names == ("x", "sown", "soil")
    assert sample.rows == (("1.5", "2024-12-31", "clay"), ("2", "2024-01-02", ""))
    assert sample.whole
