"""What a party sent: one file's card as it changes, submitting and withdrawing."""

from collections.abc import Callable

from fastapi.responses import HTMLResponse, Response
from sqlalchemy.orm import Session

from fairpool.errors import FairpoolError
from fairpool.server.consortia import submissions
from fairpool.server.consortia.agreed import in_force
from fairpool.server.consortia.who import Who
from fairpool.server.refused import NotFoundError
from fairpool.server.store.tables import Role, Round, RoundState
from fairpool.server.web.pages.changes import REFRESH
from fairpool.server.web.pages.frame import Refusal, signed_of
from fairpool.server.web.pages.here import COLLABORATION, CurrentHere, Here
from fairpool.server.web.pages.party_page import party_page
from fairpool.server.web.pages.submission_cards import submission_card
from fairpool.server.web.routing import page_router
from fairpool.server.web.templating import rendered

router = page_router()

FILE = COLLABORATION + "/files/{submission_id}"


@router.get(FILE)
def show_file(here: CurrentHere, submission_id: str) -> HTMLResponse:
    """The card of one file, for the page that waits for what is found in it."""
    with here.reading(Role.PARTY) as (session, who):
        one = submissions.find(session, who, submission_id)
        terms = in_force(session, who.collaboration)
        if terms is None:
            raise NotFoundError
        is_open = session.get_one(Round, one.round_id).state == RoundState.OPEN.value
        card = submission_card(session, here, one, terms, is_open=is_open)
    text = rendered("submission_part.html", one=card, signed=signed_of(here.signed_in))
    return HTMLResponse(text, headers={} if card.state == "checking" else REFRESH)


@router.post(FILE + "/submit")
def submit_file(here: CurrentHere, submission_id: str) -> Response:
    """Have a file take part in the round."""
    return _act(
        here,
        lambda session, who: submissions.submit(session, here.settings, who, submission_id),
        "submitted",
    )


@router.post(FILE + "/withdraw")
def withdraw_file(here: CurrentHere, submission_id: str) -> Response:
    """Take a file back, and erase it."""
    return _act(
        here,
        lambda session, who: submissions.withdraw(session, here.settings, who, submission_id),
        "withdrawn",
    )


def _act(here: Here, act: Callable[[Session, Who], object], said: str) -> Response:
    try:
        with here.changing(Role.PARTY) as (session, who):
            act(session, who)
    except FairpoolError as error:
        refusal = Refusal.of(error)
        with here.reading(Role.PARTY) as (session, who):
            return party_page(here, session, who, refusal)
    return here.see(said=said)
