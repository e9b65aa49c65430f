"""A service behind what ends TLS, as docs/server.md says to run it."""

import ssl
from pathlib import Path

import httpx
import pytest

import fairpool as fp
from fairpool.client.refused import RefusedByServiceError
from tests.client.certificates import certificate
from tests.client.conftest import account_of, port_of
from tests.client.relay import relay
from tests.server.served import served

PASSWORD = "four words together"


def test_programs_and_browsers_come_through_a_proxy_with_tls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem, tls = certificate(tmp_path, "localhost")
    with relay(tls) as proxy:
        address = f"https://localhost:{proxy.port}"
        with served(tmp_path / "pool", "--address", address) as service:
            proxy.target = port_of(service)
            monkeypatch.setenv("SSL_CERT_FILE", str(pem))
            assert service.link is not None
            assert service.link.startswith(address)
            token = account_of(address, service.link, "operator")
            assert fp.Client(address, token).account().name == "operator"
            with httpx.Client(base_url=address, verify=ssl.create_default_context()) as browser:
                who = {"email": "operator@example.org", "password": PASSWORD}
                cookie = browser.post("/api/v1/session", json=who).headers["set-cookie"]
            assert cookie.startswith("__Host-fairpool=")
            assert "Secure" in cookie
            # Whoever goes around the proxy, by another name, is answered nothing.
            with pytest.raises(RefusedByServiceError, match="this service is at https://localhost"):
                fp.Client(f"http://127.0.0.1:{proxy.target}", token).account()
