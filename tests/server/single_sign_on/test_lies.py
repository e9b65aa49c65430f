"""What a provider, or somebody in its name, may answer: nobody is signed in, and it is told why."""

import gzip
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest
from joserfc.jwk import ECKey

from fairpool.server.single_sign_on import asking, provider
from fairpool.server.single_sign_on.configured import CALLBACK
from tests.server.consortium import Service, add_consortium
from tests.server.single_sign_on import liar as lying
from tests.server.single_sign_on.conftest import service_of
from tests.server.single_sign_on.liar import Liar
from tests.server.single_sign_on.people import (
    come_back,
    invite,
    is_signed_in,
    leave,
    person_of,
    problem,
)


@pytest.fixture
def invited(lied_to: Service) -> Service:
    """Anna is invited: an answer that is believed lets her in."""
    invite(lied_to, add_consortium(lied_to.database), "anna@example.org")
    return lied_to


def _with(**claims: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda honest: honest | claims


def _without(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda honest: {one: value for one, value in honest.items() if one != name}


def _in(seconds: int) -> int:
    return int(time.time()) + seconds


ES_KEY = ECKey.generate_key("P-256", {"kid": "one"})


def test_an_honest_answer_is_believed(invited: Service, liar: Liar) -> None:
    client = invited.client()
    assert come_back(client, liar).status_code == 303
    assert is_signed_in(client)
    assert liar.asked == ["/.well-known/openid-configuration", "/keys", "/token"]


@pytest.mark.parametrize(
    "claims",
    [
        pytest.param(lambda: _with(exp=_in(-30)), id="over for less than clocks may differ"),
        pytest.param(lambda: _with(iat=_in(30), nbf=_in(30)), id="of a clock that is ahead"),
        pytest.param(lambda: _with(aud=["fairpool", "b"], azp="fairpool"), id="for several"),
    ],
)
def test_what_differs_by_little_is_believed(
    invited: Service, liar: Liar, claims: Callable[[], Any]
) -> None:
    liar.claims = claims()
    assert come_back(invited.client(), liar).status_code == 303


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        pytest.param(lambda: _with(exp=_in(-90)), "expired_token", id="over"),
        pytest.param(lambda: _with(iat=_in(120)), "iat", id="not made yet"),
        pytest.param(lambda: _with(nbf=_in(120)), "nbf", id="not valid yet"),
        pytest.param(lambda: _without("exp"), "exp", id="without an end"),
        pytest.param(lambda: _with(exp="tomorrow"), "exp", id="an end that is no number"),
        pytest.param(lambda: _with(iss="https://evil.example.org"), "iss", id="another issuer"),
        pytest.param(lambda: _without("iss"), "iss", id="no issuer"),
        pytest.param(lambda: _with(aud="another"), "aud", id="for another service"),
        pytest.param(lambda: _with(aud=["fairpool", "b"]), "azp", id="for several, of nobody"),
        pytest.param(lambda: _with(azp="another"), "azp", id="asked for by another"),
        pytest.param(lambda: _with(nonce="another"), "nonce", id="of another sign-in"),
        pytest.param(lambda: _without("nonce"), "nonce", id="of no sign-in"),
        pytest.param(lambda: _with(at_hash="AAAA"), "at_hash", id="with another access token"),
        pytest.param(lambda: _without("sub"), "sub", id="about nobody"),
        pytest.param(lambda: _with(sub=""), "no subject", id="about an empty name"),
        pytest.param(lambda: _with(sub="x" * 256), "no subject", id="about a long name"),
        pytest.param(lambda: _with(sub=1), "sub", id="about a number"),
    ],
)
def test_claims_that_are_not_as_they_must_be(
    waiting: Service, liar: Liar, claims: Callable[[], Any], said: str
) -> None:
    liar.claims = claims()
    client = waiting.client()
    answer = come_back(client, liar)
    assert answer.status_code == 502
    text = problem(answer)
    assert "Houses gave an answer that cannot be believed" in text
    assert said in text
    assert not is_signed_in(client)


@pytest.mark.parametrize(
    "sign",
    [
        pytest.param(lying.unsigned, id="by nobody"),
        pytest.param(lying.by_public_key, id="by the public key as a secret"),
        pytest.param(lambda claims: lying.signed(claims, lying.OTHER_KEY), id="by another key"),
        pytest.param(lambda claims: lying.signed(claims, lying.LATER_KEY, kid="two"), id="unknown"),
        pytest.param(lambda claims: lying.signed(claims, ES_KEY, alg="ES256"), id="other kind"),
        pytest.param(lambda claims: lying.signed(claims)[:-4] + "AAAA", id="by a changed text"),
        pytest.param(lambda claims: "not.a.token", id="no token"),
        pytest.param(lambda claims: "", id="empty"),
        pytest.param(lambda claims: lying.signed(claims).split(".")[1], id="claims alone"),
    ],
)
def test_signatures_that_are_not_the_providers(
    waiting: Service, liar: Liar, sign: Callable[[dict[str, Any]], str]
) -> None:
    liar.sign = sign
    answer = come_back(waiting.client(), liar)
    assert answer.status_code == 502
    assert "ID token" in problem(answer)


def test_a_new_key_of_the_provider_is_found_but_not_looked_for_all_the_time(
    invited: Service, liar: Liar, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = invited.client()
    leave(client)
    liar.key = lying.LATER_KEY
    liar.sign = lambda claims: lying.signed(claims, lying.LATER_KEY, kid="two")
    assert "unknown key" in problem(come_back(client, liar))
    assert liar.asked.count("/keys") == 1
    monkeypatch.setattr(provider, "NEW_KEYS_SECONDS", 0.0)
    assert come_back(client, liar).status_code == 303
    assert liar.asked.count("/keys") == 2


CONFIGURATION = "/.well-known/openid-configuration"
LONG = b'{"a": "' + b"x" * (1 << 20) + b'"}'
PACKED = gzip.compress(b"{}")


@pytest.mark.parametrize(
    ("path", "said", "why"),
    [
        (CONFIGURATION, b"<html>", "no JSON"),
        (CONFIGURATION, b"[" * 100_000, "no JSON"),
        (CONFIGURATION, b"[1]", "no JSON object"),
        (CONFIGURATION, b"\xff\xfe", "no JSON"),
        (CONFIGURATION, LONG, "does not end"),
        (CONFIGURATION, b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", "status 500"),
        (CONFIGURATION, b"HTTP/1.1 302 No\r\nLocation: /keys\r\n\r\n", "status 302"),
        (CONFIGURATION, b"HTTP/9.9 what\r\n\r\n", "does not speak HTTP"),
        (
            CONFIGURATION,
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + PACKED,
            "the answer is packed",
        ),
        (CONFIGURATION, _with(issuer="https://evil.example.org"), "of another issuer"),
        (CONFIGURATION, _with(token_endpoint="http://evil.example.org/token"), "token_endpoint"),
        (CONFIGURATION, _without("authorization_endpoint"), "no authorization_endpoint"),
        (CONFIGURATION, _with(authorization_endpoint="javascript:x"), "authorization_endpoint"),
        (CONFIGURATION, _with(jwks_uri=5), "no jwks_uri"),
        ("/keys", b"nonsense", "its keys: no JSON"),
    ],
)
def test_a_provider_that_publishes_nonsense(
    waiting: Service, liar: Liar, path: str, said: Any, why: str
) -> None:
    liar.answers[path] = said
    answer = waiting.client().post("/sign-in/provider", data={"next": ""})
    assert answer.status_code == 502
    assert why in problem(answer)
    assert "Refresh" not in answer.headers
    liar.answers.clear()
    leave(waiting.client())  # what was wrong is not kept


@pytest.mark.parametrize(
    ("path", "said", "why"),
    [
        ("/token", b"<html>", "its token"),
        ("/token", b"[]", "its token"),
        ("/token", b'"text"', "its token"),
        ("/token", b"null", "its token"),
        ("/token", b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", "status 500"),
        ("/token", b'{"error": "invalid_client"}', "did not sign you in (invalid_client)"),
        ("/token", b'{"error": ["<script>"]}', "did not sign you in;"),
        ("/token", _without("id_token"), "no id_token"),
        ("/token", _with(id_token={"a": 1}), "no id_token"),
        ("/token", _with(access_token="a\r\nb"), "no access_token"),
        ("/keys", b'{"keys": 5}', "ID token"),
        ("/keys", b'{"keys": [5, {"kty": "RSA"}, {"kty": "oct", "k": "AAAA"}]}', "ID token"),
        ("/me", _with(sub="2"), "about somebody else"),
        ("/me", b"nonsense", "its page about you"),
    ],
)
def test_a_provider_that_answers_nonsense_in_the_end(
    waiting: Service, liar: Liar, path: str, said: Any, why: str
) -> None:
    liar.answers[path] = said
    liar.claims = _without("email")
    answer = come_back(waiting.client(), liar)
    assert why in problem(answer)
    assert "<script>" not in problem(answer)


def test_what_only_the_page_about_somebody_has_is_read_there(invited: Service, liar: Liar) -> None:
    liar.claims = _without("email")
    assert come_back(invited.client(), liar).status_code == 303
    assert liar.asked[-1] == "/me"


@pytest.mark.parametrize(
    "claims",
    [
        _with(email_verified=False),
        _with(email_verified="true"),
        _with(email_verified=1),
        _without("email_verified"),
        _with(email=["anna@example.org"]),
        _with(email="anna@example.org\n"),
        _with(email="anna@example.or\u212a"),  # the sign for Kelvin, a k in small letters
    ],
)
def test_an_address_counts_where_it_is_verified_in_so_many_words(
    lied_to: Service, liar: Liar, claims: Callable[[dict[str, Any]], Any]
) -> None:
    clinics = add_consortium(lied_to.database)
    for email in ("anna@example.org", "anna@example.ork"):
        invite(lied_to, clinics, email)
    liar.claims = claims
    answer = come_back(lied_to.client(), liar)
    assert "verified" in problem(answer)
    assert person_of(lied_to, "anna@example.org") is None
    assert person_of(lied_to, "anna@example.ork") is None


def test_who_comes_back_from_another_provider_is_not_believed(waiting: Service, liar: Liar) -> None:
    client = waiting.client()
    answer = come_back(client, liar, iss="https://evil.example.org")
    assert "it is from another provider" in problem(answer)
    back = liar.come_back(leave(client))
    del back["iss"]
    assert "it is from another provider" in problem(client.get(CALLBACK, params=back))
    assert "/token" not in liar.asked  # a code for somebody else is not passed on


@pytest.mark.parametrize(
    ("error", "said"),
    [("access_denied", "(access_denied)"), ("<script>alert(1)</script>", "did not sign you in;")],
)
def test_who_is_sent_back_with_an_error_is_told(
    waiting: Service, liar: Liar, error: str, said: str
) -> None:
    client = waiting.client()
    back = liar.come_back(leave(client))
    answer = client.get(CALLBACK, params={"error": error, "state": back["state"]})
    assert answer.status_code == 409
    assert said in problem(answer)
    assert "<script>alert" not in answer.text


def test_a_provider_that_is_down_is_told_and_no_secret_is_in_the_log(
    lied_to: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    down = service_of(lied_to.settings, lied_to.database, address)
    answer = down.client().post("/sign-in/provider", data={"next": ""})
    assert answer.status_code == 503
    assert "Houses does not answer now" in problem(answer)
    assert down.settings.provider is not None
    secret = down.settings.provider.client_secret
    assert secret not in capsys.readouterr().out + repr(down.settings)


@pytest.mark.parametrize("path", [CONFIGURATION, "/keys", "/token"])
def test_a_provider_that_is_slow_is_waited_for_no_longer_than_so(
    waiting: Service, liar: Liar, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(asking, "PATIENCE_SECONDS", 0.5)
    liar.answers[path] = b"slow"
    client = waiting.client()
    if path == "/token":
        monkeypatch.setattr(asking, "PATIENCE_SECONDS", 30.0)
        back = liar.come_back(leave(client))
        monkeypatch.setattr(asking, "PATIENCE_SECONDS", 0.5)
        answer = client.get(CALLBACK, params=back)
    else:
        answer = client.post("/sign-in/provider", data={"next": ""})
    assert answer.status_code == 503
    assert "Houses does not answer now" in problem(answer)
