"""Moving a round on: what an operator's buttons do."""

from collections.abc import Callable
from typing import Annotated

from fastapi import Form
from fastapi.responses import HTMLResponse, Response
from sqlalchemy.orm import Session

from fairpool.errors import FairpoolError
from fairpool.server.consortia import closing, rounds
from fairpool.server.consortia.jobs import preview_result
from fairpool.server.consortia.who import Who
from fairpool.server.refused import NotFoundError, RefusedError
from fairpool.server.store.tables import Job, Role, Round
from fairpool.server.web.api.numbers import number_of
from fairpool.server.web.pages.collaboration import operator_page
from fairpool.server.web.pages.frame import Refusal
from fairpool.server.web.pages.here import COLLABORATION, CurrentHere, Here
from fairpool.server.web.pages.previews import preview_card
from fairpool.server.web.pages.round_steps import line_of
from fairpool.server.web.routing import page_router

router = page_router()

ROUND = COLLABORATION + "/rounds/{number}"
JOB = COLLABORATION + "/jobs/{job_id}"


@router.post(f"{ROUND}/close")
def close_this_round(here: CurrentHere, number: str) -> Response:
    """Nobody changes anything in the round any longer."""
    return _move(here, number, closing.close, "closed")


@router.post(f"{ROUND}/reopen")
def open_round_again(here: CurrentHere, number: str) -> Response:
    """Let parties send and withdraw again."""
    return _move(here, number, rounds.reopen, "reopened")


@router.post(f"{ROUND}/compute")
def compute_round(here: CurrentHere, number: str) -> Response:
    """Have a preview computed."""
    return _move(here, number, rounds.preview, "queued")


@router.post(f"{JOB}/cancel")
def stop_job(here: CurrentHere, job_id: str) -> Response:
    """Have a computation stopped."""
    return _act(here, lambda session, who: rounds.cancel(session, who, job_id), "cancelled")


@router.post(f"{JOB}/resume")
def go_on_with_job(here: CurrentHere, job_id: str) -> Response:
    """Go on with a computation that was stopped, or has failed."""
    return _act(here, lambda session, who: rounds.resume(session, who, job_id), "queued")


@router.get(f"{ROUND}/preview")
def show_preview(here: CurrentHere, number: str) -> HTMLResponse:
    """What the round would give, before anything is released."""
    with here.reading(Role.OPERATOR) as (session, who):
        round_ = _newest(session, who, number)
        job = _preview_of(session, round_)
        return here.page(
            "preview",
            who,
            "round",
            round=line_of(round_, who.role, all_agreed=True, all_sent=True),
            preview=preview_card(here, job, preview_result(session, who, job.id)),
            base=f"{here.address}/rounds/{number}",
        )


@router.get(f"{ROUND}/release")
def ask_before_release(here: CurrentHere, number: str) -> HTMLResponse:
    """What a release means, and whether it is meant."""
    return _release_page(here, number)


@router.post(f"{ROUND}/release")
def release_this_round(
    here: CurrentHere,
    number: str,
    preview: Annotated[str, Form(max_length=100)],
    sure: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    """Release the round as it was looked at."""
    try:
        with here.changing(Role.OPERATOR) as (session, who):
            if sure != "yes":
                raise RefusedError("say that you have read the report, then release")
            _newest(session, who, number)
            rounds.release(session, who, preview)
    except FairpoolError as error:
        return _release_page(here, number, Refusal.of(error))
    return here.see(said="queued")


def _release_page(here: Here, number: str, refusal: Refusal | None = None) -> HTMLResponse:
    with here.reading(Role.OPERATOR) as (session, who):
        round_ = _newest(session, who, number)
        job = _preview_of(session, round_)
        card = preview_card(here, job, preview_result(session, who, job.id))
        return here.page(
            "release",
            who,
            "round",
            refusal,
            number=number,
            preview=card,
            base=f"{here.address}/rounds/{number}",
            graves=[text for group in card.groups if group.is_grave for text in group.texts],
        )


def _move(
    here: Here, number: str, move: Callable[[Session, Who], Round | Job], said: str
) -> Response:
    """Move the newest round on, if that is the one that the page was about."""

    def moved(session: Session, who: Who) -> object:
        _newest(session, who, number)
        return move(session, who)

    return _act(here, moved, said)


def _act(here: Here, act: Callable[[Session, Who], object], said: str) -> Response:
    try:
        with here.changing(Role.OPERATOR) as (session, who):
            act(session, who)
    except FairpoolError as error:
        refusal = Refusal.of(error)
        with here.reading(Role.OPERATOR) as (session, who):
            return operator_page(here, session, who, refusal)
    return here.see(said=said)


def _newest(session: Session, who: Who, text: str) -> Round:
    """The newest round, which a page of an older one does not move."""
    number = number_of(text)
    newest = rounds.current(session, who.collaboration)
    if newest is None or number > newest.number or number < 1:
        raise NotFoundError
    if newest.number != number:
        raise RefusedError(f"round {number} was released; round {newest.number} is open now")
    return newest


def _preview_of(session: Session, round_: Round) -> Job:
    if round_.preview_id is None:
        raise RefusedError(f"there is no preview of round {round_.number}; compute one first")
    return session.get_one(Job, round_.preview_id)
