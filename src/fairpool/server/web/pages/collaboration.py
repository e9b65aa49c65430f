"""The first page of a collaboration: where the round stands, and what to do next."""

from fastapi.responses import HTMLResponse
from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.server.consortia import checklist, draft, events, replacing, rounds
from fairpool.server.consortia.agreed import in_force
from fairpool.server.consortia.checklist import Checklist
from fairpool.server.consortia.who import Who
from fairpool.server.store.tables import Job, JobKind, JobState, Membership, Role, Round
from fairpool.server.web.pages.auditor import auditor_page
from fairpool.server.web.pages.changes import watch_address
from fairpool.server.web.pages.event_words import lines_of
from fairpool.server.web.pages.frame import Refusal
from fairpool.server.web.pages.here import COLLABORATION, CurrentHere, Here
from fairpool.server.web.pages.operator_steps import OperatorsView, next_step
from fairpool.server.web.pages.party_lines import party_lines
from fairpool.server.web.pages.party_page import party_page
from fairpool.server.web.pages.round_steps import line_of
from fairpool.server.web.pages.terms_cards import terms_card
from fairpool.server.web.pages.views import JobLine, PartyLine
from fairpool.server.web.routing import API, page_router

router = page_router()

LATELY = 5
"""So many events stand on the first page."""


@router.get(COLLABORATION)
def show_collaboration(here: CurrentHere) -> HTMLResponse:
    """Where the round stands, for whoever looks."""
    with here.reading() as (session, who):
        if who.role is Role.OPERATOR:
            return operator_page(here, session, who)
        if who.role is Role.PARTY:
            return party_page(here, session, who)
        return auditor_page(here, session, who)


def operator_page(
    here: Here, session: Session, who: Who, refusal: Refusal | None = None
) -> HTMLResponse:
    """The round, for an operator.

    Args:
        here: Where.
        session: Open.
        who: The operator.
        refusal: Why what was asked for was not done.
    """
    round_ = rounds.current(session, who.collaboration)
    agreed = in_force(session, who.collaboration)
    tasks = checklist.of(session, who.collaboration)
    lines: tuple[PartyLine, ...] = ()
    if agreed is not None and round_ is not None:
        lines = party_lines(session, round_, agreed, tasks)
    job = None if round_ is None else newest_job(session, round_)
    view = OperatorsView(
        address=here.address,
        round=round_,
        job=job,
        draft_problems=_draft_problems(who, round_),
        waiting_for=_waiting_for(tasks),
        nobody=_without_people(session, who),
    )
    line = None
    if round_ is not None:
        line = line_of(
            round_,
            who.role,
            all_agreed=all(one.has_agreed for one in lines),
            all_sent=all(one.is_ready for one in lines),
        )
    return here.page(
        "operator_round",
        who,
        "round",
        refusal,
        round=line,
        lines=lines,
        replaced=replacing.told(session, who.collaboration),
        terms=None if agreed is None else terms_card(here, agreed),
        events=lines_of(session, events.of(session, who.collaboration)[-LATELY:]),
        step=next_step(view),
        job=None if job is None else job_line(here, job),
        watch=watch_address(here, session, who),
    )


def newest_job(session: Session, round_: Round) -> Job | None:
    """The newest computation of a round."""
    mine = select(Job).where(Job.round_id == round_.id, Job.kind != JobKind.CHECK.value)
    return session.scalars(mine.order_by(Job.created.desc()).limit(1)).one_or_none()


def job_line(here: Here, job: Job) -> JobLine:
    """A job, as its page follows it."""
    return JobLine(
        events=f"{API}{here.address}/jobs/{job.id}/events",
        stage=job.stage,
        done=job.done,
        total=job.total,
        is_active=job.state in (JobState.QUEUED.value, JobState.RUNNING.value),
    )


def _draft_problems(who: Who, round_: Round | None) -> tuple[str, ...]:
    """What is wrong with the draft, as long as it is what is to be done next."""
    return () if round_ is not None else tuple(draft.problems(who.collaboration.draft))


def _waiting_for(tasks: Checklist) -> tuple[str, ...]:
    """What keeps an open round from being closed, party by party."""
    found = [task for task in tasks.tasks if task.blocks and not task.is_done]
    return tuple(f"{task.name}: {task.text}" if task.name else task.text for task in found)


def _without_people(session: Session, who: Who) -> tuple[str, ...]:
    mine = select(Membership.party_id).where(Membership.collaboration_id == who.collaboration.id)
    peopled = set(session.scalars(mine))
    parties = who.collaboration.parties
    return tuple(party.name for party in parties if party.left is None and party.id not in peopled)
