"""Dates as days: as Python reads them, and never by guessing."""

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpool.tables.dates import FORMS, ISO, days_in, days_of_type, form_of, narrowed

EPOCH = datetime(1970, 1, 1)
FORMATS = [
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%d.%m.%y",
    "%d %b %Y",
    "%B %d, %Y",
    "%Y%m%d",
    "%Y-%m-%dT%H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%m %Y",
]


def column(*values):
    return pa.chunked_array([pa.array(values, pa.string())])


def in_days(moment):
    return (moment - EPOCH) / timedelta(days=1)


@pytest.mark.parametrize("form", FORMATS)
@given(st.datetimes(datetime(1970, 1, 1), datetime(2068, 12, 31)))
def test_any_format_reads_what_strftime_writes(form, moment):
    text = moment.strftime(form)
    days = form_of(form).days(column(text, None))
    assert days.fits.tolist() == [True, False]
    assert days.values[0] == pytest.approx(in_days(datetime.strptime(text, form)), abs=1e-9)


@given(
    st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)),
    st.sampled_from([None, 0, 120, -330, 845]),
    st.sampled_from(["T", " "]),
)
def test_iso_dates_with_times_and_zones_are_read_as_python_reads_them(moment, minutes, between):
    if minutes is not None:
        moment = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    text = moment.isoformat(sep=between)
    [found] = days_in(column(text), ISO).values
    if minutes is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    assert found == pytest.approx(in_days(moment), abs=1e-9)


@pytest.mark.parametrize(
    "text",
    [
        "2023-02-29",
        "2024-13-01",
        "2024-00-10",
        "2024-01-32",
        "2024-01-01 24:00",
        "2024-01-01T10:61",
        "2024-01-01+25:00",
        "0000-01-01",
        "24-01-01",
        "31 Foo 2024",
        "tomorrow",
        "20240101x",
        "١٢/١٠/٢٠٢٤",
        "",
    ],
)
def test_what_is_no_date_fits_no_form(text):
    for form in FORMS:
        assert not form.days(column(text)).fits.any(), form


def test_day_and_month_are_told_apart_by_any_value_of_the_column():
    assert [form.format for form in narrowed(FORMS, column("1.2.2024", "3.4.2024"))] == [
        "%d.%m.%Y",
        "%m.%d.%Y",
    ]
    for decisive, expected in (("31/12/2024", "%d/%m/%Y"), ("12/31/2024", "%m/%d/%Y")):
        forms = narrowed(FORMS, column("1/2/2024", None, "nonsense", decisive))
        assert [form.format for form in forms] == [expected]


def test_of_a_column_that_contradicts_itself_the_first_order_remains():
    dates = column("1/2/2024", "31/12/2024", "12/31/2024")
    [form] = narrowed(FORMS, dates)
    assert form.days(dates).fits.tolist() == [True, True, False]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_typed_columns_are_days_as_well(unit):
    moments = [datetime(1969, 12, 31, 18), None, datetime(2024, 2, 29, 6, 30)]
    found = days_of_type(pa.chunked_array([pa.array(moments, pa.timestamp(unit))]))
    assert found.to_pylist() == [-0.25, None, in_days(moments[2])]
    with_zone = pa.array(moments, pa.timestamp(unit, "Europe/Berlin"))
    assert days_of_type(pa.chunked_array([with_zone])).to_pylist() == found.to_pylist()


def test_typed_dates_are_whole_days():
    dates = [datetime(1969, 12, 31).date(), None, datetime(2024, 2, 29).date()]
    for kind in (pa.date32(), pa.date64()):
        found = days_of_type(pa.chunked_array([pa.array(dates, kind)]))
        assert found.to_pylist() == [-1.0, None, 19782.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%d.%m.%Q", "has '%Q'; a date format has %Y, %y, %m"),
        ("%d.%m", "needs a year and a month"),
        ("%Y-%m-%d %m", "has a part twice"),
        ("%Y %y %m", "needs a year and a month"),
        ("%m %b %Y", "has the month twice"),
        ("%", "has '%'; a date format has"),
        ("%Y%m" + "x" * 80, "is too long for a date format"),
    ],
)
def test_formats_that_are_none_are_refused(text, message):
    with pytest.raises(ValueError, match=r"format|part|month") as caught:
        form_of(text)
    assert message in str(caught.value)


def test_a_format_is_no_regular_expression():
    form = form_of("%Y.*%m(+)%d")
    assert form.days(column("2024.*02(+)29", "2024-02-29")).fits.tolist() == [True, False]


def test_missing_values_stay_missing():
    days = days_in(column(None, "2024-01-01"), ISO)
    assert days.fits.tolist() == [False, True]
    np.testing.assert_array_equal(days.values, [0, 19723])
