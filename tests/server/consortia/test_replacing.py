"""An operator does not get into the place of a party's people unnoticed, nor at their data."""

import threading
from pathlib import Path

import pytest

from fairpool.server.consortia import closing, events, having, members, replacing, rounds, terms
from fairpool.server.consortia.submissions import find, of_party
from fairpool.server.people import invitations, joining
from fairpool.server.refused import LinkOverError, NotFoundError, RefusedError
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Acceptance, Membership, Person, Role
from fairpool.server.web.app import create_app
from tests.server.agreed import Agreed, agreed, csv_of, rows
from tests.server.consortium import Service, add_person


def _remove(clinics: Agreed, person: Person) -> None:
    with clinics.database.transaction() as session:
        part = clinics.who(session, person).membership.id
        members.remove(session, clinics.who(session, clinics.consortium.operator), part)


def _link(clinics: Agreed, inviter: Person) -> str:
    """The secret of a link for the south."""
    party_id = clinics.consortium.south.id
    with clinics.database.transaction() as session:
        who = clinics.who(session, inviter)
        return invitations.invite(
            session, clinics.settings, who, role=Role.PARTY, party_id=party_id
        )[1]


def _join(clinics: Agreed, person: Person, secret: str) -> None:
    with clinics.database.transaction() as session:
        joining.accept(session, person, secret)


def _replace(clinics: Agreed) -> Person:
    """The operator puts its own second address in the place of the south's people."""
    _remove(clinics, clinics.consortium.of_south)
    puppet = add_person(clinics.database, "puppet")
    _join(clinics, puppet, _link(clinics, clinics.consortium.operator))
    return puppet


def test_an_operator_invites_nobody_for_a_party_that_has_people(
    database: Database, tmp_path: Path
) -> None:
    clinics = agreed(database, tmp_path)
    with pytest.raises(RefusedError, match=r"south has people.*ask one of its people") as refused:
        _link(clinics, clinics.consortium.operator)
    assert refused.value.status == 409
    anna = add_person(database, "anna")
    _join(clinics, anna, _link(clinics, clinics.consortium.of_south))
    _remove(clinics, clinics.consortium.of_south)
    with pytest.raises(RefusedError, match="south has people"):
        _link(clinics, clinics.consortium.operator)


def test_an_operator_s_links_for_a_party_end_once_somebody_joined(
    database: Database, tmp_path: Path
) -> None:
    clinics = agreed(database, tmp_path)
    _remove(clinics, clinics.consortium.of_south)
    first, put_aside = (_link(clinics, clinics.consortium.operator) for _ in range(2))
    _join(clinics, add_person(database, "anna"), first)
    with pytest.raises(LinkOverError, match="taken back"):
        _join(clinics, add_person(database, "puppet"), put_aside)
    with database.reading() as session:
        log = [one.action for one in events.of(session, clinics.consortium.collaboration)]
    assert log[-3:] == ["joined", "invitation-ended", "people-replaced"]


def test_of_two_who_join_an_empty_party_at_once_one_is_its_first(
    database: Database, tmp_path: Path
) -> None:
    clinics = agreed(database, tmp_path)
    _remove(clinics, clinics.consortium.of_south)
    links = [_link(clinics, clinics.consortium.operator) for _ in range(4)]
    people = [add_person(database, f"person{number}") for number in range(4)]
    begin = threading.Barrier(4)
    refused = []

    def join(person: Person, secret: str) -> None:
        begin.wait(60)
        try:
            _join(clinics, person, secret)
        except LinkOverError:
            refused.append(person.id)

    threads = [threading.Thread(target=join, args=pair) for pair in zip(people, links, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 3
    with database.reading() as session:
        south = clinics.consortium.south.id
        assert session.query(Membership).filter_by(party_id=south).count() == 1


def test_what_the_earlier_people_accepted_and_sent_is_not_the_new_ones(
    database: Database, tmp_path: Path
) -> None:
    clinics = agreed(database, tmp_path)
    clinics.propose()
    clinics.accept_all()
    south = clinics.consortium.south.id
    sent = clinics.checked(clinics.consortium.of_south, csv_of(rows()))
    clinics.submit(clinics.consortium.of_south, sent)
    puppet = _replace(clinics)
    with database.reading() as session:
        who = clinics.who(session, puppet)
        in_force = terms.in_force(session, who.collaboration)
        assert in_force is not None
        assert south not in terms.accepted_by(session, in_force)
        open_round = rounds.current(session, who.collaboration)
        assert open_round is not None
        assert south not in having.data_of(session, open_round)
        assert of_party(session, who, open_round) == []
        with pytest.raises(NotFoundError, match="no such"):
            find(session, who, sent.id)
    # The new person accepts for itself, and what was accepted before is kept as it was.
    clinics.accept(puppet)
    with database.reading() as session:
        given = session.query(Acceptance).filter_by(party_id=south).order_by(Acceptance.time).all()
        assert [(one.person_id, one.ended is None) for one in given] == [
            (clinics.consortium.of_south.id, False),
            (puppet.id, True),
        ]
    with pytest.raises(NotFoundError, match="no such"):
        clinics.submit(puppet, sent)
    again = clinics.checked(puppet, csv_of(rows()))
    assert again.id != sent.id


def test_a_round_that_is_closed_stays_as_it_was_agreed_to_until_it_is_opened_again(
    database: Database, tmp_path: Path
) -> None:
    clinics = agreed(database, tmp_path)
    clinics.propose()
    clinics.accept_all()
    for person in (clinics.consortium.of_north, clinics.consortium.of_south):
        clinics.submit(person, clinics.checked(person, csv_of(rows())))
    with database.transaction() as session:
        closing.close(session, clinics.who(session, clinics.consortium.operator))
    puppet = _replace(clinics)
    south = clinics.consortium.south.id
    with database.transaction() as session:
        closed = rounds.current(session, clinics.consortium.collaboration)
        assert closed is not None
        assert south in having.data_of(session, closed)
        assert of_party(session, clinics.who(session, puppet), closed) == []
        opened = rounds.reopen(session, clinics.who(session, clinics.consortium.operator))
        assert south not in having.data_of(session, opened)
    with (
        database.transaction() as session,
        pytest.raises(RefusedError, match="read and accept the terms"),
    ):
        closing.close(session, clinics.who(session, clinics.consortium.operator))


def test_everybody_is_told_whose_people_were_replaced(database: Database, tmp_path: Path) -> None:
    clinics = agreed(database, tmp_path)
    clinics.propose()
    with database.reading() as session:
        assert replacing.told(session, clinics.consortium.collaboration) == ()
    puppet = _replace(clinics)
    service = Service(
        app=create_app(clinics.settings, database), settings=clinics.settings, database=database
    )
    here = f"/collaborations/{clinics.id}"
    said = "The people of &#34;south&#34; were replaced"
    consortium = clinics.consortium
    for person in (consortium.of_north, consortium.auditor, consortium.operator, puppet):
        browser = service.browser(person)
        for page in ("", "/terms", "/people"):
            assert said in browser.get(here + page).text, (person.name, page)
        (told,) = service.program(person).get(f"/api/v1{here}").json()["replaced"]
        assert told["party"] == "south"
    log = service.browser(puppet).get(f"{here}/people").text
    assert "removed a person of south" in log
    events_file = service.browser(consortium.auditor).get(f"/api/v1{here}/events").text
    for action in ("invited", "removed", "people-gone", "people-replaced"):
        assert f'"action":"{action}"' in events_file
