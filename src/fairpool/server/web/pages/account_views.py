"""What the pages of accounts and invitations show."""

from dataclasses import dataclass
from datetime import datetime

from fairpool.server.store.tables import MailChoice
from fairpool.server.web.pages.views import initials_of

MAIL = {
    MailChoice.AT_ONCE: "Whenever it is my turn",
    MailChoice.DIGEST: "Once a day at most",
    MailChoice.OFF: "Never",
}
"""How often somebody can want mail."""


@dataclass(frozen=True, kw_only=True)
class MailLine:
    """One of the ways in which somebody can want mail."""

    value: str
    text: str
    is_chosen: bool


def mail_choices(chosen: str) -> list[MailLine]:
    """All of them.

    Args:
        chosen: The one that holds.
    """
    return [
        MailLine(value=choice.value, text=text, is_chosen=choice.value == chosen)
        for choice, text in MAIL.items()
    ]


@dataclass(frozen=True, kw_only=True)
class InvitationCard:
    """What a link invites to; with an e-mail address it is for nobody else."""

    title: str
    text: str
    email: str | None


@dataclass(frozen=True, kw_only=True)
class FreshToken:
    """A token that was made just now; its text is nowhere else."""

    name: str
    secret: str


@dataclass(frozen=True, kw_only=True)
class TokenLine:
    """A token among a person's others."""

    name: str
    expires: datetime
    used: datetime | None
    revoke: str


@dataclass(frozen=True, kw_only=True)
class SessionLine:
    """A browser that somebody is signed in with."""

    created: datetime
    seen: datetime
    is_this: bool


@dataclass(frozen=True, kw_only=True)
class DemoPerson:
    """Somebody as whom a demonstration can be looked at."""

    id: str
    name: str
    as_what: str

    @property
    def initials(self) -> str:
        """One or two letters for the name."""
        return initials_of(self.name)
