"""Two who do at once what does not go together: one of them comes second, and is told so."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from fairpool.errors import FairpoolError
from fairpool.server.consortia import closing, rounds, submissions, terms
from fairpool.server.consortia.who import require
from fairpool.server.refused import RefusedError
from fairpool.server.store.database import Database
from fairpool.server.store.tables import (
    Acceptance,
    Job,
    JobKind,
    Membership,
    Person,
    Role,
    RoundState,
    Submission,
    SubmissionState,
    Terms,
)
from fairpool.server.work.vault import Vault
from tests.server.agreed import Agreed, agreed, csv_of, draft_of, rows
from tests.server.consortium import add_person

TIMES = 3


@pytest.fixture
def clinics(database: Database, tmp_path: Path) -> Agreed:
    made = agreed(database, tmp_path)
    made.propose()
    made.accept_all()
    return made


def at_once(clinics: Agreed, *acts: tuple[Person, Callable[..., object]]) -> list[str | None]:
    """What each was refused for; None: it was done."""
    begin = threading.Barrier(len(acts))
    said: list[str | None] = [None] * len(acts)

    def act(number: int) -> None:
        person, do = acts[number]
        begin.wait(60)
        try:
            with clinics.database.transaction() as session:
                do(session, require(session, person, clinics.id, alone=True))
        except FairpoolError as error:
            said[number] = str(error)

    threads = [threading.Thread(target=act, args=(number,)) for number in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return said


def submitted(clinics: Agreed, person: Person, seed: int) -> Submission:
    sent = clinics.checked(person, csv_of(rows(seed=seed)))
    return clinics.submit(person, sent)


def state(clinics: Agreed) -> str:
    with clinics.database.reading() as session:
        round_ = rounds.current(session, clinics.consortium.collaboration)
    assert round_ is not None
    return round_.state


def test_closing_and_withdrawing(clinics: Agreed) -> None:
    people = clinics.consortium
    submitted(clinics, people.of_south, 1)
    for seed in range(2, 2 + TIMES):
        mine = submitted(clinics, people.of_north, seed)
        closed, withdrawn = at_once(
            clinics,
            (people.operator, closing.close),
            (
                people.of_north,
                lambda session, who, mine=mine: submissions.withdraw(
                    session, clinics.settings, who, mine.id
                ),
            ),
        )
        assert (closed is None) != (withdrawn is None)
        now = clinics.now(mine)
        is_kept = now.blob_id is not None and Vault(clinics.settings).identities() >= {now.blob_id}
        assert is_kept == (closed is None) == (state(clinics) == RoundState.CLOSED)
        if closed is None:
            with clinics.database.transaction() as session:
                rounds.reopen(session, clinics.who(session, people.operator))


def test_releasing_by_two_operators(clinics: Agreed) -> None:
    people = clinics.consortium
    second = add_person(clinics.database, "second")
    with clinics.database.transaction() as session:
        session.add(
            Membership(collaboration_id=clinics.id, person_id=second.id, role=Role.OPERATOR)
        )
        round_ = rounds.current(session, people.collaboration)
        assert round_ is not None
        round_.state, round_.preview_id = RoundState.PREVIEWED.value, "looked-at"
    operators = (people.operator, second, people.operator, second)
    said = at_once(
        clinics,
        *(
            (one, lambda session, who: rounds.release(session, who, "looked-at"))
            for one in operators
        ),
    )
    assert said.count(None) == 1
    assert all(text is None or "is being released" in text for text in said)
    with clinics.database.reading() as session:
        assert session.query(Job).filter_by(kind=JobKind.RELEASE).count() == 1


def test_accepting_and_changing_the_terms(clinics: Agreed) -> None:
    people = clinics.consortium
    for rho in range(TIMES):
        clinics.put_draft(draft_of("north", "south").replace("rho = 0.6", f"rho = 0.7{rho}"))
        first = clinics.propose()
        clinics.put_draft(draft_of("north", "south").replace("rho = 0.6", f"rho = 0.8{rho}"))
        accepted, proposed = at_once(
            clinics,
            (
                people.of_north,
                lambda session, who, first=first: terms.accept(
                    session, clinics.settings, who, first.digest
                ),
            ),
            (people.operator, lambda session, who: terms.propose(session, clinics.settings, who)),
        )
        assert proposed is None
        with clinics.database.reading() as session:
            newest = session.query(Terms).order_by(Terms.version.desc()).first()
            assert newest is not None
            assert newest.version == first.version + 1
            of = [one.terms_id for one in session.query(Acceptance)]
        assert newest.id not in of
        assert (first.id in of) == (accepted is None)
        assert accepted is None or "no longer in force" in accepted


def test_sending_the_same_file_and_submitting_two(clinics: Agreed) -> None:
    people = clinics.consortium
    colleague = add_person(clinics.database, "colleague")
    with clinics.database.transaction() as session:
        session.add(
            Membership(
                collaboration_id=clinics.id,
                person_id=colleague.id,
                role=Role.PARTY,
                party_id=people.north.id,
            )
        )
    both = (people.of_north, colleague)
    content = csv_of(rows())
    vault = Vault(clinics.settings)
    assert at_once(
        clinics,
        *(
            (
                one,
                lambda session, who: submissions.receive(
                    session, who, vault.store_bytes(content), "a.csv"
                ),
            )
            for one in both
        ),
    ) == [None, None]
    with clinics.database.reading() as session:
        assert session.query(Submission).count() == 1
    for seed in range(2, 2 + TIMES):
        tables = [
            clinics.checked(one, csv_of(rows(seed=seed + 9 * n))) for n, one in enumerate(both)
        ]
        assert at_once(
            clinics,
            *(
                (
                    one,
                    lambda session, who, table=table: submissions.submit(
                        session, clinics.settings, who, table.id
                    ),
                )
                for one, table in zip(both, tables, strict=True)
            ),
        ) == [None, None]
        states = sorted(clinics.now(table).state for table in tables)
        assert states == [SubmissionState.SUBMITTED, SubmissionState.WITHDRAWN]


def test_who_is_removed_at_that_moment_does_nothing_afterwards(clinics: Agreed) -> None:
    """The membership is read once nobody else can take it away."""
    people = clinics.consortium
    part = Membership.person_id == people.of_north.id

    def remove(session, who) -> None:
        session.query(Membership).filter(part).delete()

    sent = clinics.checked(people.of_north, csv_of(rows()))
    submitted_, removed = at_once(
        clinics,
        (
            people.of_north,
            lambda session, who: submissions.submit(session, clinics.settings, who, sent.id),
        ),
        (people.operator, remove),
    )
    assert removed is None
    is_submitted = clinics.now(sent).state == SubmissionState.SUBMITTED
    assert is_submitted == (submitted_ is None)
    with clinics.database.transaction() as session, pytest.raises(RefusedError, match="no such"):
        require(session, people.of_north, clinics.id, alone=True)
