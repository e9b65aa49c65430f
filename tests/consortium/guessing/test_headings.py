import pytest
from openpyxl import Workbook

from fairpool.consortium.guessing.headings import guess_header
from fairpool.consortium.guessing.samples import read_sample


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ([["a", "b"], ["1", "2"]], 0),
        ([["The farm", "", ""], ["a", "b", "c"], ["1", "2", "3"]], 1),
        ([["The farm"], [], ["of 2024", ""], ["a", "b", "c"], ["1", "2", "3"], ["4", "", "6"]], 3),
        # Names that are years, and names that are lacking, are names all the same.
        ([["2023", "2024"], ["1", "2"]], 0),
        ([["", "", "c"], ["1", "2", "3"], ["4", "5", "6"]], 0),
        ([["", "b", "c", "d"], ["1", "2", "3", "4"]], 0),
        ([["alone"], ["1"], ["2"]], 0),
        ([["The farm"], ["1", "2", "3"], ["4", "5", "6"]], 0),
        ([[], []], 0),
        ([], 0),
    ],
)
def test_headings(rows, header):
    assert guess_header(rows) == header


def test_lines_above_a_table_are_counted(tmp_path):
    (tmp_path / "a.csv").write_text("Farm, of 2024\n\nplot;rain;soil\n1;2,5;clay\n2;3,5;sand\n")
    sample = read_sample(tmp_path / "a.csv")
    assert (sample.header, sample.names) == (3, ("plot", "rain", "soil"))
    assert sample.rows[0] == ("1", "2,5", "clay")
    assert sample.separator.why == "2 of 2 rows then have 3 values, as line 3 does"


def test_a_title_over_merged_cells(tmp_path):
    book = Workbook()
    for row in (["The farm"], [], ["plot", "rain", "dry"], [1, 2.5, True], [2, 3.5, False]):
        book.active.append(row)
    book.active.merge_cells("A1:C1")
    book.save(tmp_path / "a.xlsx")
    sample = read_sample(tmp_path / "a.xlsx")
    assert (sample.header, sample.names) == (3, ("plot", "rain", "dry"))
    assert sample.rows == (("1", "2.5", "TRUE"), ("2", "3.5", "FALSE"))
