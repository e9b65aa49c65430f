"""Near copies in a project's files: who is told what, and where to look."""

import csv
import json

import numpy as np
import pytest

from tests.support.projects import (
    fairpool,
    finished_run,
    party_table,
    project,
    round_folder,
    written_run,
)
from tests.support.projects import table as make_table
from tests.support.projects import write as write_table

NUMBERS = ("age", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6", "progression")


def read(file):
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def write(file, rows):
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def demo(tmp_path):
    """What `fairpool init` makes: three hospitals."""
    folder = tmp_path / "demo"
    assert fairpool("init", folder).returncode == 0
    return folder


def copied_with_a_shift(demo):
    """B hands in A's rows, one column + 0.1."""
    rows = read(demo / "hospital_a.csv")
    for row in rows:
        row["bmi"] = f"{float(row['bmi']) + 0.1:.10g}"
    write(demo / "hospital_b.csv", rows)


def ten_times_with_jitter(demo):
    """B hands in every row ten times, with jitter of 1e-6 standard deviations."""
    rng = np.random.default_rng(0)
    rows = read(demo / "hospital_b.csv")
    spread = {name: np.std([float(row[name]) for row in rows]) for name in NUMBERS}
    again = []
    for row in rows * 10:
        jitter = {
            name: repr(float(row[name]) + float(1e-6 * spread[name] * rng.normal()))
            for name in NUMBERS
        }
        again.append(row | jitter)
    write(demo / "hospital_b.csv", again)


def copies_in(notes):
    return [note for note in notes if note.code in ("shared rows", "repeated rows")]


def letters(folder):
    found = {}
    for letter in sorted((folder / "parties").glob("*/letter.html")):
        found[letter.parent.name] = letter.read_text()
    return found


def test_the_honest_demo_is_not_suspected(demo):
    run = finished_run(demo)
    assert not copies_in(run.notes)
    assert not run.copies.near.repeated
    assert not run.copies.near.shared
    assert run.copies.near.compared == (170, 73, 111)


def test_a_copy_with_a_shifted_column_is_noticed(demo):
    copied_with_a_shift(demo)
    run = written_run(demo)
    [note] = copies_in(run.notes)
    assert note.code == "shared rows"
    assert '170 row(s) of "Hospital A" and 170 of "Hospital B" agree' in note.text
    assert 'in all columns but "bmi", which is 0.1 larger at "Hospital B"' in note.text
    assert f"{demo / 'hospital_a.csv'}, line 2 and {demo / 'hospital_b.csv'}, line 2" in note.text
    result = json.loads((round_folder(demo) / "operator/result.json").read_text())
    [shared] = result["near_copies"]["shared"]
    assert shared["parties"] == ["Hospital A", "Hospital B"]
    assert shared["rows"] == [170, 170]
    assert (shared["kind"], shared["column"]) == ("shifted", "bmi")
    assert shared["shift"] == pytest.approx(0.1)
    assert note.text in result["warnings"]
    assert "differ" not in note.text
    report = (round_folder(demo) / "operator/report.html").read_text()
    assert "which is 0.1 larger at" in report


def test_letters_tell_of_own_rows_alone(demo):
    copied_with_a_shift(demo)
    written_run(demo)
    pages = letters(round_folder(demo))
    for name, page in pages.items():
        for other in {"Hospital A", "Hospital B", "Hospital C"} - {name.replace("-", " ")}:
            assert other not in page
        assert "hospital_" not in page
        # Which column was altered, and by how much, would tell the others' values.
        assert "bmi" not in page


def test_rows_ten_times_with_jitter_are_noticed(demo):
    ten_times_with_jitter(demo)
    run = written_run(demo)
    [note] = copies_in(run.notes)
    assert (note.code, note.party) == ("repeated rows", "Hospital B")
    assert '"Hospital B" has 730 row(s) that agree with others of its own to within' in note.text
    assert "in 73 groups, 10 in a typical group" in note.text
    pages = letters(round_folder(demo))
    assert "730 of your rows agree with others of your own to within" in pages["Hospital-B"]
    assert "of your rows" not in pages["Hospital-A"] + pages["Hospital-C"]


def test_an_exact_gaussian_process_is_looked_at_as_well(demo):
    copied_with_a_shift(demo)
    file = demo / "collaboration.toml"
    text = file.read_text().replace('kind = "sparse_gp"', 'kind = "gp"')
    text = text.replace("inducing_points = 40", "")
    file.write_text(text.replace("# share_inputs = false", "share_inputs = true"))
    [note] = copies_in(finished_run(demo).notes)
    assert 'but "bmi", which is 0.1 larger at "Hospital B"' in note.text


def test_the_example_is_the_right_line_of_the_right_file(tmp_path):
    """Rows are counted over several files, without those that are left out."""
    folder = project(tmp_path, extra='missing = "drop"', sizes=(40, 25, 60))
    file = tmp_path / "collaboration.toml"
    file.write_text(file.read_text().replace('"p1.csv"', '["p1.csv", "p3.csv"]'))
    rows = read(tmp_path / "p1.csv")
    rows[3]["x"] = ""
    write(tmp_path / "p1.csv", rows)
    write_table(tmp_path / "p3.csv", make_table(60, 77, 0.4))
    later = read(tmp_path / "p2.csv")
    own = read(tmp_path / "p3.csv")
    own[1]["z"] = ""
    # From its sixth row on, the second file has the third party's, one column shifted.
    for k in range(20):
        own[5 + k] = later[30 + k] | {"z": repr(float(later[30 + k]["z"]) + 2)}
    write(tmp_path / "p3.csv", own)
    [note] = copies_in(finished_run(folder).notes)
    assert '20 row(s) of "Party 1" and 20 of "Party 2" agree' in note.text
    assert 'but "z", which is 2 smaller at "Party 2"' in note.text
    assert f"{tmp_path / 'p3.csv'}, line 7 and {tmp_path / 'p2.csv'}, line 32" in note.text


def test_few_rows_that_others_have_are_told_the_operator_alone(tmp_path):
    """Otherwise a party could ask its letter whether somebody has the rows that it guessed."""
    folder = project(tmp_path, sizes=(80, 60, 60))
    guessed = read(tmp_path / "p0.csv")[:12]
    # Each guess another number of times, so that a count would tell which of them are true.
    times = [2**k for k in range(5)]
    repeated = [row for row, count in zip(guessed, times, strict=False) for _ in range(count)]
    write(tmp_path / "p1.csv", read(tmp_path / "p1.csv") + guessed[5:] + repeated)
    run = written_run(folder)
    assert '"Party 0" and "Party 1" share' in " ".join(note.text for note in run.notes)
    pages = letters(round_folder(folder))
    assert all("other parties have" not in page for page in pages.values())
    assert "of your rows" not in pages["Party-0"] + pages["Party-2"]
    # What Party 1 is told is about rows of its own that are there twice: that it knows.
    assert "of other parties" not in pages["Party-1"]


def test_of_many_rows_a_share_is_compared(tmp_path, monkeypatch):
    folder = project(tmp_path, sizes=(3000, 3000, 3000))
    rng = np.random.default_rng(0)
    rows = read(tmp_path / "p0.csv")
    for row in rows:
        row["y"] = repr(float(row["y"]) + float(rng.normal(0, 1e-3)))
    write(tmp_path / "p1.csv", [rows[k] for k in rng.permutation(3000)])
    monkeypatch.setattr("fairpool.consortium.sketching.MOST_SKETCHED", 4500)
    run = finished_run(folder)
    assert run.copies.share == pytest.approx(0.5)
    assert sum(run.copies.near.compared) == pytest.approx(4500, rel=0.1)
    [found] = run.copies.near.shared
    # Half of the rows, and of these every second copy, were looked at.
    assert found.rows[0] == pytest.approx(750, rel=0.15)
    [note] = copies_in(run.notes)
    assert "a share of 50% of all rows was compared" in note.text


def test_tables_with_few_values_are_not_suspected(tmp_path):
    """Rows of three columns of few values agree exactly, by chance."""
    folder = project(tmp_path, sizes=(400, 400, 400))
    for i in range(3):
        rng = np.random.default_rng(i)
        names = party_table(i, 1).column_names
        rows = []
        for _ in range(400):
            x, z = rng.integers(0, 6, 2)
            kind = str(rng.choice(["red", "green"]))
            values = {"x": x, "z": z, "kind": kind, "y": x + z + rng.integers(0, 3)}
            rows.append({name: values[name] for name in names})
        write(tmp_path / f"p{i}.csv", rows)
    assert not copies_in(finished_run(folder).notes)
