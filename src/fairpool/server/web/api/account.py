"""The account of whoever asks: name, password, leaving."""

from fastapi import Response
from pydantic import BaseModel

from fairpool.server.consortia import members
from fairpool.server.people import accounts
from fairpool.server.store.tables import Person
from fairpool.server.web.routing import Sent, api_router
from fairpool.server.web.signed_in import (
    CurrentBrowser,
    CurrentDatabase,
    CurrentPerson,
    CurrentSettings,
    Transaction,
    Visitor,
    clear_cookie,
    set_cookie,
)

router = api_router()


class Account(BaseModel):
    """Who somebody is."""

    id: str
    email: str
    name: str
    may_create: bool

    @classmethod
    def of(cls, person: Person) -> "Account":
        """As the API tells it."""
        return cls(id=person.id, email=person.email, name=person.name, may_create=person.may_create)


class NewName(Sent):
    """How one wants to be called."""

    name: str


class NewPassword(Sent):
    """The password one has, and the one one wants."""

    old: str
    new: str


class FormToken(BaseModel):
    """What requests of a browser carry as X-Form-Token."""

    form_token: str


@router.get("/account")
def show_account(person: CurrentPerson) -> Account:
    """Who is signed in."""
    return Account.of(person)


@router.patch("/account")
def rename_account(sent: NewName, browser: CurrentBrowser, session: Transaction) -> Account:
    """Be called otherwise; what was signed keeps the name it has."""
    return Account.of(accounts.rename(session, browser.person, sent.name))


@router.post("/account/password")
def change_password(
    sent: NewPassword,
    response: Response,
    browser: CurrentBrowser,
    visit: Visitor,
    settings: CurrentSettings,
    database: CurrentDatabase,
) -> FormToken:
    """Have another password; every browser but this one is signed out."""
    opened = accounts.change_password(
        database, settings, browser.person, old=sent.old, new=sent.new, host=visit.host
    )
    set_cookie(response, settings, opened.cookie)
    return FormToken(form_token=opened.kept.form_token)


@router.delete("/account", status_code=204)
def close_account(
    response: Response, browser: CurrentBrowser, session: Transaction, settings: CurrentSettings
) -> None:
    """Leave all collaborations, and have no account any longer."""
    members.leave_service(session, browser.person)
    clear_cookie(response, settings)
