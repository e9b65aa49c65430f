"""Units that seem to differ: known conversions are named, and honest parties are left alone."""

import numpy as np
import pytest

from fairpool.consortium.guessing.places import Quartiles
from fairpool.consortium.guessing.units import suspect_units, unit_in_name


def places(*samples):
    return {f"p{k}": Quartiles.of(sample) for k, sample in enumerate(samples)}


def rain(rng, mean=600.0):
    return rng.normal(mean + rng.normal(0, 30), 90, 200)


def temperature(rng):
    return rng.normal(10 + rng.normal(0, 1), 3, 200)


def suspected(column, *samples, unit=""):
    return [(s.party, s.own) for s in suspect_units(column, places(*samples), unit=unit)]


@pytest.mark.parametrize("column", ["rain_mm", "Rain (mm)", "rain", "precipitation"])
def test_inches_among_millimetres(column):
    rng = np.random.default_rng(1)
    others = [rain(rng) for _ in range(4)]
    assert suspected(column, *others, rain(rng) / 25.4) == [("p4", "inch")]


def test_the_words_name_column_party_medians_and_unit():
    rng = np.random.default_rng(1)
    (suspicion,) = suspect_units("rain_mm", places(rain(rng), rain(rng), rain(rng) / 25.4))
    text = str(suspicion)
    assert text.startswith("rain_mm at p2: median 2")
    assert text.endswith(" Inches?")
    assert "; the others' " in text


@pytest.mark.parametrize("column", ["temp_c", "temp", "Temperature [degC]"])
def test_fahrenheit_among_celsius(column):
    rng = np.random.default_rng(2)
    others = [temperature(rng) for _ in range(4)]
    assert suspected(column, *others, temperature(rng) * 1.8 + 32) == [("p4", "fahrenheit")]


def test_kelvin_has_the_same_spread_and_is_told_from_fahrenheit():
    rng = np.random.default_rng(3)
    others = [temperature(rng) for _ in range(3)]
    assert suspected("temp_c", *others, temperature(rng) + 273.15) == [("p3", "kelvin")]


def test_pounds_need_a_column_that_says_kilograms():
    rng = np.random.default_rng(4)
    samples = [rng.normal(75, 10, 300) for _ in range(4)]
    samples[2] = samples[2] / 0.45359237
    assert suspected("weight_kg", *samples) == [("p2", "lb")]
    assert suspected("size", *samples, unit="kg") == [("p2", "lb")]
    assert suspected("size", *samples) == []


def test_two_with_the_same_mistake_do_not_hide_each_other():
    rng = np.random.default_rng(5)
    samples = [rain(rng), rain(rng), rain(rng), rain(rng) / 25.4, rain(rng) / 25.4]
    assert suspected("rain_mm", *samples) == [("p3", "inch"), ("p4", "inch")]


def test_two_parties_are_told_apart_by_the_unit_alone():
    rng = np.random.default_rng(6)
    samples = [rain(rng), rain(rng) / 25.4]
    assert suspected("rain_mm", *samples) == [("p1", "inch")]
    assert suspected("rain", *samples) == []


def test_without_a_conversion_that_fits_it_is_another_unit():
    rng = np.random.default_rng(7)
    samples = [rain(rng) for _ in range(4)] + [rain(rng) / 700]
    assert suspected("dose", *samples) == [("p4", "")]
    (suspicion,) = suspect_units("dose", places(*samples))
    assert suspicion.question == "Another unit?"


def test_what_cannot_be_judged_is_not():
    rng = np.random.default_rng(8)
    constant = np.full(50, 24.0)
    assert suspected("rain_mm", rain(rng), rain(rng), constant) == []
    assert suspected("rain_mm", rain(rng), rain(rng), np.array([23.0, 24.0, 25.0])) == []
    assert suspected("rain_mm", rain(rng)) == []
    assert suspected("rain_mm") == []


def daily_temperature(rng):
    return rng.normal(rng.normal(12, 8), rng.uniform(5, 10), rng.integers(20, 500))


def yearly_temperature(rng):
    return rng.normal(rng.normal(12, 8), rng.uniform(0.5, 1.5), rng.integers(20, 500))


def rain_of_a_climate(rng):
    mean = np.exp(rng.normal(6.5, 0.7))
    return mean * np.exp(rng.normal(0, rng.uniform(0.1, 0.4), rng.integers(20, 500)))


def income(rng):
    mean = np.exp(rng.normal(10, 1))
    return mean * np.exp(rng.normal(0, rng.uniform(0.5, 2), rng.integers(20, 500)))


def heavy_tail(rng):
    return rng.normal(0, 10) + rng.uniform(1, 5) * rng.standard_cauchy(rng.integers(20, 500))


def counts(rng):
    return rng.poisson(np.exp(rng.normal(2, 1)), rng.integers(20, 500)).astype(float)


HONEST = [
    ("temp_c", daily_temperature),
    ("temp", daily_temperature),
    ("temp_c", yearly_temperature),
    ("temp", yearly_temperature),
    ("rain_mm", rain_of_a_climate),
    ("rain", rain_of_a_climate),
    ("income", income),
    ("x", heavy_tail),
    ("visits", counts),
]


@pytest.mark.parametrize(
    ("column", "honest"), HONEST, ids=lambda case: getattr(case, "__name__", case)
)
def test_honest_parties_of_different_climates_are_left_alone(column, honest):
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(400):
        samples = [honest(rng) for _ in range(rng.integers(2, 8))]
        alarms += bool(suspected(column, *samples))
    assert alarms <= 4  # 1% of random collaborations


@pytest.mark.parametrize(
    ("name", "stem", "unit"),
    [
        ("rain_mm", "rain", "mm"),
        ("Rain (in)", "Rain", "inch"),
        ("temp [°F]", "temp", "fahrenheit"),
        ("T_min_c", "T_min", "celsius"),
        ("mm", "mm", ""),
        ("plan_b", "plan_b", ""),
        ("", "", ""),
        ("m", "m", ""),
    ],
)
def test_units_in_names(name, stem, unit):
    named = unit_in_name(name)
    assert (named.stem, named.unit) == (stem, unit)
