"""Where a service is, and who one is there."""

import os
from pathlib import Path

import pytest

from fairpool.client.address import Address
from fairpool.client.token import Token
from fairpool.errors import SecretError, ServiceError

TOKEN = "fp_" + "x" * 43


@pytest.mark.parametrize(
    ("text", "host", "port", "collaboration"),
    [
        ("https://pool.example.org", "pool.example.org", 443, None),
        ("https://pool.example.org/", "pool.example.org", 443, None),
        ("https://p.example.org:84/collaborations/aB-_1/terms?x=1#y", "p.example.org", 84, "aB-_1"),
        ("http://127.0.0.1:8000", "127.0.0.1", 8000, None),
        ("http://[::1]:8000/collaborations/a", "::1", 8000, "a"),
        ("http://localhost", "localhost", 80, None),
    ],
)
def test_an_address_is_taken_as_a_browser_shows_it(
    text: str, host: str, port: int, collaboration: str | None
) -> None:
    found = Address.of(text)
    assert (found.host, found.port, found.collaboration) == (host, port, collaboration)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("http://pool.example.org", "is not https: whoever is on the way"),
        ("http://127.0.0.1.evil.org", "is not https"),
        ("http://10.0.0.1", "is not https"),
        ("ftp://pool.example.org", "is no address of a service"),
        ("pool.example.org", "is no address of a service"),
        ("https://", "is no address of a service"),
        ("https://pool.example.org:port", "is no address of a service"),
        ("https://pool.example.org/somewhere", "is no address of a service"),
        ("https://pool.example.org/\r\nX: 1", "is no address of a service"),
        ("https://[", "is no address of a service"),
        ("", "is no address of a service"),
    ],
)
def test_what_is_no_address_is_refused(text: str, why: str) -> None:
    with pytest.raises(ServiceError, match=why):
        Address.of(text)


def test_a_password_in_an_address_is_not_echoed() -> None:
    with pytest.raises(ServiceError, match="before the @; leave both out") as refused:
        Address.of("https://anna:hidden-word@pool.example.org")
    assert "hidden-word" not in str(refused.value)


def test_a_token_is_read_from_a_file_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    assert Token.given(path, {}).text == TOKEN
    path.chmod(0o640)
    with pytest.raises(SecretError, match="lets others use the token; run chmod 600"):
        Token.given(path, {"FAIRPOOL_TOKEN": TOKEN})
    link = tmp_path / "link"
    link.symlink_to(path)
    with pytest.raises(SecretError, match="is a link"):
        Token.given(link, {})
    with pytest.raises(SecretError, match="there is no such file"):
        Token.given(tmp_path / "none", {})


def test_a_token_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "FAIRPOOL_TOKEN", TOKEN)
    assert Token.given(None).text == TOKEN
    with pytest.raises(SecretError, match="make one on your account page"):
        Token.given(None, {})


@pytest.mark.parametrize(
    "text", ["", "x", "fp_", "fp_" + "x" * 19, "fp_" + "é" * 43, TOKEN + "\n", 7]
)
def test_what_is_no_token_is_refused_and_not_shown(text: object) -> None:
    with pytest.raises(SecretError, match="this is no token of a service") as refused:
        Token(text)  # type: ignore[arg-type]
    assert "é" not in str(refused.value)
