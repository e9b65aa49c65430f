import threading
from datetime import timedelta

import pytest
from sqlalchemy import update

from fairpool.server.consortia import events
from fairpool.server.mail import outbox
from fairpool.server.mail.choice import choose, not_arriving
from fairpool.server.mail.outbox import MOST_TRIES, MailLostError
from fairpool.server.mail.sender import send_all
from fairpool.server.mail.smtp import send
from fairpool.server.mail.words import words_of
from fairpool.server.store.tables import Mail, MailChoice, MailState, Notice, now
from tests.server.agreed import Agreed, agreed
from tests.server.mail.mailbox import Mailbox, mailbox

LEASE = 60.0
NORTH, SOUTH = "north@example.org", "south@example.org"


@pytest.fixture
def box():
    with mailbox() as made:
        yield made


@pytest.fixture
def clinics(database, tmp_path) -> Agreed:
    """Two parties, of which nobody was told anything yet."""
    return agreed(database, tmp_path)


def count(database, table) -> int:
    with database.reading() as session:
        return session.query(table).count()


def mails(database) -> list[Mail]:
    with database.reading() as session:
        return session.query(Mail).order_by(Mail.created).all()


def send_now(clinics: Agreed, box: Mailbox, **more) -> bool:
    return send_all(box.used_by(clinics.settings, **more), clinics.database)


def make_old(database, table, **values) -> None:
    with database.transaction() as session:
        session.execute(update(table).values(**values))


def test_a_mail_is_there_with_what_it_is_about_or_not_at_all(clinics: Agreed, box) -> None:
    with clinics.database.open_session() as session:
        who = clinics.who(session, clinics.consortium.operator)
        events.record(session, who.collaboration, who, "terms-proposed")
        assert session.query(Notice).count() == 2
        session.rollback()
    assert count(clinics.database, Notice) == 0
    clinics.propose()
    assert send_now(clinics, box)
    assert sorted(to for to, _ in box.envelopes) == [NORTH, SOUTH]
    assert send_now(clinics, box)
    assert len(box.envelopes) == 2
    assert {mail.state for mail in mails(clinics.database)} == {"sent"}
    assert count(clinics.database, Notice) == 0


def test_many_who_send_at_once_send_each_mail_once(clinics: Agreed, box) -> None:
    clinics.propose()
    senders = [threading.Thread(target=send_now, args=(clinics, box)) for _ in range(4)]
    for one in senders:
        one.start()
    for one in senders:
        one.join(60)
    assert sorted(to for to, _ in box.envelopes) == [NORTH, SOUTH]


def test_a_sender_that_dies_leaves_its_mail_to_others_and_writes_nothing_later(
    clinics: Agreed, box
) -> None:
    clinics.propose()
    settings = box.used_by(clinics.settings)
    outbox.gather(clinics.database, settings.mail)
    dead = outbox.take(clinics.database, LEASE)
    with clinics.database.reading() as session:
        words = words_of(session, settings, dead.mail)
    send(settings.mail, words, identity=dead.mail.id)  # and nobody hears of that
    send_now(clinics, box)
    assert len(box.envelopes) == 2  # the other one's; this one is held
    make_old(clinics.database, Mail, leased_until=now() - timedelta(seconds=1))
    send_now(clinics, box)
    again = [message["Message-ID"] for message in box.messages if message["To"] == words.to]
    assert len(again) == 2
    assert len({*again}) == 1  # who reads mail is shown it once
    with pytest.raises(MailLostError, match="held"):
        outbox.postponed(clinics.database, dead, "too late")
    assert {mail.state for mail in mails(clinics.database)} == {"sent"}


def test_what_comes_within_a_while_is_one_mail(clinics: Agreed, box) -> None:
    clinics.propose()
    send_now(clinics, box, window_seconds=3600.0)
    assert box.envelopes == []
    with clinics.database.transaction() as session:
        who = clinics.who(session, clinics.consortium.operator)
        for action in ("round-opened", "round-reopened", "terms-proposed"):
            events.record(session, who.collaboration, who, action)
    make_old(clinics.database, Notice, created=now() - timedelta(hours=2))
    send_now(clinics, box, window_seconds=3600.0)
    (said,) = box.to(NORTH)
    assert said.count("Read the terms") == 1


def ask_again(clinics: Agreed) -> None:
    """As other terms do."""
    with clinics.database.transaction() as session:
        who = clinics.who(session, clinics.consortium.operator)
        events.record(session, who.collaboration, who, "terms-proposed")


def test_nobody_gets_more_than_so_many_a_day_and_the_rest_later_in_one(
    clinics: Agreed, box
) -> None:
    clinics.propose()
    for _ in range(5):
        send_now(clinics, box, most_a_day=2)
        ask_again(clinics)
    assert len(box.to(NORTH)) == len(box.to(SOUTH)) == 2
    make_old(clinics.database, Mail, created=now() - timedelta(days=1, seconds=1))
    send_now(clinics, box, most_a_day=2)
    assert len(box.to(NORTH)) == len(box.to(SOUTH)) == 3
    assert count(clinics.database, Notice) == 0


def test_everybody_chooses_how_often(clinics: Agreed, box) -> None:
    for person, choice in (
        (clinics.consortium.of_north, MailChoice.DIGEST),
        (clinics.consortium.of_south, MailChoice.OFF),
    ):
        with clinics.database.transaction() as session:
            choose(session, person, choice.value)
    clinics.propose()
    for _ in range(3):
        send_now(clinics, box)
        ask_again(clinics)
    assert [to for to, _ in box.envelopes] == [NORTH]
    make_old(clinics.database, Mail, created=now() - timedelta(days=1, seconds=1))
    send_now(clinics, box)
    assert [to for to, _ in box.envelopes] == [NORTH, NORTH]


def test_who_wants_none_any_longer_does_not_get_what_waits(clinics: Agreed, box) -> None:
    clinics.propose()
    outbox.gather(clinics.database, box.server())
    with clinics.database.transaction() as session:
        choose(session, clinics.consortium.of_north, MailChoice.OFF.value)
    send_now(clinics, box)
    assert [to for to, _ in box.envelopes] == [SOUTH]
    assert sorted(mail.state for mail in mails(clinics.database)) == ["dropped", "sent"]


def test_what_is_done_meanwhile_is_not_asked_for(clinics: Agreed, box) -> None:
    clinics.propose()
    clinics.accept(clinics.consortium.of_north)
    send_now(clinics, box)
    assert "Read the terms" in box.to(SOUTH)[0]
    (north,) = box.to(NORTH)
    assert "Read the terms" not in north
    assert "Your data are wanted" in north


def test_who_was_removed_meanwhile_is_told_nothing(clinics: Agreed, box) -> None:
    clinics.propose()
    with clinics.database.transaction() as session:
        session.delete(clinics.who(session, clinics.consortium.of_north).membership)
    send_now(clinics, box)
    assert [to for to, _ in box.envelopes] == [SOUTH]


def test_a_server_that_does_not_answer_is_asked_again_later_each_time(clinics: Agreed, box) -> None:
    clinics.propose()
    with mailbox() as gone:
        pass
    pauses = []
    for _ in range(3):
        before = now()
        assert not send_now(clinics, box, port=gone.port)
        (tried,) = [mail for mail in mails(clinics.database) if mail.problem]
        pauses.append((tried.due - before).total_seconds())
        make_old(clinics.database, Mail, due=now() + timedelta(hours=1))
        with clinics.database.transaction() as session:
            session.get_one(Mail, tried.id).due = now()
    assert 50 < pauses[0] < pauses[1] < pauses[2]
    ask_again(clinics)  # which waits with it, and makes no mail of its own
    make_old(clinics.database, Mail, due=now())
    assert send_now(clinics, box)
    assert sorted(to for to, _ in box.envelopes) == [NORTH, SOUTH]


def test_what_cannot_be_sent_is_given_up_and_the_operator_is_told(clinics: Agreed, box) -> None:
    clinics.propose()
    box.answers = {NORTH: "452 full", SOUTH: "550 no such user"}
    send_now(clinics, box)
    states = {mail.problem.partition("(")[2][:3]: mail.state for mail in mails(clinics.database)}
    assert states == {"452": MailState.WAITING, "550": MailState.GIVEN_UP}
    make_old(clinics.database, Mail, due=now(), tries=MOST_TRIES - 1)
    send_now(clinics, box)
    assert {mail.state for mail in mails(clinics.database)} == {"given-up"}
    assert box.envelopes == []
    with clinics.database.reading() as session:
        told = not_arriving(session, [NORTH, SOUTH, "operator@example.org"])
    assert {*told} == {NORTH, SOUTH}
    assert "452 full" in told[NORTH]
    box.answers = {}
    ask_again(clinics)
    send_now(clinics, box)
    with clinics.database.reading() as session:
        assert not_arriving(session, [NORTH, SOUTH]) == {}


def test_one_that_ends_its_senders_is_given_up(clinics: Agreed, box) -> None:
    clinics.propose()
    outbox.gather(clinics.database, box.server())
    make_old(clinics.database, Mail, tries=MOST_TRIES)
    send_now(clinics, box)
    assert {mail.state for mail in mails(clinics.database)} == {"given-up"}
    assert box.envelopes == []


def test_what_is_old_is_forgotten(clinics: Agreed, box) -> None:
    clinics.propose()
    send_now(clinics, box)
    ask_again(clinics)
    outbox.forget_old(clinics.database)
    assert (count(clinics.database, Mail), count(clinics.database, Notice)) == (2, 2)
    make_old(clinics.database, Mail, ended=now() - timedelta(days=8))
    make_old(clinics.database, Notice, created=now() - timedelta(days=8))
    outbox.forget_old(clinics.database)
    assert (count(clinics.database, Mail), count(clinics.database, Notice)) == (0, 0)


def test_one_that_cannot_be_written_keeps_no_other_waiting(clinics: Agreed, box) -> None:
    clinics.propose()
    with clinics.database.transaction() as session:
        of_north = clinics.consortium.of_north.id
        session.query(Notice).filter_by(person_id=of_north).update({"about": "nonsense"})
    assert send_now(clinics, box)
    assert [to for to, _ in box.envelopes] == [SOUTH]
    (left,) = [mail for mail in mails(clinics.database) if mail.state == "waiting"]
    assert "in the log" in left.problem


def test_it_is_tried_for_about_a_day() -> None:
    pauses = [outbox.pause_after(tries) for tries in range(1, MOST_TRIES)]
    assert timedelta(hours=23) < sum(pauses, timedelta()) < timedelta(hours=26)
