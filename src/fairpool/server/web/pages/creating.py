"""A new collaboration: from a form, or from a collaboration.toml."""

from fastapi import Request
from fastapi.responses import HTMLResponse, Response

from fairpool.errors import FairpoolError
from fairpool.server.consortia import creating
from fairpool.server.consortia.form import toml_of
from fairpool.server.refused import NotFoundError
from fairpool.server.store.tables import Person
from fairpool.server.web.pages.form_draft import RHOS, DraftForm
from fairpool.server.web.pages.form_fields import Typed
from fairpool.server.web.pages.frame import Refusal, page, see_other
from fairpool.server.web.pages.signing_in import HOME
from fairpool.server.web.routing import page_router
from fairpool.server.web.signed_in import (
    CurrentBrowser,
    CurrentDatabase,
    CurrentSettings,
    SignedIn,
)

router = page_router()

NEW = HOME + "/new"


@router.get(NEW)
def show_new_collaboration(request: Request, browser: CurrentBrowser) -> HTMLResponse:
    """The form for a new collaboration."""
    _require_creator(browser.person)
    return _page(request, browser, DraftForm())


@router.post(NEW)
def make_collaboration(
    request: Request,
    browser: CurrentBrowser,
    settings: CurrentSettings,
    database: CurrentDatabase,
    form: Typed,
) -> Response:
    """Make the collaboration, with a draft of what was typed or dropped in."""
    _require_creator(browser.person)
    wrong = {} if form.toml else form.problems()
    if wrong:
        return _page(request, browser, form, wrong=wrong, refusal=Refusal.of_fields(wrong))
    toml = form.toml or toml_of(form.filled_in())
    try:
        with database.transaction() as session:
            made = creating.create(session, settings, browser.person, toml=toml).collaboration
    except FairpoolError as error:
        return _page(request, browser, form, refusal=Refusal.of(error))
    return see_other(f"{HOME}/{made.id}/terms", "created")


def _require_creator(person: Person) -> None:
    if not person.may_create:
        raise NotFoundError


def _page(
    request: Request,
    browser: SignedIn,
    form: DraftForm,
    *,
    wrong: dict[str, str] | None = None,
    refusal: Refusal | None = None,
) -> HTMLResponse:
    return page(
        "create",
        request,
        signed_in=browser,
        refusal=refusal,
        form=form,
        wrong=wrong or {},
        rhos=RHOS,
    )
