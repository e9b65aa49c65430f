from pathlib import Path

import pytest

from fairpool.errors import DataError
from fairpool.server.settings import Settings

WHOLE = {
    "FAIRPOOL_OIDC_ISSUER": "https://login.example.org/houses",
    "FAIRPOOL_OIDC_CLIENT_ID": "fairpool",
    "FAIRPOOL_OIDC_CLIENT_SECRET": "a secret",
}


def test_the_environment_names_a_provider(tmp_path: Path) -> None:
    provider = Settings.of(tmp_path, environment=WHOLE).provider
    assert provider is not None
    assert (provider.issuer, provider.client_id) == (WHOLE["FAIRPOOL_OIDC_ISSUER"], "fairpool")
    assert (provider.name, provider.minutes) == ("login.example.org", 60)
    assert "a secret" not in repr(provider)
    named = {**WHOLE, "FAIRPOOL_OIDC_NAME": "Houses", "FAIRPOOL_PASSWORDS": "off"}
    settings = Settings.of(tmp_path, environment=named)
    assert settings.provider is not None
    assert (settings.provider.name, settings.has_passwords) == ("Houses", False)
    assert Settings.of(tmp_path, environment={}).provider is None


def test_the_secret_may_be_in_a_file_that_nobody_else_can_read(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("of a file\n")
    given = {**WHOLE, "FAIRPOOL_OIDC_CLIENT_SECRET_FILE": str(file)}
    del given["FAIRPOOL_OIDC_CLIENT_SECRET"]
    file.chmod(0o640)
    with pytest.raises(DataError, match="chmod 600"):
        Settings.of(tmp_path, environment=given)
    file.chmod(0o600)
    provider = Settings.of(tmp_path, environment=given).provider
    assert provider is not None
    assert provider.client_secret == "of a file"
    file.write_text("\n")
    with pytest.raises(DataError, match="it is empty"):
        Settings.of(tmp_path, environment=given)
    file.unlink()
    with pytest.raises(DataError, match="cannot be read"):
        Settings.of(tmp_path, environment=given)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"FAIRPOOL_OIDC_ISSUER": "http://login.example.org"}, "no address of a provider"),
        ({"FAIRPOOL_OIDC_ISSUER": "login.example.org"}, "no address of a provider"),
        ({"FAIRPOOL_OIDC_ISSUER": "https://a.org?x=1"}, "no address of a provider"),
        ({"FAIRPOOL_OIDC_ISSUER": "https://u:p@a.org"}, "no address of a provider"),
        ({"FAIRPOOL_OIDC_ISSUER": "https://a.org:x"}, "no address of a provider"),
        ({"FAIRPOOL_OIDC_ISSUER": ""}, "it is set without FAIRPOOL_OIDC_ISSUER"),
        ({"FAIRPOOL_OIDC_CLIENT_ID": ""}, "it is not set"),
        ({"FAIRPOOL_OIDC_CLIENT_SECRET": ""}, "exactly one of them"),
        ({"FAIRPOOL_OIDC_CLIENT_SECRET_FILE": "x"}, "exactly one of them"),
        ({"FAIRPOOL_OIDC_NAME": "x" * 41}, "cannot stand on a button"),
        ({"FAIRPOOL_OIDC_NAME": "a\nb"}, "cannot stand on a button"),
        ({"FAIRPOOL_OIDC_MINUTES": "0"}, "is not from 1 to 1440"),
        ({"FAIRPOOL_PASSWORDS": "no"}, "is neither on nor off"),
    ],
)
def test_what_cannot_be_used_is_told(tmp_path: Path, changed: dict[str, str], said: str) -> None:
    with pytest.raises(DataError, match=said):
        Settings.of(tmp_path, environment=WHOLE | changed)


def test_without_a_provider_passwords_stay(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nobody could sign in"):
        Settings.of(tmp_path, environment={"FAIRPOOL_PASSWORDS": "off"})
