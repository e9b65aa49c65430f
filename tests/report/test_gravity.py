"""Notes in a report: every code has its gravity, and the gravest come first."""

import ast
from pathlib import Path

import pytest

import fairpool
import fairpool.report.gravity as gravity
from fairpool.audit import evidence_notes
from fairpool.consortium import column_table, treatment
from fairpool.notes import Note
from fairpool.report.gravity import Gravity, by_gravity, gravity_of

SOURCES = Path(fairpool.__file__).parent
NAMED = {
    "HARMS": evidence_notes.HARMS,
    "DEALT_WITH": evidence_notes.DEALT_WITH,
    "NOISY": evidence_notes.NOISY,
    "DISPUTED": evidence_notes.DISPUTED,
    "NOTHING_IN_COMMON": evidence_notes.NOTHING_IN_COMMON,
    "IMPUTED": treatment.IMPUTED,
    "CLIPPED": treatment.CLIPPED,
    "UNIT": column_table.UNIT,
}


def codes_in(path):
    """The codes of all notes that a module makes."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        called = getattr(node.func, "id", getattr(node.func, "attr", ""))
        given = []
        if called == "Note":
            given = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
        if called in ("notes_of", "_note"):
            given = node.args[:1]
        for value in given:
            if isinstance(value, ast.Constant):
                yield value.value
            elif isinstance(value, ast.Name) and value.id in NAMED:
                yield NAMED[value.id]


CODES = {code for path in SOURCES.rglob("*.py") for code in codes_in(path)}


def test_every_ranked_code_is_one_that_something_notes():
    listed = [*gravity.SETTLED_FIRST, *gravity.KNOWN]
    assert len(listed) == len({*listed})
    assert {*listed} - CODES == set()
    assert {gravity_of(Note(code=code, text="x")) for code in CODES} == {*Gravity}


def test_the_gravest_come_first_and_each_stays_in_its_order():
    codes = ["dropped rows", "outlier", "labels disagree", "outlier", "conflict"]
    groups = by_gravity(Note(code=code, text=f"{i} {code}") for i, code in enumerate(codes))
    assert [group.gravity for group in groups] == list(Gravity)
    assert [[kind.texts for kind in group.kinds] for group in groups] == [
        [("2 labels disagree",), ("4 conflict",)],
        [("1 outlier", "3 outlier")],
        [("0 dropped rows",)],
    ]
    assert [len(group) for group in groups] == [2, 2, 1]
    assert [group.is_grave for group in groups] == [True, False, False]
    assert [group.can_wait for group in groups] == [False, False, True]


@pytest.mark.parametrize("code", ["new in a later version", ""])
def test_what_nobody_has_ranked_deserves_a_look(code):
    assert gravity_of(Note(code=code, text="x")) is Gravity.LOOK


def test_the_gravest_have_another_title_once_the_round_is_released():
    notes = [Note(code=code, text="x") for code in ("few rows", "outlier", "dropped rows")]
    before = by_gravity(notes)
    after = by_gravity(notes, released=True)
    assert [group.title for group in before] == [*gravity.TITLES.values()]
    assert after[0].title == "This was released although it is not settled"
    assert [group.title for group in after[1:]] == [group.title for group in before[1:]]
    assert [bool(group.advice) for group in (*before, *after)] == [False] * 3 + [True] + [False] * 2


def test_a_party_that_was_dealt_with_as_agreed_leaves_nothing_to_settle():
    assert gravity_of(Note(code=evidence_notes.HARMS, text="x")) is Gravity.SETTLE
    assert gravity_of(Note(code=evidence_notes.DEALT_WITH, text="x")) is Gravity.LOOK


def test_without_notes_there_is_no_group():
    assert by_gravity([]) == ()


def test_of_many_notes_of_a_kind_some_are_shown_at_once():
    notes = [Note(code="outlier", text=str(i)) for i in range(9)]
    notes.insert(5, Note(code="rounding", text="another"))
    ((of_outliers, of_rounding),) = (group.kinds for group in by_gravity(notes))
    assert of_outliers.first + of_outliers.folded == tuple("012345678")
    assert len(of_outliers.first) == gravity.MOST_OF_A_KIND
    assert (of_rounding.first, of_rounding.folded) == (("another",), ())
