"""One's collaborations as tiles: where each stands, and whether it is one's turn."""

from sqlalchemy.orm import Session

from fairpool.server.consortia import checklist, rounds, submissions
from fairpool.server.consortia.agreed import accepted_by, in_force
from fairpool.server.consortia.who import Who
from fairpool.server.store.tables import Role, Round, RoundState
from fairpool.server.web.pages.frame import heading_of
from fairpool.server.web.pages.views import CollaborationTile

WAITING = "warn"
CALM = "good"


def tile_of(session: Session, who: Who) -> CollaborationTile:
    """A collaboration, as whoever takes part sees it among their others."""
    heading = heading_of(who)
    round_ = rounds.current(session, who.collaboration)
    if round_ is None:
        standing, tone = _before(who)
    elif who.role is Role.OPERATOR:
        standing, tone = _of_operator(session, who, round_)
    elif who.role is Role.PARTY:
        standing, tone = _of_party(session, who, round_)
    else:
        standing, tone = f"round {round_.number}", ""
    return CollaborationTile(
        name=heading.name,
        address=heading.address,
        as_what=heading.as_what,
        standing=standing,
        tone=tone,
    )


def _before(who: Who) -> tuple[str, str]:
    if who.is_operator:
        return "the terms are to be proposed", WAITING
    return "the terms are being prepared", ""


def _of_operator(session: Session, who: Who, round_: Round) -> tuple[str, str]:
    number = f"round {round_.number}"
    state = RoundState(round_.state)
    if state is RoundState.OPEN:
        if checklist.of(session, who.collaboration).ready_to_close:
            return f"{number}: all are ready", WAITING
        return f"{number}: waiting for parties", ""
    if state is RoundState.CLOSED:
        return f"{number}: to be computed", WAITING
    if state is RoundState.PREVIEWED:
        return f"{number}: to be released", WAITING
    return f"{number}: at work", ""


def _of_party(session: Session, who: Who, round_: Round) -> tuple[str, str]:
    number = f"round {round_.number}"
    if round_.state != RoundState.OPEN.value:
        return f"{number}: the operator computes", ""
    terms = in_force(session, who.collaboration)
    if terms is not None and who.own_party.id not in accepted_by(session, terms):
        return f"{number}: read the terms", WAITING
    if who.own_party.id not in submissions.data_of(session, round_):
        return f"{number}: send your data", WAITING
    return f"{number}: nothing to do", CALM
