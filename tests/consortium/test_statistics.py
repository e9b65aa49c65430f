from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool.columns import CategoryColumn, NumberColumn, Rules
from fairpool.compute.workers import Workers
from fairpool.consortium import reading, statistics
from fairpool.consortium.faults import Columns
from fairpool.consortium.intake import survey
from fairpool.consortium.reading import Piece
from fairpool.consortium.sample import row_keys
from fairpool.consortium.statistics import summarise_files
from fairpool.consortium.survey_problems import survey_problems
from fairpool.consortium.tables import Source
from fairpool.encoding import TableEncoding
from fairpool.errors import DataError
from fairpool.targets import NumberLabels, NumberTarget
from tests.support.examples import COVARIANCE, INDUCING, P, network
from tests.support.projects import write

LEVELS = ("red", "green")
ENCODING = TableEncoding(
    (NumberColumn("x", 1e3, 2.0), CategoryColumn("kind", LEVELS), NumberColumn("z", -0.5, 0.25)),
    NumberTarget("y", 50.0, 7.0),
)
COLUMNS = Columns(number_inputs=("x", "z"), text_inputs=("kind",), target=NumberLabels("y"))
THREE = TableEncoding(
    tuple(NumberColumn(name, 0.1, 1.5) for name in "abc"), NumberTarget("y", 0.3, 2.0)
)
MODELS = {
    "blr": fp.BayesianLinearRegression(0.5),
    "blr-prior": fp.BayesianLinearRegression(0.5, COVARIANCE, [0.3, -1.0, 0.2, 0.5]),
    "network": fp.BayesianLinearRegression(0.2, features=network()),
    "sparse": fp.SparseGaussianProcess(1.3 * RBF([0.8, 1.2, 2.0]), 0.3, INDUCING),
}


def frame(rows, seed, missing=0.0):
    """A table of every kind of column; where values are missing, as NaN or as null."""
    rng = np.random.default_rng(seed)
    columns = {
        "x": pa.array(rng.normal(1e3, 2, rows)),
        "kind": pa.array(
            rng.choice(["red", "green", "blue"], rows).astype(object),
            pa.string(),
            mask=rng.random(rows) < missing,
        ),
        "z": pa.array(np.where(rng.random(rows) < missing, np.nan, rng.normal(0, 1, rows))),
        "unused": pa.array(rng.integers(0, 9, rows)),
        "y": pa.array(rng.integers(0, 100, rows), mask=rng.random(rows) < missing),
    }
    return pa.table(columns)


def expected(content, encoding, model):
    """The sums over all complete rows at once, with pandas and numpy only."""
    data = content.to_pandas()[[c.name for c in encoding.columns] + [encoding.target.name]].dropna()
    columns = []
    for column in encoding.columns:
        if isinstance(column, NumberColumn):
            columns.append((data[column.name].to_numpy(float) - column.mean) / column.scale)
        else:
            columns += [(data[column.name] == level).to_numpy(float) for level in column.levels]
    X, y = (
        np.column_stack(columns),
        (data[encoding.target.name].to_numpy(float) - encoding.target.mean) / encoding.target.scale,
    )
    A = model.whitened_features(X)
    residual = y - model.prior_mean_at(X)
    return A.T @ A, A.T @ residual, (residual**2).sum(), len(data)


def check(found, gram, moment, squares, rows):
    assert found.rows == rows
    assert found.squares == pytest.approx(squares, rel=1e-12)
    np.testing.assert_allclose(
        found.gram, gram, rtol=1e-12, atol=1e-12 * np.abs(gram).max(initial=0)
    )
    np.testing.assert_allclose(
        found.moment, moment, rtol=1e-12, atol=1e-12 * max(np.abs(gram).max(initial=0), 1)
    )


@given(
    st.integers(0, 1000),
    st.lists(
        st.tuples(st.integers(0, 120), st.integers(1, 50), st.sampled_from([".csv", ".parquet"])),
        max_size=3,
    ),
    st.sampled_from([0.0, 0.05, 1.0]),
    st.integers(1, 60),
    st.integers(1, 100),
)
def test_summaries_and_surveys_are_those_of_all_rows_at_once(
    tmp_path_factory, seed, files, missing, batch_rows, piece_rows
):
    folder = tmp_path_factory.mktemp("files")
    parts, paths = [frame(0, 0)], []
    for number, (rows, group, suffix) in enumerate(files):
        parts.append(frame(rows, [seed, number], missing))
        paths.append(folder / f"{number}{suffix}")
        if suffix == ".csv":
            write(paths[-1], parts[-1])
        else:
            pq.write_table(parts[-1], paths[-1], row_group_size=group)
    whole = pa.concat_tables(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BATCH_ROWS", batch_rows)
        patch.setattr(reading, "PIECE_ROWS", piece_rows)
        model = fp.BayesianLinearRegression(0.1)
        source = Source("a", tuple(paths))
        summary = summarise_files("a", source, encoding=ENCODING, model=model)
        check(summary, *expected(whole, ENCODING, model))
        found = survey(source, COLUMNS, Workers())
    data = whole.to_pandas()[["x", "z", "y", "kind"]]
    complete = data.dropna()
    assert (found.rows, found.dropped) == (len(complete), len(data) - len(complete))
    assert found.missing == {name: count for name, count in data.isna().sum().items() if count}
    assert found.levels["kind"] == complete["kind"].value_counts().to_dict()
    if len(complete):
        numbers = complete[["x", "z", "y"]].to_numpy(float)
        np.testing.assert_allclose(found.moments.mean, numbers.mean(axis=0), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(
            found.moments.deviation, numbers.std(axis=0), rtol=1e-9, atol=1e-12
        )
    for name in ("x", "z", "y"):
        values = complete[name]
        assert [end.value for end in found.extremes.get(name, [])] == (
            [values.min(), values.max()] if len(values) else []
        )
        for end in found.extremes.get(name, []):
            assert (
                pd.read_csv(end.file)[name][end.row] == pytest.approx(end.value)
                if end.file.suffix == ".csv"
                else (pq.read_table(end.file)[name][end.row].as_py() == end.value)
            )


@pytest.mark.parametrize("kind", MODELS)
def test_every_weight_model_is_summarised_as_by_itself(tmp_path, kind, monkeypatch):
    rng = np.random.default_rng(1)
    content = pa.table({name: rng.normal(0, 1, 3000) for name in (*"abc", "y")})
    write(tmp_path / "a.parquet", content)
    monkeypatch.setattr(statistics, "BLOCK_VALUES", 1)
    assert len(THREE.features) == P
    source = Source("a", (tmp_path / "a.parquet",))
    found = summarise_files("a", source, encoding=THREE, model=MODELS[kind])
    check(found, *expected(content, THREE, MODELS[kind]))
    party = fp.Party("a", THREE.encode(content), THREE.encode_target(content))
    whole = MODELS[kind].summarise(party)
    assert (found.noise_variance, found.inputs) == (whole.noise_variance, whole.inputs)
    whole.refuse_other_probe(found.probe)


def test_any_executor_gives_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "PIECE_ROWS", 100)
    monkeypatch.setattr(statistics, "ROUND", 3)
    pq.write_table(frame(1000, 0, 0.01), tmp_path / "a.parquet", row_group_size=60)
    write(tmp_path / "b.csv", frame(500, 1, 0.01))
    files = (tmp_path / "a.parquet", tmp_path / "b.csv")
    model = fp.BayesianLinearRegression(0.1)

    def work(executor):
        told = []
        workers = Workers(executor, lambda *progress: told.append(progress))
        source = Source("a", files)
        summary = summarise_files("a", source, encoding=ENCODING, model=model, workers=workers)
        assert told[-1] == ("summarising a", len(Piece.of(files)), len(Piece.of(files)))
        return summary, survey(source, COLUMNS, workers)

    serial, looked = work(None)
    for pool in (ThreadPoolExecutor(3), ProcessPoolExecutor(2)):
        with pool:
            summary, other = work(pool)
        np.testing.assert_array_equal(summary.gram, serial.gram)
        np.testing.assert_array_equal(summary.moment, serial.moment)
        assert summary.squares == serial.squares
        np.testing.assert_array_equal(other.moments.squares, looked.moments.squares)
        np.testing.assert_array_equal(other.moments.mean, looked.moments.mean)
        assert (other.rows, other.dropped, other.missing) == (
            looked.rows,
            looked.dropped,
            looked.missing,
        )
        assert (other.levels, other.extremes) == (looked.levels, looked.extremes)
        assert other.faults == looked.faults


def test_pieces_are_whole_row_groups_and_csv_files(tmp_path, monkeypatch):
    pq.write_table(frame(100, 0), tmp_path / "a.parquet", row_group_size=30)
    pq.write_table(frame(0, 0), tmp_path / "empty.parquet")
    write(tmp_path / "b.csv", frame(5, 0))
    files = [tmp_path / name for name in ("a.parquet", "empty.parquet", "b.csv")]
    monkeypatch.setattr(reading, "PIECE_ROWS", 50)
    *pieces, last = [(piece.file.name, piece.groups, piece.first) for piece in Piece.of(files)]
    assert pieces[:2] == [("a.parquet", range(0, 2), 0), ("a.parquet", range(2, 4), 60)]
    assert [name for name, *_ in pieces[2:]] in ([], ["empty.parquet"])
    assert last[::2] == ("b.csv", 0)
    (tmp_path / "a.parquet").write_bytes(b"nonsense")
    with pytest.raises(DataError, match=r"a\.parquet: Parquet magic bytes not found"):
        Piece.of(files)


def test_what_is_missing_or_infinite_is_named_by_its_row_in_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "PIECE_ROWS", 20)
    content = frame(100, 0)
    z = content["z"].to_numpy().copy()
    z[[70, 90]] = np.nan
    pq.write_table(
        content.set_column(2, "z", pa.array(z)), tmp_path / "a.parquet", row_group_size=10
    )
    source = Source("a", (tmp_path / "a.parquet",))
    [problem] = survey_problems(survey(source, COLUMNS, Workers()), COLUMNS)
    assert "2 missing value(s) (z 2)" in problem.text
    assert 'row 71, column "z"' in problem.text
    z[75] = -np.inf
    pq.write_table(
        content.set_column(2, "z", pa.array(z)), tmp_path / "a.parquet", row_group_size=10
    )
    with ThreadPoolExecutor(2) as pool:
        found = survey(source, COLUMNS, Workers(pool))
    may_miss = replace(COLUMNS, rules={"z": Rules(missing="drop")})
    [problem] = survey_problems(found, may_miss)
    assert 'row 76, column "z": -inf is infinite' in problem.text
    with pytest.raises(
        DataError, match=r"a\.parquet: a value is infinite, or too large to be squared; correct it"
    ):
        summarise_files("a", source, encoding=ENCODING, model=fp.BayesianLinearRegression(0.1))


def test_levels_are_counted_over_all_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "PIECE_ROWS", 40)
    content = frame(120, 0).set_column(1, "kind", pa.array([f"level {k}" for k in range(120)]))
    pq.write_table(content, tmp_path / "a.parquet", row_group_size=40)
    found = survey(Source("a", (tmp_path / "a.parquet",)), COLUMNS, Workers())
    [problem] = survey_problems(found, COLUMNS)
    assert 'a: the categorical column "kind" has more than 100 levels' in problem.text


def test_row_keys_are_equal_just_for_equal_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (2000, 4)).astype(float)
    y = rng.integers(0, 3, 2000).astype(float)
    keys = row_keys(X, y)
    rows = np.column_stack([X, y])
    assert len(np.unique(keys)) == len(np.unique(rows, axis=0))
    assert row_keys(-X * 0, y)[0] == row_keys(X * 0, y)[0]  # -0 is 0
    np.testing.assert_array_equal(row_keys(np.asfortranarray(X), y), keys)
    many = row_keys(
        rng.standard_normal((20_000, 4)), np.zeros(20_000)
    )  # spread evenly: the smallest are a fair sample
    assert abs(np.mean(many > np.uint64(2**63)) - 0.5) < 0.02
    assert abs(np.mean(many < np.uint64(2**60)) - 1 / 16) < 0.01
