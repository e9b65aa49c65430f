"""Sign-ins that were begun at a provider: each is for one browser, once, and for some minutes.

The browser has a secret in a cookie, and `state` goes to the provider and comes back. Of both only
digests are kept; what else the provider is given is made of them, so that nobody who reads the
database can end somebody's sign-in.
"""

import base64
import hashlib
import hmac
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from fairpool.server.people import invitations, throttle
from fairpool.server.people.secret_words import digest_of, new_secret
from fairpool.server.refused import ArrivalOverError, TooManyError
from fairpool.server.store.tables import Arrival, Person, now

LASTS = timedelta(minutes=10)
"""So long somebody may take to sign in there."""

MOST_FROM_ONE_ADDRESS = 100
"""So many may be under way; a house may have one address for all its people."""

LONGEST_WANTED = 500


@dataclass(frozen=True, kw_only=True)
class Begun:
    """A sign-in that begins.

    Attributes:
        state: Goes to the provider, and comes back in the address.
        secret: Stays in the browser's cookie.
    """

    state: str
    secret: str

    @property
    def nonce(self) -> str:
        """Goes to the provider, and comes back in what is signed."""
        return self._made("nonce")

    @property
    def verifier(self) -> str:
        """Is shown to the provider at the end, by whoever began (PKCE)."""
        return self._made("verifier")

    def _made(self, what: str) -> str:
        text = f"{what} {self.state}".encode("utf-8", "surrogatepass")
        key = self.secret.encode("utf-8", "surrogatepass")
        made = hmac.new(key, text, hashlib.sha256).digest()
        return base64.urlsafe_b64encode(made).rstrip(b"=").decode()


def begin(session: Session, *, host: str, wanted: str, person: Person | None = None) -> Begun:
    """Begin a sign-in.

    Args:
        session: Open.
        host: Where the browser is.
        wanted: A path of this service, where to go afterwards; that of an invitation accepts it.
        person: Whose account the identity is to be linked to; None: nobody is signed in.
    """
    source = throttle.address(host)
    session.execute(delete(Arrival).where(Arrival.expires < now()))
    count = select(func.count()).select_from(Arrival).where(Arrival.source == source)
    if session.scalar(count) >= MOST_FROM_ONE_ADDRESS:  # type: ignore[operator]
        seconds = round(LASTS.total_seconds())
        raise TooManyError(
            f"{MOST_FROM_ONE_ADDRESS} sign-ins were begun where you are, and not ended; wait 10"
            " minutes",
            seconds=seconds,
        )
    invitation_id = None
    if wanted.startswith(invitations.PATH):
        secret = wanted.removeprefix(invitations.PATH)
        invitation_id = invitations.look(session, secret).invitation.id
        wanted = ""  # it would let somebody in who reads it
    begun = Begun(state=new_secret(), secret=new_secret())
    session.add(
        Arrival(
            digest=digest_of(begun.state),
            browser=digest_of(begun.secret),
            source=source,
            wanted=wanted if len(wanted) <= LONGEST_WANTED else "",
            invitation_id=invitation_id,
            person_id=None if person is None else person.id,
            expires=now() + LASTS,
        )
    )
    return begun


def end(session: Session, begun: Begun) -> Arrival:
    """End a sign-in, which nobody can do once more.

    Args:
        session: Open; what follows is in another transaction.
        begun: As the browser has it.
    """
    taken = (
        delete(Arrival)
        .where(Arrival.digest == digest_of(begun.state), Arrival.browser == digest_of(begun.secret))
        .returning(Arrival)
    )
    found = session.scalars(taken).one_or_none()
    if found is None or found.expires <= now():
        raise ArrivalOverError
    return found
