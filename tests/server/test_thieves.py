"""What a thief has of a database, of a backup, of a party's laptop, after a released round."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fairpool.errors import FairpoolError
from fairpool.server.people import accounts, invitations, sessions, tokens
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Role, Submission
from fairpool.server.web.app import create_app
from fairpool.server.work.vault import Vault
from tests.server.agreed import csv_of, rows
from tests.server.consortium import Service
from tests.server.work.computed import Computed, closed

PASSWORD = "four words together"


@dataclass(frozen=True, kw_only=True)
class Robbed:
    """A service whose first round was released, and what lets people in."""

    made: Computed
    secrets: dict[str, str]
    database_files: list[Path]

    def files(self) -> Iterator[Path]:
        """Everything in the service's folder."""
        for path in sorted(self.made.agreed.settings.folder.rglob("*")):
            if path.is_file():
                yield path


@pytest.fixture(scope="module")
def robbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Robbed]:
    folder = tmp_path_factory.mktemp("robbed")
    database = Database(f"sqlite:///{folder / 'database.sqlite'}")
    database.migrate()
    made = closed(database, folder)
    made.release(made.preview())
    consortium, settings = made.agreed.consortium, made.agreed.settings
    with database.transaction() as session:
        who = made.agreed.who(session, consortium.operator)
        _, link = invitations.invite(session, settings, who, role=Role.AUDITOR)
        _, token = tokens.make(session, consortium.of_north, name="program", days=1)
        cookie = sessions.open_session(session, settings, consortium.of_north).cookie
    joined = _account(database, settings, made)
    secrets = {"link": link, "token": token, "cookie": cookie, "password": PASSWORD, **joined}
    yield Robbed(made=made, secrets=secrets, database_files=sorted(folder.glob("database.sqlite*")))
    database.close()


def _account(database: Database, settings, made: Computed) -> dict[str, str]:
    """Somebody with a password, who came by a link that is used up."""
    from fairpool.server.people import joining

    with database.transaction() as session:
        who = made.agreed.who(session, made.agreed.consortium.operator)
        _, link = invitations.invite(session, settings, who, role=Role.OPERATOR)
    entered = joining.accept_as_new(
        database,
        settings,
        link,
        name="Vera",
        email="vera@example.org",
        password=PASSWORD,
        host="127.0.0.1",
        cookie=None,
    )
    signed_in = accounts.sign_in(
        database,
        settings,
        email="vera@example.org",
        password=PASSWORD,
        host="127.0.0.1",
        cookie=None,
    )
    return {"used link": link, "first cookie": entered.opened.cookie,
            "second cookie": signed_in.opened.cookie}  # fmt: skip


def lines_of_tables() -> list[bytes]:
    """Every row that was sent."""
    sent = [csv_of(rows(40, 1)), csv_of(rows(60, 2))]
    return [line for content in sent for line in content.splitlines()[1:]]


def numbers_of_tables() -> list[bytes]:
    """Every label and every input of them, as it was written."""
    return [
        cell for line in lines_of_tables() for cell in line.split(b",") if re.match(rb"-?\d", cell)
    ]


def test_a_thief_of_the_database_has_no_row_and_nothing_that_lets_anybody_in(
    robbed: Robbed,
) -> None:
    content = b"".join(path.read_bytes() for path in robbed.database_files)
    assert b"vera@example.org" in content  # people and terms are there to be read
    assert b'name = "Clinics"' in content
    for name, secret in robbed.secrets.items():
        assert secret.encode() not in content, name
    for number in numbers_of_tables():
        assert number not in content
    settings = robbed.made.agreed.settings
    keys = [settings.key_file, *settings.folder.rglob("*.key")]
    assert len(keys) >= 3
    for path in keys:
        kept = path.read_bytes().split()[-1]
        assert kept not in content
        assert kept.lower() not in content.lower()


def test_a_thief_of_a_backup_without_the_key_of_uploads_has_no_table(robbed: Robbed) -> None:
    settings = robbed.made.agreed.settings
    found = {path.name for path in robbed.files()}
    # Said as it is: all that a release consists of, and what its noise is made of, is in the clear.
    assert {"ledger.jsonl", "reward.safetensors", "letter.html", "secret.key"} <= found
    assert {"operator.key", "report.html"} <= found
    for path in robbed.files():
        content = path.read_bytes()
        assert not any(line in content for line in lines_of_tables()), path
    with robbed.made.database.reading() as session:
        blobs = [one.blob_id for one in session.query(Submission)]
    assert len(blobs) == 2
    whole = [b"".join(Vault(settings).open(blob)) for blob in blobs]
    assert sorted(whole) == sorted([csv_of(rows(40, 1)), csv_of(rows(60, 2))])
    settings.key_file.rename(settings.folder / "elsewhere")
    try:
        with pytest.raises(FairpoolError, match=r"\w"):
            b"".join(Vault(settings).open(blobs[0]))
    finally:
        (settings.folder / "elsewhere").rename(settings.key_file)


def test_a_thief_of_a_laptop_acts_for_its_party_until_the_token_is_ended(robbed: Robbed) -> None:
    agreed = robbed.made.agreed
    app = create_app(agreed.settings, agreed.database)
    service = Service(app=app, settings=agreed.settings, database=agreed.database)
    thief = service.client()
    thief.headers["Authorization"] = f"Bearer {robbed.secrets['token']}"
    here = f"/api/v1/collaborations/{agreed.id}"
    # It sees and does what the party's people do...
    assert thief.get(f"{here}/standing").status_code == 200
    assert thief.get(f"{here}/rounds/1/letter").status_code == 200
    # ...never gets back a table that was sent, takes nobody's account over, and sees nobody else.
    (sent,) = thief.get(f"{here}/standing").json()["having"]
    assert thief.get(f"{here}/submissions/{sent['id']}/content").status_code == 404
    for method, path, body in (
        ("POST", "/api/v1/tokens", {"name": "mine", "days": 300}),
        ("GET", "/api/v1/tokens", None),
        ("GET", "/api/v1/sessions", None),
        ("POST", "/api/v1/account/password", {"old": "x", "new": PASSWORD}),
        ("DELETE", "/api/v1/account", None),
    ):
        assert thief.request(method, path, json=body).status_code == 403, path
    for path in ("/checklist", "/draft", "/ledger", "/events", "/rounds/1/report"):
        assert thief.get(here + path).status_code == 404, path
    browser = service.browser(agreed.consortium.of_north)
    (one,) = browser.get("/api/v1/tokens").json()
    assert browser.delete(f"/api/v1/tokens/{one['id']}").status_code == 204
    assert thief.get(f"{here}/standing").status_code == 401
