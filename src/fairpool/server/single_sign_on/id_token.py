"""ID tokens: which of them are believed.

The signature is by one of the provider's public keys, and by an algorithm that has such keys: never
by none, and never by a text that both sides know, for which somebody could take the public key.
"""

import time
from typing import Any

from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, KeySet
from joserfc.jws import JWSRegistry, extract_compact

from fairpool.server.single_sign_on.configured import ProviderSettings

ALGORITHMS = (
    *("RS256", "RS384", "RS512"),
    *("PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512"),
)
PUBLIC_KINDS = frozenset({"RSA", "EC"})

SKEW_SECONDS = 60
"""So far the clocks of both may be apart."""


class DisbelievedError(Exception):
    """Why a token is not believed."""


class UnknownKeyError(DisbelievedError):
    """The keys that are known have none such; the provider may have taken another one."""


def keys_of(found: dict[str, Any]) -> KeySet:
    """The public keys for signatures among those that a provider publishes."""
    listed = found.get("keys")
    keys = []
    for one in listed if isinstance(listed, list) else []:
        if not isinstance(one, dict) or one.get("kty") not in PUBLIC_KINDS:
            continue
        if one.get("use", "sig") != "sig":
            continue
        try:
            keys.append(JWKRegistry.import_key(one))
        except (JoseError, ValueError, TypeError):
            continue  # of a kind that is for others
    return KeySet(keys)


def claims_of(
    text: str, keys: KeySet, settings: ProviderSettings, *, nonce: str, access_token: str
) -> dict[str, Any]:
    """What a token says, if all of it is as it must be.

    Args:
        text: The token.
        keys: Of the provider.
        settings: Whose it must be, and for whom.
        nonce: Of this very sign-in.
        access_token: Which came with it.
    """
    try:
        # What a header says besides is for others; what it says is critical must be known.
        registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        read = jwt.decode(text, keys, registry=registry)
    except (JoseError, ValueError, TypeError, KeyError, RecursionError) as error:
        if _names_another_key(text, keys):
            raise UnknownKeyError("ID token: signed by an unknown key") from None
        raise DisbelievedError(f"ID token: {_said(error)}") from None
    if not isinstance(read.claims, dict):
        raise DisbelievedError("ID token: no claims")
    token = CodeIDToken(
        read.claims,
        read.header,
        options={
            "iss": {"essential": True, "value": settings.issuer},
            "aud": {"essential": True, "value": settings.client_id},
            "nonce": {"essential": True, "value": nonce},
        },
        params={
            "nonce": nonce,
            "client_id": settings.client_id,
            "access_token": access_token,
        },
    )
    try:
        token.validate(now=int(time.time()), leeway=SKEW_SECONDS)
    except (JoseError, ValueError, TypeError) as error:
        raise DisbelievedError(f"ID token: {_said(error)}") from None
    return dict(token)


def _names_another_key(text: str, keys: KeySet) -> bool:
    """Whether a token names a key that is not known; nothing else that it says is looked at."""
    try:
        named = extract_compact(text.encode()).headers().get("kid")
    except (JoseError, ValueError, TypeError, KeyError, RecursionError):
        return False
    return isinstance(named, str) and all(key.kid != named for key in keys)


def _said(error: Exception) -> str:
    claim = getattr(error, "claim", None)
    kind = getattr(error, "error", type(error).__name__)
    return f"{kind} ({claim})" if claim else str(kind)
