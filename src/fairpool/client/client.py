"""A service, for programs: who one is there, and the collaborations that one has a part in."""

import os
import re
from pathlib import Path

from fairpool.client.address import Address
from fairpool.client.auditor import AsAuditor
from fairpool.client.connection import Connection, Request
from fairpool.client.operator import AsOperator
from fairpool.client.party import AsParty
from fairpool.client.records import read
from fairpool.client.records.agreeing import Begun
from fairpool.client.records.people import Account, InvitedTo, Part
from fairpool.client.token import Token
from fairpool.errors import ServiceError, shown

_LINK = re.compile(r"/invitations?/(?P<secret>[\w-]{1,200})/?$", re.ASCII)


class Client:
    """A service, as one person's programs reach it.

    >>> client = Client("https://pool.example.org", "fp_" + 43 * "x")
    >>> client
    Client('https://pool.example.org')

    Nothing is asked of the service before a method is called. Its refusals are errors with its own
    words, `fairpool.FairpoolError` (a `ValueError`); whatever a dropped connection may interrupt is
    asked for again where that is safe.

    Args:
        url: Where the service is, or the address of a collaboration's page there.
        token: Made on one's account page.
    """

    def __init__(self, url: str, token: str) -> None:
        self.connection = Connection(address=Address.of(url), token=Token(token))

    @classmethod
    def given(cls, url: str, token_file: str | os.PathLike[str] | None = None) -> "Client":
        """The same with a token in a file for its owner alone, or in FAIRPOOL_TOKEN.

        Args:
            url: Where the service is.
            token_file: The file; None: the environment variable has the token.
        """
        token = Token.given(None if token_file is None else Path(token_file))
        return cls(url, token.text)

    def __repr__(self) -> str:
        return f"Client({str(self.connection.address)!r})"

    def account(self) -> Account:
        """Whose token it is."""
        return read(Account, self.connection.ask(Request(path="/account")))

    def parts(self) -> tuple[Part, ...]:
        """The collaborations that one has a part in, the newest first."""
        answer = self.connection.ask(Request(path="/collaborations"))
        return read(tuple[Part, ...], answer)

    def as_party(self, collaboration: str | None = None) -> AsParty:
        """A collaboration, for its people of a party.

        Args:
            collaboration: Its identity or its name; None: the one of the address, or the only one
                there is.
        """
        return AsParty(connection=self.connection, part=self._part("party", collaboration))

    def as_operator(self, collaboration: str | None = None) -> AsOperator:
        """A collaboration, for those who run it; as for `as_party`."""
        return AsOperator(connection=self.connection, part=self._part("operator", collaboration))

    def as_auditor(self, collaboration: str | None = None) -> AsAuditor:
        """A collaboration, for those who check its operator; as for `as_party`."""
        return AsAuditor(connection=self.connection, part=self._part("auditor", collaboration))

    def begin(self, *, name: str | None = None, toml: str | None = None) -> Begun:
        """Begin a collaboration, which one then operates.

        Args:
            name: What it is called; or
            toml: A collaboration.toml. Where parties' data lie is taken out, and told.
        """
        sent = {"name": name, "toml": toml}
        request = Request(method="POST", path="/collaborations", sent=sent, is_repeatable=False)
        return read(Begun, self.connection.ask(request))

    def accept_invitation(self, link: str) -> InvitedTo:
        """Have a part in a collaboration that one was invited to, with the account one has.

        Args:
            link: As it was sent.
        """
        found = _LINK.search(link)
        if found is None:
            raise ServiceError(f"{shown(link)} is no link of an invitation; copy all of it")
        path = f"/invitations/{found['secret']}/acceptance"
        request = Request(method="POST", path=path, is_repeatable=False)
        return read(InvitedTo, self.connection.ask(request))

    def _part(self, role: str, wanted: str | None) -> Part:
        parts = self.parts()
        wanted = wanted or self.connection.address.collaboration
        found = [part for part in parts if part.role == role]
        if wanted is not None:
            found = [part for part in found if wanted in (part.collaboration_id, part.name)]
        if len(found) == 1:
            return found[0]
        what = "" if wanted is None else f" in {shown(wanted)}"
        if not found:
            mine = ", ".join(f"{shown(part.name)} ({part.role})" for part in parts) or "nothing"
            raise ServiceError(f"this token has no part as {role}{what}; it has: {mine}")
        several = ", ".join(f"{shown(part.name)} ({part.collaboration_id})" for part in found)
        raise ServiceError(f"which collaboration is meant? Give the identity of one: {several}")
