"""Units of measurement, and how one becomes another: value * factor + offset.

There are libraries for that, such as pint. They compute with units, which nobody does here, and
bring a grammar, a registry and prefixes for any word: "min" is then a milli-inch or a minute, and a
misspelt unit some other one. A table that is read in a minute shows every unit that is accepted.
What depends on a substance is left out: a bushel has another mass for every crop, and mmol/L
another mg/dL for every molecule.
"""

import difflib
from dataclasses import dataclass
from fractions import Fraction

from fairpool.errors import shown


@dataclass(frozen=True)
class Conversion:
    """How numbers in one unit become numbers in another: value * factor + offset."""

    factor: float = 1.0
    offset: float = 0.0


INCH = Fraction(254, 10_000)
POUND = Fraction(45_359_237, 100_000_000)
GRAVITY = Fraction(980_665, 100_000)
GALLON = 231 * INCH**3
ACRE = 4840 * (36 * INCH) ** 2

Scale = tuple[Fraction | int, Fraction | int]
"""What one of a unit is in the kind's first unit, and what its zero is there."""


def _of(units: dict[str, Fraction | int]) -> dict[str, Scale]:
    """Units without an offset, by all names of each, which blanks separate."""
    table: dict[str, Scale] = {}
    for names, factor in units.items():
        for name in names.split():
            table[name] = (factor, 0)
    return table


def _parts(power: int) -> Fraction:
    return Fraction(1, 10**power)


KELVIN = Fraction(27_315, 100)
TEMPERATURES: dict[str, Scale] = {
    "kelvin": (1, 0),
    "K": (1, 0),
    "celsius": (1, KELVIN),
    "°C": (1, KELVIN),
    "degC": (1, KELVIN),
    "fahrenheit": (Fraction(5, 9), KELVIN - Fraction(160, 9)),
    "°F": (Fraction(5, 9), KELVIN - Fraction(160, 9)),
    "degF": (Fraction(5, 9), KELVIN - Fraction(160, 9)),
}

KINDS: dict[str, dict[str, Scale]] = {
    "length": _of(
        {
            "m metre meter": 1,
            "km": 1000,
            "dm": _parts(1),
            "cm": _parts(2),
            "mm": _parts(3),
            "um µm micrometre micrometer": _parts(6),
            "nm": _parts(9),
            "inch in inches": INCH,
            "foot ft feet": 12 * INCH,
            "yard yd": 36 * INCH,
            "mile mi miles": 63_360 * INCH,
            "nautical_mile nmi": 1852,
        }
    ),
    "area": _of(
        {
            "m2 m²": 1,
            "km2 km²": 10**6,
            "cm2 cm²": _parts(4),
            "mm2 mm²": _parts(6),
            "ha hectare hectares": 10**4,
            "are": 100,
            "acre acres": ACRE,
            "ft2 ft² sqft": (12 * INCH) ** 2,
            "mile2 mi2 mi²": (63_360 * INCH) ** 2,
        }
    ),
    "mass": _of(
        {
            "kg kilogram": 1,
            "g gram": _parts(3),
            "mg": _parts(6),
            "ug µg": _parts(9),
            "t tonne tonnes": 1000,
            "dt": 100,
            "lb pound pounds lbs": POUND,
            "oz ounce ounces": POUND / 16,
            "stone": 14 * POUND,
            "short_ton": 2000 * POUND,
            "long_ton": 2240 * POUND,
        }
    ),
    "volume": _of(
        {
            "m3 m³": 1,
            "l L litre liter": _parts(3),
            "dl dL": _parts(4),
            "cl cL": _parts(5),
            "ml mL cm3 cm³": _parts(6),
            "ul uL µl µL": _parts(9),
            "hl hL": _parts(1),
            "us_gallon": GALLON,
            "imperial_gallon": Fraction(454_609, 10**8),
            "us_fluid_ounce": GALLON / 128,
            "ft3 ft³": (12 * INCH) ** 3,
        }
    ),
    "temperature": TEMPERATURES,
    "pressure": _of(
        {
            "Pa pascal": 1,
            "hPa mbar": 100,
            "kPa": 1000,
            "MPa": 10**6,
            "bar": 10**5,
            "atm": 101_325,
            "mmHg": Fraction(133_322_387_415, 10**9),
            "inHg": Fraction(133_322_387_415, 10**9) * Fraction(254, 10),
            "psi": POUND * GRAVITY / INCH**2,
        }
    ),
    "speed": _of(
        {
            "m/s": 1,
            "km/h kmh": Fraction(10, 36),
            "mph mile/h": 63_360 * INCH / 3600,
            "knot knots kn": Fraction(1852, 3600),
            "ft/s": 12 * INCH,
        }
    ),
    "energy": _of(
        {
            "J joule": 1,
            "kJ": 1000,
            "MJ": 10**6,
            "GJ": 10**9,
            "Wh": 3600,
            "kWh": 3_600_000,
            "MWh": 3_600_000_000,
            "cal": Fraction(4184, 1000),
            "kcal": 4184,
            "BTU": Fraction(105_505_585_262, 10**8),
        }
    ),
    "power": _of(
        {
            "W watt": 1,
            "kW": 1000,
            "MW": 10**6,
            "hp": 550 * 12 * INCH * POUND * GRAVITY,
        }
    ),
    "time": _of(
        {
            "s second seconds": 1,
            "ms": _parts(3),
            "min minute minutes": 60,
            "h hour hours": 3600,
            "d day days": 86_400,
            "week weeks": 7 * 86_400,
        }
    ),
    "mass per area": _of(
        {
            "kg/m2 kg/m²": 1,
            "g/m2 g/m²": _parts(3),
            "kg/ha": _parts(4),
            "dt/ha": _parts(2),
            "t/ha": _parts(1),
            "lb/acre": POUND / ACRE,
            "short_ton/acre": 2000 * POUND / ACRE,
        }
    ),
    "volume per area": _of(
        {
            "l/m2 L/m2": 1,
            "l/ha L/ha": _parts(4),
            "m3/ha": _parts(1),
            "us_gallon/acre": 1000 * GALLON / ACRE,
        }
    ),
    "mass per volume": _of(
        {
            "kg/m3 kg/m³ g/l g/L mg/ml mg/mL": 1,
            "g/ml g/mL g/cm3 kg/l kg/L": 1000,
            "mg/l mg/L ug/ml µg/mL": _parts(3),
            "g/dl g/dL": 10,
            "mg/dl mg/dL": _parts(2),
            "ug/l ug/L µg/L ng/ml ng/mL": _parts(6),
            "ug/dl ug/dL µg/dL": _parts(5),
        }
    ),
    "amount per volume": _of(
        {
            "mol/l mol/L": 1,
            "mmol/l mmol/L": _parts(3),
            "umol/l umol/L µmol/L": _parts(6),
            "nmol/l nmol/L": _parts(9),
        }
    ),
    "share": _of(
        {
            "fraction": 1,
            "percent %": _parts(2),
            "permille ‰": _parts(3),
            "ppm": _parts(6),
            "ppb": _parts(9),
        }
    ),
    "angle": _of(
        {
            # Radians would need pi, which is no fraction; they convert to nothing else here.
            "degree degrees °": 1,
            "arcmin": Fraction(1, 60),
            "turn": 360,
        }
    ),
}
"""Every unit, by what it measures."""


def kind_of_unit(unit: str, like: str = "") -> str:
    """What a unit measures; a ValueError with the nearest unit if it is not known.

    Args:
        unit: Its name.
        like: Another unit, which probably measures the same; empty: none.
    """
    for kind, units in KINDS.items():
        if unit in units:
            return kind
    every = [name for units in KINDS.values() for name in units]
    for units in KINDS.values():
        if like in units:
            every = list(units)
    by_plain_name = {name.casefold(): name for name in every}
    near = difflib.get_close_matches(unit.casefold(), list(by_plain_name), n=1)
    if near:
        hint = f'did you mean "{by_plain_name[near[0]]}"?'
    else:
        hint = f"give one such as {', '.join(every[:8])} (there are units of {', '.join(KINDS)})"
    raise ValueError(f"{shown(unit)} is no unit that is known; {hint}")


def conversion(own: str, wanted: str) -> Conversion:
    """How numbers in a unit become numbers in another, exact but for the last rounding.

    >>> conversion("inch", "mm")
    Conversion(factor=25.4, offset=0.0)

    Raises:
        ValueError: A unit is not known, or they measure different things.
    """
    kind = kind_of_unit(own, like=wanted)
    kind_wanted = kind_of_unit(wanted)
    if kind != kind_wanted:
        others = ", ".join(list(KINDS[kind_wanted])[:8])
        raise ValueError(
            f'"{own}" measures {kind}, and "{wanted}" {kind_wanted}; give a unit such as {others}'
        )
    factor, zero = KINDS[kind][own]
    factor_wanted, zero_wanted = KINDS[kind][wanted]
    # In fractions, so that there and back again is one rounding and not four.
    ratio = Fraction(factor) / factor_wanted
    offset = (Fraction(zero) - zero_wanted) / factor_wanted
    return Conversion(float(ratio), float(offset))
