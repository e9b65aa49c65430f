import pytest
from sqlalchemy.orm import Session

from fairpool.server.consortia import events, members
from fairpool.server.consortia.who import require
from fairpool.server.people import invitations, joining
from fairpool.server.refused import LinkOverError, NotFoundError, NotSignedInError, RefusedError
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Membership, Person, Role
from tests.server.consortium import Consortium, add_consortium, add_person


def _names(database: Database, clinics: Consortium, person: Person) -> set[str]:
    with database.reading() as session:
        who = require(session, person, clinics.collaboration.id)
        return {member.name for member in members.seen_by(session, who)}


def _part(database: Database, clinics: Consortium, person: Person) -> str:
    with database.reading() as session:
        return require(session, person, clinics.collaboration.id).membership.id


def test_a_party_sees_its_own_people_and_those_without_a_party(database: Database) -> None:
    clinics = add_consortium(database)
    add_consortium(database, "other-")
    everybody = {"operator", "north", "south", "auditor"}
    assert _names(database, clinics, clinics.operator) == everybody
    assert _names(database, clinics, clinics.of_north) == everybody - {"south"}
    assert _names(database, clinics, clinics.auditor) == {"operator", "auditor"}


def test_an_operator_removes_and_everybody_may_leave(database: Database) -> None:
    clinics = add_consortium(database)
    for who_does, whose in (
        (clinics.operator, clinics.of_north),
        (clinics.of_south, clinics.of_south),
        (clinics.auditor, clinics.auditor),
    ):
        part = _part(database, clinics, whose)
        with database.transaction() as session:
            who = require(session, who_does, clinics.collaboration.id, alone=True)
            members.remove(session, who, part)
        with database.reading() as session, pytest.raises(NotFoundError, match="no such"):
            require(session, whose, clinics.collaboration.id)
    with database.reading() as session:
        log = events.of(session, clinics.collaboration)
    assert [(event.action, event.person_id, event.party_id) for event in log] == [
        ("removed", clinics.operator.id, clinics.north.id),
        ("people-gone", clinics.operator.id, clinics.north.id),
        ("left", clinics.of_south.id, clinics.south.id),
        ("people-gone", clinics.of_south.id, clinics.south.id),
        ("left", clinics.auditor.id, None),
    ]


def test_nobody_else_removes_anybody(database: Database) -> None:
    clinics = add_consortium(database)
    others = add_consortium(database, "other-")
    part = _part(database, clinics, clinics.of_south)
    with database.transaction() as session:
        for person, collaboration in (
            (clinics.of_north, clinics.collaboration),
            (clinics.auditor, clinics.collaboration),
            (others.operator, others.collaboration),
        ):
            who = require(session, person, collaboration.id)
            for wanted in (part, "nothing"):
                with pytest.raises(NotFoundError, match="no such"):
                    members.remove(session, who, wanted)
        assert session.query(Membership).count() == 8


def test_the_last_operator_stays(database: Database) -> None:
    clinics = add_consortium(database)
    part = _part(database, clinics, clinics.operator)
    with database.transaction() as session:
        who = require(session, clinics.operator, clinics.collaboration.id, alone=True)
        with pytest.raises(RefusedError, match="clinics: it has no other operator"):
            members.remove(session, who, part)
        with pytest.raises(RefusedError, match="no other operator"):
            members.leave_service(session, clinics.operator)
    second = add_person(database, "second")
    with database.transaction() as session:
        session.add(
            Membership(
                collaboration_id=clinics.collaboration.id, person_id=second.id, role=Role.OPERATOR
            )
        )
    with database.transaction() as session:
        who = require(session, clinics.operator, clinics.collaboration.id, alone=True)
        members.remove(session, who, part)


def test_who_leaves_the_service_leaves_everything(database: Database) -> None:
    clinics = add_consortium(database)
    others = add_consortium(database, "other-")
    with database.transaction() as session:
        session.add(
            Membership(
                collaboration_id=others.collaboration.id,
                person_id=clinics.of_north.id,
                role=Role.AUDITOR,
            )
        )
    with database.transaction() as session:
        members.leave_service(session, clinics.of_north)
    with database.reading() as session:
        assert session.query(Membership).filter_by(person_id=clinics.of_north.id).all() == []
        for collaboration, log in (
            (clinics.collaboration, ["left", "people-gone"]),
            (others.collaboration, ["left"]),
        ):
            assert [event.action for event in events.of(session, collaboration)] == log
        person = session.get_one(Person, clinics.of_north.id)
    assert (person.name, person.password, person.may_create) == ("north", "", False)
    assert "@" not in person.email


@pytest.mark.parametrize("how", ["removed", "leaves", "leaves the service"])
def test_nobody_comes_back_by_a_link_of_their_own(
    database: Database, settings: Settings, how: str
) -> None:
    """An operator could put links aside, and be an operator again once it was removed."""
    clinics = add_consortium(database)
    second = add_person(database, "second", may_create=True)
    here = clinics.collaboration.id
    with database.transaction() as session:
        session.add(Membership(collaboration_id=here, person_id=second.id, role=Role.OPERATOR))
    secrets = {}
    for person in (clinics.operator, second):
        with database.transaction() as session:
            who = require(session, person, here, alone=True)
            _, secrets[person.name] = invitations.invite(session, settings, who, role=Role.OPERATOR)
    part = _part(database, clinics, second)
    with database.transaction() as session:
        if how == "leaves the service":
            members.leave_service(session, second)
        else:
            by = clinics.operator if how == "removed" else second
            members.remove(session, require(session, by, here, alone=True), part)
    with database.transaction() as session, pytest.raises(LinkOverError, match="taken back"):
        joining.accept(session, add_person_in(session, "other"), secrets["second"])
    with database.transaction() as session:
        joining.accept(session, add_person_in(session, "another"), secrets["operator"])


def test_who_closes_an_account_joins_nothing_meanwhile(
    database: Database, settings: Settings
) -> None:
    clinics = add_consortium(database)
    anna = add_person(database, "anna")
    with database.transaction() as session:
        who = require(session, clinics.operator, clinics.collaboration.id, alone=True)
        _, secret = invitations.invite(session, settings, who, role=Role.AUDITOR)
    with database.transaction() as session:
        members.leave_service(session, anna)
    with database.transaction() as session, pytest.raises(NotSignedInError, match="closed"):
        joining.accept(session, anna, secret)


def add_person_in(session: Session, name: str) -> Person:
    person = Person(email=f"{name}@example.org", name=name, password="none")
    session.add(person)
    session.flush()
    return person
