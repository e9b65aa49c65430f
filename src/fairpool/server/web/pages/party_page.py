"""The first page of a collaboration for the people of a party."""

from collections.abc import Sequence
from dataclasses import replace

from fastapi.responses import HTMLResponse
from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.exchange.contribution_file import SUFFIX
from fairpool.server.consortia import replacing, standing
from fairpool.server.consortia.agreed import partners
from fairpool.server.consortia.who import Who
from fairpool.server.store.tables import (
    Acceptance,
    Round,
    RoundState,
    Submission,
    SubmissionState,
    Terms,
)
from fairpool.server.web.pages.changes import watch_address
from fairpool.server.web.pages.frame import Refusal
from fairpool.server.web.pages.here import Here
from fairpool.server.web.pages.party_lines import todos_of
from fairpool.server.web.pages.party_steps import PartysView, next_step
from fairpool.server.web.pages.party_views import LastTime, StandingCard, SubmissionCard
from fairpool.server.web.pages.received import received_by
from fairpool.server.web.pages.results_card import share_of
from fairpool.server.web.pages.round_steps import line_of
from fairpool.server.web.pages.submission_cards import submission_card
from fairpool.server.web.pages.terms_cards import plan_address
from fairpool.server.web.routing import API

TABLES = (".csv", ".csv.gz", ".parquet", ".xlsx")
"""What a browser offers for choosing a table; the service says itself what it takes."""


def party_page(
    here: Here, session: Session, who: Who, refusal: Refusal | None = None
) -> HTMLResponse:
    """The round, for somebody of a party.

    Args:
        here: Where.
        session: Open.
        who: Somebody of the party.
        refusal: Why what was asked for was not done.
    """
    own = standing.of(session, who)
    if own.round is None or own.terms is None:
        return here.page(
            "party_round",
            who,
            "round",
            refusal,
            step=next_step(_before(here, who)),
            replaced=replacing.told(session, who.collaboration),
            round=None,
            standing=None,
            watch=watch_address(here, session, who),
        )
    cards = cards_of(here, session, own.round, own.terms, own.sent)
    last = _last(here, session, who)
    todos = todos_of(session, own.round, own.party.id, own.tasks)
    view = PartysView(
        address=here.address,
        party=own.party.name,
        round=own.round.number,
        state=RoundState(own.round.state),
        takes_part=own.takes_part and own.party.left is None,
        has_agreed=own.acceptance is not None,
        is_new_version=_accepted_before(session, who),
        files=cards,
        sends_sums=_sends_sums(who, own.terms),
        from_round=_from_round(session, own.round, own.having),
        unread=None if last is None or cards else last.number,
    )
    return here.page(
        "party_round",
        who,
        "round",
        refusal,
        step=next_step(view),
        replaced=replacing.told(session, who.collaboration),
        watch=watch_address(here, session, who),
        round=line_of(
            own.round,
            who.role,
            all_agreed=view.has_agreed,
            all_sent=all(todo.state == "done" for todo in todos),
        ),
        standing=StandingCard(
            may_upload=view.takes_part and view.has_agreed and own.is_open,
            upload=f"{API}{here.address}/submissions",
            sends_sums=view.sends_sums,
            is_first=not cards and view.from_round is None,
            plan=plan_address(here, own.terms) if view.sends_sums else None,
            most=here.settings.upload_bytes,
            suffixes=(SUFFIX,) if view.sends_sums else TABLES,
            todos=todos,
            submissions=cards,
            last=last,
        ),
    )


def cards_of(
    here: Here, session: Session, round_: Round, terms: Terms, sent: Sequence[Submission]
) -> tuple[SubmissionCard, ...]:
    """What the party sent for a round and did not withdraw, the newest first."""
    is_open = round_.state == RoundState.OPEN.value
    cards: list[SubmissionCard] = []
    for one in sent:
        if one.state == SubmissionState.WITHDRAWN.value:
            continue
        card = submission_card(session, here, one, terms, is_open=is_open)
        was_refused = one.state == SubmissionState.REFUSED.value
        cards.append(replace(card, is_superseded=was_refused and bool(cards)))
    return tuple(cards)


def _before(here: Here, who: Who) -> PartysView:
    return PartysView(
        address=here.address,
        party=who.own_party.name,
        round=None,
        state=RoundState.OPEN,
        takes_part=True,
        has_agreed=False,
        is_new_version=False,
        files=(),
        sends_sums=False,
        from_round=None,
        unread=None,
    )


def _sends_sums(who: Who, terms: Terms) -> bool:
    """Whether the terms say that the party signs sums with a key, instead of sending rows."""
    return any(
        partner.id == who.own_party.permanent and partner.key is not None
        for partner in partners(terms)
    )


def _accepted_before(session: Session, who: Who) -> bool:
    mine = select(Acceptance.id).where(
        Acceptance.party_id == who.own_party.id, Acceptance.ended.is_(None)
    )
    return session.scalars(mine.limit(1)).first() is not None


def _from_round(session: Session, round_: Round, having: Sequence[Submission]) -> int | None:
    """The round whose data take part, where these are of an earlier one."""
    if not having or having[-1].round_id == round_.id:
        return None
    return session.get_one(Round, having[-1].round_id).number


def _last(here: Here, session: Session, who: Who) -> LastTime | None:
    every = received_by(session, here.settings, who)
    if not every:
        return None
    last = every[-1]
    return LastTime(number=last.number, share=share_of(last.share), alone=share_of(last.alone))
