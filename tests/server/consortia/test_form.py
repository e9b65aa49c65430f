"""A form and the text that it stands for."""

import tomllib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpool.server.consortia import draft
from fairpool.server.consortia.form import Column, Form, PartyFields, form_of, toml_of
from tests.server.agreed import draft_of

FULL = Form(
    name='The "North"',
    contact="ada@example.org",
    target=Column(name="y", lowest=0.0, highest=300.0, unit="mg/dl"),
    inputs=(
        Column(name="soil pH", lowest=3.5, highest=9),
        Column(name="kind", kind="category", levels=("red", 'gr"een')),
        Column(name="seen", kind="date", lowest="2015-01-01", highest="2024-12-31"),
        Column(name="age", missing="drop", lowest=0, highest=120),
    ),
    model="sparse_gp",
    inducing="spread",
    inducing_points=20,
    rho="stable",
    on_harm="warn",
    parties=(
        PartyFields(name="A", id="a", most=0.5),
        PartyFields(name="B", key="ed25519:" + "ab" * 32),
        PartyFields(name="C"),
    ),
)


def test_a_full_form_can_be_proposed_and_comes_back() -> None:
    text = toml_of(FULL)
    assert draft.problems(text) == []
    assert form_of(text) == FULL
    said = draft.checked(text)
    assert said.rewards.rho == "stable"
    assert [party.permanent_id for party in said.parties] == ["a", "B", "C"]


def test_classes_are_the_target_s_own() -> None:
    form = replace(FULL, target=Column(name="y", levels=("no", "yes")))
    assert draft.problems(toml_of(form)) == []
    assert form_of(toml_of(form)) == form


def test_an_empty_form_is_an_empty_text() -> None:
    assert toml_of(Form()) == "\n"
    assert form_of("") == Form()
    assert form_of(draft_of("north", "south")) is not None


@pytest.mark.parametrize(
    "text",
    [
        "[limits]\nrows = 3\n",
        "[model]\nlearn = true\n",
        "[columns.other]\nunit = 'm'\n",
        "target = 3",
        "[target]\ncolumn = 'y'\n",
        "features = 3",
        "[[parties]]\nid = 'x'\n",
        "[[parties]]\nname = 'x'\nreading.separator = ';'\n",
        "[columns.y]\nrange = [1, 2, 3]\n",
        "columns = 3",
        "[",
    ],
)
def test_what_the_form_has_no_field_for_has_no_form(text: str) -> None:
    assert form_of(text) is None


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
COLUMN = st.builds(
    Column,
    name=TEXT,
    unit=TEXT,
    levels=st.lists(TEXT, max_size=3).map(tuple),
    lowest=st.floats(-1e6, 1e6),
    highest=st.floats(-1e6, 1e6),
)


@given(
    form=st.builds(
        Form,
        name=TEXT,
        contact=TEXT,
        target=COLUMN,
        inputs=st.lists(COLUMN, max_size=3, unique_by=lambda column: column.name).map(tuple),
        parties=st.lists(st.builds(PartyFields, name=TEXT, id=TEXT), max_size=3).map(tuple),
        rho=st.floats(0, 1),
    )
)
def test_whatever_is_filled_in_is_that_and_no_other_setting(form: Form) -> None:
    if form.target.name in {column.name for column in form.inputs}:
        return  # one column cannot be two: the form tells, see `draft.problems`
    said = tomllib.loads(toml_of(form))
    assert said["name"] == form.name
    assert [party["name"] for party in said.get("parties", [])] == [
        party.name for party in form.parties
    ]
    assert set(said) <= {
        "name", "contact", "target", "features", "columns", "rewards", "parties"
    }  # fmt: skip
    assert form_of(toml_of(form)) == form
