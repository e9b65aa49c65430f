"""What the page of people shows."""

from dataclasses import dataclass
from datetime import datetime

from fairpool.server.web.pages.views import initials_of


@dataclass(frozen=True, kw_only=True)
class MemberLine:
    """Somebody who takes part."""

    name: str
    email: str
    since: datetime
    is_self: bool
    remove: str
    mail_problem: str = ""

    @property
    def initials(self) -> str:
        """One or two letters for the name."""
        return initials_of(self.name)


@dataclass(frozen=True, kw_only=True)
class PeopleGroup:
    """Operators, auditors, or the people of a party."""

    title: str
    members: tuple[MemberLine, ...]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One of several that can be chosen."""

    value: str
    text: str
    selected: bool


@dataclass(frozen=True, kw_only=True)
class InvitationLine:
    """A link that is out."""

    as_what: str
    email: str | None
    expires: datetime
    revoke: str
    mail_problem: str = ""


@dataclass(frozen=True, kw_only=True)
class FreshLink:
    """A link that was made just now; its secret is nowhere else."""

    whom: str
    as_what: str
    expires: datetime
    address: str
    mail: str
