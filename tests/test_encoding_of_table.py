"""`TableEncoding.of_table`: how tables become numbers, fixed by one that everybody may know."""

import datetime
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fairpool as fp
from fairpool.targets import ClassTarget

PUBLIC = pa.table(
    {
        "id": ["r1", "r2", "r3", "r4"],
        "age": [20, 30, None, 40],
        "smokes": [True, False, False, True],
        "ward": pa.array(["east", "west", "east", "north"]).dictionary_encode(),
        "since": [datetime.date(2020, month, 1) for month in (1, 4, 7, 10)],
        "outcome": [1.0, 2.0, 3.0, 6.0],
    }
)


def test_scaling_and_levels_are_those_of_the_table():
    encoding = fp.TableEncoding.of_table(PUBLIC, "outcome", ids=["id"])
    assert encoding.features == (
        "age",
        "smokes=false",
        "smokes=true",
        "ward=east",
        "ward=north",
        "ward=west",
        "since (years)",
        "since (season, sin)",
        "since (season, cos)",
    )
    assert encoding.ids == ("id",)
    age, *_ = encoding.columns
    assert (age.mean, age.scale) == pytest.approx((30, np.std([20, 30, 40])))
    assert (encoding.target.mean, encoding.target.scale) == pytest.approx((3, np.std([1, 2, 3, 6])))
    others = encoding.with_days(PUBLIC.set_column(1, "age", pa.array([50, 30, 30, 40])))
    X = encoding.encode(others)
    np.testing.assert_allclose(X[:, 0], (np.array([50, 30, 30, 40]) - age.mean) / age.scale)
    np.testing.assert_array_equal(X[:, 1:3], [[0, 1], [1, 0], [1, 0], [0, 1]])
    np.testing.assert_array_equal(X[:, 3:6], [[1, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize("library", [pd, pl])
def test_any_table_will_do(library):
    table = library.DataFrame({"x": [1.0, 3.0], "kind": ["a", "b"], "y": [1.0, 2.0]})
    assert fp.TableEncoding.of_table(table, "y").features == ("x", "kind=a", "kind=b")


def test_texts_are_classes():
    table = pa.table({"x": [1.0, 2.0, 5.0], "kind": ["b", "a", "b"]})
    encoding = fp.TableEncoding.of_table(table, "kind")
    assert encoding.target.levels == ("a", "b")
    np.testing.assert_array_equal(encoding.encode_target(table), [1, 0, 1])


@pytest.mark.parametrize(
    ("table", "target", "words"),
    [
        ({"x": [1.0], "y": [1.0]}, "z", "the table has no column 'z'"),
        ({"y": [1.0, 2.0]}, "y", "no column besides 'y'; there is no input"),
        ({"x": [[1.0], [2.0]], "y": [1.0, 2.0]}, "y", r"column 'x' has type list.*leave it out"),
        ({"x": [1.0, 2.0], "y": [[1.0], [2.0]]}, "y", r"the target 'y' has type list.*as texts"),
        ({"x": [1.0, 2.0], "y": [3.0, 3.0]}, "y", "the same value everywhere"),
        ({"x": [1.0, 2.0], "y": ["a", "a"]}, "y", r"has 1 class\(es\); it needs 2"),
    ],
)
def test_what_cannot_be_encoded_is_refused(table, target, words):
    with pytest.raises(fp.FairpoolError, match=words):
        fp.TableEncoding.of_table(pa.table(table), target)


def two_parties(encoding, table):
    parties = []
    for name, own in (("north", table.slice(0, 12)), ("south", table.slice(12))):
        parties.append(fp.Party(name, encoding.encode(own), encoding.encode_target(own)))
    return parties


def a_table(rng, rows=30):
    age = rng.uniform(20, 80, rows)
    ward = rng.choice(["east", "west"], rows)
    y = 100 + 0.5 * age + 10 * (ward == "west") + rng.normal(0, 1, rows)
    return pa.table({"age": age, "ward": ward, "y": y})


def test_a_reward_with_an_encoding_predicts_tables_and_is_saved_with_it(tmp_path):
    rng = np.random.default_rng(0)
    public, table = a_table(rng), a_table(rng)
    encoding = fp.TableEncoding.of_table(public, "y")
    model = fp.BayesianLinearRegression(noise_variance=0.01)
    result = fp.collaborate(two_parties(encoding, table), model, rho="welfare")
    reward = result.models["north"].with_encoding(encoding)
    mean, variance = reward.predict_table(public)
    assert np.abs(mean - public["y"].to_numpy()).max() < 5  # of labels from 110 to 150
    reward.save(tmp_path / "north.safetensors")
    again = fp.load_reward(tmp_path / "north.safetensors")
    np.testing.assert_array_equal(again.predict_table(public), [mean, variance])


def test_an_encoding_of_other_columns_is_refused():
    rng = np.random.default_rng(0)
    table = a_table(rng)
    encoding = fp.TableEncoding.of_table(table, "y")
    model = fp.BayesianLinearRegression(noise_variance=0.01)
    reward = fp.collaborate(two_parties(encoding, table), model, rng=0).models[0]
    fewer = fp.TableEncoding.of_table(table.drop_columns(["ward"]), "y")
    with pytest.raises(fp.FairpoolError, match=r'makes 1 input\(s\).*reward of "north" needs 3'):
        reward.with_encoding(fewer)
    of_classes = replace(encoding, target=ClassTarget(name="k", levels=("a", "b")))
    with pytest.raises(fp.FairpoolError, match=r"is for 2 class\(es\), the reward of .* for 1"):
        reward.with_encoding(of_classes)
