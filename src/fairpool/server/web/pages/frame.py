"""What all pages have in common: who is signed in, what was done just now, and what went wrong."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse

from fairpool.errors import FairpoolError
from fairpool.server.consortia.who import Who
from fairpool.server.refused import NotFoundError, NotSignedInError, RefusedError, TooManyError
from fairpool.server.web.errors import UNUSABLE
from fairpool.server.web.pages.views import Heading, Signed
from fairpool.server.web.signed_in import SignedIn, settings_of
from fairpool.server.web.templating import rendered

SAID = {
    "accepted": "You accepted the terms. Your signed acceptance is kept with them.",
    "account": "Welcome. Your account is made.",
    "account-closed": "Your account is closed.",
    "cancelled": "It stops at the next good moment. What was computed is kept.",
    "closed": "The round is closed. Nobody can change anything in it now.",
    "created": "The draft is made. Complete it, then propose it as the terms.",
    "invited": "The link is made.",
    "joined": "You take part now.",
    "left": "You take part in it no longer.",
    "linked": "From now on you can sign in with it.",
    "name": "You are called so from now on.",
    "password": "The password is changed, and all other browsers are signed out.",
    "proposed": "The terms are proposed. Each party finds them on its own page.",
    "queued": "It begins as soon as a worker is free.",
    "removed": "That person takes part no longer.",
    "reopened": "The round is open again.",
    "revoked": "It opens nothing any longer.",
    "saved": "Saved.",
    "session": "All other browsers are signed out.",
    "signed": "What you signed is kept with the round.",
    "signed-out": "You are signed out.",
    "submitted": "Submitted. You can withdraw it until the operator closes the round.",
    "unlinked": "You sign in with it no longer.",
    "uploaded": "The file has arrived.",
    "withdrawn": "Withdrawn. It takes no part.",
}
"""What a page says after something was done, by the word that its address carries."""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why something was not done.

    Attributes:
        problems: In words.
        status: For the browser.
        headers: For the browser.
    """

    problems: tuple[str, ...]
    status: int
    headers: Mapping[str, str]

    @classmethod
    def of(cls, error: FairpoolError) -> "Refusal":
        """What a page can tell beside its form; what is hidden, or not signed in, goes on."""
        if isinstance(error, NotFoundError | NotSignedInError):
            raise error
        headers = {}
        if isinstance(error, TooManyError):
            headers["Retry-After"] = str(error.seconds)
        status = error.status if isinstance(error, RefusedError) else UNUSABLE
        return cls(problems=tuple(error.problems), status=status, headers=headers)

    @classmethod
    def of_fields(cls, wrong: Mapping[str, str]) -> "Refusal":
        """What is wrong with the fields of a form."""
        return cls(problems=tuple(wrong.values()), status=UNUSABLE, headers={})


def signed_of(signed_in: SignedIn) -> Signed:
    """Who is signed in, as every page shows it."""
    person = signed_in.person
    return Signed(name=person.name, email=person.email, form_token=signed_in.form_token)


def heading_of(who: Who) -> Heading:
    """What stands above a collaboration's pages."""
    return Heading(
        id=who.collaboration.id,
        name=who.collaboration.name,
        role=who.role,
        party=None if who.party is None else who.party.name,
    )


def page(
    template: str,
    request: Request,
    *,
    signed_in: SignedIn | None,
    refusal: Refusal | None = None,
    **values: Any,
) -> HTMLResponse:
    """A page.

    Args:
        template: Without its endings.
        request: Whose address may carry a word of what was done.
        signed_in: Who looks.
        refusal: Why what was sent was not done.
        values: What the template puts into place.
    """
    notice = SAID.get(request.query_params.get("said", ""))
    settings = settings_of(request)
    text = rendered(
        f"{template}.html",
        signed=None if signed_in is None else signed_of(signed_in),
        notice=None if refusal else notice,
        problems=refusal.problems if refusal else (),
        demo=request.app.state.demo,
        provider=None if settings.provider is None else settings.provider.name,
        has_passwords=settings.has_passwords,
        **values,
    )
    if refusal is None:
        return HTMLResponse(text)
    return HTMLResponse(text, status_code=refusal.status, headers=dict(refusal.headers))


def see_other(address: str, said: str = "") -> RedirectResponse:
    """Where to look after something was done; loading that again does nothing twice.

    Args:
        address: A path of this service.
        said: A word of `SAID`.
    """
    if said:
        address += f"?said={said}"
    return RedirectResponse(address, status_code=303)
