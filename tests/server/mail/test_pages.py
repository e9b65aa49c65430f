import pytest

from fairpool.server.store.tables import Mail, MailState, Person, now
from fairpool.server.web.app import create_app
from tests.server.consortium import Consortium, Service, add_consortium
from tests.server.mail.mailbox import Mailbox


@pytest.fixture
def clinics(front: Service) -> Consortium:
    return add_consortium(front.database)


def sending(front: Service) -> Service:
    """The same with a server for mail."""
    settings = Mailbox(port=25).used_by(front.settings)
    app = create_app(settings, front.database)
    return Service(app=app, settings=settings, database=front.database)


def chosen(front: Service, person: Person) -> str:
    with front.database.reading() as session:
        return session.get_one(Person, person.id).mail


def test_one_click_says_how_often(front: Service, clinics: Consortium) -> None:
    north = front.browser(clinics.of_north)
    assert chosen(front, clinics.of_north) == "at-once"
    for choice in ("digest", "off", "at-once"):
        answer = north.post("/account/mail", data={"mail": choice})
        assert answer.headers["location"] == "/account?said=saved"
        assert chosen(front, clinics.of_north) == choice
        page = north.get("/account").text
        assert f'value="{choice}" aria-pressed="true"' in page
        assert page.count('aria-pressed="true"') == 1
    assert chosen(front, clinics.of_south) == "at-once"
    refused = north.post("/account/mail", data={"mail": "hourly"})
    assert refused.status_code == 422
    assert "at-once" in refused.text
    assert chosen(front, clinics.of_north) == "at-once"


def test_pages_say_whether_mail_is_sent(front: Service, clinics: Consortium) -> None:
    people = f"/collaborations/{clinics.collaboration.id}/people"
    without = "This service sends no mail"
    for service, said in ((front, True), (sending(front), False)):
        operator = service.browser(clinics.operator)
        assert (without in operator.get("/account").text) is said
        assert (without in operator.get(people).text) is said


def test_an_operator_sees_whose_mail_does_not_arrive_and_nobody_else_does(
    front: Service, clinics: Consortium
) -> None:
    people = f"/collaborations/{clinics.collaboration.id}/people"
    operator = front.browser(clinics.operator)
    operator.post(people + "/invite", data={"as": "auditor", "email": "new@example.org"})
    common = {"state": MailState.GIVEN_UP.value, "due": now(), "created": now(), "ended": now()}
    with front.database.transaction() as session:
        session.add(Mail(person_id=clinics.of_south.id, problem="550 <gone>", **common))
        session.add(Mail(email="new@example.org", problem="551 gone", **common))
    page = operator.get(people).text
    assert "Mail does not arrive: 550 &lt;gone&gt;." in page
    assert "Mail does not arrive: 551 gone." in page
    assert page.count("Mail does not arrive") == 2
    for other in (clinics.of_north, clinics.of_south, clinics.auditor):
        assert "does not arrive" not in front.browser(other).get(people).text
