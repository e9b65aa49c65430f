"""What people do at a service with a provider."""

import re
from html import unescape
from urllib.parse import urlsplit

import httpx
from sqlalchemy import select

from fairpool.server.consortia.who import require
from fairpool.server.people import invitations
from fairpool.server.single_sign_on.configured import CALLBACK
from fairpool.server.store.tables import Identity, Membership, Person, Role
from tests.server.consortium import Consortium, Service
from tests.server.single_sign_on.liar import Liar
from tests.server.single_sign_on.real_provider import Canaille

SESSION = "fairpool"


def invite(service: Service, clinics: Consortium, email: str | None = None) -> str:
    """The link of an invitation for the north, which can be for one address alone."""
    with service.database.transaction() as session:
        who = require(session, clinics.of_north, clinics.collaboration.id, alone=True)
        _, secret = invitations.invite(
            session,
            service.settings,
            who,
            role=Role.PARTY,
            party_id=clinics.north.id,
            email=email,
        )
    return invitations.PATH + secret


def leave(client: httpx.Client, wanted: str = "") -> str:
    """Press the button; the provider's address to which the page leads."""
    answer = client.post("/sign-in/provider", data={"next": wanted})
    assert answer.status_code == 200, answer.text
    return led_to(answer)


def led_to(answer: httpx.Response) -> str:
    """Where a page leads on to by itself."""
    return answer.headers["Refresh"].removeprefix("0;url=")


def sign_in(
    client: httpx.Client, canaille: Canaille, name: str, wanted: str = ""
) -> httpx.Response:
    """Sign in by the provider; what the service says in the end."""
    back = canaille.sign_in(leave(client, wanted), name)
    return client.get(back.removeprefix(str(client.base_url).rstrip("/")))


def come_back(client: httpx.Client, liar: Liar, **more: str) -> httpx.Response:
    """Sign in by the provider that lies."""
    return client.get(CALLBACK, params=liar.come_back(leave(client)) | more)


def problem(answer: httpx.Response) -> str:
    """What the page for signing in says that went wrong; nobody is signed in, and can try again."""
    assert "Sign in with Houses" in answer.text
    assert SESSION not in answer.cookies
    (said,) = re.findall(r'role="alert".*?</div>', answer.text, re.S)
    return unescape(re.sub(r"<[^>]*>|\s+", " ", said))


def is_signed_in(client: httpx.Client) -> bool:
    """Whether a browser is."""
    return client.get("/api/v1/session").status_code == 200


def person_of(service: Service, email: str) -> Person | None:
    """Whose account an address is."""
    with service.database.reading() as session:
        return session.scalars(select(Person).where(Person.email == email)).one_or_none()


def count_of(service: Service, table: type[Identity] | type[Membership] | type[Person]) -> int:
    """How many there are."""
    with service.database.reading() as session:
        return session.query(table).count()


def path_of(answer: httpx.Response) -> str:
    """Where an answer leads."""
    assert answer.status_code == 303, answer.text
    return urlsplit(answer.headers["location"]).path
