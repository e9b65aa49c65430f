"""What happened in a collaboration, in order: each event has the hash of the one before.

Who changes, leaves out or reorders events must write all later ones anew, and whoever has kept the
newest hash notices. Only from the end events can be cut off unnoticed by who has kept none.
"""

from datetime import UTC
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.canonical import digest_of, encoded
from fairpool.server.consortia.who import Who
from fairpool.server.mail import notices
from fairpool.server.store.tables import Collaboration, Event, Party, Person, now

NOTHING_BEFORE = "0" * 64
"""What the first event has as the hash of the one before."""

ACTIONS = frozenset(
    (
        "audit-signed",
        "cancel-asked",
        "cancelled",
        "collaboration-created",
        "draft-changed",
        "failed",
        "file-received",
        "invitation-ended",
        "invitation-revoked",
        "invited",
        "joined",
        "left",
        "no-longer-fits",
        "people-gone",
        "people-replaced",
        "preview-asked",
        "previewed",
        "release-asked",
        "released",
        "removed",
        "round-closed",
        "round-opened",
        "round-reopened",
        "submitted",
        "terms-accepted",
        "terms-proposed",
        "withdrawn",
    )
)
"""All that can happen."""


def record(
    session: Session,
    collaboration: Collaboration,
    who: Who | Person | None,
    action: str,
    detail: dict[str, Any] | None = None,
    *,
    about: Party | None = None,
) -> Event:
    """Write down what somebody does, in the transaction that does it.

    Args:
        session: Open; the collaboration is locked until its transaction ends.
        collaboration: Where.
        who: Who does it; None: the service itself.
        action: One of `ACTIONS`.
        detail: What a reader of the log needs besides: JSON, without secrets.
        about: The party that it is about; default: that of who does it.
    """
    assert action in ACTIONS, action
    session.scalars(
        select(Collaboration.id).where(Collaboration.id == collaboration.id).with_for_update()
    ).one()
    last = session.scalars(
        select(Event)
        .where(Event.collaboration_id == collaboration.id)
        .order_by(Event.number.desc())
        .limit(1)
    ).one_or_none()
    if about is None and isinstance(who, Who):
        about = who.party
    person = who.person if isinstance(who, Who) else who
    event = Event(
        collaboration_id=collaboration.id,
        number=1 if last is None else last.number + 1,
        time=now(),
        person_id=None if person is None else person.id,
        party_id=None if about is None else about.id,
        action=action,
        detail=detail or {},
        previous=NOTHING_BEFORE if last is None else last.hash,
    )
    event.hash = digest_of(_content(event))
    session.add(event)
    session.flush()
    notices.follow(session, event)
    return event


def of(session: Session, collaboration: Collaboration) -> list[Event]:
    """All events, the first one first."""
    mine = select(Event).where(Event.collaboration_id == collaboration.id)
    return list(session.scalars(mine.order_by(Event.number)))


def faults(session: Session, collaboration: Collaboration) -> list[str]:
    """What is wrong with the chain of events, in words; nothing: it is whole."""
    found = []
    previous = NOTHING_BEFORE
    for number, event in enumerate(of(session, collaboration), start=1):
        if event.number != number:
            found.append(f"event {number} is missing: event {event.number} stands in its place")
            break
        if event.previous != previous:
            found.append(f"event {number} does not follow event {number - 1}: the hash is another")
        if digest_of(_content(event)) != event.hash:
            found.append(f"event {number} was changed after it was written down")
        previous = event.hash
    return found


def export(session: Session, collaboration: Collaboration) -> bytes:
    """The log as a file: one event a line, canonical JSON, with its hash.

    The hash of a line is SHA-256 of the same object without `hash`.
    """
    return b"".join(
        encoded({**_content(event), "hash": event.hash}) + b"\n"
        for event in of(session, collaboration)
    )


def _content(event: Event) -> dict[str, Any]:
    """What the hash is of."""
    return {
        "collaboration": event.collaboration_id,
        "number": event.number,
        "time": event.time.astimezone(UTC).isoformat(timespec="microseconds"),
        "person": event.person_id,
        "party": event.party_id,
        "action": event.action,
        "detail": event.detail,
        "previous": event.previous,
    }
