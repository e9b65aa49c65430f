"""Rounds that were released, as pages list them."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.server.consortia.who import Who
from fairpool.server.store.tables import Person, Release, Round
from fairpool.server.web.pages.round_views import ReleasedLine
from fairpool.server.web.routing import API


def rounds_of(session: Session, who: Who, address: str) -> tuple[ReleasedLine, ...]:
    """The released rounds of a collaboration, the newest first."""
    found = session.execute(
        select(Round, Release, Person)
        .join(Release, Release.round_id == Round.id)
        .join(Person, Person.id == Release.released_by)
        .where(Round.collaboration_id == who.collaboration.id)
        .order_by(Round.number.desc())
    )
    return tuple(
        ReleasedLine(
            number=round_.number,
            released=release.released,
            by=person.name,
            head=release.head,
            report=f"{API}{address}/rounds/{round_.number}/report",
        )
        for round_, release, person in found
    )
