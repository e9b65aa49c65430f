"""Rounds: where each stands, and what moves the newest one on."""

from datetime import datetime

from fastapi import status
from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.server.consortia import closing, rounds
from fairpool.server.consortia.who import Who, require
from fairpool.server.refused import NotFoundError, RefusedError
from fairpool.server.store.tables import Person, Release, Role, Round
from fairpool.server.web.api.jobs import JobView
from fairpool.server.web.api.numbers import number_of
from fairpool.server.web.routing import api_router
from fairpool.server.web.signed_in import CurrentPerson, Reading, Transaction

router = api_router()

ROUND = "/collaborations/{collaboration_id}/rounds/{number}"


class RoundView(BaseModel):
    """Where a round stands."""

    number: int
    state: str
    opened: datetime
    closed: datetime | None
    released: datetime | None
    head: str | None
    """What letters and files of the round carry, once it is released."""
    preview: str | None
    """The job of the preview that can be released; operators see it."""

    @classmethod
    def of(cls, session: Session, who: Who, round_: Round) -> "RoundView":
        """A round, as somebody may see it."""
        release = session.get(Release, round_.id)
        return cls(
            number=round_.number,
            state=round_.state,
            opened=round_.opened,
            closed=round_.closed,
            released=None if release is None else release.released,
            head=None if release is None else release.head,
            preview=round_.preview_id if who.is_operator else None,
        )


class Looked(BaseModel):
    """What an operator has looked at."""

    preview: str
    """The preview's job."""


@router.get("/collaborations/{collaboration_id}/rounds")
def list_rounds(collaboration_id: str, person: CurrentPerson, session: Reading) -> list[RoundView]:
    """All rounds, the first one first."""
    who = require(session, person, collaboration_id)
    mine = select(Round).where(Round.collaboration_id == collaboration_id)
    found = session.scalars(mine.order_by(Round.number)).all()
    return [RoundView.of(session, who, round_) for round_ in found]


@router.get(ROUND)
def show_round(
    collaboration_id: str, number: str, person: CurrentPerson, session: Reading
) -> RoundView:
    """Where a round stands."""
    who = require(session, person, collaboration_id)
    return RoundView.of(session, who, _find(session, who, number_of(number)))


@router.post(f"{ROUND}/close")
def close_round(
    collaboration_id: str, number: str, person: CurrentPerson, session: Transaction
) -> RoundView:
    """Nobody submits or withdraws any longer; refused while somebody has something to do."""
    who = _operator(session, person, collaboration_id, number)
    return RoundView.of(session, who, closing.close(session, who))


@router.post(f"{ROUND}/reopen")
def reopen_round(
    collaboration_id: str, number: str, person: CurrentPerson, session: Transaction
) -> RoundView:
    """Let parties submit and withdraw again, as long as nothing is released."""
    who = _operator(session, person, collaboration_id, number)
    return RoundView.of(session, who, rounds.reopen(session, who))


@router.post(f"{ROUND}/preview", status_code=status.HTTP_202_ACCEPTED)
def preview_round(
    collaboration_id: str, number: str, person: CurrentPerson, session: Transaction
) -> JobView:
    """Have the round computed, to be looked at before anything is released."""
    who = _operator(session, person, collaboration_id, number)
    return JobView.of(rounds.preview(session, who))


@router.post(f"{ROUND}/release", status_code=status.HTTP_202_ACCEPTED)
def release_round(
    collaboration_id: str,
    number: str,
    looked: Looked,
    person: CurrentPerson,
    session: Transaction,
) -> JobView:
    """Release the round as it was previewed; that cannot be taken back."""
    who = _operator(session, person, collaboration_id, number)
    return JobView.of(rounds.release(session, who, looked.preview))


def _operator(session: Session, person: Person, collaboration_id: str, text: str) -> Who:
    """An operator who means the newest round: one that looks at an old page moves nothing."""
    who = require(session, person, collaboration_id, Role.OPERATOR, alone=True)
    number = number_of(text)
    meant = _find(session, who, number)
    newest = rounds.current(session, who.collaboration)
    if newest is not None and newest.id != meant.id:
        raise RefusedError(
            f"round {number} was released, and {newest.number} is the round at hand; load the page"
            " again"
        )
    return who


def _find(session: Session, who: Who, number: int) -> Round:
    found = session.scalars(
        select(Round).where(Round.collaboration_id == who.collaboration.id, Round.number == number)
    ).one_or_none()
    if found is None:
        raise NotFoundError
    return found
