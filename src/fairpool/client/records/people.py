"""Who somebody is at a service, and who else is there."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Account:
    """Whose token it is.

    Attributes:
        id: Their identity.
        email: Their address.
        name: What they are called.
        may_create: Whether they can begin collaborations.
    """

    id: str
    email: str
    name: str
    may_create: bool


@dataclass(frozen=True, kw_only=True)
class Part:
    """A collaboration that somebody has a part in.

    Attributes:
        collaboration_id: Its identity.
        name: What it is called.
        role: "operator", "party" or "auditor".
        party_id: Of whose party they are; None: of none.
        party: What that is called.
    """

    collaboration_id: str
    name: str
    role: str
    party_id: str | None
    party: str | None


@dataclass(frozen=True, kw_only=True)
class Member:
    """Somebody who has a part in a collaboration.

    Attributes:
        id: Of this part of theirs.
        name: What they are called.
        email: Their address.
        role: "operator", "party" or "auditor".
        party: Of which party; None: of none.
        since: When they came.
        is_self: Whether it is whose token asks.
    """

    id: str
    name: str
    email: str
    role: str
    party: str | None
    since: datetime
    is_self: bool


@dataclass(frozen=True, kw_only=True)
class Replaced:
    """That the people of a party are others than before, whom the operator invited.

    Attributes:
        party: What it is called.
        time: When the first of them joined.
        text: What follows from that, in words.
    """

    party: str
    time: datetime
    text: str


@dataclass(frozen=True, kw_only=True)
class Collaboration:
    """A collaboration as everybody in it sees it.

    Attributes:
        round: The number of the newest round; None: there is none yet.
        state: Where that stands.
        replaced: The parties whose people were replaced, the newest first.
    """

    round: int | None
    state: str | None
    replaced: tuple[Replaced, ...]


@dataclass(frozen=True, kw_only=True)
class Party:
    """A party as its operator sees it.

    Attributes:
        id: By which its first person is invited.
        permanent: By which files and ledger know it.
        name: What it is called.
        key: With which it signs sums; None: it sends rows.
    """

    id: str
    permanent: str
    name: str
    key: str | None


@dataclass(frozen=True, kw_only=True)
class Invitation:
    """An invitation that nobody has accepted yet.

    Attributes:
        id: Its identity.
        role: What it makes of somebody.
        party_id: For which party; None: for none.
        email: Who alone can accept it; None: whoever has the link.
        created: When it was made.
        expires: Until when it can be accepted.
    """

    id: str
    role: str
    party_id: str | None
    email: str | None
    created: datetime
    expires: datetime


@dataclass(frozen=True, kw_only=True)
class MadeInvitation:
    """A new invitation.

    Attributes:
        invitation: What it says.
        link: For whom it is meant; it is told this once.
    """

    invitation: Invitation
    link: str


@dataclass(frozen=True, kw_only=True)
class InvitedTo:
    """What a link invites to.

    Attributes:
        role: What it makes of somebody.
        collaboration: Where.
        party: For which party; None: for none.
        inviter: Who invites.
    """

    role: str
    collaboration: str | None
    party: str | None
    inviter: str | None
