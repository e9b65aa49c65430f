"""What is agreed to: the terms in force, whose they are, and who accepted them."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.server.store.tables import Acceptance, Collaboration, Terms


@dataclass(frozen=True, kw_only=True)
class Partner:
    """A party as terms have it.

    Attributes:
        id: Its permanent identity.
        name: What it is called.
        key: With which it signs its sums; None: it sends rows.
    """

    id: str
    name: str
    key: str | None


def in_force(session: Session, collaboration: Collaboration) -> Terms | None:
    """The newest terms; None: none were proposed."""
    mine = select(Terms).where(Terms.collaboration_id == collaboration.id)
    return session.scalars(mine.order_by(Terms.version.desc()).limit(1)).one_or_none()


def body_of(terms: Terms) -> dict[str, Any]:
    """What the signed document says."""
    body: dict[str, Any] = json.loads(terms.document)["body"]
    return body


def partners(terms: Terms) -> tuple[Partner, ...]:
    """The parties of terms, in their order."""
    return tuple(Partner(**party) for party in body_of(terms)["parties"])


def accepted_by(session: Session, terms: Terms) -> dict[str, Acceptance]:
    """Who accepted terms, by the identity of the party's record.

    What people accepted who are all gone is kept, and does not count for those who follow them.
    """
    mine = select(Acceptance).where(Acceptance.terms_id == terms.id, Acceptance.ended.is_(None))
    given = session.scalars(mine)
    return {acceptance.party_id: acceptance for acceptance in given}
