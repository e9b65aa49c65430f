"""Where classes are listed: with the target, or with its column."""

from pathlib import Path

from fairpool.consortium.preparation import prepare
from fairpool.consortium.request import RunRequest
from tests.classes.projects import LEVELS, project, refusal, say


def test_levels_may_stand_with_the_column(tmp_path: Path) -> None:
    section = '[columns.zustand]\nkind = "category"\nlevels = ["gesund", "müde", "krank"]\n'
    folder = say(project(tmp_path, target=""), section)
    target = prepare(RunRequest(configuration=folder)).encoding.target
    assert target.levels == LEVELS
    merged = say(
        project(tmp_path / "b", target='other = "anders"'),
        '[columns.zustand]\nlevels = ["gesund"]\n',
    )
    target = prepare(RunRequest(configuration=merged)).encoding.target
    assert target.levels == ("gesund", "anders")


def test_levels_of_the_column_and_of_the_target_must_agree(tmp_path: Path) -> None:
    again = '[columns.zustand]\nlevels = ["krank", "mu\u0308de", "gesund"]\n'
    folder = say(project(tmp_path / "a"), again)
    assert prepare(RunRequest(configuration=folder)).encoding.target.levels == LEVELS
    text = refusal(say(project(tmp_path / "b"), '[columns.zustand]\nlevels = ["gesund", "neu"]\n'))
    assert "[columns.zustand] lists other levels than [target] does: 'gesund', 'neu' there" in text
    text = refusal(say(project(tmp_path / "c"), '[columns.zustand]\nlevels = ["a", "a "]\n'))
    assert "give every class once" in text
    folder = say(project(tmp_path / "d", target=""), '[columns.zustand]\nlevels = ["a", "b"]\n')
    text = (folder / "collaboration.toml").read_text().replace('"classes"', '"number"')
    (folder / "collaboration.toml").write_text(text)
    text = refusal(folder)
    assert "[columns.zustand]: levels have no meaning for a target of kind" in text
    assert 'say target = { column = "zustand", kind = "classes" }' in text


def test_a_class_cannot_be_called_like_a_missing_value(tmp_path: Path) -> None:
    text = refusal(project(tmp_path, target='levels = ["gesund", "müde", "krank", "None"]'))
    assert '"None" stands for a missing value in a CSV file' in text


def test_labels_that_stand_for_missing_ones_are_text(tmp_path: Path) -> None:
    folder = project(tmp_path, target='levels = ["gesund", "müde"]')
    section = '[columns.zustand]\nmissing = { tokens = ["krank"], do = "drop" }\n'
    prepared = prepare(RunRequest(configuration=say(folder, section)))
    for survey, size in zip(prepared.parties, (90, 70, 80), strict=True):
        assert 0 < survey.rows < size
        assert survey.rows + survey.dropped == size
