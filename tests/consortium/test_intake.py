import re

import numpy as np
import pyarrow as pa
import pytest

from fairpool.compute.workers import no_progress
from fairpool.consortium.sample import encoded_batches
from fairpool.consortium.tables import Source
from fairpool.errors import ConfigurationError
from fairpool.tables.moments import Moments
from tests.support.projects import party_table, prepared, project, table, write


def refuse(folder):
    with pytest.raises(
        ConfigurationError, match=re.escape(folder.name) + "|party|target|model"
    ) as caught:
        prepared(folder)
    return caught.value.problems


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_scaling_comes_from_the_pooled_training_data(tmp_path, suffix):
    found = prepared(project(tmp_path, suffix=suffix))
    pooled = pa.concat_tables([party_table(i, size) for i, size in enumerate((40, 25, 30))])
    x, z, kind = found.encoding.columns
    assert (x.name, z.name, kind.name) == ("x", "z", "kind")
    # Rounded, since it goes into every reward file: scales to two digits, means to a tenth of them.
    assert x.mean == pytest.approx(np.mean(pooled["x"].to_numpy()), abs=0.05 * x.scale)
    assert z.scale == float(f"{np.std(pooled['z'].to_numpy()):.1e}")
    assert kind.levels == ("green", "red")
    assert found.encoding.target.mean == pytest.approx(
        np.mean(pooled["y"].to_numpy()), abs=0.05 * found.encoding.target.scale
    )
    assert found.encoding.target.mean != pytest.approx(np.mean(pooled["y"].to_numpy()), rel=1e-6)
    X, y = next(encoded_batches(found.parties[0], found.encoding, no_progress))
    assert X.shape == (40, 4)
    assert set(X[:, 2] + X[:, 3]) == {1.0}
    assert y.std() > 0
    assert found.encoding.features == ("x", "z", "kind=green", "kind=red")


def test_public_data_takes_over_scaling_and_levels(tmp_path):
    folder = project(tmp_path, extra='public = { data = "public.csv" }')
    public = table(200, 7, 3.0)
    write(tmp_path / "public.csv", public.filter(pa.compute.equal(public["kind"], "red")))
    found = prepared(folder)
    assert found.encoding.columns[0].mean == pytest.approx(3.0, abs=0.3)
    assert found.encoding.columns[2].levels == ("red",)


def test_a_level_of_one_party_alone_is_not_told_to_the_others(tmp_path):
    folder = project(tmp_path)
    own = table(10, 0)
    write(tmp_path / "p0.csv", own.set_column(2, "kind", pa.array(["CANARY"] * 5 + ["red"] * 5)))
    found = prepared(folder)
    assert found.encoding.columns[2].levels == ("green", "red")
    assert (
        'levels that occur at one party only ("CANARY" of party "Party 0") are not told'
        in found.warnings[1]
    )
    X, _ = next(encoded_batches(found.parties[0], found.encoding, no_progress))
    assert X[:5, 2:].sum() == 0
    (folder / "collaboration.toml").write_text(
        (folder / "collaboration.toml")
        .read_text()
        .replace('["kind"]', '{ kind = ["red", "green", "CANARY"] }')
    )
    assert prepared(folder).encoding.columns[2].levels == ("red", "green", "CANARY")


def test_a_file_a_folder_and_a_glob(tmp_path):
    folder = project(tmp_path)
    parts = table(40, 0)
    write(tmp_path / "many" / "b.parquet", parts.slice(15))
    write(tmp_path / "many" / "a.csv", parts.slice(0, 15))
    (tmp_path / "many" / "notes.txt").write_text("not data")
    for pattern in ("many", "many/*.[cp]*"):
        found = Source.find("x", pattern, tmp_path)
        assert [f.name for f in found.files] == ["a.csv", "b.parquet"]
    text = (folder / "collaboration.toml").read_text()
    (folder / "collaboration.toml").write_text(text.replace('"p0.csv"', '"many"'))
    assert prepared(folder).parties[0].rows == 40


def test_missing_values_are_counted_per_column_or_dropped(tmp_path):
    folder = project(tmp_path, rewards="share_inputs = true")
    (tmp_path / "p0.csv").write_text(
        "x,z,kind,y\n1,2,red,3\n\n,2,green,4\nNA,,red,5\n2,3,,6\n7,8,red,9\n1,1,green,1\n"
    )
    [problem] = refuse(folder)
    assert 'party "Party 0": 4 missing value(s) (kind 1, x 2, z 1), first at' in problem
    assert 'p0.csv, line 4, column "x"; fill them in, or set missing = "drop"' in problem
    (folder / "collaboration.toml").write_text(
        'missing = "drop"\n' + (folder / "collaboration.toml").read_text()
    )
    found = prepared(folder)
    assert (found.parties[0].rows, found.parties[0].dropped) == (3, 3)
    assert any("3 row(s) with missing values are left out" in w for w in found.warnings)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            "x,z,kind,y\n1,2,red,3\n1,many,red,3\n",
            "p0.csv, line 3, column \"z\": 'many' is not a number; correct it",
        ),
        ("x,z,kind,y\n1,2,red\n", "p0.csv, line 2: 3 values for 4 columns"),
        (
            "x,z,kind,y\n1,inf,red,3\n",
            'p0.csv, line 2, column "z": inf is infinite or beyond 1e+100',
        ),
        (
            "x,z,kind,y\n1,2,red,1e200\n",
            'p0.csv, line 2, column "y": 1e+200 is infinite or beyond 1e+100',
        ),
        (
            "x;z;kind;y\n1;2;red;3\n",
            "p0.csv: its columns are separated by semicolons; save it with commas",
        ),
        ('x,z,kind,y,"a\nb"\n1,2,red,3,4\n', "has a control character or line break"),
        ("x,z,kind,y\n1,2,re\x07d,3\n", "remove control signs"),
        ("x,z,y\n1,2,3\n", 'p0.csv: no column "kind"; it has x, z, y'),
        (",x,z,y\n0,1,2,3\n", 'p0.csv: no column "kind"; it has "", x, z, y'),
        ("x,z,kind,y,y\n1,2,red,3,3\n", 'p0.csv: two columns are named "y"'),
        ("", "p0.csv: the file is empty"),
        ("x,z,kind,y\n", 'party "Party 0": no complete row to use'),
    ],
)
def test_bad_csv_is_refused_by_file_line_column_and_value(tmp_path, content, expected):
    folder = project(tmp_path, extra='features = ["x", "z", "kind"]')
    (tmp_path / "p0.csv").write_text(content)
    found = refuse(folder)
    assert any(expected in problem for problem in found), found


def test_bad_bytes_and_bad_parquet(tmp_path):
    folder = project(tmp_path)
    (tmp_path / "p0.csv").write_bytes("x,z,kind,y\n1,2,r\xe9d,3\n".encode("latin-1"))
    assert "not UTF-8 text (byte 0xe9)" in refuse(folder)[0]
    folder = project(tmp_path, suffix=".parquet")
    (tmp_path / "p1.parquet").write_bytes(b"PAR1 nonsense")
    assert "p1.parquet: not a Parquet file, or damaged; ask for it again" in refuse(folder)[0]
    write(tmp_path / "p1.parquet", table(5, 0).set_column(0, "x", pa.array(list("abcde"))))
    assert (
        'p1.parquet: column "x" has type string, not numbers; list it under categorical'
        in refuse(folder)[0]
    )


def test_every_problem_of_every_party_is_listed_at_once(tmp_path):
    folder = project(tmp_path)
    (tmp_path / "p0.csv").write_text("x,z,kind,y\n1,2,red,oops\n")
    (tmp_path / "p1.csv").write_text("x,z,kind,y\n1,,red,2\n")
    found = refuse(folder)
    assert len(found) == 2
    (tmp_path / "p2.csv").unlink()
    found = refuse(folder)
    assert len(found) == 3
    assert "matches none" in found[0]
    (tmp_path / "test.csv").write_text("x,z,y\n1,2,3\n")
    (folder / "collaboration.toml").write_text(
        'features = ["x", "z", "kind"]\n' + (folder / "collaboration.toml").read_text()
    )
    assert len(refuse(folder)) == 4


def test_what_cannot_be_learned_from_is_refused(tmp_path):
    folder = project(tmp_path, sizes=(5, 5))
    for i in range(2):
        content = table(5, i)
        write(tmp_path / f"p{i}.csv", content.set_column(3, "y", pa.array([2.0] * 5)))
    assert 'the target "y" has the same value everywhere' in refuse(folder)[0]
    folder = project(tmp_path)
    write(
        tmp_path / "p0.csv",
        table(200, 0).set_column(2, "kind", pa.array([f"id{k}" for k in range(200)])),
    )
    assert 'the categorical column "kind" has more than 100 levels' in refuse(folder)[0]


def test_a_constant_column_is_noticed_and_harmless(tmp_path):
    folder = project(tmp_path, rewards="share_inputs = true")
    for i in range(3):
        write(tmp_path / f"p{i}.csv", table(9, i).set_column(0, "x", pa.array([4.0] * 9)))
    found = prepared(folder)
    assert 'column "x" has the same value everywhere, and tells nothing' in found.warnings
    X, _ = next(encoded_batches(found.parties[0], found.encoding, no_progress))
    assert not X[:, 0].any()


def test_an_exact_gp_needs_consent_and_says_what_avoids_it(tmp_path):
    [problem] = refuse(project(tmp_path, model='kind = "gp"'))
    assert "set share_inputs = true in [rewards]" in problem
    assert '"sparse_gp", "fourier", "blr" or "network"' in problem


def test_moments_of_batches_are_those_of_the_whole():
    rng = np.random.default_rng(0)
    rows = rng.normal(1e6, 1, (100, 3))  # large means: sums of squares would cancel
    moments = Moments()
    for part in np.split(rows, [0, 7, 50]):
        moments = moments.merged(Moments.of(part))
    np.testing.assert_allclose(moments.mean, rows.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(moments.deviation, rows.std(axis=0), rtol=1e-9)


def test_a_column_that_not_all_parties_have_is_named(tmp_path):
    folder = project(tmp_path)
    own = table(40, 0)
    write(tmp_path / "p0.csv", own.rename_columns(["x", "Z", "kind", "y"]))
    found = prepared(folder)
    assert found.encoding.features == ("x", "kind=green", "kind=red")
    assert 'column "Z" is not used: only p0.csv has it' in found.warnings
    assert 'column "z" is not used: only p1.csv, p2.csv have it' in found.warnings
    write(tmp_path / "p0.csv", own)
    write(tmp_path / "test.csv", table(9, 3).select(["x", "kind", "y"]))
    assert 'test.csv: no column "z"' in refuse(folder)[0]


def test_files_of_the_same_content_are_named(tmp_path):
    folder = project(tmp_path)
    (tmp_path / "p1.csv").write_bytes((tmp_path / "p0.csv").read_bytes())
    assert any("p1.csv is the same as" in warning for warning in prepared(folder).warnings)


def test_parties_of_few_rows_are_refused_before_computing(tmp_path):
    folder = project(tmp_path, sizes=(20, 1))
    (problem,) = refuse(folder)
    assert 'party "Party 1" has 1 distinct row' in problem
    assert "needs 10: " in problem
    assert "share_inputs = true" in problem
    folder = project(tmp_path, sizes=(20, 1), rewards="share_inputs = true")
    assert prepared(folder).parties[1].rows == 1


def test_every_other_party_counts_as_a_holder_of_a_file_unless_fewer_collude(tmp_path):
    model = 'kind = "sparse_gp"\ninducing_points = 12'
    sizes = (40, 40, 40, 20)
    # Twelve weights on three columns, in three files: 3 * 12 * 3 / 4 rows.
    (problem,) = refuse(project(tmp_path, sizes=sizes, model=model))
    assert 'party "Party 3" has 20 distinct row(s), and needs 27: 3 reward files' in problem
    assert "set colluding" in problem
    two = project(tmp_path, sizes=sizes, model=model, rewards="colluding = 2")
    assert prepared(two).configuration.rewards.colluding == 2
    with pytest.raises(ConfigurationError, match="rewards, colluding: 0 is not allowed"):
        prepared(project(tmp_path, sizes=sizes, model=model, rewards="colluding = 0"))


def test_a_category_without_a_shared_level_is_refused(tmp_path):
    folder = project(tmp_path, sizes=(9, 9))
    for i, level in enumerate(("m", "M")):
        write(tmp_path / f"p{i}.csv", table(9, i).set_column(2, "kind", pa.array([level] * 9)))
    assert (
        'no level occurs at two parties ("M" of party "Party 1", "m" of party "Party 0")'
        in refuse(folder)[0]
    )
