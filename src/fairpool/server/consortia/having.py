"""What each party has in a round: sent for it, or for earlier ones where that still counts.

A party's table is whole, so that the newest one counts. Contributions are increments: all of them
count, but for those in whose place a later one stands.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session

from fairpool.exchange.contribution_file import SUFFIX
from fairpool.server.consortia.agreed import Partner, in_force, partners
from fairpool.server.consortia.found import CONTRIBUTION
from fairpool.server.store.tables import (
    Collaboration,
    Party,
    Round,
    Submission,
    SubmissionState,
    Terms,
)


def is_contribution(submission: Submission) -> bool:
    """Whether it is sums instead of rows."""
    return submission.suffix == SUFFIX


def data_of(session: Session, round_: Round) -> dict[str, list[Submission]]:
    """What each party has in a round, by the identity of its record; who has nothing is lacking.

    Args:
        session: Open.
        round_: Any, also one that was released.
    """
    collaboration = session.get_one(Collaboration, round_.collaboration_id)
    if round_.terms_id is None:
        terms = in_force(session, collaboration)
    else:
        terms = session.get_one(Terms, round_.terms_id)
    if terms is None:
        return {}
    sent = _submitted(session, round_)
    data = {}
    for party, partner in parties_of(session, terms):
        own = [one for one in sent if one.party_id == party.id]
        having = _sums(own) if partner.key is not None else _rows(own)
        if having:
            data[party.id] = having
    return data


def parties_of(session: Session, terms: Terms) -> list[tuple[Party, Partner]]:
    """The parties of terms, in their order: their records, and what the terms say of them."""
    mine = select(Party).where(Party.collaboration_id == terms.collaboration_id)
    records = {party.permanent: party for party in session.scalars(mine)}
    return [(records[partner.id], partner) for partner in partners(terms)]


def _submitted(session: Session, round_: Round) -> Sequence[Submission]:
    """What was submitted for a round and those before it, in the order in which it came.

    What people sent who are all gone counts in the rounds that were closed before they went.
    """
    counts: ColumnElement[bool] = Submission.ended.is_(None)
    if round_.closed is not None:
        counts = or_(counts, Submission.ended > round_.closed)
    return session.scalars(
        select(Submission)
        .join(Round, Round.id == Submission.round_id)
        .where(Round.collaboration_id == round_.collaboration_id, Round.number <= round_.number)
        .where(Submission.state == SubmissionState.SUBMITTED.value)
        .where(Submission.blob_id.is_not(None), counts)
        .order_by(Round.number, Submission.created, Submission.id)
    ).all()


def _rows(own: list[Submission]) -> list[Submission]:
    """The tables of the newest round in which there are some."""
    tables = [one for one in own if not is_contribution(one)]
    return [one for one in tables if one.round_id == tables[-1].round_id]


def _sums(own: list[Submission]) -> list[Submission]:
    """All contributions, but for those in whose place another stands."""
    sums = [one for one in own if is_contribution(one)]
    replaced = {digest for one in sums for digest in _said(one).get("replaces", [])}
    return [one for one in sums if _said(one).get("digest") not in replaced]


def _said(submission: Submission) -> dict[str, Any]:
    said: dict[str, Any] = submission.findings.get(CONTRIBUTION, {})
    return said
