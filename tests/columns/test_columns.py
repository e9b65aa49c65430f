"""Columns as features: what each kind refuses and imputes, and what anybody could make up."""

from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpool.columns import (
    Bounds,
    CategoryColumn,
    DateColumn,
    Declared,
    NumberColumn,
    Rules,
    SeenColumn,
    SeenValues,
)
from fairpool.columns.date import share_of_year
from fairpool.errors import ConfigurationError
from fairpool.tables.moments import Moments

DAY = date(1970, 1, 1)


def encoded(column, values, kind=None):
    out = np.full((len(column.features), len(values)), 7.0)
    column.encode(pa.chunked_array([pa.array(values, kind)]), out)
    return out


def column_of(values, kind=None):
    return pa.chunked_array([pa.array(values, kind)])


def seen(*values, missing=0):
    """What a first look tells of numbers."""
    numbers = np.array(values, dtype=float)
    return SeenValues(
        moments=Moments.of(numbers[:, None]), sample=numbers, levels={}, missing=missing
    )


def counted(missing=0, **levels):
    """What a first look tells of levels."""
    return SeenValues(moments=Moments(), sample=np.zeros(0), levels=levels, missing=missing)


def test_the_scaling_of_a_declared_range_comes_from_nobodys_rows():
    declared = Declared(name="x", rules=Rules(bounds=Bounds(0.0, 12.0)))
    first = NumberColumn.fixed(declared, SeenColumn(parties=[seen(1, 2)], public=None))
    second = NumberColumn.fixed(declared, SeenColumn(parties=[seen(9, 11)], public=seen(5, 6)))
    assert first == second
    assert (first.mean, first.scale) == (6.0, 12 / 12**0.5)
    spread = encoded(first, first.made_up(np.linspace(0, 1, 10001)))
    assert spread.mean() == pytest.approx(0)
    assert spread.std() == pytest.approx(1, rel=1e-3)


def test_values_outside_are_clipped_or_are_reasons():
    bounds = Bounds(0.0, 10.0)
    clips = NumberColumn("x", 0.0, 1.0, rules=Rules(bounds=bounds, clips=True))
    assert encoded(clips, [-5.0, 4.0, 99.0]).tolist() == [[0.0, 4.0, 10.0]]
    assert clips.unusable(column_of([-5.0, 4.0, 99.0])) == {}
    refuses = NumberColumn("x", 0.0, 1.0, rules=Rules(bounds=bounds))
    assert refuses.unusable(column_of([-5.0, 4.0, None, 1e200])) == {
        0: "x: -5 is outside 0 .. 10",
        2: "x is missing",
        3: "x: 1e+200 is infinite or beyond 1e+100",
    }


def test_logarithms_need_positive_numbers():
    column = NumberColumn("x", 1.0, 2.0, rules=Rules(log=True))
    assert encoded(column, [np.e, np.e**3]).tolist() == [[0.0, pytest.approx(1.0)]]
    assert column.unusable(column_of([0.0, -1.0, 1.0])) == {
        0: "x: 0 has no logarithm",
        1: "x: -1 has no logarithm",
    }
    assert np.isnan(encoded(column, [0.0])).all()


def test_a_log_scale_comes_from_the_ends_of_the_range():
    rules = Rules(bounds=Bounds(1.0, np.e**2), log=True)
    declared = Declared(name="x", rules=rules)
    column = NumberColumn.fixed(declared, SeenColumn(parties=[seen(1)], public=None))
    assert (column.mean, column.scale) == (pytest.approx(1), pytest.approx(2 / 12**0.5))
    made_up = column.made_up(np.array([0.0, 0.5, 1.0])).to_pylist()
    assert made_up == pytest.approx([1.0, np.e, np.e**2])


def test_a_missing_number_is_the_median_and_one_more_feature_says_so():
    declared = Declared(name="x", rules=Rules(missing="impute"))
    parties = [seen(1, 2, 3, missing=2), seen(*[10] * 5)]
    column = NumberColumn.fixed(declared, SeenColumn(parties=parties, public=None))
    assert column.fill == pytest.approx(10, rel=0.05)  # rounded as means are
    assert column.features == ("x", "x is missing")
    values, indicator = encoded(column, [None, column.fill, 2.0])
    assert values[0] == values[1]
    assert indicator.tolist() == [1, 0, 0]
    assert column.unusable(column_of([None, 2.0])) == {}
    complete = SeenColumn(parties=[seen(1, 2, 3)], public=None)
    assert NumberColumn.fixed(declared, complete).features == ("x",)


def test_what_is_imputed_comes_from_public_data_alone():
    declared = Declared(name="x", rules=Rules(missing="impute"))
    parties = [seen(100, 200, 300, missing=2)]
    column = NumberColumn.fixed(declared, SeenColumn(parties=parties, public=seen(1, 2, 30)))
    assert column.fill == 2.0
    assert column.features == ("x",)  # that a party lacks values is nobody's business


def test_a_median_counts_every_partys_values_and_not_its_sample():
    large = SeenValues(
        moments=Moments(np.array([1000]), np.array([5.0]), np.array([0.0])),
        sample=np.array([5.0]),
        levels={},
        missing=0,
    )
    assert SeenColumn(parties=[seen(1, 1, 1), large], public=None).median() == 5.0


def test_nothing_can_be_imputed_where_nobody_has_a_value():
    nobody = SeenColumn(parties=[seen(missing=3)], public=None)
    with pytest.raises(ConfigurationError, match='column "x": nobody has a value'):
        NumberColumn.fixed(Declared(name="x", rules=Rules(missing="impute")), nobody)
    levels = Declared(name="k", rules=Rules(missing="impute"), levels=("a",))
    with pytest.raises(ConfigurationError, match='column "k": nobody has a level'):
        CategoryColumn.fixed(levels, SeenColumn(parties=[counted(missing=3)], public=None))


def test_a_missing_level_is_the_most_frequent_one():
    declared = Declared(name="k", rules=Rules(missing="impute"))
    parties = [counted(a=5, b=1, only=9, missing=1), counted(a=1, b=7)]
    column = CategoryColumn.fixed(declared, SeenColumn(parties=parties, public=None))
    assert (column.levels, column.fill, column.others) == (("a", "b"), "b", True)
    assert encoded(column, [None, "a", "?"]).T.tolist() == [[0, 1, 1], [1, 0, 0], [0, 0, 0]]


def test_declared_levels_know_no_others():
    closed = CategoryColumn("k", ("a", "b"))
    assert closed.unusable(column_of(["a", "c", None])) == {
        1: "k: 'c' is not among the levels that are known",
        2: "k is missing",
    }
    learned = CategoryColumn("k", ("a", "b"), others=True)
    assert learned.unusable(column_of(["a", "c"])) == {}


@given(st.dates(date(1, 1, 1), date(9999, 12, 31)))
def test_a_day_of_the_year_is_a_point_on_a_circle(day):
    days = float((day - DAY).days)
    (share,) = share_of_year(np.array([days]))
    start = date(day.year, 1, 1)
    length = 366 if (start + timedelta(days=365)).year == day.year else 365
    assert share == (day - start).days / length
    column = DateColumn("t", 0.0, 365.2425)
    years, sine, cosine = encoded(column, [days])[:, 0]
    assert years == pytest.approx(days / 365.2425)
    assert sine**2 + cosine**2 == pytest.approx(1)


def test_new_years_eve_is_next_to_new_years_day():
    column = DateColumn("t", 0.0, 1.0)
    eve, day = (float((d - DAY).days) for d in (date(2023, 12, 31), date(2024, 1, 1)))
    features = encoded(column, [eve, day, None])
    assert np.abs(features[1:, 0] - features[1:, 1]).max() < 0.02
    assert np.isnan(features[:, 2]).all()


def test_dates_are_told_as_dates():
    bounds = Bounds(0.0, 365.0)
    column = DateColumn("t", 0.0, 1.0, rules=Rules(bounds=bounds))
    assert column.unusable(column_of([400.0, 3.0, 1e9])) == {
        0: "t: 1971-02-05 is outside 1970-01-01 .. 1971-01-01",
        2: "t: 1000000000 days after 1970 is outside 1970-01-01 .. 1971-01-01",
    }
    assert np.isfinite(encoded(column, [1e9, -1e9])).all()


def test_tokens_are_missing_values_of_their_column_alone():
    numbers = Rules(tokens=("999", "-1"))
    assert numbers.without_tokens(column_of([999.0, 1.0, -1.0, None])).to_pylist() == [
        None,
        1.0,
        None,
        None,
    ]
    texts = Rules(tokens=("?",))
    assert texts.without_tokens(column_of(["?", "a"])).to_pylist() == [None, "a"]


@pytest.mark.parametrize(
    "column",
    [
        NumberColumn("x", 0.0, 1.0, rules=Rules(bounds=Bounds(1.0, 5.0), log=True)),
        NumberColumn(
            "x",
            0.0,
            1.0,
            rules=Rules(bounds=Bounds(1.0, 5.0), missing="impute"),
            fill=2.0,
            indicates=True,
        ),
        CategoryColumn("k", ("a", "b", "c")),
        CategoryColumn("k", ("a", "b"), rules=Rules(missing="impute"), fill="a", indicates=True),
        DateColumn("t", 0.0, 1.0, rules=Rules(bounds=Bounds(0.0, 1000.0))),
        DateColumn(
            "t",
            0.0,
            1.0,
            rules=Rules(bounds=Bounds(0.0, 9.0), missing="impute"),
            fill=1.0,
            indicates=True,
        ),
    ],
)
def test_what_is_made_up_can_be_used_and_uses_every_feature(column):
    made_up = pa.chunked_array([column.made_up(np.linspace(0, 1, 101))])
    assert column.unusable(made_up) == {}
    features = encoded(column, made_up)
    assert np.isfinite(features).all()
    assert (features.std(axis=1) > 0).all()


def test_nobody_can_make_up_a_column_without_a_range():
    share = np.linspace(0, 1, 5)
    assert NumberColumn("x", 0.0, 1.0).made_up(share) is None
    assert DateColumn("t", 0.0, 1.0).made_up(share) is None
    assert CategoryColumn("k", ()).made_up(share) is None
