import numpy as np

from fairpool.consortium.guessing.looks import look_at_source
from fairpool.consortium.guessing.same_columns import match_columns


def looks(folder, **tables):
    """Sources of these columns, by name: each a list of values."""
    seen = []
    for name, columns in tables.items():
        file = folder / f"{name}.csv"
        rows = zip(*columns.values(), strict=True)
        lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
        file.write_text("\n".join(lines) + "\n")
        seen.append(look_at_source(name, file.name, [file]))
    return seen


def rain(seed, factor=1.0):
    return np.random.default_rng(seed).normal(600, 80, 40) * factor


def ids(seed):
    return list(range(40))


def found(matches):
    return [(m.source, m.own, m.column, m.certain, m.own_unit) for m in matches]


def test_case_blanks_and_signs_are_certain(tmp_path):
    sources = looks(
        tmp_path,
        a={"soil ph": rain(0), "y": rain(1)},
        b={"Soil_pH": rain(2), "y": rain(3)},
        c={"Soil_pH": rain(4), "Y": rain(5)},
    )
    assert found(match_columns(sources)) == [
        ("a", "soil ph", "Soil_pH", True, ""),
        ("c", "Y", "y", True, ""),
    ]


def test_two_columns_of_one_source_are_never_joined(tmp_path):
    sources = looks(
        tmp_path,
        a={"rain": rain(0), "RAIN": rain(1)},
        b={"rain": rain(2), "y": rain(3, 13.0)},
    )
    assert found(match_columns(sources)) == []


def test_units_in_names_that_fit_the_numbers_are_certain(tmp_path):
    sources = looks(
        tmp_path,
        a={"rain_mm": rain(0)},
        b={"rain_mm": rain(1)},
        c={"rain_in": rain(2, 1 / 25.4)},
        d={"Rain (mm)": rain(3)},
    )
    assert found(match_columns(sources)) == [
        ("d", "Rain (mm)", "rain_mm", True, ""),
        ("c", "rain_in", "rain_mm", True, "inch"),
    ]


def test_units_in_names_that_do_not_fit_the_numbers_are_asked_about(tmp_path):
    sources = looks(
        tmp_path, a={"rain_mm": rain(0)}, b={"rain_mm": rain(1)}, c={"rain_in": rain(2)}
    )
    assert found(match_columns(sources)) == [("c", "rain_in", "rain_mm", False, "inch")]


def test_another_word_in_the_same_place_is_asked_about_with_the_unit(tmp_path):
    sources = looks(
        tmp_path,
        a={"rain_mm": rain(0), "y": rain(5)},
        b={"rain_mm": rain(1), "y": rain(6)},
        c={"Niederschlag": rain(2, 1 / 25.4), "y": rain(7)},
    )
    (match,) = match_columns(sources)
    assert found([match]) == [("c", "Niederschlag", "rain_mm", False, "inch")]
    assert match.why.startswith("same place, 0.0")
    assert match.why.endswith("times as large: inches?")


def test_a_word_that_begins_the_same_is_asked_about(tmp_path):
    sources = looks(
        tmp_path,
        a={"x": ids(0), "temperature": rain(0)},
        b={"x": ids(1), "temperature": rain(1)},
        c={"temp": rain(2), "x": ids(2)},
    )
    (match,) = match_columns(sources)
    assert found([match]) == [("c", "temp", "temperature", False, "")]
    assert match.why.startswith("nearly the same name, median ")


def test_other_content_in_the_same_place_is_another_column(tmp_path):
    sources = looks(
        tmp_path,
        a={"rain_mm": rain(0), "y": rain(5)},
        b={"rain_mm": rain(1), "y": rain(6)},
        c={"slope": rain(2, 1 / 7), "y": rain(7)},
    )
    assert match_columns(sources) == []


def test_levels_in_common(tmp_path):
    soils = ["clay", "sand"] * 20
    sources = looks(
        tmp_path,
        a={"soil": soils, "y": rain(5)},
        b={"soil": soils, "y": rain(6)},
        c={"Boden": soils, "y": rain(7)},
        d={"crop": ["oats", "rye"] * 20, "y": rain(8)},
    )
    assert found(match_columns(sources)) == [("c", "Boden", "soil", False, "")]


def test_of_two_sources_the_first_ones_names_are_kept(tmp_path):
    sources = looks(
        tmp_path, a={"rain": rain(0), "y": rain(5)}, b={"precip": rain(1), "y": rain(6)}
    )
    assert found(match_columns(sources)) == [("b", "precip", "rain", False, "")]
