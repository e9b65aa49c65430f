import re

import pytest

from fairpool.model_kinds.sparse_gp import INDUCING_POINTS
from fairpool.server.store.tables import Collaboration, Person
from tests.server.consortium import Service, add_person

FORM = {
    "name": "Three hospitals",
    "target": "progression",
    "columns": "age: 0 to 120\nbmi",
    "parties": "Hospital A\nHospital B",
    "rho": "stable",
}


@pytest.fixture
def anna(service: Service) -> Person:
    return add_person(service.database, "anna", may_create=True)


def test_who_has_none_is_told_what_to_do_first(service: Service, anna: Person):
    assert "Begin with a collaboration" in service.browser(anna).get("/collaborations").text
    berta = service.browser(add_person(service.database, "berta"))
    assert "You take part in no collaboration yet" in berta.get("/collaborations").text
    assert berta.get("/collaborations/new").status_code == 404
    assert berta.post("/collaborations/new", data=FORM).status_code == 404


def test_a_form_becomes_a_collaboration_that_can_be_proposed(service: Service, anna: Person):
    browser = service.browser(anna)
    asked = browser.get("/collaborations/new").text
    assert f"{INDUCING_POINTS}, unless you say otherwise" in asked
    answer = browser.post("/collaborations/new", data=FORM)
    assert answer.status_code == 303
    page = browser.get(answer.headers["location"]).text
    assert "The draft is made" in page
    assert "Propose these terms" in page
    assert "Three hospitals" in browser.get("/collaborations").text


def test_what_is_wrong_stands_beside_its_field_and_what_was_typed_stays(
    service: Service, anna: Person
):
    answer = service.browser(anna).post("/collaborations/new", data={**FORM, "parties": "One"})
    assert answer.status_code == 422
    assert "Give two parties at least" in answer.text
    assert 'aria-invalid="true"' in answer.text
    assert "age: 0 to 120" in answer.text


def test_a_file_is_dropped_in_without_the_places_of_data(service: Service, anna: Person):
    toml = (
        'name = "Dropped"\ntarget = "y"\nfeatures = ["x"]\n[[parties]]\nname = "A"\n'
        'data = "/etc/passwd"\n[[parties]]\nname = "B"\ndata = "b.csv"\n'
    )
    answer = service.browser(anna).post("/collaborations/new", data={"toml": toml})
    assert answer.status_code == 303
    with service.database.reading() as session:
        made = session.query(Collaboration).one()
    assert made.name == "Dropped"
    assert "passwd" not in made.draft


def test_what_is_no_toml_is_refused_and_shown_again(service: Service, anna: Person):
    answer = service.browser(anna).post("/collaborations/new", data={"toml": "name ="})
    assert answer.status_code == 422
    assert re.search(r"<details[^>]* open>", answer.text)
    assert "name =</textarea>" in answer.text
