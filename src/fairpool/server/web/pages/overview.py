"""One's collaborations."""

from fastapi import Request
from fastapi.responses import HTMLResponse

from fairpool.server.consortia.who import everywhere
from fairpool.server.web.pages.frame import page
from fairpool.server.web.pages.signing_in import HOME
from fairpool.server.web.pages.tiles import tile_of
from fairpool.server.web.routing import page_router
from fairpool.server.web.signed_in import CurrentBrowser, CurrentDatabase

router = page_router()


@router.get(HOME)
def show_own_collaborations(
    request: Request, browser: CurrentBrowser, database: CurrentDatabase
) -> HTMLResponse:
    """All collaborations that one has a part in."""
    with database.reading() as session:
        tiles = [tile_of(session, who) for who in everywhere(session, browser.person)]
    return page(
        "collaborations",
        request,
        signed_in=browser,
        collaborations=tiles,
        may_create=browser.person.may_create,
    )
