import threading
from datetime import datetime, timedelta

import pytest
from sqlalchemy import update

from fairpool.server.people import throttle
from fairpool.server.refused import TooManyError
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Attempts, now

ANNA, ACCOUNT, HERE = throttle.of_sign_in("anna@example.org", "192.0.2.1")
"""An account from an address, the account from anywhere, and the address."""


def _fail(database: Database, subjects: list[str], times: int) -> None:
    for _ in range(times):
        throttle.begin(database, subjects)


class Clock:
    """The time as the throttle sees it."""

    def __init__(self) -> None:
        self.time = now()

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(throttle, "now", clock)
    return clock


def _wait(database: Database, subjects: list[str]) -> int:
    with pytest.raises(TooManyError, match="wait") as refused:
        throttle.begin(database, subjects)
    return refused.value.seconds


def test_an_account_waits_from_an_address_after_five_failures_and_twice_as_long_after_each_more(
    database: Database, clock: Clock
) -> None:
    _fail(database, [ANNA], 5)
    waits = []
    for _ in range(9):
        seconds = _wait(database, [ANNA])
        waits.append(seconds)
        clock.time += timedelta(seconds=seconds)
        throttle.begin(database, [ANNA])
    assert waits == [15, 30, 60, 120, 240, 480, 900, 900, 900]


def test_an_address_waits_after_twenty_failures_whatever_the_accounts(database: Database) -> None:
    for number in range(20):
        throttle.begin(database, [throttle.account(str(number)), HERE])
    assert _wait(database, [throttle.account("another"), HERE]) == 15
    throttle.begin(database, [throttle.account("another"), throttle.address("192.0.2.2")])


def test_while_somebody_waits_attempts_are_not_counted(database: Database) -> None:
    _fail(database, [ANNA, HERE], 5)
    for _ in range(3):
        _wait(database, [ANNA, HERE])
    with database.reading() as session:
        assert {one.failed for one in session.query(Attempts)} == {5}


def test_success_forgets_an_account_s_failures_but_not_an_address_s(database: Database) -> None:
    _fail(database, [ANNA, HERE], 4)
    throttle.begin(database, [ANNA, HERE])
    with database.transaction() as session:
        throttle.succeeded(session, [ANNA, HERE])
    with database.reading() as session:
        assert [(one.subject, one.failed) for one in session.query(Attempts)] == [(HERE, 4)]
    _fail(database, [ANNA], 5)


def test_an_address_s_own_account_does_not_free_it(database: Database) -> None:
    for number in range(19):
        throttle.begin(database, [throttle.account(str(number)), HERE])
    throttle.begin(database, [ANNA, HERE])
    with database.transaction() as session:
        throttle.succeeded(session, [ANNA, HERE])
    throttle.begin(database, [throttle.account("one more"), HERE])
    _wait(database, [ANNA, HERE])


def test_failures_are_forgotten_after_a_day(database: Database, clock: Clock) -> None:
    _fail(database, [ANNA], 5)
    clock.time += timedelta(days=1, seconds=1)
    _fail(database, [ANNA], 5)


def test_many_attempts_at_once_are_no_more_than_one_after_the_other(database: Database) -> None:
    passed = []

    def attempt() -> None:
        try:
            throttle.begin(database, [ANNA, HERE])
        except TooManyError:
            return
        passed.append(1)

    threads = [threading.Thread(target=attempt) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 5


def test_a_number_of_failures_beyond_all_powers_waits_no_longer(
    database: Database, clock: Clock
) -> None:
    _fail(database, [ANNA], 5)
    with database.transaction() as session:
        session.execute(update(Attempts).values(failed=10**6, locked_until=None, last=clock.time))
    throttle.begin(database, [ANNA])
    assert _wait(database, [ANNA]) == 900


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("no address", "no address", True),
    ],
)
def test_a_household_s_network_is_one_address(one: str, other: str, is_same: bool) -> None:
    assert (throttle.address(one) == throttle.address(other)) is is_same
    assert len(throttle.address("x" * 1000)) <= 80


def test_guesses_of_endless_accounts_leave_nothing_while_an_address_waits(
    database: Database,
) -> None:
    """Each left a row: whoever had no account could fill the disk."""
    for number in range(20):
        throttle.begin(database, [throttle.account(str(number)), HERE])
    for number in range(100, 130):
        _wait(database, [throttle.account(str(number)), HERE])
    with database.reading() as session:
        assert session.query(Attempts).count() == 21


def test_an_account_waits_after_a_hundred_failures_from_anywhere(database: Database) -> None:
    for number in range(100):
        throttle.begin(database, throttle.of_sign_in("anna@example.org", f"192.0.2.{number}"))
    assert _wait(database, throttle.of_sign_in("anna@example.org", "198.51.100.1")) == 15
    throttle.begin(database, throttle.of_sign_in("berta@example.org", "198.51.100.1"))


def test_who_guesses_elsewhere_keeps_nobody_out(database: Database, clock: Clock) -> None:
    """Whoever knew an address could keep its owner from signing in, until a round was closed."""
    anna = throttle.of_sign_in("anna@example.org", "198.51.100.1")
    guessing = throttle.of_sign_in("anna@example.org", "192.0.2.1")
    end = clock.time + timedelta(hours=12)
    while clock.time < end:
        try:
            throttle.begin(database, guessing)
        except TooManyError as refused:
            clock.time += timedelta(seconds=refused.seconds)
    throttle.begin(database, anna)
    with database.transaction() as session:
        throttle.succeeded(session, anna)
    with database.reading() as session:
        left = {one.subject for one in session.query(Attempts)}
    assert left == {guessing[0], guessing[2], anna[2]}
