"""What a party received, round by round: letter, model, reasons, and how to check them."""

from fastapi.responses import HTMLResponse

from fairpool.server.refused import NotFoundError
from fairpool.server.store.tables import Role
from fairpool.server.web.api.numbers import number_of
from fairpool.server.web.pages.here import COLLABORATION, CurrentHere, Here
from fairpool.server.web.pages.history_chart import chart_of
from fairpool.server.web.pages.received import Received, received_by
from fairpool.server.web.pages.results_card import result_card, result_line
from fairpool.server.web.routing import page_router

router = page_router()

RESULTS = COLLABORATION + "/results"


@router.get(RESULTS)
def show_results(here: CurrentHere) -> HTMLResponse:
    """The newest round that was released."""
    return _page(here, None)


@router.get(RESULTS + "/{number}")
def show_results_of_round(here: CurrentHere, number: str) -> HTMLResponse:
    """Any round that was released."""
    return _page(here, number_of(number))


def _page(here: Here, number: int | None) -> HTMLResponse:
    with here.reading(Role.PARTY) as (session, who):
        every = received_by(session, here.settings, who)
        shown = _chosen(every, number)
        return here.page(
            "results",
            who,
            "results",
            shown=None if shown is None else result_card(here, shown),
            history=chart_of(every),
            rounds=[result_line(here, one) for one in reversed(every)],
        )


def _chosen(every: list[Received], number: int | None) -> Received | None:
    if number is None:
        return every[-1] if every else None
    for one in every:
        if one.number == number:
            return one
    raise NotFoundError
