"""`fairpool init --from` proposes classes, in a configuration that passes `fairpool check`."""

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from fairpool.consortium.class_example import class_example_files
from fairpool.consortium.from_folder import configure_folder
from fairpool.consortium.guessing.classes import propose_classes
from fairpool.consortium.guessing.kinds import KindGuess
from fairpool.consortium.guessing.looks import ColumnLook
from tests.classes.projects import LEVELS, table
from tests.support.projects import fairpool, write


def folder_of(folder: Path, tables: dict[str, pa.Table], ending: str = "csv") -> Path:
    for name, content in tables.items():
        write(folder / f"{name}.{ending}", content)
    return folder


def three_parties() -> dict[str, pa.Table]:
    return {name: table(80, i) for i, name in enumerate(("Ash", "Elm", "Oak"))}


def target_of(folder: Path) -> Any:
    return tomllib.loads((folder / "collaboration.toml").read_text(encoding="utf-8"))["target"]


def passes(folder: Path) -> None:
    checked = fairpool("check", folder, "--json")
    assert checked.returncode == 0, checked.stdout
    assert json.loads(checked.stdout)["features"]


def rows_of(content: pa.Table, level: str, count: int) -> pa.Table:
    """A table with so many rows of one class."""
    rows = content.to_pylist()
    of_level = [row for row in rows if row["zustand"] == level]
    others = [row for row in rows if row["zustand"] != level]
    return pa.Table.from_pylist(others + of_level[:count])


def test_text_labels_are_classes_and_their_levels_are_listed(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "tables", three_parties())
    done = fairpool("init", "--from", folder, "--target", "zustand")
    assert done.returncode == 0, done.stderr
    assert target_of(folder) == {
        "column": "zustand",
        "kind": "classes",
        "levels": sorted(LEVELS),
    }
    text = (folder / "collaboration.toml").read_text()
    assert "# zustand: classes, since it is text with 3 different values in 240 rows." in text
    assert "inducing_points = 13" in text  # 3 * 13 weights * 3 classes * 2 files / 3 <= 80 rows
    passes(folder)


def test_the_class_example_is_recognised_by_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    for name, content in class_example_files().items():
        if name.endswith(".csv"):
            (folder / name).write_text(content)
    written = configure_folder(folder)
    assert written.target == "diagnosis"
    assert target_of(folder)["levels"] == ["benign", "malignant"]
    passes(folder)


def test_accents_written_in_two_ways_are_one_class(tmp_path: Path) -> None:
    tables = three_parties() | {"Elm": table(80, 1, ("gesund", "mu\u0308de", "krank"))}
    folder = folder_of(tmp_path / "tables", tables)
    configure_folder(folder, target="zustand")
    assert target_of(folder)["levels"] == sorted(LEVELS)
    passes(folder)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("labels", [(0, 1, 1), (0.0, 1.0, 1.0), (1, 2, 3)])
def test_few_numbers_are_classes_and_asked_about(
    tmp_path: Path, ending: str, labels: tuple[Any, ...]
) -> None:
    tables = {name: table(80, i, labels) for i, name in enumerate(("Ash", "Elm"))}
    folder = folder_of(tmp_path / "tables", tables, ending)
    written = configure_folder(folder, target="zustand")
    assert len(target_of(folder)["levels"]) == len({*labels})
    (question,) = written.questions
    assert "or is it an amount, to be predicted as a number?" in question
    passes(folder)
    text = (folder / "collaboration.toml").read_text()
    assert '# target = "zustand"\n' in text


def test_few_numbers_of_a_workbook_are_classes(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    for i, name in enumerate(("Ash", "Elm")):
        book = Workbook()
        content = table(80, i, (0, 1, 1))
        book.active.append(content.column_names)
        for row in content.to_pylist():
            book.active.append(list(row.values()))
        book.save(folder / f"{name}.xlsx")
    configure_folder(folder, target="zustand")
    assert target_of(folder)["levels"] == ["0", "1"]
    passes(folder)


def test_many_numbers_or_few_rows_stay_numbers(tmp_path: Path) -> None:
    tables = {name: table(80, i, (1.5, 2.0, 3.25)) for i, name in enumerate(("Ash", "Elm"))}
    folder = folder_of(tmp_path / "tables", tables)
    configure_folder(folder, target="zustand")
    assert target_of(folder) == "zustand"


def test_rare_classes_are_proposed_as_other(tmp_path: Path) -> None:
    levels = ("gesund", "müde", "krank", "fort")
    tables = {}
    for i, (name, content) in enumerate(three_parties().items()):
        more = table(30, 50 + i, levels[3:] * 3)
        tables[name] = pa.concat_tables([content, more])
    tables["Elm"] = rows_of(rows_of(tables["Elm"], "krank", 6), "fort", 7)
    folder = folder_of(tmp_path / "tables", tables)
    written = configure_folder(folder, target="zustand")
    assert target_of(folder) == {
        "column": "zustand",
        "kind": "classes",
        "levels": ["gesund", "müde"],
        "other": "other",
    }
    (question,) = written.questions
    assert "Elm has 7 of 'fort', 6 of 'krank', and a party needs 10 rows of a class" in question
    passes(folder)


def test_rare_classes_that_cannot_be_merged_are_asked_about(tmp_path: Path) -> None:
    tables = {name: table(80, i, ("ja", "nein", "nein")) for i, name in enumerate(("Ash", "Elm"))}
    tables["Elm"] = rows_of(tables["Elm"], "ja", 4)
    folder = folder_of(tmp_path / "tables", tables)
    written = configure_folder(folder, target="zustand")
    assert target_of(folder)["levels"] == ["ja", "nein"]
    assert "other" not in target_of(folder)
    (question,) = written.questions
    assert "Elm has 4 of 'ja'" in question
    assert "leave such rows out, or merge classes" in question
    assert "needs 10, or none" in fairpool("check", folder).stderr


def test_of_large_tables_there_may_be_more_classes(tmp_path: Path) -> None:
    tables = {name: table(30_000, i) for i, name in enumerate(("Ash", "Elm"))}
    folder = folder_of(tmp_path / "tables", tables)
    configure_folder(folder, target="zustand")
    assert target_of(folder)["levels"] == sorted(LEVELS)
    assert "there may be more classes than here" in (folder / "collaboration.toml").read_text()


def looked_at(counts: dict[str, int]) -> ColumnLook:
    return ColumnLook(
        name="y",
        at=0,
        rows=sum(counts.values()),
        guess=KindGuess(kind="category", levels=tuple(counts)),
        quartiles=None,
        counts=counts,
    )


@given(st.lists(st.lists(st.integers(0, 25), min_size=4, max_size=4), min_size=1, max_size=4))
def test_what_is_merged_leaves_nobody_with_few_rows(counts: list[list[int]]) -> None:
    parties = {}
    for i, of_party in enumerate(counts):
        named = dict(zip("abcd", of_party, strict=True))
        parties[f"p{i}"] = {level: count for level, count in named.items() if count}
    holders = {name: looked_at(own) for name, own in parties.items()}
    found = propose_classes("category", holders, list(parties))
    levels = {level for own in parties.values() for level in own}
    if len(levels) < 2:
        assert found is None
        return
    is_rare = any(0 < count < 10 for own in parties.values() for count in own.values())
    assert bool(found.rare) == is_rare
    if not found.other:
        assert {*found.levels} == levels
        return
    assert is_rare
    assert found.levels
    for own in parties.values():
        told = Counter[str]()
        for level, count in own.items():
            told[level if level in found.levels else found.other] += count
        assert all(count >= 10 for count in told.values())
