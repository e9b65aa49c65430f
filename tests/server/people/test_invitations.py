import threading
from datetime import timedelta

import pytest

from fairpool.errors import ConfigurationError, DataError, FairpoolError
from fairpool.server.consortia import events
from fairpool.server.consortia.who import Who, require
from fairpool.server.people import invitations, joining, sessions, throttle
from fairpool.server.people.accounts import Entered
from fairpool.server.refused import (
    LinkOverError,
    NotFoundError,
    RefusedError,
    TooManyError,
)
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Invitation, Membership, Party, Person, Role, now
from tests.server.consortium import Consortium, add_consortium, add_person


def _invite(
    database: Database,
    settings: Settings,
    clinics: Consortium,
    *,
    role: Role = Role.PARTY,
    party: Party | None = None,
    email: str | None = None,
) -> str:
    """The secret of an invitation: of the party's own person's (by default the north's), or of
    the operator's."""
    if role is Role.PARTY and party is None:
        party = clinics.north
    inviter = clinics.operator
    if party is not None:
        inviter = clinics.of_north if party.id == clinics.north.id else clinics.of_south
    with database.transaction() as session:
        who = require(session, inviter, clinics.collaboration.id, alone=True)
        _, secret = invitations.invite(
            session,
            settings,
            who,
            role=role,
            party_id=None if party is None else party.id,
            email=email,
        )
    return secret


def _accept(
    database: Database,
    settings: Settings,
    secret: str,
    *,
    name: str = "Berta",
    email: str = "berta@example.org",
    password: str = "four words together",
    host: str = "192.0.2.1",
) -> Entered:
    return joining.accept_as_new(
        database,
        settings,
        secret,
        name=name,
        email=email,
        password=password,
        host=host,
        cookie=None,
    )


@pytest.mark.parametrize("role", list(Role))
def test_somebody_new_becomes_what_they_were_invited_as(
    database: Database, settings: Settings, role: Role
) -> None:
    clinics = add_consortium(database)
    secret = _invite(database, settings, clinics, role=role)
    with database.reading() as session:
        invited = invitations.look(session, secret)
        assert invited.inviter is not None
        inviter = "north" if role is Role.PARTY else "operator"
        assert (invited.role, invited.inviter.name) == (role, inviter)
    entered = _accept(database, settings, secret)
    with database.reading() as session:
        assert sessions.find(session, entered.opened.cookie) is not None
        who = require(session, entered.person, clinics.collaboration.id)
        assert who.role is role
        assert (who.party is not None) is (role is Role.PARTY)
        assert not entered.person.may_create
        log = [
            (event.action, event.party_id) for event in events.of(session, clinics.collaboration)
        ]
    about = clinics.north.id if role is Role.PARTY else None
    assert log == [("invited", about), ("joined", about)]


def test_the_secret_of_a_link_is_not_kept(database: Database, settings: Settings) -> None:
    clinics = add_consortium(database)
    secret = _invite(database, settings, clinics)
    with database.reading() as session:
        kept = session.query(Invitation).one()
        assert secret not in {kept.id, kept.digest}
        assert secret.encode() not in events.export(session, clinics.collaboration)


def test_a_link_is_for_one_person_once(database: Database, settings: Settings) -> None:
    clinics = add_consortium(database)
    secret = _invite(database, settings, clinics)
    _accept(database, settings, secret)
    with pytest.raises(LinkOverError, match="was used"):
        _accept(database, settings, secret, email="carla@example.org")


def test_of_many_who_use_a_link_at_once_one_gets_in(database: Database, settings: Settings) -> None:
    clinics = add_consortium(database)
    secret = _invite(database, settings, clinics)
    people = [add_person(database, f"person{number}") for number in range(6)]
    refused = []

    def accept(person: Person) -> None:
        try:
            with database.transaction() as session:
                joining.accept(session, person, secret)
        except LinkOverError:
            refused.append(person.id)

    threads = [threading.Thread(target=accept, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.reading() as session:
        assert session.query(Membership).count() == 4 + 1
    assert len(refused) == 5


def test_a_link_is_over_when_it_was_taken_back_or_is_too_old(
    database: Database, settings: Settings
) -> None:
    clinics = add_consortium(database)
    anna = add_person(database, "anna")
    revoked = _invite(database, settings, clinics)
    with database.transaction() as session:
        who = require(session, clinics.operator, clinics.collaboration.id)
        (one,) = invitations.open_ones(session, who)
        invitations.revoke(session, who, one.id)
        invitations.revoke(session, who, one.id)
        assert invitations.open_ones(session, who) == []
        assert [event.action for event in events.of(session, clinics.collaboration)] == [
            "invited",
            "invitation-revoked",
        ]
    old = _invite(database, settings, clinics)
    with database.transaction() as session:
        session.query(Invitation).filter_by(revoked=None).update(
            {Invitation.expires: now() - timedelta(seconds=1)}
        )
    for secret in (revoked, old, "nothing", ""):
        with database.transaction() as session, pytest.raises(LinkOverError, match="too old"):
            joining.accept(session, anna, secret)


def test_an_accepted_invitation_is_not_taken_back(database: Database, settings: Settings) -> None:
    clinics = add_consortium(database)
    _accept(database, settings, _invite(database, settings, clinics))
    with database.transaction() as session:
        who = require(session, clinics.operator, clinics.collaboration.id)
        one = session.query(Invitation).one()
        with pytest.raises(RefusedError, match="remove the person instead"):
            invitations.revoke(session, who, one.id)


def test_nobody_of_elsewhere_invites_and_takes_back(database: Database, settings: Settings) -> None:
    clinics = add_consortium(database)
    others = add_consortium(database, "other-")
    _invite(database, settings, clinics)
    with database.transaction() as session:
        (one,) = session.query(Invitation).all()
        for person, collaboration in (
            (clinics.of_south, clinics.collaboration),
            (clinics.auditor, clinics.collaboration),
            (others.operator, others.collaboration),
        ):
            who = require(session, person, collaboration.id)
            with pytest.raises(NotFoundError, match="no such"):
                invitations.revoke(session, who, one.id)
        who = require(session, clinics.auditor, clinics.collaboration.id)
        with pytest.raises(NotFoundError, match="no such"):
            invitations.invite(session, settings, who, role=Role.AUDITOR)
        with pytest.raises(NotFoundError, match="no such"):
            invitations.open_ones(session, who)


def test_a_party_s_people_invite_for_it_alone(database: Database, settings: Settings) -> None:
    clinics = add_consortium(database)
    _invite(database, settings, clinics)
    with database.transaction() as session:
        north = require(session, clinics.of_north, clinics.collaboration.id, alone=True)
        own, _ = invitations.invite(session, settings, north, role=Role.PARTY)
        assert own.party_id == clinics.north.id
        for role in (Role.OPERATOR, Role.AUDITOR):
            with pytest.raises(DataError, match="role: you invite people of your own party"):
                invitations.invite(session, settings, north, role=role)
        for wrong in (clinics.south.id, "nothing"):
            with pytest.raises(DataError, match="party: you invite people of your own party"):
                invitations.invite(session, settings, north, role=Role.PARTY, party_id=wrong)
        assert len(invitations.open_ones(session, north)) == 2
        south = require(session, clinics.of_south, clinics.collaboration.id)
        assert invitations.open_ones(session, south) == []
        invitations.revoke(session, north, own.id)
        assert len(invitations.open_ones(session, north)) == 1
        operator = require(session, clinics.operator, clinics.collaboration.id)
        assert len(invitations.open_ones(session, operator)) == 1


def test_an_invitation_for_an_address_is_for_nobody_else(
    database: Database, settings: Settings
) -> None:
    clinics = add_consortium(database)
    anna = add_person(database, "anna")
    secret = _invite(database, settings, clinics, email="Berta@Example.org")
    with database.transaction() as session, pytest.raises(RefusedError, match="another e-mail"):
        joining.accept(session, anna, secret)
    with pytest.raises(RefusedError, match="another e-mail"):
        _accept(database, settings, secret, email="carla@example.org")
    _accept(database, settings, secret)


def test_nobody_has_two_parts_in_a_collaboration(database: Database, settings: Settings) -> None:
    clinics = add_consortium(database)
    secret = _invite(database, settings, clinics, party=clinics.south)
    with database.transaction() as session, pytest.raises(RefusedError, match="nobody has two"):
        joining.accept(session, clinics.of_north, secret)
    with database.reading() as session:
        invitations.look(session, secret)  # it is not used


def test_whoever_has_an_account_signs_in_first(database: Database, settings: Settings) -> None:
    clinics = add_consortium(database)
    anna = add_person(database, "anna")
    secret = _invite(database, settings, clinics)
    with pytest.raises(RefusedError, match="sign in with it first"):
        _accept(database, settings, secret, email="ANNA@example.org")
    with database.transaction() as session:
        joining.accept(session, anna, secret)
    with database.reading() as session:
        assert require(session, anna, clinics.collaboration.id).own_party.id == clinics.north.id


def test_asking_for_many_addresses_who_has_an_account_is_slow(
    database: Database, settings: Settings
) -> None:
    clinics = add_consortium(database)
    add_person(database, "anna")
    secret = _invite(database, settings, clinics)
    with pytest.raises(RefusedError, match="sign in with it first"):
        _accept(database, settings, secret, email="anna@example.org")
    for _ in range(19):
        throttle.begin(database, [throttle.address("192.0.2.1")])
    with pytest.raises(TooManyError, match="wait"):
        _accept(database, settings, secret, email="anna@example.org")


def test_all_that_is_wrong_with_a_new_account_is_said_at_once(
    database: Database, settings: Settings
) -> None:
    clinics = add_consortium(database)
    secret = _invite(database, settings, clinics)
    with pytest.raises(ConfigurationError, match="name") as refused:
        _accept(database, settings, secret, name="", email="nothing", password="short")
    assert [problem.split(":")[0] for problem in refused.value.problems] == [
        "name",
        "email",
        "password",
    ]


def test_a_party_is_named_for_its_people_alone_and_is_of_the_collaboration(
    database: Database, settings: Settings
) -> None:
    clinics = add_consortium(database)
    others = add_consortium(database, "other-")

    def invite(role: Role, party_id: str | None) -> None:
        with database.transaction() as session:
            who = require(session, clinics.operator, clinics.collaboration.id)
            invitations.invite(session, settings, who, role=role, party_id=party_id)

    with pytest.raises(DataError, match="whose people"):
        invite(Role.PARTY, None)
    for wrong in (others.north.id, "nothing"):
        with pytest.raises(DataError, match="no such party"):
            invite(Role.PARTY, wrong)
    with pytest.raises(DataError, match="an auditor belongs to no party"):
        invite(Role.AUDITOR, clinics.north.id)


def test_nobody_is_invited_for_a_party_that_has_left(
    database: Database, settings: Settings
) -> None:
    clinics = add_consortium(database)
    secret = _invite(database, settings, clinics)
    with database.transaction() as session:
        session.get_one(Party, clinics.north.id).left = now()
    with pytest.raises(RefusedError, match="north has left"):
        _invite(database, settings, clinics)
    with pytest.raises(RefusedError, match="has left this collaboration meanwhile"):
        _accept(database, settings, secret)


def test_the_first_operator_has_a_new_link_at_each_start_until_there_is_one(
    database: Database, settings: Settings
) -> None:
    def start() -> str | None:
        with database.transaction() as session:
            return invitations.first_operator(session, settings)

    first, second = start(), start()
    assert first is not None
    assert second is not None
    secret = second.removeprefix("http://127.0.0.1:8000/invitations/")
    with pytest.raises(LinkOverError, match="too old"):
        _accept(database, settings, first.rsplit("/", 1)[1])
    assert _accept(database, settings, secret).person.may_create
    assert start() is None


def test_an_invitation_of_another_collaboration_s_operator_is_not_seen(
    database: Database, settings: Settings
) -> None:
    clinics = add_consortium(database)
    others = add_consortium(database, "other-")
    _invite(database, settings, clinics)
    with database.reading() as session:
        who: Who = require(session, others.operator, others.collaboration.id)
        assert invitations.open_ones(session, who) == []


def test_of_many_who_take_an_address_at_once_one_gets_it(
    database: Database, settings: Settings
) -> None:
    """Others were told of an error that nobody foresaw."""
    clinics = add_consortium(database)
    links = [_invite(database, settings, clinics, role=Role.AUDITOR) for _ in range(4)]
    begin = threading.Barrier(len(links))
    said = []

    def accept(secret: str) -> None:
        begin.wait(60)
        try:
            _accept(database, settings, secret)
        except FairpoolError as error:
            said.append(str(error))

    threads = [threading.Thread(target=accept, args=(secret,)) for secret in links]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said) == 3
    assert all("there is an account of this e-mail address" in text for text in said)
