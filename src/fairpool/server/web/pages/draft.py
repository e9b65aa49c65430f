"""The draft of the terms, which the operator edits: as a form where it fits one, and as a text."""

from fastapi.responses import HTMLResponse, Response

from fairpool.errors import FairpoolError
from fairpool.server.consortia import draft
from fairpool.server.consortia.form import form_of, toml_of
from fairpool.server.store.tables import Role
from fairpool.server.web.pages.form_draft import RHOS, DraftForm
from fairpool.server.web.pages.form_fields import Typed
from fairpool.server.web.pages.frame import Refusal
from fairpool.server.web.pages.here import COLLABORATION, CurrentHere, Here
from fairpool.server.web.routing import page_router

router = page_router()

DRAFT = COLLABORATION + "/draft"


@router.get(DRAFT)
def show_draft(here: CurrentHere) -> HTMLResponse:
    """The draft, and all that keeps it from being proposed."""
    return _page(here)


@router.post(DRAFT)
def save_draft(here: CurrentHere, typed: Typed) -> Response:
    """Put another text in its place, whatever is still wrong with it, if it is TOML at all."""
    try:
        with here.changing(Role.OPERATOR) as (session, who):
            kept = draft.change(session, who, typed.toml)
    except FairpoolError as error:
        return _page(here, refusal=Refusal.of(error), text=typed.toml)
    return _saved(here, kept.text, kept.told)


@router.post(DRAFT + "/form")
def save_draft_form(here: CurrentHere, typed: Typed) -> Response:
    """Put what was typed into the form in its place; its other settings stay as they are."""
    wrong = typed.problems()
    try:
        with here.changing(Role.OPERATOR) as (session, who):
            if wrong:
                refusal = Refusal.of_fields(wrong)
                return _page(here, refusal=refusal, typed=typed, wrong=wrong)
            before = form_of(who.collaboration.draft)
            kept = draft.change(session, who, toml_of(typed.filled_in(before)))
    except FairpoolError as error:
        return _page(here, refusal=Refusal.of(error), typed=typed)
    return _saved(here, kept.text, kept.told)


def _saved(here: Here, text: str, told: tuple[str, ...]) -> Response:
    if told or draft.problems(text):
        return _page(here, told=told, is_saved=True)
    return here.see("/terms", "saved")


def _page(
    here: Here,
    *,
    refusal: Refusal | None = None,
    text: str | None = None,
    typed: DraftForm | None = None,
    wrong: dict[str, str] | None = None,
    told: tuple[str, ...] = (),
    is_saved: bool = False,
) -> HTMLResponse:
    with here.reading(Role.OPERATOR) as (_, who):
        kept = who.collaboration.draft
        form = form_of(kept)
        if typed is None and form is not None and text is None:
            typed = DraftForm.of(form)
        return here.page(
            "draft",
            who,
            "terms",
            refusal,
            toml=kept if text is None else text,
            form=typed,
            wrong=wrong or {},
            rhos=RHOS,
            faults=() if refusal else draft.problems(kept),
            told=told,
            is_saved=is_saved,
        )
