"""Five farms' tables, clean and as they come: the same data, written twice.

- Ash: commas and points, dates such as 2024-12-31; a copy of some of Oak's rows at its end.
- Elm: semicolons and decimal commas, dates such as 31.12.2024, "k.A." where something is missing.
- Fir: rain in inches under another name, temperature in Fahrenheit, "-" where something is missing.
- Oak: a free text, and "n.a." where something is missing.
- Yew: ten times the rows.
"""

import csv
from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np

from fairpool.tables.units import conversion

COLUMNS = ("plot_id", "sown", "rain_mm", "temp_c", "soil", "irrigated", "remark", "yield")
ROWS = {"Ash": 60, "Elm": 55, "Fir": 50, "Oak": 60, "Yew": 600}
COPIED = 12
"""So many of Oak's rows are also Ash's."""

REMARKS = ("late frost", "hail in June", "seed from the cooperative", "no remark", "sold early")


@dataclass(frozen=True)
class Row:
    plot_id: str
    sown: date
    rain_mm: float | None
    temp_c: float
    soil: str
    irrigated: str
    remark: str
    yield_: float

    def cells(self):
        return [
            self.plot_id,
            self.sown,
            self.rain_mm,
            self.temp_c,
            self.soil,
            self.irrigated,
            self.remark,
            self.yield_,
        ]


def farm_rows(seed=0):
    """Each farm's rows, with numbers that come through every notation and unit unharmed."""
    rng = np.random.default_rng(seed)
    rows = {}
    for name, count in ROWS.items():
        mean_rain = rng.uniform(560, 640)
        mean_temp = rng.uniform(8, 11)
        rows[name] = [_row(rng, name, number, mean_rain, mean_temp) for number in range(count)]
    copies = rows["Oak"][:COPIED]
    rows["Ash"] += [
        replace(row, plot_id=f"Ash-{len(rows['Ash']) + k}") for k, row in enumerate(copies)
    ]
    return rows


def _row(rng, name, number, mean_rain, mean_temp):
    # Whole hundredths of an inch and tenths of a degree Fahrenheit, so that both farms' files can
    # be exact.
    inches = round(float(rng.normal(mean_rain, 70)) / 25.4, 2)
    fahrenheit = round(float(rng.normal(mean_temp, 2)) * 1.8 + 32, 1)
    to_mm = conversion("inch", "mm")
    to_celsius = conversion("fahrenheit", "celsius")
    rain = inches * to_mm.factor + to_mm.offset
    temp = fahrenheit * to_celsius.factor + to_celsius.offset
    soil = str(rng.choice(["clay", "loam", "sand"]))
    irrigated = str(rng.choice(["no", "yes"]))
    sown = date(2023, 3, 1) + timedelta(days=int(rng.integers(0, 60)))
    harvest = 4 + rain / 200 + 0.3 * temp + 0.5 * (soil == "loam") + 0.4 * (irrigated == "yes")
    harvest += float(rng.normal(0, 0.3))
    is_missing = rng.random() < 0.05
    return Row(
        plot_id=f"{name}-{number}",
        sown=sown,
        rain_mm=None if is_missing else rain,
        temp_c=temp,
        soil=soil,
        irrigated=irrigated,
        remark=f"{rng.choice(REMARKS)}, {rng.integers(1, 10_000)}",
        yield_=round(harvest, 3),
    )


def write_clean_farm(folder):
    """Every farm's table as the collaboration would have it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in farm_rows().items():
        _write(folder / f"{name}.csv", COLUMNS, [_plain_cells(row) for row in rows])
    return folder


def write_farm(folder):
    """Every farm's table as it comes."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = farm_rows()
    _write(folder / "Ash.csv", COLUMNS, [_plain_cells(row) for row in rows["Ash"]])
    _write(
        folder / "Elm.csv",
        COLUMNS,
        [_german_cells(row) for row in rows["Elm"]],
        delimiter=";",
    )
    american = tuple("Niederschlag" if name == "rain_mm" else name for name in COLUMNS)
    _write(folder / "Fir.csv", american, [_american_cells(row) for row in rows["Fir"]])
    _write(folder / "Oak.csv", COLUMNS, [_plain_cells(row, "n.a.") for row in rows["Oak"]])
    (folder / "Yew").mkdir()
    for month, part in enumerate(np.array_split(np.arange(len(rows["Yew"])), 3), 1):
        cells = [_plain_cells(rows["Yew"][k]) for k in part]
        _write(folder / "Yew" / f"{month}.csv", COLUMNS, cells)
    return folder


def _plain_cells(row, missing=""):
    return [_text(cell, missing) for cell in row.cells()]


def _german_cells(row):
    cells = []
    for cell in row.cells():
        if isinstance(cell, date):
            cells.append(cell.strftime("%d.%m.%Y"))
        elif isinstance(cell, float):
            cells.append(repr(cell).replace(".", ","))
        else:
            cells.append(_text(cell, "k.A."))
    return cells


def _american_cells(row):
    inches = None if row.rain_mm is None else round(row.rain_mm / 25.4, 2)
    fahrenheit = round(row.temp_c * 1.8 + 32, 1)
    return [_text(cell, "-") for cell in replace(row, rain_mm=inches, temp_c=fahrenheit).cells()]


def _text(cell, missing):
    if cell is None:
        return missing
    if isinstance(cell, date):
        return cell.isoformat()
    return repr(cell) if isinstance(cell, float) else cell


def _write(file, names, rows, delimiter=","):
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
