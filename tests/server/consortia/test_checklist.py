"""Who must do what, where a party stands, and what others can see of it."""

from pathlib import Path

import pytest

from fairpool.server.consortia import checklist, standing, visible
from fairpool.server.consortia.checklist import Checklist, Code
from fairpool.server.consortia.standing import Standing
from fairpool.server.refused import NotFoundError
from fairpool.server.store.database import Database
from fairpool.server.store.tables import (
    Collaboration,
    Membership,
    Party,
    Person,
    Round,
    RoundState,
    now,
)
from tests.server.agreed import TOML, Agreed, agreed, csv_of, draft_of, rows
from tests.support.exchange import KEYS


def now_in(clinics: Agreed) -> Checklist:
    with clinics.database.reading() as session:
        return checklist.of(session, session.get_one(Collaboration, clinics.id))


def of_party(clinics: Agreed, person: Person) -> Standing:
    with clinics.database.reading() as session:
        return standing.of(session, clinics.who(session, person))


def codes(clinics: Agreed, person: Person | None = None) -> list[Code]:
    """What a party is still to do, or the operator."""
    tasks = now_in(clinics).tasks
    if person is not None:
        tasks = of_party(clinics, person).tasks
        return [task.code for task in tasks if not task.is_done]
    return [task.code for task in tasks if task.party_id is None and not task.is_done]


def test_a_round_from_the_draft_to_its_end(database: Database, tmp_path: Path) -> None:
    clinics = agreed(database, tmp_path, toml='name = "Clinics"\n')
    north, south = clinics.consortium.of_north, clinics.consortium.of_south
    (task,) = now_in(clinics).tasks
    assert (task.code, task.text) == (
        Code.PROPOSE,
        "finish the draft of the terms (2 things to settle), and propose it",
    )
    clinics.put_draft(draft_of("north", "south"))
    assert now_in(clinics).tasks[0].text == "propose the terms"
    assert of_party(clinics, north).next_task is None
    clinics.propose()
    assert codes(clinics) == [Code.WAIT]
    assert codes(clinics, north) == [Code.ACCEPT, Code.SEND]
    clinics.accept_all()
    sent = clinics.send(north, csv_of(rows()))
    assert codes(clinics, north) == [Code.WAIT]
    clinics.work_off()
    assert codes(clinics, north) == [Code.SUBMIT]
    clinics.submit(north, sent)
    assert codes(clinics, north) == []
    assert not now_in(clinics).ready_to_close
    assert now_in(clinics).why_not == ('"south" is still to do this: send a table for round 1',)
    wrong = clinics.checked(south, b"x\n1\n")
    assert codes(clinics, south) == [Code.CORRECT]
    clinics.withdraw(south, wrong)
    assert codes(clinics, south) == [Code.SEND]
    clinics.submit(south, clinics.checked(south, csv_of(rows(count=30))))
    assert now_in(clinics).ready_to_close
    assert codes(clinics) == [Code.CLOSE]
    assert [task.text for task in now_in(clinics).tasks if task.is_done] == [
        "has accepted the terms",
        "takes part with 40 rows",
        "has accepted the terms",
        "takes part with 30 rows",
    ]
    steps = {
        RoundState.CLOSED: Code.COMPUTE,
        RoundState.COMPUTING: Code.WAIT,
        RoundState.PREVIEWED: Code.RELEASE,
        RoundState.RELEASING: Code.WAIT,
    }
    for state, code in steps.items():
        with clinics.database.transaction() as session:
            session.query(Round).one().state = state.value
        assert codes(clinics) == [code]
        assert codes(clinics, north) == []
        assert not now_in(clinics).ready_to_close
        assert not of_party(clinics, north).is_open


def test_changed_terms_begin_it_anew_but_for_data_that_fit(
    database: Database, tmp_path: Path
) -> None:
    clinics = agreed(database, tmp_path)
    north, south = clinics.consortium.of_north, clinics.consortium.of_south
    clinics.propose()
    clinics.accept_all()
    for person in (north, south):
        clinics.submit(person, clinics.checked(person, csv_of(rows())))
    changed = draft_of("north", "south", toml=TOML.replace("0.6", "0.9"))
    clinics.put_draft(changed)
    assert codes(clinics) == [Code.PROPOSE, Code.CLOSE]  # the old terms are still in force
    clinics.propose()
    assert codes(clinics, north) == [Code.ACCEPT, Code.WAIT]
    clinics.work_off()
    assert codes(clinics, north) == [Code.ACCEPT]
    clinics.accept_all()
    assert now_in(clinics).ready_to_close
    clinics.put_draft(draft_of("north", "south", toml=TOML.replace("[0, 300]", "[0, 1]")))
    clinics.propose()
    clinics.work_off()
    assert codes(clinics, north) == [Code.ACCEPT, Code.CORRECT]


def test_who_has_not_joined_or_has_left_is_told_to_the_operator(
    database: Database, tmp_path: Path
) -> None:
    clinics = agreed(database, tmp_path)
    clinics.propose()
    with clinics.database.transaction() as session:
        session.query(Membership).filter_by(person_id=clinics.consortium.of_south.id).delete()
        session.get_one(Party, clinics.consortium.north.id).left = now()
    assert [(task.name, task.code) for task in now_in(clinics).tasks] == [
        ("", Code.LEAVE_OUT),
        ("south", Code.JOIN),
        ("south", Code.ACCEPT),
        ("south", Code.SEND),
        ("", Code.WAIT),
    ]
    assert "the operator is still to do this" in now_in(clinics).why_not[0]


def test_data_of_an_earlier_round_take_part_as_before(database: Database, tmp_path: Path) -> None:
    clinics = agreed(database, tmp_path)
    north = clinics.consortium.of_north
    clinics.propose()
    clinics.accept_all()
    clinics.submit(north, clinics.checked(north, csv_of(rows())))
    with clinics.database.transaction() as session:
        session.query(Round).one().state = RoundState.RELEASED.value
        session.add(Round(collaboration_id=clinics.id, number=2))
    own = of_party(clinics, north)
    assert own.tasks[-1].text == "takes part with 40 rows, as in the round before"
    assert own.sent == ()
    assert [one.file_name for one in own.having] == ["mine.csv"]


def test_a_standing_is_a_party_s_own(database: Database, tmp_path: Path) -> None:
    clinics = agreed(database, tmp_path)
    north, south = clinics.consortium.of_north, clinics.consortium.of_south
    clinics.propose()
    clinics.accept(north)
    clinics.checked(north, csv_of(rows()))
    assert of_party(clinics, south).sent == ()
    assert of_party(clinics, south).acceptance is None
    assert of_party(clinics, north).acceptance is not None
    assert {task.name for task in of_party(clinics, south).tasks} == {"south"}
    for person in (clinics.consortium.operator, clinics.consortium.auditor):
        with pytest.raises(NotFoundError, match="no such page"):
            of_party(clinics, person)


def seen(clinics: Agreed, person: Person) -> dict[str, str]:
    with clinics.database.reading() as session:
        told = visible.of(session, clinics.who(session, person))
    return {one.by: " ".join(one.what) for one in told}


def test_what_others_see_is_told_as_it_is_now(database: Database, tmp_path: Path) -> None:
    clinics = agreed(database, tmp_path)
    north = clinics.consortium.of_north
    assert "no party of the terms" in seen(clinics, north)["the other parties"]
    clinics.propose()
    assert 'That "north" takes part' in seen(clinics, north)["the other parties"]
    assert "has not accepted" in seen(clinics, north)["the operator"]
    assert "sent nothing for this round" in seen(clinics, north)["the operator"]
    clinics.accept_all()
    sent = clinics.checked(north, csv_of(rows()))
    assert "That it sent something" in seen(clinics, north)["the operator"]
    clinics.submit(north, sent)
    told = seen(clinics, north)["the operator"]
    assert "how many rows they are" in told
    assert "values that stand out" in told
    assert "released round" not in told
    with clinics.database.transaction() as session:
        session.query(Round).one().state = RoundState.RELEASED.value
    assert "what it received in the released round." in seen(clinics, north)["the operator"]
    assert "the ledger, reports, letters" in seen(clinics, north)["an auditor"]
    assert seen(clinics, north)["an auditor"].startswith("The terms")
    with clinics.database.transaction() as session:
        session.query(Membership).filter_by(person_id=clinics.consortium.auditor.id).delete()
    assert seen(clinics, north)["an auditor"].startswith("Nobody is auditor")


def test_who_sends_sums_is_told_so(database: Database, tmp_path: Path) -> None:
    keys = {"north": str(KEYS["North"].public)}
    clinics = agreed(database, tmp_path, toml=draft_of("north", "south", "west", keys=keys))
    clinics.propose()
    told = seen(clinics, clinics.consortium.of_north)
    assert "public half of its key" in told["the other parties"]
    assert "rows never come here" in told["whoever runs this service's machine"]
    other = seen(clinics, clinics.consortium.of_south)
    assert "rows never come here" not in other["whoever runs this service's machine"]
