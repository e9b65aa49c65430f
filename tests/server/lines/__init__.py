"""The table of who gets which answer, a file of it for each file of endpoints or a few."""

from tests.server.lines import (
    auditing_api,
    data_api,
    people_api,
    people_pages,
    round_pages,
    rounds_api,
    watching,
)

LINES = {
    **auditing_api.LINES,
    **data_api.LINES,
    **people_api.LINES,
    **people_pages.LINES,
    **round_pages.LINES,
    **rounds_api.LINES,
    **watching.LINES,
}
