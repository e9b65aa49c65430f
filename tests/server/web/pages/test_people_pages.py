import re

import pytest

from fairpool.server.people import invitations, passwords
from fairpool.server.store.tables import Membership, Person, Role
from tests.server.consortium import Service, add_consortium, add_person

PASSWORD = "four words nobody expects"


@pytest.fixture
def anna(service: Service) -> Person:
    kept = passwords.hashed(PASSWORD)
    anna = add_person(service.database, "anna")
    with service.database.transaction() as session:
        session.get_one(Person, anna.id).password = kept
    return anna


def form_token(text: str) -> str:
    return re.search(r'name="form_token" value="([^"]+)"', text)[1]


def test_nobody_signed_in_is_led_to_the_page_for_it_and_back(service: Service, anna: Person):
    client = service.client()
    answer = client.get("/account")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=%2Faccount")
    page = client.get(answer.headers["location"]).text
    assert 'name="next" value="/account"' in page
    sent = {"email": "anna@example.org", "password": PASSWORD, "next": "/account"}
    answer = client.post("/sign-in", data=sent)
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    assert "anna" in client.get("/account").text


def test_a_wrong_password_is_told_beside_the_form(service: Service, anna: Person):
    sent = {"email": "anna@example.org", "password": "another one entirely"}
    answer = service.client().post("/sign-in", data=sent)
    assert answer.status_code == 401
    assert "password is wrong" in answer.text
    assert 'value="anna@example.org"' in answer.text
    assert "another one entirely" not in answer.text


@pytest.mark.parametrize("wanted", ["//evil.example", "https://evil.example", "/\\evil.example"])
def test_signing_in_leads_to_no_other_site(service: Service, anna: Person, wanted: str):
    sent = {"email": "anna@example.org", "password": PASSWORD, "next": wanted}
    assert service.client().post("/sign-in", data=sent).headers["location"] == "/collaborations"


def test_forms_of_a_page_carry_the_token_without_which_nothing_is_done(
    service: Service, anna: Person
):
    client = service.browser(anna)
    token = client.headers.pop("X-Form-Token")
    page = client.get("/account").text
    assert form_token(page) == token
    assert client.post("/account/name", data={"name": "Other"}).status_code == 403
    sent = {"name": "Other", "form_token": token}
    assert client.post("/account/name", data=sent).status_code == 303
    assert "Other" in client.get("/account").text


def test_signing_out(service: Service, anna: Person):
    client = service.browser(anna)
    answer = client.post("/sign-out")
    assert answer.headers["location"] == "/sign-in?said=signed-out"
    assert "You are signed out" in client.get(answer.headers["location"]).text
    assert client.get("/account").status_code == 303


def test_the_first_operator_makes_an_account_with_the_link(service: Service):
    with service.database.transaction() as session:
        link = invitations.first_operator(session, service.settings)
    assert link is not None
    client = service.client()
    assert "Make the first account" in client.get(link).text
    sent = {"name": "Olga", "email": "olga@example.org", "password": "short"}
    answer = client.post(f"{link}/account", data=sent)
    assert answer.status_code == 422
    assert "it has 5 characters" in answer.text
    assert 'value="olga@example.org"' in answer.text
    answer = client.post(f"{link}/account", data={**sent, "password": PASSWORD})
    assert answer.headers["location"] == "/collaborations?said=account"
    assert "Olga" in client.get("/account").text
    assert client.get(link).status_code == 410


def test_an_invitation_is_made_shown_once_and_accepted(service: Service, anna: Person):
    them = add_consortium(service.database)
    operator = service.browser(them.operator)
    north = service.browser(them.of_north)
    people = f"/collaborations/{them.collaboration.id}/people"
    refused = operator.post(f"{people}/invite", data={"as": them.north.id})
    assert refused.status_code == 409
    assert "North has people" in refused.text
    page = north.post(f"{people}/invite", data={"email": "anna@example.org"}).text
    link = re.search(r'value="(http[^"]+/invitations/[^"]+)"', page)[1]
    again = north.get(people).text
    assert link not in again
    assert "anna@example.org" in again
    assert "made an invitation for north" in again
    assert "anna@example.org" not in service.browser(them.of_south).get(people).text
    guest = service.browser(anna)
    assert "to take part in “clinics” for north" in guest.get(link).text
    assert (
        guest.post(link).headers["location"].startswith(f"/collaborations/{them.collaboration.id}")
    )
    assert "anna" in operator.get(people).text
    with service.database.reading() as session:
        member = session.query(Membership).filter_by(person_id=anna.id).one()
    assert (member.role, member.party_id) == (Role.PARTY, them.north.id)
    assert operator.post(f"{people}/{member.id}/remove").status_code == 303
    assert "anna" not in operator.get(people).text


def test_a_link_is_taken_back(service: Service):
    them = add_consortium(service.database)
    operator = service.browser(them.operator)
    people = f"/collaborations/{them.collaboration.id}/people"
    page = operator.post(f"{people}/invite", data={"as": "auditor"}).text
    link = re.search(r'value="(http[^"]+/invitations/[^"]+)"', page)[1]
    revoke = re.search(r'action="([^"]+/revoke)"', page)[1]
    assert operator.post(revoke).headers["location"] == f"{people}?said=revoked"
    assert service.client().get(link).status_code == 410


def test_only_operators_remove_others_and_invite_operators(service: Service):
    them = add_consortium(service.database)
    people = f"/collaborations/{them.collaboration.id}/people"
    with service.database.reading() as session:
        of_south = session.query(Membership).filter_by(person_id=them.of_south.id).one().id
    for person in (them.of_north, them.auditor):
        browser = service.browser(person)
        invited = browser.post(f"{people}/invite", data={"as": "operator"})
        assert invited.status_code == (404 if person is them.auditor else 422)
        assert browser.post(f"{people}/{of_south}/remove").status_code == 404


def test_others_see_whom_they_deal_with_and_nobody_of_another_party(service: Service):
    them = add_consortium(service.database)
    page = (
        service.browser(them.of_north).get(f"/collaborations/{them.collaboration.id}/people").text
    )
    assert "Who acts for north" in page
    for name in ("operator@", "auditor@", "north@"):
        assert name in page
    assert "south" not in page
    assert "Invite somebody for north" in page


def test_one_leaves_by_oneself(service: Service):
    them = add_consortium(service.database)
    here = f"/collaborations/{them.collaboration.id}"
    browser = service.browser(them.of_north)
    leave = re.search(r'action="([^"]+/remove)"', browser.get(f"{here}/people").text)[1]
    assert browser.post(leave).headers["location"] == "/collaborations?said=left"
    assert browser.get(here).status_code == 404
    alone = service.browser(them.operator)
    own = re.search(r'action="([^"]+/remove)"', alone.get(f"{here}/people").text)[1]
    answer = alone.post(own)
    assert answer.status_code == 409
    assert "no other operator" in answer.text


def test_an_account_is_closed_by_who_is_sure(service: Service, anna: Person):
    client = service.browser(anna)
    assert "Say that you are sure" in client.post("/account/close").text
    answer = client.post("/account/close", data={"sure": "yes"})
    assert answer.headers["location"] == "/sign-in?said=account-closed"
    assert client.get("/account").status_code == 303


def test_a_token_is_shown_once_and_revoked(service: Service, anna: Person):
    client = service.browser(anna)
    page = client.post("/account/tokens", data={"label": "laptop"}).text
    secret = re.search(r'value="(fp_[^"]+)"', page)[1]
    program = service.client()
    program.headers["Authorization"] = f"Bearer {secret}"
    assert program.get("/api/v1/account").status_code == 200
    page = client.get("/account").text
    assert secret not in page
    assert client.post(re.search(r'action="([^"]+/revoke)"', page)[1]).status_code == 303
    assert program.get("/api/v1/account").status_code == 401


def test_other_browsers_are_signed_out(service: Service, anna: Person):
    client, other = service.browser(anna), service.browser(anna)
    assert "Another browser" in client.get("/account").text
    assert client.post("/account/sessions").status_code == 303
    assert other.get("/account").status_code == 303
    assert "Another browser" not in client.get("/account").text


def test_a_password_is_changed(service: Service, anna: Person):
    client = service.browser(anna)
    sent = {"old": "another one entirely", "password": "a quite different phrase"}
    assert client.post("/account/password", data=sent).status_code == 401
    answer = client.post("/account/password", data={**sent, "old": PASSWORD})
    assert answer.headers["location"] == "/account?said=password"
    assert "The password is changed" in client.get(answer.headers["location"]).text


def test_what_happened_is_told_in_sentences(service: Service):
    them = add_consortium(service.database)
    operator = service.browser(them.operator)
    operator.post(f"/collaborations/{them.collaboration.id}/people/invite", data={"as": "auditor"})
    page = operator.get(f"/collaborations/{them.collaboration.id}/history").text
    assert "made an invitation" in page
