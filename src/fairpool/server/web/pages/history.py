"""Everything that happened, and what was released, for the operator."""

from fastapi.responses import HTMLResponse

from fairpool.server.consortia import events
from fairpool.server.store.tables import Role
from fairpool.server.web.pages.event_words import lines_of
from fairpool.server.web.pages.here import COLLABORATION, CurrentHere
from fairpool.server.web.pages.released import rounds_of
from fairpool.server.web.routing import API, page_router

router = page_router()


@router.get(COLLABORATION + "/history")
def show_history(here: CurrentHere) -> HTMLResponse:
    """What happened, the newest first."""
    with here.reading(Role.OPERATOR) as (session, who):
        happened = events.of(session, who.collaboration)
        return here.page(
            "history",
            who,
            "history",
            rounds=rounds_of(session, who, here.address),
            events=lines_of(session, happened),
            faults=events.faults(session, who.collaboration),
            log=f"{API}/collaborations/{here.collaboration_id}/events",
        )
