import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fairpool as fp

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
y = np.array([1.0, 0.0, 2.0])
COLUMNS = {"age": [1, 3, 5], "dose": [2.0, 4.0, 6.0], "outcome": [1.0, 0.0, 2.0]}


@pytest.mark.parametrize(
    "make", [pa.table, pd.DataFrame, pl.DataFrame], ids=["pyarrow", "pandas", "polars"]
)
def test_tables_come_from_anything_that_speaks_arrow(make):
    table = make(COLUMNS)
    by_name = fp.Party("a", table, "outcome")
    np.testing.assert_array_equal(by_name.X, X)
    np.testing.assert_array_equal(by_name.y, y)
    assert by_name.columns == ("age", "dose")
    inputs = {k: COLUMNS[k] for k in ("age", "dose")}
    labels = table["outcome"]
    by_column = fp.Party("a", make(inputs), labels)
    np.testing.assert_array_equal(by_column.y, y)


def test_a_party_keeps_its_own_copy_and_cannot_be_changed():
    mine = X.copy()
    party = fp.Party("a", mine, y)
    mine[0, 0] = 99
    assert party.X[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        party.X[0, 0] = 7
    with pytest.raises(AttributeError, match="cannot assign"):
        party.name = "b"


def test_lists_a_column_of_labels_and_an_empty_party_are_fine():
    assert len(fp.Party("a", [[1, 2], [3, 4]], [[5], [6]])) == 2
    assert repr(fp.Party("a", np.empty((0, 4)), [])) == "Party('a', 0 rows x 4 features)"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("", X, y), "name is ''"),
        (("  ", X, y), "name is '  '"),
        ((3, X, y), "name is 3"),
        (
            ("b", np.where(X == 4, np.nan, X), y),
            'party "b": X has nan in row 1, column 1, counting from 0',
        ),
        (
            ("b", np.where(X > 4, np.inf, X), y),
            r'party "b": X has inf in row 2, column 0 \(and 1 more\)',
        ),
        (("b", X, [1, np.nan, 2]), 'party "b": y has nan in row 1'),
        (("b", X, [1, 2, -np.inf]), 'party "b": y has -inf in row 2'),
        (
            ("b", pa.table({"age": [1.0, None, 3.0]}), y),
            'party "b": X has nan in row 1, column age',
        ),
        (("b", pa.table({"sex": ["f", "m", "f"]}), y), 'party "b": column "sex" has type string'),
        (
            ("b", pa.table(COLUMNS), "weight"),
            'party "b": no column "weight"; the table has age, dose, outcome',
        ),
        (("b", X, "outcome"), 'y is the column name "outcome", but X is not a table'),
        (("b", X[:, 0], y), 'party "b": X has 1 dimension'),
        (("b", X, X), 'party "b": y has 2 dimensions'),
        (("b", X, y[:2]), 'party "b": X has 3 rows but y has 2 labels'),
        (("b", [["x"]], [1]), 'party "b": X is not made of numbers'),
        (("b", X, y, 0.0), 'party "b": noise_variance 0 is not above 0'),
        (("b", X, y, -1.0), 'party "b": noise_variance -1 is not above 0'),
        (("b", X, y, [1.0, 2.0, np.nan]), 'party "b": noise_variance nan is not above 0'),
        (("b", X, y, [1.0, 2.0]), r'party "b": noise_variance has shape \(2,\)'),
    ],
)
def test_bad_parties_are_refused(arguments, text):
    with pytest.raises(ValueError, match=text):
        fp.Party(*arguments)


@pytest.mark.parametrize(
    ("parties", "text"),
    [
        ([], "there are no parties"),
        ([fp.Party("a", X, y), fp.Party("a", X, y)], '2 parties are named "a"'),
        (
            [fp.Party("a", X, y), fp.Party("b", X[:, :1], y)],
            'party "b" has 1 columns but party "a" has 2',
        ),
        ([fp.Party("a", X, y), X], "is not a Party; wrap each table"),
        (
            [
                fp.Party("a", pa.table(COLUMNS), "outcome"),
                fp.Party("b", pa.table(COLUMNS).select([1, 0, 2]), "outcome"),
            ],
            'party "b" has column "dose" where party "a" has "age"',
        ),
    ],
)
def test_parties_that_cannot_work_together_are_refused(parties, text):
    with pytest.raises(ValueError, match=text):
        fp.InformationGain(fp.BayesianLinearRegression(1.0), parties)


def test_a_pandas_index_is_no_feature():
    frame = pd.DataFrame(COLUMNS)
    for shuffled in (
        frame.iloc[[2, 0, 1]],
        frame.set_index(pd.Index(["x", "y", "z"])),
        frame[frame["age"] > 1],
    ):
        party = fp.Party("a", shuffled, "outcome")
        assert party.columns == ("age", "dose")
        np.testing.assert_array_equal(party.y, shuffled["outcome"])


def test_labels_may_be_a_frame_of_one_column():
    frame = pd.DataFrame(COLUMNS)
    np.testing.assert_array_equal(fp.Party("a", frame[["age", "dose"]], frame[["outcome"]]).y, y)
    with pytest.raises(ValueError, match="y is a table of 2 columns, needs one"):
        fp.Party("a", frame[["age"]], frame[["dose", "outcome"]])
    with pytest.raises(ValueError, match='two columns are named "a"'):
        fp.Party("a", pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"]), [1.0])


def test_columns_are_compared_with_whoever_names_them_and_remembered():
    model = fp.BayesianLinearRegression(1.0)
    frame = pd.DataFrame(COLUMNS)
    plain, named = fp.Party("plain", X, y), fp.Party("named", frame, "outcome")
    swapped = fp.Party("swapped", frame[["dose", "age", "outcome"]], "outcome")
    with pytest.raises(
        ValueError, match='party "swapped" has column "dose" where party "named" has "age"'
    ):
        fp.InformationGain(model, [plain, named, swapped])
    reward = fp.realise(
        fp.InformationGain(model, [plain, named]),
        [fp.InformationGain(model, [plain, named]).total] * 2,
        0,
    )[0]
    reward.predict(frame[["age", "dose"]])
    with pytest.raises(
        ValueError, match="have columns dose, age; the model needs age, dose, in order"
    ):
        reward.predict(frame[["dose", "age"]])


def test_a_noise_variance_stays_as_it_was_given():
    assert fp.Party("a", X, y).noise_variance is None
    assert fp.Party("a", X, y, 0.5).noise_variance == 0.5
    assert fp.Party("a", X, y, [0.1, 0.2, 0.3]).noise_variance.tolist() == [0.1, 0.2, 0.3]
