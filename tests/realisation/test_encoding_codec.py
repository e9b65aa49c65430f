"""How tables become numbers, in reward files: round trips of every kind, and hostile files."""

import json
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairpool as fp
from fairpool.columns import Bounds, CategoryColumn, DateColumn, NumberColumn, Rules
from fairpool.consortium.prediction import predict_file
from fairpool.encoding import TableEncoding
from fairpool.errors import RewardFileError
from fairpool.realisation.encoding_codec import decode_encoding, encode_encoding
from fairpool.realisation.reward_file import decode_reward, reward_bytes
from fairpool.targets import LogNumberTarget, NumberTarget
from tests.support.projects import write

NUMBER = {"name": "x", "mean": 0.0, "scale": 1.0}
DATE = {"name": "t", "kind": "date", "mean": 0.0, "scale": 1.0}
LEVELS = {"name": "k", "levels": ["a", "b"]}
TARGET = {"target": "y", "mean": 0.0, "scale": 1.0}

numbers = st.floats(-100, 100)
scales = st.floats(1, 1e3)
texts = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=6)


@st.composite
def rules(draw, *, log=False, imputes=False, tokens=()):
    bounds = None
    if draw(st.booleans()):
        lowest = draw(st.floats(1e-3, 1e3) if log else numbers)
        bounds = Bounds(lowest, lowest + draw(st.floats(1, 1e3)))
    return Rules(
        tokens=tokens,
        bounds=bounds,
        clips=bounds is not None and draw(st.booleans()),
        log=log,
        missing="impute" if imputes else "error",
    )


@st.composite
def number_columns(draw, name, *, kind=NumberColumn):
    imputes = draw(st.booleans())
    log = kind is NumberColumn and draw(st.booleans())
    own = draw(rules(log=log, imputes=imputes, tokens=draw(st.sampled_from([(), ("-999",)]))))
    fill = None
    if imputes:
        fill = own.bounds.lowest if own.bounds is not None else draw(st.floats(1e-3, 1e3))
    indicates = imputes and draw(st.booleans())
    scale = draw(scales) if kind is NumberColumn else draw(st.floats(1e2, 1e4))
    return kind(name, draw(numbers), scale, rules=own, fill=fill, indicates=indicates)


@st.composite
def category_columns(draw, name):
    levels = tuple(draw(st.lists(texts, min_size=1, max_size=4, unique=True)))
    imputes = draw(st.booleans())
    return CategoryColumn(
        name,
        levels,
        others=draw(st.booleans()),
        rules=Rules(tokens=("?",), missing="impute" if imputes else "error"),
        fill=levels[0] if imputes else None,
        indicates=imputes and draw(st.booleans()),
    )


@st.composite
def targets(draw):
    if draw(st.booleans()):
        own = draw(rules(log=True))
        return LogNumberTarget(name="y", mean=draw(st.floats(-5, 5)), scale=0.5, rules=own)
    return NumberTarget("y", draw(numbers), draw(scales), rules=draw(rules()))


@st.composite
def encodings(draw):
    columns = (
        draw(number_columns("x")),
        draw(category_columns("k")),
        draw(number_columns("t", kind=DateColumn)),
    )
    ids = draw(st.sampled_from([(), ("plot",)]))
    return TableEncoding(columns, draw(targets()), ids)


@given(encodings())
def test_every_encoding_comes_back_as_it_was(encoding):
    description = json.loads(json.dumps(encode_encoding(encoding)))
    assert decode_encoding(description) == encoding


def test_what_was_there_before_is_stored_as_before():
    encoding = TableEncoding(
        (NumberColumn("x", 1.0, 2.0), CategoryColumn("k", ("a",))), NumberTarget("y", 3.0, 4.0)
    )
    assert encode_encoding(encoding) == {
        "columns": [{"name": "x", "mean": 1.0, "scale": 2.0}, {"name": "k", "levels": ["a"]}],
        "target": "y",
        "mean": 3.0,
        "scale": 4.0,
    }


def reward_with(encoding):
    """A linear model of the encoding's features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, len(encoding.features)))
    parties = [fp.Party("a", X[:15], X[:15, 0]), fp.Party("b", X[15:], X[15:, 0])]
    game = fp.InformationGain(fp.BayesianLinearRegression(0.1), parties)
    reward = fp.realise(game, [game.total] * 2)[0]
    return replace(reward, encoding=encoding, exposure=None)


REASONS = ("is missing", "is outside", "is not among", "has no logarithm")
ROWS = pa.table(
    {
        "plot": ["007", "=1+1", "c", "d"],
        "x": [1.5, None, -999.0, 40.0],
        "k": ["a", "?", None, "zzz"],
        "t": pa.array([0, 400 * 86400, None, 12345 * 86400 + 43200], pa.timestamp("s")),
    }
)


@settings(max_examples=15, deadline=None)
@given(encoding=encodings(), suffix=st.sampled_from([".csv", ".parquet"]))
def test_a_file_predicts_what_its_model_does(tmp_path_factory, encoding, suffix):
    """Written, read, and used on a table with all that can be wrong with single values."""
    folder = tmp_path_factory.mktemp("round-trip")
    reward = reward_with(encoding)
    (folder / "reward").write_bytes(reward_bytes(reward, share_inputs=True))
    write(folder / f"data{suffix}", ROWS)
    predictions = predict_file(folder / "reward", folder / f"data{suffix}")
    usable = [row for row in range(4) if row not in encoding.unusable(clean(encoding))]
    X = encoding.encode(clean(encoding))[usable]
    expected = np.column_stack(encoding.target.predictions(*reward.predict(X)))
    first = len(encoding.ids)
    columns = slice(first, first + 4)
    got = [row[columns] for k, row in enumerate(predictions.rows) if k in usable]
    np.testing.assert_allclose(np.array(got).reshape(-1, 4), expected, rtol=1e-12)
    assert [row[0] for row in predictions.rows] == ROWS["plot"].to_pylist() or not encoding.ids
    for k, row in enumerate(predictions.rows):
        if k not in usable:
            assert row[columns] == [None] * 4
            assert any(reason in row[-1] for reason in REASONS)


def clean(encoding):
    """The table as it is after reading."""
    table = {}
    for name in ("x", "k", "t"):
        table[name] = encoding.rules[name].without_tokens(encoding.with_days(ROWS)[name])
    return pa.table(table)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (7, "7 is no column"),
        ({**NUMBER, "kind": "melody"}, "no column of kind 'melody' is known"),
        ({**NUMBER, "surprise": 1}, "a column has the unknown entry 'surprise'"),
        ({**NUMBER, "range": [1]}, "[1] is not a range"),
        ({**NUMBER, "range": [2, 1]}, "the range 2 .. 1 is empty"),
        ({**NUMBER, "range": [0, 1e300]}, "range 1e+300 is outside -1e+100 .. 1e+100"),
        ({**NUMBER, "range": ["a", "b"]}, "range 'a' is not a finite number"),
        ({**NUMBER, "range": [0, 1], "outside": "keep"}, "outside 'keep' is not known"),
        ({**NUMBER, "outside": "clip"}, "a column is clipped to no range"),
        ({**NUMBER, "transform": "sqrt"}, "transform 'sqrt' is not known"),
        ({**NUMBER, "transform": "log", "range": [0, 1]}, "the range 0 .. 1 has no logarithm"),
        ({**NUMBER, "tokens": "999"}, "'999' is not a list of at most 1000 values"),
        ({**NUMBER, "tokens": ["n.a."]}, "'n.a.' stands for a missing number, and is none"),
        ({**NUMBER, "tokens": [9]}, "9 is not a name"),
        ({**NUMBER, "fill": "x"}, "fill 'x' is not a finite number"),
        ({**NUMBER, "fill": 9, "range": [0, 1]}, "missing values are taken to be 9, which is out"),
        ({**NUMBER, "fill": 0, "transform": "log"}, "taken to be 0, which is out of range"),
        ({**NUMBER, "indicator": True}, "tells what is missing, though nothing may be"),
        ({**NUMBER, "fill": 1, "indicator": 1}, "indicator must be true, or not be there"),
        ({**LEVELS, "levels": "ab"}, "'ab' are no levels"),
        ({**LEVELS, "levels": ["a", "a"]}, "a level is listed twice"),
        ({**LEVELS, "fill": "c"}, "missing values are taken to be 'c', which is no level"),
        ({**LEVELS, "others": "yes"}, "others must be true, or not be there"),
        ({**LEVELS, "range": [0, 1]}, "a column has the unknown entry 'range'"),
        ({**DATE, "mean": 1e9}, "mean 1000000000.0 is outside -1e+07 .. 1e+07"),
        ({**DATE, "scale": 0}, "scale 0 is outside"),
        ({**DATE, "transform": "log"}, "a column has the unknown entry 'transform'"),
        ({"kind": "date", "name": "t"}, "'mean'"),
    ],
)
def test_a_column_of_a_hostile_file_is_refused(column, said):
    with pytest.raises((RewardFileError, KeyError)) as caught:
        decode_encoding({"columns": [column], **TARGET})
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"ids": "plot"}, "'plot' are no columns"),
        ({"ids": [1]}, "1 is not a name"),
        ({"ids": ["x"]}, "it has two columns 'x'"),
        ({"columns": [NUMBER, NUMBER]}, "it has two columns 'x'"),
        ({"transform": "log", "mean": 1e9}, "mean 1000000000.0 is outside -230.259 .. 230.259"),
        ({"transform": "log", "scale": 1e9}, "scale 1000000000.0 is outside"),
        ({"range": [0, 1], "transform": "log"}, "the range 0 .. 1 has no logarithm"),
    ],
)
def test_an_encoding_of_a_hostile_file_is_refused(entries, said):
    with pytest.raises(RewardFileError, match=re.escape(said)):
        decode_encoding({"columns": [NUMBER], **TARGET, **entries})


def test_a_hostile_file_is_refused_as_a_whole():
    encoding = TableEncoding((NumberColumn("x", 0.0, 1.0),), NumberTarget("y", 0.0, 1.0))
    column = NumberColumn("x", 0.0, 1.0, rules=Rules(bounds=Bounds(2.0, 1.0)))
    content = reward_bytes(
        replace(reward_with(encoding), encoding=replace(encoding, columns=(column,))),
        share_inputs=True,
    )
    with pytest.raises(
        RewardFileError, match=r"a file: not a usable reward file: the range 2 .. 1"
    ):
        decode_reward(content, "a file")
