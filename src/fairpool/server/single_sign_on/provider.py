"""The provider: where it sends people, and who it says came back."""

import re
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from joserfc.jwk import KeySet

from fairpool.server.people.identified import Identified
from fairpool.server.refused import RefusedError
from fairpool.server.single_sign_on import id_token
from fairpool.server.single_sign_on.asking import (
    BoundedTransport,
    json_object,
    patiently,
    wrong,
)
from fairpool.server.single_sign_on.configured import ProviderSettings, is_safe

WELL_KNOWN = "/.well-known/openid-configuration"
SCOPE = "openid email profile"

KEPT_SECONDS = 3600.0
"""So long what a provider says of itself is not asked for again."""

NEW_KEYS_SECONDS = 60.0
"""Keys that are not known are looked for no more often."""

LONGEST_SUBJECT = 255
_OAUTH_ERROR = re.compile(r"[a-z_]{1,40}")


@dataclass(frozen=True, kw_only=True)
class Published:
    """What a provider says of itself, and its public keys."""

    endpoints: dict[str, str]
    authentication: str
    names_itself: bool
    keys: KeySet
    time: float


class Provider:
    """A provider that people sign in with.

    Args:
        settings: Which, and what this service is to it.
        callback: Where people come back to; the provider has exactly this address.
    """

    def __init__(self, settings: ProviderSettings, callback: str) -> None:
        self.settings = settings
        self.callback = callback
        self._certificates = httpx2.create_ssl_context()
        self._published: Published | None = None

    async def address(self, *, state: str, nonce: str, verifier: str) -> str:
        """Where somebody goes who signs in there.

        Args:
            state: Comes back in the address.
            nonce: Comes back in what is signed.
            verifier: Of what only a digest goes by the browser (PKCE).
        """
        async with patiently(self.settings.name), self._client() as client:
            published = await self._known(client)
        address, _ = client.create_authorization_url(
            published.endpoints["authorization_endpoint"],
            state=state,
            nonce=nonce,
            code_verifier=verifier,
        )
        return str(address)

    async def redeem(
        self, code: str, *, issuer: str | None, verifier: str, nonce: str
    ) -> Identified:
        """Who somebody is who came back.

        Args:
            code: As it came by the browser; the provider takes it once.
            issuer: Whose code it is, as it came by the browser: another provider's would be told
                to this one, or this one's person be taken for another's.
            verifier: Of this very sign-in.
            nonce: Of this very sign-in.
        """
        name = self.settings.name
        async with patiently(name), self._client() as client:
            published = await self._known(client)
            is_missing = issuer is None and published.names_itself
            if is_missing or (issuer is not None and issuer != self.settings.issuer):
                raise wrong(name, "it is from another provider")
            token = await self._token(client, published, code, verifier)
            claims = await self._claims(client, published, token, nonce)
            subject = claims.get("sub")
            if not isinstance(subject, str) or not 1 <= len(subject) <= LONGEST_SUBJECT:
                raise wrong(name, "ID token: no subject")
            if "email" not in claims and "userinfo_endpoint" in published.endpoints:
                claims |= await self._user_info(client, published, token["access_token"], subject)
        return Identified.of_claims(self.settings.issuer, subject, claims)

    def _client(self) -> AsyncOAuth2Client:
        known = self._published
        return AsyncOAuth2Client(
            self.settings.client_id,
            self.settings.client_secret,
            token_endpoint_auth_method=None if known is None else known.authentication,
            scope=SCOPE,
            redirect_uri=self.callback,
            code_challenge_method="S256",
            transport=BoundedTransport(self._certificates),
            trust_env=False,
            follow_redirects=False,
        )

    async def _known(self, client: AsyncOAuth2Client) -> Published:
        known = self._published
        if known is None or time.monotonic() - known.time > KEPT_SECONDS:
            known = self._published = await self._publishes(client)
        client.token_endpoint_auth_method = known.authentication
        return known

    async def _publishes(self, client: AsyncOAuth2Client) -> Published:
        name, issuer = self.settings.name, self.settings.issuer
        said = await _got(client, name, issuer.rstrip("/") + WELL_KNOWN, "its configuration")
        if said.get("issuer") != issuer:
            raise wrong(name, "its configuration is of another issuer")
        endpoints = {}
        for one in ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"):
            address = said.get(one)
            if address is None and one == "userinfo_endpoint":
                continue
            is_as_safe = urlsplit(issuer).scheme == "http" or str(address).startswith("https:")
            if not isinstance(address, str) or not is_safe(address) or not is_as_safe:
                raise wrong(name, f"its configuration has no {one} to which secrets can be sent")
            endpoints[one] = address
        methods = said.get("token_endpoint_auth_methods_supported")
        is_by_form = isinstance(methods, list) and "client_secret_basic" not in methods
        keys = id_token.keys_of(await _got(client, name, endpoints["jwks_uri"], "its keys"))
        return Published(
            endpoints=endpoints,
            authentication="client_secret_post" if is_by_form else "client_secret_basic",
            names_itself=said.get("authorization_response_iss_parameter_supported") is True,
            keys=keys,
            time=time.monotonic(),
        )

    async def _token(
        self, client: AsyncOAuth2Client, published: Published, code: str, verifier: str
    ) -> dict[str, str]:
        name = self.settings.name
        try:
            token = await client.fetch_token(
                published.endpoints["token_endpoint"], code=code, code_verifier=verifier
            )
        except OAuthError as error:
            raise refusal(name, str(error.error)) from None
        except httpx2.HTTPStatusError as error:
            raise wrong(name, f"its token: status {error.response.status_code}") from None
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
            raise wrong(name, "its token: no JSON object") from None
        found = {}
        for one in ("id_token", "access_token"):
            text = token.get(one)
            if not isinstance(text, str) or not text.isascii() or not text.isprintable():
                raise wrong(name, f"its token has no {one}")
            found[one] = text
        return found

    async def _claims(
        self,
        client: AsyncOAuth2Client,
        published: Published,
        token: dict[str, str],
        nonce: str,
    ) -> dict[str, Any]:
        """What the ID token says, by the keys that are known, or by new ones."""
        name = self.settings.name
        text, more = token["id_token"], {"nonce": nonce, "access_token": token["access_token"]}
        try:
            try:
                return id_token.claims_of(text, published.keys, self.settings, **more)
            except id_token.UnknownKeyError:
                if time.monotonic() - published.time < NEW_KEYS_SECONDS:
                    raise
                self._published = await self._publishes(client)
                return id_token.claims_of(text, self._published.keys, self.settings, **more)
        except id_token.DisbelievedError as error:
            raise wrong(name, str(error)) from None

    async def _user_info(
        self, client: AsyncOAuth2Client, published: Published, access_token: str, subject: str
    ) -> dict[str, Any]:
        """What only the provider's own page about somebody has, such as the e-mail address."""
        said = await _got(
            client,
            self.settings.name,
            published.endpoints["userinfo_endpoint"],
            "its page about you",
            headers={"Authorization": f"Bearer {access_token}"},
        )
        if said.get("sub") != subject:
            raise wrong(self.settings.name, "its page about you is about somebody else")
        return {one: said[one] for one in ("email", "email_verified", "name") if one in said}


def refusal(name: str, error: str) -> RefusedError:
    """What is told to whom a provider sends back with an error.

    Args:
        name: What people call the provider.
        error: As it came; shown where it is one of the words that the standard has.
    """
    said = f" ({error})" if _OAUTH_ERROR.fullmatch(error) else ""
    return RefusedError(
        f"{name} did not sign you in{said}; begin again, or ask those who run it whether you may"
        " use this service"
    )


async def _got(
    client: AsyncOAuth2Client, name: str, address: str, what: str, **more: Any
) -> dict[str, Any]:
    response = await client.request("GET", address, withhold_token=True, **more)
    return json_object(name, response, what)
