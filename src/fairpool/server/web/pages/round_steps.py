"""A round as a line of steps: what is done, what is now, and what is ahead."""

from fairpool.server.store.tables import Role, Round, RoundState
from fairpool.server.web.pages.views import RoundLine, Step

FOR_OPERATORS = ("Agree", "Send data", "Close", "Preview", "Release")
FOR_PARTIES = ("Agree", "Send data", "Wait", "Receive")

_OF_OPERATORS = {
    RoundState.CLOSED: 3,
    RoundState.COMPUTING: 3,
    RoundState.PREVIEWED: 3,
    RoundState.RELEASING: 4,
    RoundState.RELEASED: 5,
}
"""At which step a round is that is no longer open."""


def line_of(round_: Round, role: Role, *, all_agreed: bool, all_sent: bool) -> RoundLine:
    """A round as whoever looks sees it.

    Args:
        round_: The newest one.
        role: Of who looks.
        all_agreed: Whether all whom it concerns have accepted the terms: for a party, itself.
        all_sent: Whether all whom it concerns have data in the round.
    """
    state = RoundState(round_.state)
    titles = FOR_PARTIES if role is Role.PARTY else FOR_OPERATORS
    if state is RoundState.OPEN:
        at = 0 if not all_agreed else 1 if not all_sent else 2
    elif role is Role.PARTY:
        at = 2
    else:
        at = _OF_OPERATORS[state]
    steps = []
    for place, title in enumerate(titles):
        standing = "done" if place < at else "now" if place == at else "ahead"
        steps.append(Step(title=title, state=standing))
    return RoundLine(number=round_.number, steps=tuple(steps))
