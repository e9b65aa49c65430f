import hashlib
import json
import threading

from fairpool.canonical import encoded
from fairpool.server.consortia import events
from fairpool.server.consortia.who import require
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Event
from tests.server.consortium import Consortium, add_consortium


def _three_events(database: Database) -> Consortium:
    clinics = add_consortium(database)
    with database.transaction() as session:
        who = require(session, clinics.of_north, clinics.collaboration.id)
        events.record(
            session, clinics.collaboration, who, "file-received", {"rows": 1, "noise": 0.1}
        )
        events.record(session, clinics.collaboration, clinics.operator, "round-closed")
        events.record(session, clinics.collaboration, None, "round-opened", about=clinics.south)
    return clinics


def test_a_log_is_whole_and_knows_whom_each_event_is_about(database: Database) -> None:
    clinics = _three_events(database)
    with database.reading() as session:
        assert events.faults(session, clinics.collaboration) == []
        log = events.of(session, clinics.collaboration)
    assert [(event.person_id, event.party_id) for event in log] == [
        (clinics.of_north.id, clinics.north.id),
        (clinics.operator.id, None),
        (None, clinics.south.id),
    ]


def test_whoever_has_the_file_can_follow_the_chain_without_this_program(
    database: Database,
) -> None:
    clinics = _three_events(database)
    with database.reading() as session:
        lines = events.export(session, clinics.collaboration).splitlines()
    previous = "0" * 64
    for line in lines:
        event = json.loads(line)
        assert event["previous"] == previous
        previous = event.pop("hash")
        assert hashlib.sha256(encoded(event)).hexdigest() == previous
    assert len(lines) == 3


def test_changed_missing_and_moved_events_are_noticed(database: Database) -> None:
    clinics = _three_events(database)

    def faults_after(change: dict[str, object] | None) -> str:
        with database.engine.connect() as connection, connection.begin() as begun:
            from sqlalchemy.orm import Session

            with Session(connection) as session:
                second = session.query(Event).filter_by(number=2).one()
                if change is None:
                    session.delete(second)
                else:
                    for name, value in change.items():
                        setattr(second, name, value)
                session.flush()
                session.expire_all()
                found = events.faults(session, clinics.collaboration)
            begun.rollback()
        return "; ".join(found)

    assert faults_after({"action": "reopened"}) == "event 2 was changed after it was written down"
    assert faults_after({"person_id": None}) == "event 2 was changed after it was written down"
    assert "event 3 does not follow event 2" in faults_after({"hash": "1" * 64})
    assert "event 2 does not follow event 1" in faults_after({"previous": "1" * 64})
    assert faults_after(None) == "event 2 is missing: event 3 stands in its place"


def test_events_of_many_at_once_make_one_chain(database: Database) -> None:
    clinics = add_consortium(database)

    def write() -> None:
        for _ in range(5):
            with database.transaction() as session:
                events.record(session, clinics.collaboration, clinics.operator, "draft-changed")

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    with database.reading() as session:
        assert events.faults(session, clinics.collaboration) == []
        assert len(events.of(session, clinics.collaboration)) == 20
