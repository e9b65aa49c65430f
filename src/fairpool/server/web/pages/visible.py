"""What others can see about one's own party."""

from fastapi.responses import HTMLResponse

from fairpool.server.consortia import visible
from fairpool.server.store.tables import Role
from fairpool.server.web.pages.here import COLLABORATION, CurrentHere
from fairpool.server.web.routing import page_router

router = page_router()


@router.get(COLLABORATION + "/visible")
def show_what_others_see(here: CurrentHere) -> HTMLResponse:
    """Who sees what of the party."""
    with here.reading(Role.PARTY) as (session, who):
        return here.page("visible", who, "visible", sights=visible.of(session, who))
