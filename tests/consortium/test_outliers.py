"""One cell may not ruin everybody's model, and honest heavy tails are no errors."""

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from fairpool.consortium.example import write_example
from fairpool.consortium.faults import Columns
from fairpool.consortium.limits import Limits
from fairpool.consortium.outliers import FAR, MOST_TOLD, look_for_outliers, outlier_notes
from fairpool.consortium.surveys import Extreme, Range, RowSample, Survey
from fairpool.consortium.tables import PUBLIC, Source
from fairpool.errors import ConfigurationError
from fairpool.tables.moments import Moments
from tests.support.projects import (
    fairpool,
    finished_run,
    is_untouched,
    prepared,
    project,
    table,
    write,
)


def with_cell(file, column, value, line=6):
    """Put a value into a cell of a CSV file."""
    with file.open(newline="") as stream:
        rows = list(csv.reader(stream))
    rows[line - 1][rows[0].index(column)] = value
    with file.open("w", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(rows)


def outliers_of(result):
    """What a stage said of values that are far from all others."""
    return [note for note in result.notes if note.code == "outlier"]


def surveyed(owner, *columns):
    """What a look at columns x0, x1, ... would find."""
    values = np.array(columns, dtype=float)
    file = Path(f"{owner}.parquet")
    extremes = {}
    for k, column in enumerate(values):
        low, high = int(column.argmin()), int(column.argmax())
        extremes[f"x{k}"] = Range(
            Extreme(float(column[low]), file, low), Extreme(float(column[high]), file, high)
        )
    return Survey(
        source=Source(owner, (file,)),
        rows=values.shape[1],
        moments=Moments.of(values.T),
        sample=RowSample.of(values, np.arange(values.shape[1])),
        extremes=extremes,
    )


def far_values(*parties, limits=None, public=None):
    """The far values of one column at several parties."""
    surveys = {f"p{i}": surveyed(f"p{i}", values) for i, values in enumerate(parties)}
    if public is not None:
        surveys[PUBLIC] = surveyed(PUBLIC, public)
    return look_for_outliers(Columns(number_inputs=("x0",)), surveys, limits or Limits())


# One cell of 1e20


@pytest.mark.parametrize("column", ["bmi", "progression"])
@pytest.mark.parametrize("command", ["check", "run"])
def test_a_cell_that_ruins_the_scaling_is_refused(tmp_path, column, command):
    """It made everybody's column constant, silenced the look for outliers, and a party whose rows
    then were the same was accused of copies.
    """
    write_example(tmp_path)
    with_cell(tmp_path / "hospital_c.csv", column, "1e20")
    before = {*tmp_path.iterdir()}
    done = fairpool(command, tmp_path)
    assert done.returncode == 2
    [error] = done.stderr.splitlines()
    assert (
        f'party "Hospital C": {tmp_path}/hospital_c.csv, line 6, column "{column}": 1e+20 is far'
        " from all others (the middle is"
    ) in error
    assert error.endswith(
        "so that all other values would be nearly the same when scaled; correct it, leave out its"
        " row, give the column's logarithm, or raise spread in [limits] (it is 100)"
    )
    assert {*tmp_path.iterdir()} - before <= {tmp_path / ".fairpool"}
    assert is_untouched(tmp_path)


def test_the_operator_may_allow_it_and_is_told(tmp_path):
    write_example(tmp_path)
    with_cell(tmp_path / "hospital_c.csv", "bmi", "1e4")
    with pytest.raises(ConfigurationError, match="raise spread"):
        prepared(tmp_path)
    with (tmp_path / "collaboration.toml").open("a") as file:
        file.write("[limits]\nspread = 1000\n")
    [note] = prepared(tmp_path).notes
    assert (note.code, note.party) == ("outlier", "Hospital C")
    assert 'hospital_c.csv, line 6, column "bmi": 10000 is far from all others' in note.text


@pytest.mark.parametrize(("value", "far"), [("70", False), ("120", True), ("799", True)])
def test_twenty_median_deviations_are_far(tmp_path, value, far):
    """A thousand of them were. The median of bmi is 25.6, and the median deviation 2.9."""
    write_example(tmp_path)
    with_cell(tmp_path / "hospital_b.csv", "bmi", value)
    warnings = prepared(tmp_path).warnings
    assert any("is far from all others" in warning for warning in warnings) == far


def test_the_example_has_no_outlier(tmp_path):
    write_example(tmp_path)
    assert prepared(tmp_path).notes == ()


def test_a_far_value_of_the_public_data_ruins_the_scaling_too(tmp_path):
    folder = project(tmp_path, extra='public = { data = "public.csv" }')
    write(folder / "public.csv", table(60, 7))
    with_cell(folder / "public.csv", "z", "-1e30", line=3)
    with pytest.raises(ConfigurationError, match=r'public data: .*line 3, column "z": -1e\+30 is'):
        prepared(folder)


def test_a_far_value_where_scaling_is_public_still_outweighs_every_other_row(tmp_path):
    """In a linear model one row of 1e20 was worth more than all others together."""
    folder = project(tmp_path, extra='public = { data = "public.csv" }')
    write(folder / "public.csv", table(60, 7))
    with_cell(folder / "p1.csv", "x", "1e20")
    with pytest.raises(ConfigurationError, match=r'party "Party 1": .*line 6, column "x": 1e\+20'):
        prepared(folder)


def test_far_test_values_are_told(tmp_path):
    folder = project(tmp_path)
    with_cell(folder / "test.csv", "y", "1e20")
    [note] = outliers_of(prepared(folder))
    assert note.party is None
    assert note.text.startswith("test data: ")


def test_a_value_in_a_row_that_is_left_out_does_nothing(tmp_path):
    folder = project(tmp_path, extra='missing = "drop"')
    with_cell(folder / "p0.csv", "x", "1e20")
    with_cell(folder / "p0.csv", "z", "")
    run = finished_run(folder)
    assert "dropped rows" in {note.code for note in run.notes}
    assert not outliers_of(run)


# Who else could do that


NORMAL = [np.random.default_rng(k).normal(50, 10, 300) for k in range(5)]


def replaced(values, share, by):
    """The same, with a share of the values replaced."""
    values = values.copy()
    count = max(1, round(share * len(values)))
    values[:count] = by
    return values


@pytest.mark.parametrize("share", [0, 0.02, 0.3])
def test_more_cells_hide_none(share):
    with pytest.raises(ConfigurationError, match=r"p2: .*is far from all others"):
        far_values(NORMAL[0], NORMAL[1], replaced(NORMAL[2], share, 1e20))


def test_parties_cannot_make_each_others_tails():
    first = replaced(NORMAL[0], 0.05, 1e20)
    second = replaced(NORMAL[1], 0.05, -1e20)
    with pytest.raises(ConfigurationError, match=r"p0: .*is far from all others"):
        far_values(first, second, NORMAL[2], NORMAL[3])


@pytest.mark.parametrize("honest", [1, 2])
def test_a_party_whose_values_are_all_elsewhere_makes_the_others_constant(honest):
    strange = 1e20 * NORMAL[4]
    with pytest.raises(
        ConfigurationError,
        match=r'p0: column "x0": its values lie around 49.*would all be the same number.*another'
        r" unit, and at this value: p\d: p\d.parquet, row",
    ):
        far_values(*NORMAL[:honest], strange)


def test_a_far_cell_in_a_column_of_zeros_is_found():
    """Half of the values are 0, so that the median deviation is, too."""
    rng = np.random.default_rng(0)
    mostly_zero = [np.where(rng.random(300) < 0.1, rng.exponential(1, 300), 0) for _ in range(3)]
    assert far_values(*mostly_zero) == []
    [value] = far_values(*mostly_zero[:2], replaced(mostly_zero[2], 0, 100.0))
    assert (value.owner, value.extreme.value) == ("p2", 100.0)
    with pytest.raises(ConfigurationError, match=r"p2: .*1e\+20 is far from all others"):
        far_values(*mostly_zero[:2], replaced(mostly_zero[2], 0.4, 1e20))


def test_the_operator_reads_no_more_than_some_notes_of_a_party(tmp_path):
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(3 * MOST_TOLD, 200))
    others = surveyed("p0", *columns)
    columns[:, 7] = 50.0
    far = look_for_outliers(
        Columns(number_inputs=tuple(f"x{k}" for k in range(3 * MOST_TOLD))),
        {"p0": others, "p1": surveyed("p1", *columns)},
        Limits(),
    )
    assert len(far) == 3 * MOST_TOLD
    notes = list(outlier_notes(far, {"p1": "One"}))
    assert len(notes) == MOST_TOLD + 1
    assert {note.party for note in notes} == {"One"}
    assert notes[-1].text == f"p1: and {2 * MOST_TOLD} more value(s) far from all others"


def test_of_many_ruined_columns_some_are_listed():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(3 * MOST_TOLD, 200))
    others = surveyed("p0", *columns)
    columns[:, 7] = 1e30
    with pytest.raises(ConfigurationError, match=r"1e\+30 is far") as caught:
        look_for_outliers(
            Columns(number_inputs=tuple(f"x{k}" for k in range(3 * MOST_TOLD))),
            {"p0": others, "p1": surveyed("p1", *columns)},
            Limits(),
        )
    assert len(caught.value.problems) == MOST_TOLD + 1
    assert caught.value.problems[-1].startswith(f"and {2 * MOST_TOLD} more value(s)")


# Honest data

HONEST = {
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "log-normal": lambda rng, n: rng.lognormal(0, 1, n),
    "negative log-normal": lambda rng, n: -rng.lognormal(0, 1.5, n),
    "gamma": lambda rng, n: rng.gamma(0.3, size=n),
    "counts": lambda rng, n: rng.poisson(0.1, n),
    "overdispersed counts": lambda rng, n: rng.negative_binomial(0.3, 0.05, n),
    "days": lambda rng, n: 1.7e9 + 86400 * rng.integers(0, 365, n),
    "mostly zero": lambda rng, n: rng.lognormal(0, 1, n) * (rng.random(n) < 0.3),
    "rare": lambda rng, n: rng.random(n) < 0.001,
    "mostly one value": lambda rng, n: np.where(rng.random(n) < 0.6, 37.0, rng.normal(38, 1, n)),
    "constant": lambda rng, n: np.full(n, 2020),
    "constant by party": lambda rng, n: np.full(n, rng.normal(0, 40)),
    "by party": lambda rng, n: rng.normal(rng.normal(0, 40), 0.05, n),
}


@pytest.mark.parametrize("rows", [40, 2000])
@pytest.mark.parametrize("name", HONEST)
def test_honest_columns_are_hardly_ever_far(name, rows):
    """Of log-normal columns, `FAR` median deviations alone would find one at every party."""
    rng = np.random.default_rng(20)
    far = 0
    for _ in range(20):
        parties = [HONEST[name](rng, rows).astype(float) for _ in range(3)]
        far += len(far_values(*parties))
    assert far <= 1, f"{far} of 60 parties"


def test_log_normal_values_are_far_by_median_deviations_alone():
    values = np.random.default_rng(0).lognormal(0, 1, 2000)
    deviation = np.median(np.abs(values - np.median(values)))
    assert values.max() - np.median(values) > FAR * deviation


# The sample that medians are taken of


def test_a_sample_is_the_same_in_whatever_order_pieces_are_put_together(monkeypatch):
    monkeypatch.setattr("fairpool.consortium.surveys.SAMPLED_ROWS", 50)
    columns = np.random.default_rng(0).normal(size=(2, 1000))
    rows = np.arange(1000)
    whole = RowSample.of(columns, rows)
    assert whole.values.shape == (50, 2)
    pieces = [RowSample.of(columns[:, k : k + 90], rows[k : k + 90]) for k in range(0, 1000, 90)]
    for order in (pieces, pieces[::-1]):
        merged = RowSample()
        for piece in order:
            merged = merged.merged(piece)
        assert sorted(map(tuple, merged.values)) == sorted(map(tuple, whole.values))


def test_a_sample_is_fair():
    rows = np.arange(100_000)
    sample = RowSample.of(rows[None].astype(float), rows).values[:, 0]
    assert len(sample) == 2000
    counts, _ = np.histogram(sample, 10, (0, 100_000))
    # Each count is binomial with mean 200 and deviation 13.4.
    assert (np.abs(counts - 200) < 5 * 13.4).all()


def test_wide_tables_have_fewer_sampled_rows():
    assert len(RowSample.of(np.zeros((10_000, 300)), np.arange(300)).keys) == 26


def test_extremes_of_parquet_and_csv_are_where_they_are(tmp_path):
    for suffix in (".csv", ".parquet"):
        folder = project(tmp_path / suffix[1:], suffix=suffix)
        own = table(40, 0).to_pydict()
        own["x"][17] = 99.0
        write(folder / f"p0{suffix}", pa.table(own))
        [note] = outliers_of(prepared(folder))
        assert f"p0{suffix}, {'line 19' if suffix == '.csv' else 'row 18'}" in note.text
