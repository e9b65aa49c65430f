"""Who is told what in a round, and what no mail has in it."""

import json
import re

import pytest
from sqlalchemy import select

from fairpool.server.consortia import closing, rounds
from fairpool.server.mail import outbox
from fairpool.server.mail.sender import send_all
from fairpool.server.people import invitations
from fairpool.server.store.tables import Collaboration, Job, JobKind, Notice, Role, now
from fairpool.server.work.queue import Taken
from tests.server.agreed import agreed, csv_of, rows
from tests.server.mail.mailbox import Mailbox, mailbox
from tests.server.work.computed import Computed

OPERATOR, NORTH, SOUTH, AUDITOR = (
    f"{name}@example.org" for name in ("operator", "north", "south", "auditor")
)


@pytest.fixture
def box():
    with mailbox() as made:
        yield made


@pytest.fixture
def made(sqlite, tmp_path) -> Computed:
    return Computed(agreed=agreed(sqlite, tmp_path))


def told(made: Computed, box: Mailbox) -> dict[str, str]:
    """What everybody was told now."""
    box.envelopes.clear()
    assert send_all(box.used_by(made.agreed.settings), made.database)
    said = {}
    for to in (OPERATOR, NORTH, SOUTH, AUDITOR):
        texts = box.to(to)
        assert len(texts) <= 1
        said |= dict.fromkeys([to] * len(texts), "".join(texts))
    assert len(said) == len(box.envelopes)
    return said


def test_everybody_is_told_when_it_is_their_turn_and_nothing_else(made: Computed, box) -> None:
    clinics, people = made.agreed, made.agreed.consortium
    everything = []

    def now_told() -> dict[str, str]:
        said = told(made, box)
        everything.extend(box.messages)
        return said

    clinics.propose()
    said = now_told()
    assert {*said} == {NORTH, SOUTH}
    assert "“Clinics”, for north:\nRead the terms" in said[NORTH]
    assert f"/collaborations/{clinics.id}" in said[NORTH]

    clinics.accept_all()
    said = now_told()
    assert {*said} == {NORTH, SOUTH}
    assert "Your data are wanted" in said[SOUTH]

    wrong = csv_of(rows(40, 1)).replace(b"red", b"kq7xsecretlevel")
    clinics.checked(people.of_north, wrong, "kq7xsecretname.csv")
    said = now_told()
    assert {*said} == {NORTH}
    assert "There is a problem with what was sent" in said[NORTH]

    sent = clinics.checked(people.of_north, csv_of(rows(40, 1)))
    assert "submit it" in now_told()[NORTH]
    clinics.submit(people.of_north, sent)
    assert now_told() == {}  # it is not yet the operator's turn
    made.send(people.of_south, csv_of(rows(60, 2)))
    said = now_told()
    assert {*said} == {OPERATOR}
    assert "close the round" in said[OPERATOR]

    made.act(closing.close)
    preview = made.preview()
    said = now_told()
    assert {*said} == {OPERATOR}
    assert "A preview is ready" in said[OPERATOR]

    made.release(preview)
    said = now_told()
    assert {*said} == {NORTH, SOUTH, AUDITOR}
    assert "Round 1 was released: your letter" in said[NORTH]
    assert "you can compute it anew" in said[AUDITOR]
    _has_nothing_secret(made, preview, everything)


def _has_nothing_secret(made: Computed, preview: Job, messages) -> None:
    """No cell, no finding, no number of the preview, and no other party's name."""
    summary = json.dumps(preview.result)
    numbers = {one for one in re.findall(r"\d+\.\d+", summary) if len(one) > 4}
    assert len(numbers) > 5
    for message in messages:
        text = str(message["Subject"])
        for part in message.walk():
            if not part.is_multipart():
                text += part.get_content()
        assert "kq7x" not in text
        assert not any(number in text for number in numbers)
        assert not re.search(r"\bred\b|\bgreen\b|\b40\b|\b60\b", text)
        others = {"north", "south"} - {message["To"].partition("@")[0]}
        assert not any(other in text for other in others)
        assert not re.search(r"/invitations/|fp_", text)


def taken_of(job: Job) -> Taken:
    """As if a worker had released the round of a preview."""
    return Taken(
        id=job.id,
        kind=JobKind.RELEASE,
        collaboration_id=job.collaboration_id,
        round_id=job.round_id,
        submission_id=None,
        person_id=job.created_by,
        worker="test",
        fence=1,
        tries=1,
        is_cancelled=False,
    )


def test_whose_labels_the_checks_found_something_about_is_told_how_to_answer(
    made: Computed, box
) -> None:
    made.agreed.propose()
    with made.database.transaction() as session:
        session.query(Notice).delete()
        collaboration = session.scalars(select(Collaboration)).one()
        (round_,) = collaboration.rounds
        job = Job(
            collaboration_id=collaboration.id,
            round_id=round_.id,
            kind="preview",
            state="done",
            created_by=made.agreed.consortium.operator.id,
            result={
                "notes": [
                    {"code": "labels disagree", "party": "north", "text": "z is 4.7"},
                    {"code": "shared rows", "party": "south", "text": "for the operator alone"},
                    {"code": "two disagree", "party": None, "text": "nobody is accused"},
                ]
            },
        )
        session.add(job)
        session.flush()
        round_.preview_id = job.id
        rounds.released(session, taken_of(job), "ab" * 32)
    said = told(made, box)
    assert {*said} == {NORTH, SOUTH, AUDITOR}
    assert "your labels" not in said[SOUTH] + said[AUDITOR]
    assert "found something about your labels. That is no verdict" in said[NORTH]
    assert "how to answer" in said[NORTH]
    assert "4.7" not in said[NORTH]


def invite(made: Computed, email: str):
    with made.database.transaction() as session:
        who = made.agreed.who(session, made.agreed.consortium.operator)
        return invitations.invite(
            session, made.agreed.settings, who, role=Role.AUDITOR, email=email
        )


def test_who_is_invited_hears_of_it_without_the_link(made: Computed, box) -> None:
    _, secret = invite(made, "new@example.org")
    invite(made, SOUTH)  # who has an account, and may have said how often
    taken_back, _ = invite(made, "never@example.org")
    with made.database.transaction() as session:
        who = made.agreed.who(session, made.agreed.consortium.operator)
        invitations.revoke(session, who, taken_back.id)
    send_all(box.used_by(made.agreed.settings), made.database)
    assert sorted(to for to, _ in box.envelopes) == ["new@example.org", SOUTH]
    (said,) = box.to("new@example.org")
    assert "“Clinics”:\nYou are invited to take part" in said
    assert "no mail of" in said
    content = b"".join(content for _, content in box.envelopes)
    assert secret.encode() not in content
    assert b"/invitations/" not in content
    (known,) = box.to(SOUTH)
    assert "/account" in known


def test_several_things_for_one_person_are_counted_and_told_once_each(made: Computed, box) -> None:
    invite(made, NORTH)
    made.agreed.propose()
    send_all(box.used_by(made.agreed.settings), made.database)
    (message,) = [one for one in box.messages if one["To"] == NORTH]
    assert message["Subject"] == "fairpool at 127.0.0.1:8000: 2 things for you"
    (said,) = box.to(NORTH)
    assert "the fairpool service at http://127.0.0.1:8000" in said
    assert "http://127.0.0.1:8000/account" in said


def test_an_account_that_was_closed_gets_nothing(made: Computed, box) -> None:
    made.agreed.propose()
    outbox.gather(made.database, box.server())
    with made.database.transaction() as session:
        person = session.get_one(
            type(made.agreed.consortium.of_north), made.agreed.consortium.of_north.id
        )
        person.left, person.email = now(), f"left:{person.id}"
    assert {*told(made, box)} == {SOUTH}
