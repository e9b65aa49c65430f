import json
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from fairpool.errors import DataError
from fairpool.server.people import (
    accounts,
    invitations,
    joining,
    passwords,
    resetting,
    sessions,
    tokens,
)
from fairpool.server.refused import LinkOverError, WrongPasswordError
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Invitation, Person, now
from tests.server.consortium import Service, add_consortium, add_person
from tests.server.work.worlds import sqlite_in
from tests.support.projects import COMMAND

OLD = "four words together"
NEW = "other words together"


def _anna(database: Database) -> Person:
    anna = add_person(database, "anna")
    with database.transaction() as session:
        session.get_one(Person, anna.id).password = passwords.hashed(OLD)
    return anna


def _secret(database: Database, settings: Settings, email: str = "anna@example.org") -> str:
    with database.transaction() as session:
        return resetting.reset_link(session, settings, email).rsplit("/", 1)[1]


def _reset(database: Database, settings: Settings, secret: str, password: str = NEW) -> str:
    entered = resetting.reset_password(database, settings, secret, password=password, cookie=None)
    return entered.opened.cookie


def _sign_in(database: Database, settings: Settings, password: str) -> None:
    accounts.sign_in(
        database,
        settings,
        email="anna@example.org",
        password=password,
        host="192.0.2.1",
        cookie=None,
    )


def test_a_link_sets_another_password_once_and_ends_all_sessions(
    database: Database, settings: Settings
) -> None:
    anna = _anna(database)
    with database.transaction() as session:
        before = sessions.open_session(session, settings, anna).cookie
    secret = _secret(database, settings, " ANNA@example.org ")
    with pytest.raises(DataError, match="12 to 200"):
        _reset(database, settings, secret, "short")
    cookie = _reset(database, settings, secret)
    with database.reading() as session:
        assert sessions.find(session, before) is None
        assert sessions.find(session, cookie) is not None
    _sign_in(database, settings, NEW)
    with pytest.raises(WrongPasswordError, match="wrong"):
        _sign_in(database, settings, OLD)
    with pytest.raises(LinkOverError, match="was used"):
        _reset(database, settings, secret)


def test_a_link_is_over_after_a_day_and_when_there_is_another(
    database: Database, settings: Settings
) -> None:
    _anna(database)
    first = _secret(database, settings)
    second = _secret(database, settings)
    with pytest.raises(LinkOverError, match="too old"):
        _reset(database, settings, first)
    with database.transaction() as session:
        one = session.query(Invitation).one()
        assert timedelta(hours=23) < one.expires - now() <= timedelta(days=1)
        one.expires = now()
    with pytest.raises(LinkOverError, match="too old"):
        _reset(database, settings, second)


def test_a_link_for_a_password_makes_nobody_an_operator(
    database: Database, settings: Settings
) -> None:
    anna = _anna(database)
    secret = _secret(database, settings)
    with database.transaction() as session, pytest.raises(LinkOverError, match="link"):
        joining.accept(session, anna, secret)
    with pytest.raises(LinkOverError, match="link"):
        _join(database, settings, secret, "new@example.org")
    _reset(database, settings, secret)
    with database.reading() as session:
        assert not session.get_one(Person, anna.id).may_create


def _join(database: Database, settings: Settings, secret: str, email: str) -> None:
    joining.accept_as_new(
        database,
        settings,
        secret,
        name="New",
        email=email,
        password=OLD,
        host="192.0.2.1",
        cookie=None,
    )


def test_an_invitation_sets_nobody_s_password(database: Database, settings: Settings) -> None:
    _anna(database)
    with database.transaction() as session:
        link = invitations.first_operator(session, settings)
    assert link is not None
    with pytest.raises(LinkOverError, match="link"):
        _reset(database, settings, link.rsplit("/", 1)[1])


def test_a_start_of_the_service_leaves_such_links_alone(
    database: Database, settings: Settings
) -> None:
    _anna(database)
    secret = _secret(database, settings)
    with database.transaction() as session:
        assert invitations.first_operator(session, settings) is not None
    _reset(database, settings, secret)


def test_where_there_is_no_account_there_is_no_link(database: Database, settings: Settings) -> None:
    anna = _anna(database)
    with pytest.raises(DataError, match="there is no such account"):
        _secret(database, settings, "nobody@example.org")
    secret = _secret(database, settings)
    with database.transaction() as session:
        accounts.close_account(session, anna)
    with pytest.raises(LinkOverError, match="link"):
        _reset(database, settings, secret)


def test_the_page_of_such_a_link_asks_for_a_password_alone(service: Service) -> None:
    _anna(service.database)
    add_consortium(service.database)
    secret = _secret(service.database, service.settings)
    client = service.client()
    page = client.get(f"/invitations/{secret}")
    assert page.status_code == 200
    assert "Choose another password" in page.text
    assert 'name="name"' not in page.text
    short = client.post(f"/invitations/{secret}/password", data={"password": "short"})
    assert short.status_code == 422
    assert "12 to 200" in short.text
    done = client.post(f"/invitations/{secret}/password", data={"password": NEW})
    assert (done.status_code, done.headers["location"]) == (303, "/collaborations?said=password")
    assert client.get("/api/v1/account").json()["name"] == "anna"
    again = _secret(service.database, service.settings)
    by_api = service.client().post(f"/api/v1/invitations/{again}/password", json={"password": OLD})
    assert by_api.status_code == 200
    assert service.client().get(f"/api/v1/invitations/{again}").status_code == 410


def test_a_link_ends_tokens_which_somebody_else_may_have(
    database: Database, settings: Settings
) -> None:
    anna = _anna(database)
    with database.transaction() as session:
        _, token = tokens.make(session, anna, name="stolen laptop", days=90)
    _reset(database, settings, _secret(database, settings))
    with database.reading() as session:
        assert tokens.find(session, token) is None


def _command(folder: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [COMMAND, "server", "password", "--folder", folder, *more],
        capture_output=True,
        text=True,
        check=False,
    )


def test_whoever_runs_the_service_makes_a_link_by_a_command(tmp_path: Path) -> None:
    folder = tmp_path / "server"
    database = sqlite_in(folder)
    settings = Settings.of(folder, environment={})
    _anna(database)
    unknown = _command(folder, "--email", "nobody@example.org")
    assert unknown.returncode == 2
    assert "nobody@example.org: there is no such account" in unknown.stderr
    assert "Traceback" not in unknown.stderr
    wrong = _command(folder, "--email", "anna@example.org", "--address", "nowhere")
    assert wrong.returncode == 2
    assert "is no address of a service" in wrong.stderr
    where = ("--address", "https://pool.example.org", "--json")
    made = _command(folder, "--email", " Anna@example.org", *where)
    assert made.returncode == 0, made.stderr
    link = json.loads(made.stdout)["link"]
    assert link.startswith("https://pool.example.org/invitations/")
    shown = _command(folder, "--email", "anna@example.org")
    (later,) = [line for line in shown.stdout.splitlines() if line.startswith("http")]
    with pytest.raises(LinkOverError, match="link"):
        _reset(database, settings, link.rsplit("/", 1)[1])  # the later one is the only one
    _reset(database, settings, later.rsplit("/", 1)[1])
    _sign_in(database, settings, NEW)
    database.close()
