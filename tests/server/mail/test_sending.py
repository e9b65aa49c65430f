"""Mail of a service that runs, and the command that tries it out."""

import re
from pathlib import Path

import pytest

from fairpool.server.settings import Settings
from fairpool.server.starting import prepared
from tests.server.mail.mailbox import SENDER, mailbox
from tests.server.served import served
from tests.support.projects import fairpool

ANNA = {"name": "Anna", "email": "anna@example.org", "password": "four words together"}
PATIENCE = 120.0


def test_a_mail_server_that_says_nothing_keeps_no_request_waiting(tmp_path: Path) -> None:
    with mailbox() as box:
        box.holds.set()
        environment = {
            "FAIRPOOL_SMTP": f"smtp://127.0.0.1:{box.port}",
            "FAIRPOOL_MAIL_FROM": SENDER,
            "FAIRPOOL_MAIL_SECONDS": "1",
        }
        with served(tmp_path / "pool", "--workers", "1", **environment) as service:
            secret = service.link.rsplit("/", 1)[1]
            with service.client() as client:
                joined = client.post(f"/api/v1/invitations/{secret}/account", json=ANNA)
                client.headers["X-Form-Token"] = joined.json()["form_token"]
                begun = client.post("/api/v1/collaborations", json={"name": "Clinics"})
                invitations = f"/api/v1/collaborations/{begun.json()['id']}/invitations"
                invited = {"role": "auditor", "email": "new@example.org"}
                assert client.post(invitations, json=invited).status_code == 201
                assert box.came.wait(PATIENCE)
                assert box.envelopes == []
                again = {"role": "auditor", "email": "newer@example.org"}
                assert client.post(invitations, json=again).status_code == 201
            box.came.clear()
            box.holds.clear()
            assert box.came.wait(PATIENCE)
            # Stopped, it says goodbye to the mail that it is sending before it ends.
            assert service.stop() == 0
            log = service.log()
    assert {to for to, _ in box.envelopes} == {"new@example.org", "newer@example.org"}
    assert all("“Clinics”" in said for said in box.to("new@example.org"))
    assert service.address in box.to("new@example.org")[0]
    assert "example.org" not in log


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of a service that was started once."""
    prepared(Settings.of(tmp_path / "pool", environment={})).close()
    return tmp_path / "pool"


def try_out(folder: Path, monkeypatch: pytest.MonkeyPatch, **environment: str):
    monkeypatch.setenv("FAIRPOOL_MAIL_FROM", SENDER)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return fairpool("server", "mail", "--to", "me@example.org", "--folder", str(folder))


def test_a_mail_tries_it_out(folder: Path, monkeypatch) -> None:
    with mailbox() as box:
        more = {"FAIRPOOL_ADDRESS": "https://pool.example.org"}
        done = try_out(folder, monkeypatch, FAIRPOOL_SMTP=f"smtp://127.0.0.1:{box.port}", **more)
    assert done.returncode == 0, done.stderr
    assert "has taken a mail to me@example.org" in _one_line(done.stdout)
    (said,) = box.to("me@example.org")
    assert "the fairpool service at https://pool.example.org" in said


def test_what_keeps_a_mail_from_being_sent_is_said(folder: Path, monkeypatch) -> None:
    with mailbox() as box:
        box.answers = {"me@example.org": "550 no such user"}
        address = f"smtp://127.0.0.1:{box.port}"
        refused = try_out(folder, monkeypatch, FAIRPOOL_SMTP=address)
    gone = try_out(folder, monkeypatch, FAIRPOOL_SMTP=address)
    none = try_out(folder, monkeypatch, FAIRPOOL_SMTP="")
    assert [one.returncode for one in (refused, gone, none)] == [2, 2, 2]
    assert "refuses the address (550 no such user)" in _one_line(refused.stderr)
    assert f"127.0.0.1:{box.port} cannot be used" in _one_line(gone.stderr)
    assert "no server for mail is named" in _one_line(none.stderr)


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_a_worker_elsewhere_must_know_where_the_service_is(folder: Path, monkeypatch) -> None:
    monkeypatch.delenv("FAIRPOOL_ADDRESS", raising=False)
    monkeypatch.setenv("FAIRPOOL_SMTP", "smtp://127.0.0.1:25")
    monkeypatch.setenv("FAIRPOOL_MAIL_FROM", SENDER)
    refused = fairpool("worker", "--folder", str(folder))
    assert refused.returncode == 2
    assert "FAIRPOOL_ADDRESS: a mail says where the service is" in _one_line(refused.stderr)
