"""Units: exact, there and back, and refused where they do not fit."""

import pytest

from fairpool.tables.units import KINDS, Conversion, conversion


@pytest.mark.parametrize(
    ("own", "wanted", "value", "expected"),
    [
        ("inch", "mm", 1.0, 25.4),
        ("fahrenheit", "celsius", 212.0, 100.0),
        ("°F", "K", 32.0, 273.15),
        ("celsius", "fahrenheit", -40.0, -40.0),
        ("mile", "km", 1.0, 1.609344),
        ("acre", "ha", 1.0, 0.40468564224),
        ("lb", "kg", 1.0, 0.45359237),
        ("us_gallon", "l", 1.0, 3.785411784),
        ("psi", "kPa", 1.0, 6.894757293168361),
        ("mph", "km/h", 1.0, 1.609344),
        ("kWh", "MJ", 1.0, 3.6),
        ("t/ha", "kg/m2", 10.0, 1.0),
        ("lb/acre", "kg/ha", 1.0, 1.1208511561944561),
        ("percent", "fraction", 5.0, 0.05),
        ("mg/dL", "g/L", 100.0, 1.0),
        ("hPa", "mbar", 1013.0, 1013.0),
    ],
)
def test_known_conversions(own, wanted, value, expected):
    found = conversion(own, wanted)
    assert value * found.factor + found.offset == pytest.approx(expected, rel=1e-14)


def test_every_unit_converts_there_and_back():
    for units in KINDS.values():
        for own in units:
            for wanted in units:
                there = conversion(own, wanted)
                back = conversion(wanted, own)
                value = (7.25 * there.factor + there.offset) * back.factor + back.offset
                assert value == pytest.approx(7.25, rel=1e-11, abs=1e-11)
            assert conversion(own, own) == Conversion()


def test_no_unit_means_two_things():
    every = [name for units in KINDS.values() for name in units]
    assert len(every) == len({*every})


@pytest.mark.parametrize(
    ("own", "wanted", "message"),
    [
        ("inhc", "mm", "'inhc' is no unit that is known; did you mean \"inch\"?"),
        ("Fahrenheit", "celsius", 'did you mean "fahrenheit"?'),
        ("bu/acre", "t/ha", "'bu/acre' is no unit that is known"),
        ("zorkmid", "mm", "there are units of length, area, mass"),
        (
            "fahrenheit",
            "mm",
            '"fahrenheit" measures temperature, and "mm" length; give a unit such',
        ),
        ("mmol/L", "mg/dL", '"mmol/L" measures amount per volume, and "mg/dL" mass per volume'),
    ],
)
def test_other_units_are_refused_with_what_was_meant(own, wanted, message):
    with pytest.raises(ValueError, match="unit") as caught:
        conversion(own, wanted)
    assert message in str(caught.value)
