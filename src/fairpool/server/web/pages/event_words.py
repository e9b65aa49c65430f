"""What happened, in words for people: one sentence for every kind of event."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.server.store.tables import Event, Party, Person
from fairpool.server.web.pages.views import EventLine

SERVICE = "the service"

WORDS = {
    "collaboration-created": "made the collaboration",
    "draft-changed": "changed the draft",
    "invited": "made an invitation{for_party}",
    "invitation-ended": "ended another invitation{for_party}, by being the first to join",
    "invitation-revoked": "took an invitation back{for_party}",
    "joined": "joined{for_party}",
    "left": "left{for_party}",
    "removed": "removed a person{of_party}",
    "people-gone": "left nobody{for_party}: what its people accepted and sent has ended",
    "people-replaced": "is the first of other people{for_party}, whom the operator invited",
    "terms-proposed": "proposed terms, version {version}",
    "terms-accepted": "accepted the terms, version {version}{for_party}",
    "file-received": "sent a file{for_party}",
    "submitted": "submitted data{for_party}",
    "withdrawn": "withdrew a file{for_party}",
    "no-longer-fits": "found that a file{of_party} does not fit the new terms",
    "round-opened": "opened round {round}",
    "round-closed": "closed round {round}",
    "round-reopened": "opened round {round} again",
    "preview-asked": "had round {round} computed",
    "cancel-asked": "asked to stop the work on round {round}",
    "cancelled": "had the work on round {round} stopped",
    "failed": "was told that the work on round {round} failed",
    "previewed": "got a preview of round {round}",
    "release-asked": "decided to release round {round}",
    "released": "released round {round}",
    "audit-signed": "signed what an audit of round {round} found",
}
"""Each follows the name of who did it."""


@dataclass(frozen=True, kw_only=True)
class EventNames:
    """Who and which party the identities in events are."""

    people: Mapping[str, str]
    parties: Mapping[str, str]


def names_for(session: Session, events: list[Event]) -> EventNames:
    """The names that some events need."""
    people = {event.person_id for event in events}
    parties = {event.party_id for event in events}
    return EventNames(
        people={
            one.id: one.name for one in session.scalars(select(Person).where(Person.id.in_(people)))
        },
        parties={
            one.id: one.name for one in session.scalars(select(Party).where(Party.id.in_(parties)))
        },
    )


def lines_of(session: Session, events: list[Event]) -> tuple[EventLine, ...]:
    """Events for a page, the newest first."""
    names = names_for(session, events)
    return tuple(line_of(event, names) for event in reversed(events))


def line_of(event: Event, names: EventNames) -> EventLine:
    """An event for a page."""
    party = names.parties.get(event.party_id or "", "")
    known = {
        "for_party": f" for {party}" if party else "",
        "of_party": f" of {party}" if party else "",
        "round": "",
        "version": "",
    }
    words = WORDS[event.action]
    detail = {name: value for name, value in event.detail.items() if name in known}
    who = SERVICE if event.person_id is None else names.people.get(event.person_id, "somebody")
    return EventLine(time=event.time, who=who, text=words.format_map(known | detail))
