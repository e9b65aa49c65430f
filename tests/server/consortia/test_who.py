import pytest

from fairpool.server.consortia.who import everywhere, require
from fairpool.server.refused import NotFoundError
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Role
from tests.server.consortium import add_consortium


@pytest.mark.parametrize("alone", [False, True])
def test_everybody_is_what_they_are_in_their_own_collaboration(
    database: Database, alone: bool
) -> None:
    clinics = add_consortium(database)
    with database.transaction() as session:
        for person, role, party in (
            (clinics.operator, Role.OPERATOR, None),
            (clinics.of_north, Role.PARTY, clinics.north.id),
            (clinics.of_south, Role.PARTY, clinics.south.id),
            (clinics.auditor, Role.AUDITOR, None),
        ):
            who = require(session, person, clinics.collaboration.id, alone=alone)
            assert who.role is role
            assert (None if who.party is None else who.party.id) == party
            assert require(session, person, clinics.collaboration.id, role).role is role


def test_who_has_no_part_or_another_role_is_told_what_is_told_of_nothing(
    database: Database,
) -> None:
    clinics = add_consortium(database)
    others = add_consortium(database, "other-")
    attempts = [
        (others.operator, clinics.collaboration.id, ()),
        (clinics.of_north, clinics.collaboration.id, (Role.OPERATOR, Role.AUDITOR)),
        (clinics.operator, clinics.collaboration.id, (Role.PARTY,)),
        (clinics.operator, "nothing", ()),
    ]
    texts = set()
    with database.transaction() as session:
        for person, collaboration, roles in attempts:
            with pytest.raises(NotFoundError, match="no such page") as refused:
                require(session, person, collaboration, *roles)
            texts.add(str(refused.value))
        with pytest.raises(NotFoundError, match="no such page"):
            _ = require(session, clinics.operator, clinics.collaboration.id).own_party
    assert len(texts) == 1


def test_everywhere_is_where_somebody_has_a_part(database: Database) -> None:
    clinics = add_consortium(database)
    add_consortium(database, "other-")
    with database.reading() as session:
        parts = everywhere(session, clinics.of_north)
    assert [(who.collaboration.id, who.party and who.party.name) for who in parts] == [
        (clinics.collaboration.id, "north")
    ]
