"""A party fills no disk and no queue: how much it may send, how often, and how much at a time."""

import errno
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from fairpool.errors import DataError
from fairpool.server.consortia import checks
from fairpool.server.settings import MEBIBYTE, Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Job, Round, Submission, now
from fairpool.server.web.app import create_app
from fairpool.server.work import vault
from tests.server.agreed import Agreed, agreed
from tests.server.consortium import Service

API = "/api/v1/collaborations"

Sending = Callable[..., Any]


@pytest.fixture
def clinics(database: Database, tmp_path: Path) -> Agreed:
    made = agreed(database, tmp_path)
    made.propose()
    return made


def sending(clinics: Agreed, party: str = "north", **limits: float) -> Sending:
    """What a party's program sends, to a service with such limits."""
    settings = replace(clinics.settings, **limits)
    app = create_app(settings, clinics.database)
    service = Service(app=app, settings=settings, database=clinics.database)
    program = service.program(getattr(clinics.consortium, f"of_{party}"))

    def send(content: bytes | Iterator[bytes]) -> Any:
        return program.post(f"{API}/{clinics.id}/submissions?name=a.csv", content=content)

    return send


def uploads(clinics: Agreed) -> int:
    """How many files are on the disk, whole or not."""
    return len([*clinics.settings.uploads.iterdir()])


def refused(answer: Any, status: int, *words: str) -> None:
    (problem,) = answer.json()["problems"]
    assert answer.status_code == status, problem
    assert all(word in problem for word in words), problem
    if status == 429:
        assert int(answer.headers["Retry-After"]) > 0


@pytest.mark.parametrize(
    ("limit", "variable"),
    [
        ("party_bytes", "FAIRPOOL_PARTY_MEBIBYTES"),
        ("collaboration_bytes", "FAIRPOOL_COLLABORATION_MEBIBYTES"),
    ],
)
def test_all_that_a_party_has_here_is_counted(clinics: Agreed, limit: str, variable: str) -> None:
    send = sending(clinics, **{limit: 1000})
    assert send(bytes(600)).status_code == 201
    assert uploads(clinics) == 1
    for content in (bytes(401), iter([bytes(200)] * 3)):
        refused(send(content), 413, "withdraw files that are not needed", variable)
    assert uploads(clinics) == 1  # what was refused left nothing
    assert send(bytes(400)).status_code == 201
    refused(send(b"x"), 413, variable)
    others = sending(clinics, "south", **{limit: 1000})(b"y")
    if limit == "party_bytes":
        assert others.status_code == 201
    else:
        refused(others, 413, variable)
    with clinics.database.reading() as session:
        first = session.query(Submission).filter_by(party_id=clinics.consortium.north.id).first()
    clinics.withdraw(clinics.consortium.of_north, first)
    assert send(b"z").status_code == 201


def test_a_party_sends_so_many_files_within_an_hour(clinics: Agreed) -> None:
    send = sending(clinics, uploads_per_hour=2)
    for content in (b"1", b"2"):
        answer = send(content)
        assert answer.status_code == 201
        with clinics.database.reading() as session:
            sent = session.get_one(Submission, answer.json()["id"])
        clinics.withdraw(clinics.consortium.of_north, sent)  # which gives no other one
    refused(send(b"3"), 429, "2 files within an hour", "FAIRPOOL_UPLOADS_PER_HOUR")
    assert sending(clinics, "south", uploads_per_hour=2)(b"1").status_code == 201
    with clinics.database.transaction() as session:
        session.execute(
            update(Submission)
            .where(Submission.id == answer.json()["id"])
            .values(created=now() - timedelta(minutes=59))
        )
    assert 50 <= int(send(b"3").headers["Retry-After"]) <= 3600
    with clinics.database.transaction() as session:
        session.execute(
            update(Submission)
            .where(Submission.id == answer.json()["id"])
            .values(created=now() - timedelta(minutes=61))
        )
    assert send(b"3").status_code == 201


def test_a_party_has_so_many_files_that_are_still_to_be_looked_at(clinics: Agreed) -> None:
    send = sending(clinics, waiting_uploads=2)
    for content in (b"1", b"2"):
        assert send(content).status_code == 201
    refused(send(b"3"), 429, "2 files of your party are still to be looked at")
    assert clinics.work_off() == 2
    assert send(b"3").status_code == 201


def test_of_many_uploads_at_once_no_more_are_kept_than_there_is_room_for(clinics: Agreed) -> None:
    """All of them begin before any is recorded."""
    send = sending(clinics, party_bytes=1000, uploads_at_once=3)
    begun = threading.Barrier(4)
    answers: list[Any] = []

    def content(sign: bytes) -> Iterator[bytes]:
        yield sign * 300
        begun.wait(60)
        yield sign * 300

    def upload(number: int) -> None:
        answers.append(send(content(b"%d" % number)))

    threads = [threading.Thread(target=upload, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    while len([*clinics.settings.uploads.glob("*.part")]) < 3 and not answers:
        time.sleep(0.01)
    refused(send(b"one more"), 429, "sending 3 files at this moment")
    begun.wait(60)
    for thread in threads:
        thread.join()
    assert sorted(answer.status_code for answer in answers) == [201, 413, 413]
    assert uploads(clinics) == 1
    assert send(b"one more").status_code == 201


def test_a_disk_that_is_nearly_full_takes_nothing(clinics: Agreed) -> None:
    free = shutil.disk_usage(clinics.settings.folder).free
    refused(sending(clinics, free_bytes=2 * free)(b"1"), 503, "disk", "send this one again later")
    assert uploads(clinics) == 0


def test_a_disk_that_is_full_is_said(clinics: Agreed, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    vault.Vault(clinics.settings)  # makes the key, for which there was room
    monkeypatch.setattr(vault.os, "fsync", full)
    refused(sending(clinics)(b"1"), 503, "disk", "nothing was")
    monkeypatch.undo()
    assert uploads(clinics) == 0


def test_other_terms_have_each_file_wait_once(clinics: Agreed) -> None:
    """However often they are proposed while nobody looks."""
    clinics.send(clinics.consortium.of_north, b"1")
    with clinics.database.transaction() as session:
        who = clinics.who(session, clinics.consortium.operator)
        (round_,) = session.query(Round).all()
        for _ in range(3):
            checks.ask_again(session, who, round_)
    with clinics.database.reading() as session:
        assert session.query(Job).count() == 1


def test_limits_are_set_by_the_environment() -> None:
    settings = Settings.of(
        environment={"FAIRPOOL_PARTY_MEBIBYTES": "7", "FAIRPOOL_UPLOADS_PER_HOUR": "8"}
    )
    assert (settings.party_bytes, settings.uploads_per_hour) == (7 * MEBIBYTE, 8)
    assert settings.collaboration_bytes == Settings.collaboration_bytes
    for name in ("FAIRPOOL_COLLABORATION_MEBIBYTES", "FAIRPOOL_FREE_MEBIBYTES"):
        for text in ("0", "-1", "many", "1.5"):
            with pytest.raises(DataError, match=f"{name}: '{text}' is no whole number from 1 on"):
                Settings.of(environment={name: text})
