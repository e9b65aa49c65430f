import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpool.server.consortia.form import Column, Form, PartyFields, form_of, toml_of
from fairpool.server.web.pages.form_draft import DraftForm

FORM = DraftForm(
    name='Three "big" hospitals',
    contact="Anna, anna@example.org",
    target="progression: 0 to 400",
    columns="age: 0 to 120\nsex: female, male\n\nbmi: 10 to 70.5 kg/m2\n"
    "since: 2001-01-01 to 2024-12-31\ns1",
    parties="Hospital A\nHospital B\nHospital C: ed25519:" + "0a" * 32 + "\n",
    rho="0.75",
    size="40",
)


def with_(**changes):
    return DraftForm(**{**vars(FORM), **changes})


def test_what_was_typed_becomes_a_draft_and_can_be_typed_again():
    assert not FORM.problems()
    toml = toml_of(FORM.filled_in())
    said = tomllib.loads(toml)
    assert said["features"] == ["age", "sex", "bmi", "since", "s1"]
    assert said["columns"]["bmi"] == {"unit": "kg/m2", "range": [10, 70.5]}
    assert said["columns"]["sex"] == {"kind": "category", "levels": ["female", "male"]}
    assert said["columns"]["since"]["range"][0].isoformat() == "2001-01-01"
    assert said["rewards"] == {"rho": 0.75}
    assert said["model"] == {"kind": "sparse_gp", "inducing_points": 40}
    assert [party.get("key", "")[:7] for party in said["parties"]] == ["", "", "ed25519"]
    again = DraftForm.of(form_of(toml))
    assert again is not None
    assert again.filled_in() == FORM.filled_in()


def test_classes_have_levels():
    form = with_(kind="classes", levels="benign, malignant", target="diagnosis").filled_in()
    assert tomllib.loads(toml_of(form))["target"] == {
        "column": "diagnosis",
        "kind": "classes",
        "levels": ["benign", "malignant"],
    }


def test_a_model_without_a_size_is_asked_for_none():
    without = FORM.filled_in(Form(model="blr"))
    assert without.inducing_points is None
    assert not DraftForm.of(without).has_size
    of_points = FORM.filled_in(Form(model="sparse_gp", inducing_points=30))
    assert (of_points.inducing_points, DraftForm.of(of_points).size) == (40, "40")
    assert with_(size="").filled_in(of_points).inducing_points is None


def test_settings_without_a_field_stay_as_they_are():
    before = Form(name="Old", model="blr", on_harm="discount", missing="drop")
    form = FORM.filled_in(before)
    assert (form.name, form.model, form.on_harm, form.missing) == (
        FORM.name,
        "blr",
        "discount",
        "drop",
    )


@pytest.mark.parametrize(
    "form",
    [
        Form(inputs=(Column(name="a: b"),)),
        Form(inputs=(Column(name="x", kind="category", levels=("one",)),)),
        Form(inputs=(Column(name="x", kind="category", levels=("a, b", "c")),)),
        Form(inputs=(Column(name="x", unit="mm"),)),
        Form(inputs=(Column(name="x", missing="drop"),)),
        Form(parties=(PartyFields(name="A", id="a"),)),
        Form(parties=(PartyFields(name="A", most=0.5),)),
        Form(name=" A "),
    ],
    ids=str,
)
def test_a_draft_that_says_more_than_can_be_typed_is_edited_as_a_text(form: Form):
    assert DraftForm.of(form) is None


NAMES = st.text(min_size=1, max_size=6)


@given(
    st.builds(
        Form,
        name=NAMES,
        target=st.builds(Column, name=NAMES),
        inputs=st.lists(
            st.builds(
                Column,
                name=NAMES,
                lowest=st.none() | st.floats(-1e6, 1e6) | st.integers(-9, 9),
                highest=st.none() | st.floats(-1e6, 1e6),
                unit=st.sampled_from(["", "mm", "kg/m2", "to"]),
                levels=st.lists(NAMES, max_size=3).map(tuple),
            ),
            max_size=3,
        ).map(tuple),
        parties=st.lists(st.builds(PartyFields, name=NAMES), max_size=3).map(tuple),
        rho=st.sampled_from(["stable", "", 0.5, 1]),
    )
)
def test_nothing_of_a_draft_is_lost_by_typing_it_again(form: Form):
    typed = DraftForm.of(form)
    assert typed is None or typed.filled_in(form) == form


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"name": "  "}, "name", "Give it a name"),
        ({"target": ""}, "target", "which column"),
        ({"target": "y: many"}, "target", "as in “age: 0 to 120”"),
        ({"kind": "classes", "levels": "one"}, "levels", "two at least"),
        ({"columns": ""}, "columns", "Name the columns"),
        ({"columns": ": 0 to 1"}, "columns", "no name of a column"),
        ({"columns": "age: young"}, "columns", "as in “age: 0 to 120”"),
        ({"columns": "age: 1.2.3 to 4"}, "columns", "as in “age: 0 to 120”"),
        ({"parties": "One"}, "parties", "two parties at least"),
        ({"parties": "One\nTwo\nOne"}, "parties", "stands there twice"),
        ({"size": "0"}, "size", "no whole number from 1 on"),
        ({"size": "many"}, "size", "no whole number from 1 on"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(changes, field, says):
    wrong = with_(**changes).problems()
    assert list(wrong) == [field]
    assert says in wrong[field]
