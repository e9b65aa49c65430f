"""What an auditor sees and does: the released rounds, computed anew and signed; and the ledger."""

from datetime import datetime
from typing import Annotated

from fastapi import Form
from fastapi.responses import HTMLResponse, Response
from sqlalchemy.orm import Session

from fairpool.consortium.rounds.inspecting import verify_folder
from fairpool.consortium.verification.finding import FALSE, UNKNOWN, VERIFIED
from fairpool.errors import FairpoolError
from fairpool.ledger.words import lines_of
from fairpool.server.consortia import auditing, replacing
from fairpool.server.consortia.auditing import Recomputed
from fairpool.server.consortia.who import Who
from fairpool.server.store.tables import Role
from fairpool.server.web.api.numbers import number_of
from fairpool.server.web.pages.auditor_views import AuditedRound, AuditLine, LedgerCard, RecordLine
from fairpool.server.web.pages.frame import Refusal
from fairpool.server.web.pages.here import COLLABORATION, CurrentHere, Here
from fairpool.server.web.pages.released import rounds_of
from fairpool.server.web.pages.round_views import ReleasedLine
from fairpool.server.web.pages.views import Action, NextStep
from fairpool.server.web.routing import API, page_router
from fairpool.server.work.project import folder_of

router = page_router()

TONES = {VERIFIED: "good", UNKNOWN: "warn", FALSE: "grave"}


@router.get(COLLABORATION + "/ledger")
def show_ledger(here: CurrentHere) -> HTMLResponse:
    """The ledger, and whether all released files are as it tells."""
    with here.reading(Role.OPERATOR, Role.AUDITOR) as (session, who):
        has_some = bool(rounds_of(session, who, here.address))
        return here.page("ledger", who, "ledger", ledger=ledger_card(here) if has_some else None)


@router.post(COLLABORATION + "/rounds/{number}/audit")
def recompute_round(here: CurrentHere, number: str) -> HTMLResponse:
    """Compute a round anew, and show what was found."""
    with here.reading(Role.AUDITOR) as (session, who):
        try:
            found = auditing.recompute(session, here.settings, who, number_of(number))
        except FairpoolError as error:
            return auditor_page(here, session, who, Refusal.of(error))
        return auditor_page(here, session, who, found=found)


@router.post(COLLABORATION + "/rounds/{number}/audit/signature")
def keep_signed_audit(
    here: CurrentHere, number: str, document: Annotated[str, Form()] = ""
) -> Response:
    """Keep what the auditor signed of a round."""
    try:
        with here.changing(Role.AUDITOR) as (session, who):
            content = document.strip().encode() + b"\n"
            auditing.sign(session, here.settings, who, number_of(number), content)
    except FairpoolError as error:
        refusal = Refusal.of(error)
        with here.reading(Role.AUDITOR) as (session, who):
            return auditor_page(here, session, who, refusal)
    return here.see(said="signed")


def auditor_page(
    here: Here,
    session: Session,
    who: Who,
    refusal: Refusal | None = None,
    *,
    found: Recomputed | None = None,
) -> HTMLResponse:
    """The rounds, for an auditor.

    Args:
        here: Where.
        session: Open.
        who: The auditor.
        refusal: Why what was asked for was not done.
        found: What came of computing a round anew just now.
    """
    signed = {
        round_.number: one.time
        for round_, one in auditing.signatures(session, who)
        if one.person_id == who.person.id
    }
    rounds = tuple(
        _audited(here, one, signed.get(one.number), found)
        for one in rounds_of(session, who, here.address)
    )
    step = _next_step(here, rounds)
    return here.page(
        "auditor_round",
        who,
        "round",
        refusal,
        step=step,
        rounds=rounds,
        replaced=replacing.told(session, who.collaboration),
    )


def _audited(
    here: Here, one: ReleasedLine, signed: datetime | None, found: Recomputed | None
) -> AuditedRound:
    address = f"{here.address}/rounds/{one.number}/audit"
    lines = found.lines if found is not None and found.number == one.number else ()
    return AuditedRound(
        number=one.number,
        released=one.released,
        by=one.by,
        head=one.head,
        recompute=address,
        sign=f"{address}/signature",
        copy=f"{API}{address}.zip",
        document=None if signed is None else f"{API}{address}/signature",
        signed=signed,
        lines=tuple(
            AuditLine(about=line.about, text=line.text, tone=TONES[line.answer], answer=line.answer)
            for line in lines
        ),
        commands=(
            "fairpool keys new --out auditor.key",
            f"fairpool audit round-{one.number}-audit {one.number}"
            " --out audit.json --sign auditor.key",
        ),
    )


def ledger_card(here: Here) -> LedgerCard:
    """The ledger as it is on the disk now."""
    try:
        found = verify_folder(folder_of(here.settings, here.collaboration_id))
    except FairpoolError as error:
        return LedgerCard(problems=tuple(error.problems), records=(), file=None)
    problems = () if found.ledger.ok else lines_of(found.ledger)
    return LedgerCard(
        problems=(*problems, *found.files),
        records=tuple(
            RecordLine(
                number=record.number,
                time=record.time,
                text=str(record.body.get("summary", record.kind)),
                hash=record.hash,
            )
            for record in found.ledger.records
        ),
        file=f"{API}{here.address}/ledger",
    )


def _next_step(here: Here, rounds: tuple[AuditedRound, ...]) -> NextStep:
    look = Action(
        text="Look at the ledger",
        address=f"{here.address}/ledger",
        is_form=False,
        tone="second",
    )
    if not rounds:
        return NextStep(
            eyebrow="Nothing to do now",
            title="No round has been released yet",
            texts=("Once one is, it stands here, for you to compute it anew.",),
            tone="calm",
        )
    open_ones = [one.number for one in rounds if one.signed is None]
    if not open_ones:
        return NextStep(
            eyebrow="Nothing to do now",
            title="You have signed what you found of all rounds",
            actions=(look,),
            tone="calm",
        )
    return NextStep(
        eyebrow="Your next step",
        title=f"Compute round {open_ones[-1]} anew, and sign what you find",
        texts=(
            "Values, contributions, rewards, noise and models are computed from the ledger and the"
            " statistics alone, and compared with what was handed out.",
        ),
        actions=(
            Action(text="Compute it here", address=f"{here.address}/rounds/{open_ones[-1]}/audit"),
            look,
        ),
    )
