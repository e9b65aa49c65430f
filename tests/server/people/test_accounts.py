from datetime import timedelta

import pytest

from fairpool.errors import DataError
from fairpool.server.people import accounts, passwords, sessions, tokens
from fairpool.server.people.accounts import Entered
from fairpool.server.refused import (
    NotFoundError,
    RefusedError,
    TooManyError,
    WrongPasswordError,
)
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import ApiToken, BrowserSession, Person, now
from tests.server.consortium import add_person

PASSWORD = "four words together"


def _anna(database: Database) -> Person:
    person = add_person(database, "anna")
    kept = passwords.hashed(PASSWORD)
    with database.transaction() as session:
        session.get_one(Person, person.id).password = kept
    person.password = kept
    return person


def _sign_in(
    database: Database,
    settings: Settings,
    *,
    email: str = "anna@example.org",
    password: str = PASSWORD,
    host: str = "192.0.2.1",
    cookie: str | None = None,
) -> Entered:
    return accounts.sign_in(
        database, settings, email=email, password=password, host=host, cookie=cookie
    )


def test_who_has_the_password_is_signed_in(database: Database, settings: Settings) -> None:
    anna = _anna(database)
    entered = _sign_in(database, settings, email=" Anna@Example.org ")
    assert entered.person.id == anna.id
    with database.reading() as session:
        found = sessions.find(session, entered.opened.cookie)
        assert found is not None
        assert found[1].id == anna.id
        kept = session.query(BrowserSession).one()
    assert entered.opened.cookie not in {kept.digest, kept.form_token}


def test_nobody_learns_which_of_the_two_is_wrong_neither_by_text_nor_by_work(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    _anna(database)
    works: list[str] = []
    verify = passwords._hasher.verify

    class Counting:
        def verify(self, kept: str, password: str) -> bool:
            works.append(kept.rsplit("$", 2)[0])
            return verify(kept, password)

    monkeypatch.setattr(passwords, "_hasher", Counting())
    texts = []
    for email in ("anna@example.org", "nobody@example.org"):
        works.clear()
        with pytest.raises(WrongPasswordError, match="wrong") as refused:
            _sign_in(database, settings, email=email, password="another password")
        texts.append((str(refused.value), list(works)))
    assert texts[0] == texts[1]
    assert len(texts[0][1]) == 1


def test_after_five_failures_an_account_is_locked_there_whether_there_is_one_or_not(
    database: Database, settings: Settings
) -> None:
    _anna(database)
    for email in ("anna@example.org", "nobody@example.org"):
        for _ in range(5):
            with pytest.raises(WrongPasswordError, match="wrong"):
                _sign_in(database, settings, email=email, password="another password")
        with pytest.raises(TooManyError, match="wait 15 seconds"):
            _sign_in(database, settings, email=email)


def test_an_old_cookie_is_worth_nothing_after_signing_in(
    database: Database, settings: Settings
) -> None:
    _anna(database)
    first = _sign_in(database, settings).opened
    second = _sign_in(database, settings, cookie=first.cookie).opened
    third = _sign_in(database, settings, cookie="put there by somebody else").opened
    assert len({first.cookie, second.cookie, third.cookie}) == 3
    with database.reading() as session:
        assert sessions.find(session, first.cookie) is None
        assert sessions.find(session, second.cookie) is not None
        assert sessions.find(session, "put there by somebody else") is None


def test_who_left_does_not_sign_in(database: Database, settings: Settings) -> None:
    anna = _anna(database)
    opened = _sign_in(database, settings).opened
    with database.transaction() as session:
        _, secret = tokens.make(session, anna, name="program", days=1)
        accounts.close_account(session, anna)
    with pytest.raises(WrongPasswordError, match="wrong"):
        _sign_in(database, settings)
    with database.reading() as session:
        assert sessions.find(session, opened.cookie) is None
        assert tokens.find(session, secret) is None
    add_person(database, "anna")  # the address is free


def test_another_password_ends_all_other_sessions(database: Database, settings: Settings) -> None:
    anna = _anna(database)
    before = _sign_in(database, settings).opened
    new = "other words together"
    opened = accounts.change_password(
        database, settings, anna, old=PASSWORD, new=new, host="192.0.2.1"
    )
    with database.reading() as session:
        assert sessions.find(session, before.cookie) is None
        assert sessions.find(session, opened.cookie) is not None
    _sign_in(database, settings, password=new)
    with pytest.raises(WrongPasswordError, match="wrong"):
        _sign_in(database, settings)


def test_a_password_is_not_changed_without_the_old_one_nor_to_an_unfit_one(
    database: Database, settings: Settings
) -> None:
    anna = _anna(database)

    def change(old: str, new: str) -> None:
        accounts.change_password(database, settings, anna, old=old, new=new, host="192.0.2.1")

    with pytest.raises(WrongPasswordError, match="that you have is another one"):
        change("another password", "other words together")
    with pytest.raises(DataError, match="12 to 200"):
        change(PASSWORD, "short")
    with pytest.raises(DataError, match="the new one is the old one"):
        change(PASSWORD, PASSWORD)
    _sign_in(database, settings)
    anna.password = "changed meanwhile"
    with pytest.raises(WrongPasswordError, match="that you have is another one"):
        change(PASSWORD, "other words together")


def test_a_password_that_changes_meanwhile_is_not_overwritten(
    database: Database, settings: Settings
) -> None:
    anna = _anna(database)
    accounts.change_password(
        database, settings, anna, old=PASSWORD, new="other words together", host="192.0.2.1"
    )
    with pytest.raises(RefusedError, match="changed meanwhile"):
        accounts.change_password(
            database, settings, anna, old=PASSWORD, new="third words together", host="192.0.2.1"
        )


def test_a_session_ends_unless_it_is_used_and_at_last_anyway(
    database: Database, settings: Settings
) -> None:
    anna = _anna(database)
    with database.transaction() as session:
        opened = sessions.open_session(session, settings, anna)
        kept = session.get_one(BrowserSession, opened.kept.digest)
        assert not sessions.is_due(kept)
        kept.seen -= timedelta(hours=1)
        kept.expires -= timedelta(hours=1)
        assert sessions.is_due(kept)
        sessions.prolong(session, settings, kept.digest)
        assert kept.expires > now() + timedelta(hours=settings.session_hours, minutes=-1)
        kept.created -= timedelta(hours=settings.session_hours * sessions.LONGEST)
        sessions.prolong(session, settings, kept.digest)
        session.flush()
        assert sessions.find(session, opened.cookie) is None
        # Whoever signs in next sweeps out what is over.
        sessions.open_session(session, settings, anna)
        assert session.query(BrowserSession).count() == 1
        sessions.prolong(session, settings, "nothing")


def test_a_token_lets_in_until_it_is_over_or_revoked(database: Database) -> None:
    anna, berta = _anna(database), add_person(database, "berta")
    with database.transaction() as session:
        token, secret = tokens.make(session, anna, name=" backups ", days=30)
        assert secret.startswith("fp_")
        assert secret not in {token.digest, token.id}
        found = tokens.find(session, secret)
        assert found is not None
        assert found[1].id == anna.id
        assert tokens.find(session, secret + "x") is None
        assert [one.name for one in tokens.of_person(session, anna)] == ["backups"]
        assert tokens.of_person(session, berta) == []
        with pytest.raises(NotFoundError, match="no such"):
            tokens.revoke(session, berta, token.id)
        token.expires = now()
        assert tokens.find(session, secret) is None
        token.expires = now() + timedelta(days=1)
        tokens.revoke(session, anna, token.id)
        assert tokens.find(session, secret) is None
        with pytest.raises(NotFoundError, match="no such"):
            tokens.revoke(session, anna, token.id)
        assert session.query(ApiToken).count() == 1


@pytest.mark.parametrize(
    ("name", "days", "said"), [("", 1, "name"), ("a", 0, "days: 0"), ("a", 367, "days: 367")]
)
def test_a_token_has_a_name_and_an_end(database: Database, name: str, days: int, said: str) -> None:
    anna = add_person(database, "anna")
    with database.transaction() as session, pytest.raises(DataError, match=said):
        tokens.make(session, anna, name=name, days=days)


@pytest.mark.parametrize(
    "email",
    [
        "",
        "anna",
        "a@b@c",
        "a b@c",
        "a@b\r\nBcc: c@d",
        "a@" + "b" * 254,
        "<a@b>",
        "a@b,c@d",
        "a@\x1b",
    ],
)
def test_what_is_no_address_is_refused(email: str) -> None:
    with pytest.raises(DataError, match="is no e-mail address"):
        accounts.fit_email(email)


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "Anna\u202eannA"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(DataError, match="is no name"):
        accounts.fit_name(name)
