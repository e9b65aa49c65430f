"""With a real provider; what databases could do otherwise, on each kind of them."""

import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import select

from fairpool.server.consortia import members
from fairpool.server.people import arrivals, invitations, passwords, resetting
from fairpool.server.single_sign_on.configured import CALLBACK
from fairpool.server.store.tables import (
    ApiToken,
    Arrival,
    BrowserSession,
    Event,
    Identity,
    Membership,
    Person,
    now,
)
from tests.server.consortium import Service, add_consortium, add_person
from tests.server.single_sign_on.conftest import service_of
from tests.server.single_sign_on.people import (
    SESSION,
    count_of,
    invite,
    is_signed_in,
    leave,
    led_to,
    path_of,
    person_of,
    problem,
    sign_in,
)
from tests.server.single_sign_on.real_provider import Canaille, NotLetInError

pytestmark = pytest.mark.soak  # with a real provider, which has an environment of its own

PASSWORD = "four words together"
KEPT = passwords.hashed(PASSWORD)


def _with_password(service: Service, name: str) -> Person:
    person = add_person(service.database, name)
    with service.database.transaction() as session:
        session.get_one(Person, person.id).password = KEPT
    return person


def _later(service: Service, time: timedelta) -> None:
    """Have all that is kept of sessions and identities lie further back."""
    with service.database.transaction() as session:
        for one in session.scalars(select(BrowserSession)):
            one.created, one.seen = one.created - time, one.seen - time
            one.expires -= time
            one.until = None if one.until is None else one.until - time
        for identity in session.scalars(select(Identity)):
            identity.seen -= time


def test_who_is_invited_by_address_has_that_part_and_a_party_has_several_people(
    each_house: Service, canaille: Canaille
) -> None:
    clinics = add_consortium(each_house.database)
    for name in ("anna", "berta"):
        invite(each_house, clinics, f"{name}@example.org")
        client = each_house.client()
        answer = sign_in(client, canaille, name)
        assert path_of(answer) == "/collaborations"
        assert "HttpOnly" in answer.headers["set-cookie"]
        assert is_signed_in(client)
    with each_house.database.reading() as session:
        found = session.execute(
            select(Person.name, Membership.party_id, Identity.issuer, Identity.subject)
            .join(Membership, Membership.person_id == Person.id)
            .join(Identity, Identity.person_id == Person.id)
            .order_by(Person.name)
        ).all()
        joined = session.scalars(select(Event.action).where(Event.action == "joined")).all()
    assert [tuple(one) for one in found] == [
        ("Anna", clinics.north.id, canaille.issuer, "anna"),
        ("Berta", clinics.north.id, canaille.issuer, "berta"),
    ]
    assert joined == ["joined", "joined"]
    # Whoever comes again is the same person.
    people = count_of(each_house, Person)
    assert is_signed_in(client)
    sign_in(each_house.client(), canaille, "anna")
    assert count_of(each_house, Person) == people


def test_an_address_that_the_provider_has_not_verified_lets_nobody_in(
    house: Service, canaille: Canaille
) -> None:
    clinics = add_consortium(house.database)
    link = invite(house, clinics, "dora@example.org")
    for wanted in ("", link):
        answer = sign_in(house.client(), canaille, "dora", wanted)
        assert answer.status_code == 403
        assert "does not say that it has verified your e-mail address" in problem(answer)
    assert person_of(house, "dora@example.org") is None
    assert count_of(house, Identity) == 0
    assert house.client().get(link).status_code == 200


def test_who_is_not_invited_has_no_account(house: Service, canaille: Canaille) -> None:
    clinics = add_consortium(house.database)
    invite(house, clinics, "anna@example.org")
    invite(house, clinics)  # a link that nobody has opened is nobody's
    answer = sign_in(house.client(), canaille, "berta")
    assert answer.status_code == 403
    assert "has invited berta@example.org" in problem(answer)
    assert person_of(house, "berta@example.org") is None


def test_whoever_has_a_link_accepts_it_with_the_provider(
    house: Service, canaille: Canaille
) -> None:
    clinics = add_consortium(house.database)
    link = invite(house, clinics)
    assert "Accept with Houses" in house.client().get(link).text
    client = house.client()
    leave(client, link)
    with house.database.reading() as session:
        # Whoever reads the database cannot accept it.
        assert link.removeprefix(invitations.PATH) not in repr(
            session.execute(select(Arrival.__table__)).all()
        )
    assert path_of(sign_in(client, canaille, "clara", link)) == "/collaborations"
    assert is_signed_in(client)
    assert house.client().get(link).status_code == 410
    other = invite(house, clinics, "anna@example.org")
    answer = sign_in(house.client(), canaille, "berta", other)
    assert "invitation is for another e-mail address" in problem(answer)


def test_who_has_an_account_is_invited_once_more_by_the_address(
    house: Service, canaille: Canaille
) -> None:
    first, second = add_consortium(house.database), add_consortium(house.database, "other-")
    invite(house, first, "anna@example.org")
    sign_in(house.client(), canaille, "anna")
    invite(house, second, "anna@example.org")
    sign_in(house.client(), canaille, "anna")
    with house.database.reading() as session:
        person = session.scalars(select(Person).where(Person.email == "anna@example.org")).one()
        mine = select(Membership.collaboration_id).where(Membership.person_id == person.id)
        assert {*session.scalars(mine)} == {first.collaboration.id, second.collaboration.id}


def test_a_link_for_another_password_is_no_invitation(house: Service, canaille: Canaille) -> None:
    add_person(house.database, "anna")
    with house.database.transaction() as session:
        resetting.reset_link(session, house.settings, "anna@example.org")
        session.scalars(select(Person)).one().email = "moved@example.org"
    answer = sign_in(house.client(), canaille, "anna")
    assert "has invited anna@example.org" in problem(answer)


def test_an_account_is_linked_by_whoever_is_signed_in_to_it_and_by_nobody_else(
    each_house: Service, canaille: Canaille
) -> None:
    person = _with_password(each_house, "anna")
    clinics = add_consortium(each_house.database)
    invite(each_house, clinics, "anna@example.org")
    answer = sign_in(each_house.client(), canaille, "anna")
    assert answer.status_code == 403
    assert "is an account of anna@example.org, to which this identity is not linked" in (
        problem(answer)
    )
    client = each_house.browser(person)
    assert "Link Houses" in client.get("/account").text
    wrong = client.post("/account/provider", data={"shown": "not the password"})
    assert wrong.status_code == 401
    away = client.post("/account/provider", data={"shown": PASSWORD})
    back = canaille.sign_in(led_to(away), "anna").removeprefix(each_house.settings.address)
    # In the browser of somebody else nothing is linked, whoever that is.
    other = each_house.browser(add_person(each_house.database, "eve"))
    other.cookies.set("fairpool-arrival", client.cookies["fairpool-arrival"])
    assert other.get(back).status_code == 410
    assert count_of(each_house, Identity) == 0
    away = client.post("/account/provider", data={"shown": PASSWORD})
    back = canaille.sign_in(led_to(away), "anna").removeprefix(each_house.settings.address)
    assert path_of(client.get(back)) == "/account"
    again = each_house.client()
    assert path_of(sign_in(again, canaille, "anna")) == "/collaborations"
    assert again.get("/api/v1/session").json()["account"]["email"] == "anna@example.org"
    # The identity is nobody else's then, until it is taken away.
    berta = each_house.browser(_with_password(each_house, "berta"))
    away = berta.post("/account/provider", data={"shown": PASSWORD})
    back = canaille.sign_in(led_to(away), "anna").removeprefix(each_house.settings.address)
    taken = berta.get(back)
    assert taken.status_code == 409
    assert "This identity belongs to another account here" in taken.text
    assert path_of(client.post("/account/provider/remove")) == "/account"
    assert count_of(each_house, Identity) == 0
    assert "is not linked" in problem(sign_in(each_house.client(), canaille, "anna"))


def test_who_has_no_password_keeps_the_identity(house: Service, canaille: Canaille) -> None:
    invite(house, add_consortium(house.database), "anna@example.org")
    client = house.client()
    sign_in(client, canaille, "anna")
    page = client.get("/account").text
    assert "You can sign in with Houses" in page
    assert "/account/password" not in page
    assert "/account/provider/remove" not in page
    token = re.search(r'name="form-token" content="([^"]+)"', page)
    assert token is not None
    answer = client.post("/account/provider/remove", headers={"X-Form-Token": token[1]})
    assert answer.status_code == 409
    assert count_of(house, Identity) == 1


def test_somebody_whom_the_provider_removes_is_out_in_time_and_what_was_signed_stays(
    canaille: Canaille, house: Service
) -> None:
    canaille.add_person("emil")
    invite(house, add_consortium(house.database), "emil@example.org")
    client = house.client()
    sign_in(client, canaille, "emil")
    canaille.remove_person("emil")
    minutes = 60
    _later(house, timedelta(minutes=minutes - 1))
    assert is_signed_in(client)  # and that it is used is written down, which prolongs others
    _later(house, timedelta(minutes=1, seconds=1))
    assert not is_signed_in(client)
    with pytest.raises(NotLetInError, match="emil"):
        sign_in(client, canaille, "emil")
    with house.database.reading() as session:
        joined = session.scalars(select(Event).where(Event.action == "joined")).one()
        assert session.get_one(Person, str(joined.person_id)).name == "Emil"


def test_programs_of_somebody_whom_the_provider_no_longer_knows_end_too(
    house: Service, canaille: Canaille
) -> None:
    invite(house, add_consortium(house.database), "anna@example.org")
    sign_in(house.client(), canaille, "anna")
    person = person_of(house, "anna@example.org")
    assert person is not None
    program = house.program(person)
    with house.database.transaction() as session:
        session.scalars(select(ApiToken)).one().expires = now() + timedelta(days=90)
    _later(house, timedelta(days=29, hours=23))
    assert program.get("/api/v1/account").status_code == 200
    _later(house, timedelta(hours=2))
    assert program.get("/api/v1/account").status_code == 401
    sign_in(house.client(), canaille, "anna")
    assert program.get("/api/v1/account").status_code == 200


def test_a_closed_account_is_over_and_the_identity_begins_with_nothing(
    each_house: Service, canaille: Canaille
) -> None:
    clinics = add_consortium(each_house.database)
    invite(each_house, clinics, "anna@example.org")
    client = each_house.client()
    sign_in(client, canaille, "anna")
    person = person_of(each_house, "anna@example.org")
    assert person is not None
    with each_house.database.transaction() as session:
        members.leave_service(session, person)
    assert not is_signed_in(client)
    assert "has invited anna@example.org" in problem(sign_in(client, canaille, "anna"))
    invite(each_house, clinics, "anna@example.org")
    assert path_of(sign_in(client, canaille, "anna")) == "/collaborations"
    found = person_of(each_house, "anna@example.org")
    assert found is not None
    assert found.id != person.id


def test_a_sign_in_is_ended_once_and_by_the_browser_that_began_it(
    each_house: Service, canaille: Canaille
) -> None:
    invite(each_house, add_consortium(each_house.database), "anna@example.org")
    client, thief = each_house.client(), each_house.client()
    back = canaille.sign_in(leave(client), "anna").removeprefix(each_house.settings.address)
    leave(thief)
    for other in (thief, each_house.client()):
        answer = other.get(back)
        assert answer.status_code == 410
        assert "sign-in was begun in another browser" in problem(answer)
    kept = client.cookies["fairpool-arrival"]
    assert path_of(client.get(back)) == "/collaborations"
    assert "fairpool-arrival" not in client.cookies
    again = each_house.client()
    again.cookies.set("fairpool-arrival", kept)
    assert again.get(back).status_code == 410
    assert count_of(each_house, Identity) == 1


def test_a_code_is_taken_once_and_from_whoever_began(house: Service, canaille: Canaille) -> None:
    invite(house, add_consortium(house.database), "anna@example.org")
    client = house.client()
    back = canaille.sign_in(leave(client), "anna")
    code = parse_qs(urlsplit(back).query)["code"][0]
    # Stolen before it is used: it belongs to another verifier.
    thief = house.client()
    state = parse_qs(urlsplit(leave(thief)).query)["state"][0]
    answer = thief.get(CALLBACK, params={"code": code, "state": state, "iss": canaille.issuer})
    assert "(invalid_grant)" in problem(answer)
    back = canaille.sign_in(leave(client), "anna")
    used = parse_qs(urlsplit(back).query)["code"][0]
    assert client.get(back.removeprefix(house.settings.address)).status_code == 303
    # Used already: the provider remembers.
    replaying = house.client()
    state = parse_qs(urlsplit(leave(replaying)).query)["state"][0]
    answer = replaying.get(CALLBACK, params={"code": used, "state": state, "iss": canaille.issuer})
    assert "(invalid_grant)" in problem(answer)


def test_the_provider_is_asked_with_all_that_protects_and_for_one_address_alone(
    house: Service,
) -> None:
    client = house.client()
    client.base_url = "http://localhost:8000"
    asked = [parse_qs(urlsplit(leave(client)).query) for _ in range(2)]
    for one in asked:
        assert one["redirect_uri"] == ["http://127.0.0.1:8000" + CALLBACK]
        assert one["response_type"] == ["code"]
        assert one["code_challenge_method"] == ["S256"]
        assert len(one["state"][0]) >= 43
        assert house.settings.provider is not None
        assert house.settings.provider.client_secret not in str(one)
    for name in ("state", "nonce", "code_challenge"):
        assert asked[0][name] != asked[1][name]


def test_the_session_is_new_and_the_form_goes_to_the_service_alone(
    house: Service, canaille: Canaille
) -> None:
    invite(house, add_consortium(house.database), "anna@example.org")
    old = house.browser(add_person(house.database, "eve")).cookies[SESSION]
    client = house.client()
    client.cookies.set(SESSION, old, domain="127.0.0.1", path="/")
    answer = sign_in(client, canaille, "anna", "/account")
    assert path_of(answer) == "/account"
    assert client.cookies[SESSION] != old
    stale = house.client()
    stale.cookies.set(SESSION, old)
    assert not is_signed_in(stale)
    page = house.client().get("/sign-in")
    assert "form-action 'self';" in page.headers["Content-Security-Policy"]
    away = house.client().post("/sign-in/provider", data={"next": "//evil.example.org"})
    assert "form-action 'self';" in away.headers["Content-Security-Policy"]
    assert led_to(away).startswith(canaille.issuer + "/")
    assert "SameSite=lax" in away.headers["set-cookie"]


def test_sign_ins_that_nobody_ends_are_not_kept_without_end(
    house: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "MOST_FROM_ONE_ADDRESS", 3)
    client = house.client()
    for _ in range(3):
        leave(client)
    answer = client.post("/sign-in/provider", data={"next": ""})
    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "600"
    with house.database.transaction() as session:
        for one in session.scalars(select(Arrival)):
            one.expires = now() - timedelta(seconds=1)
    leave(client)
    assert count_of(house, Arrival) == 1


def test_passwords_can_be_switched_off(house: Service, canaille: Canaille) -> None:
    with house.database.transaction() as session:
        link = invitations.first_operator(session, house.settings)
    assert link is not None
    _with_password(house, "berta")
    off = service_of(house.settings, house.database, canaille.issuer, has_passwords=False)
    shown = {"email": "berta@example.org", "password": PASSWORD}
    for answer in (
        off.client().post("/sign-in", data=shown),
        off.client().post("/api/v1/session", json=shown),
        off.client().post(f"{urlsplit(link).path}/account", data={**shown, "name": "Berta"}),
    ):
        assert answer.status_code == 403
        assert "has no passwords; sign in with Houses" in answer.text
    for path in ("/sign-in", urlsplit(link).path):
        assert 'type="password"' not in off.client().get(path).text
    client = off.client()
    assert path_of(sign_in(client, canaille, "anna", urlsplit(link).path)) == "/collaborations"
    person = person_of(off, "anna@example.org")
    assert person is not None
    assert person.may_create
    assert 'type="password"' not in client.get("/account").text
