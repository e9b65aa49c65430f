"""Tokens of programs: only a browser makes and ends them."""

from datetime import datetime

from pydantic import BaseModel

from fairpool.server.people import tokens
from fairpool.server.store.tables import ApiToken
from fairpool.server.web.routing import Sent, api_router
from fairpool.server.web.signed_in import CurrentBrowser, Reading, Transaction

router = api_router()


class NewToken(Sent):
    """What a token is for, and how long it can be used."""

    name: str
    days: int = 90


class Token(BaseModel):
    """A token, without its text."""

    id: str
    name: str
    created: datetime
    used: datetime | None
    expires: datetime

    @classmethod
    def of(cls, token: ApiToken) -> "Token":
        """As the API tells it."""
        return cls(
            id=token.id,
            name=token.name,
            created=token.created,
            used=token.used,
            expires=token.expires,
        )


class MadeToken(BaseModel):
    """A new token, and its text, which is shown this once."""

    token: Token
    secret: str


@router.get("/tokens")
def show_tokens(browser: CurrentBrowser, session: Reading) -> list[Token]:
    """One's own tokens, the newest first."""
    return [Token.of(token) for token in tokens.of_person(session, browser.person)]


@router.post("/tokens", status_code=201)
def make_token(sent: NewToken, browser: CurrentBrowser, session: Transaction) -> MadeToken:
    """A new token of one's own."""
    token, secret = tokens.make(session, browser.person, name=sent.name, days=sent.days)
    return MadeToken(token=Token.of(token), secret=secret)


@router.delete("/tokens/{token_id}", status_code=204)
def revoke_token(token_id: str, browser: CurrentBrowser, session: Transaction) -> None:
    """End a token of one's own."""
    tokens.revoke(session, browser.person, token_id)
