"""Whether a page is still as it was shown: asked now and then, without showing it anew."""

import hashlib

from fastapi.responses import Response
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from fairpool.server.consortia import rounds, submissions
from fairpool.server.consortia.agreed import in_force
from fairpool.server.consortia.who import Who
from fairpool.server.store.tables import Event, Job, Role, Round
from fairpool.server.web.pages.here import COLLABORATION, CurrentHere, Here
from fairpool.server.web.routing import page_router

router = page_router()

REFRESH = {"HX-Refresh": "true"}
"""Has htmx load the whole page anew."""


@router.get(COLLABORATION + "/changes", status_code=204)
def tell_whether_changed(here: CurrentHere, seen: str = "") -> Response:
    """Nothing; in a header, that the page is to be loaded anew if it shows what was before."""
    with here.reading(Role.OPERATOR, Role.PARTY) as (session, who):
        is_same = seen == _digest(session, who)
    return Response(status_code=204, headers={} if is_same else REFRESH)


def watch_address(here: Here, session: Session, who: Who) -> str:
    """Where a page asks that shows what is now."""
    return f"{here.address}/changes?seen={_digest(session, who)}"


def _digest(session: Session, who: Who) -> str:
    """Of what the page depends on; no party learns from it what others do."""
    known = [*_of_operator(session, who)] if who.is_operator else [*_of_party(session, who)]
    return hashlib.sha256(repr(known).encode()).hexdigest()[:16]


def _of_operator(session: Session, who: Who) -> list[object]:
    """Everything that happens is an event, but for how jobs end."""
    id_ = who.collaboration.id
    mine = select(func.count()).select_from(Event).where(Event.collaboration_id == id_)
    jobs = select(Job.state, func.count()).where(Job.collaboration_id == id_).group_by(Job.state)
    return [session.scalar(mine), sorted(map(tuple, session.execute(jobs)))]


def _of_party(session: Session, who: Who) -> list[object]:
    round_ = rounds.current(session, who.collaboration)
    terms = in_force(session, who.collaboration)
    known: list[object] = [None if terms is None else terms.id]
    if round_ is not None:
        known += [round_.number, round_.state, *_files(session, who, round_)]
    return known


def _files(session: Session, who: Who, round_: Round) -> list[object]:
    return [(one.id, one.state) for one in submissions.of_party(session, who, round_)]
