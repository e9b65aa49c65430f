"""What parties send: received, looked at, submitted, withdrawn, and whose it is."""

from pathlib import Path

import pytest

from fairpool.errors import DataError
from fairpool.server.consortia import events, rounds, submissions
from fairpool.server.refused import NotFoundError, RefusedError
from fairpool.server.store.database import Database
from fairpool.server.store.tables import (
    Blob,
    Job,
    JobState,
    Round,
    RoundState,
    Submission,
    SubmissionState,
    now,
)
from fairpool.server.work import queue
from fairpool.server.work.checking import check
from fairpool.server.work.vault import Vault
from tests.server.agreed import TOML, Agreed, agreed, csv_of, draft_of, rows
from tests.support.exchange import KEYS


@pytest.fixture
def clinics(database: Database, tmp_path: Path) -> Agreed:
    """Terms that everybody accepted."""
    made = agreed(database, tmp_path)
    made.propose()
    made.accept_all()
    return made


def state(clinics: Agreed, sent: Submission) -> SubmissionState:
    return SubmissionState(clinics.now(sent).state)


def having(clinics: Agreed) -> dict[str, list[str]]:
    """The names of files that take part in the newest round, by party."""
    with clinics.database.reading() as session:
        round_ = rounds.current(session, clinics.consortium.collaboration)
        data = submissions.data_of(session, round_)
    names = {clinics.consortium.north.id: "north", clinics.consortium.south.id: "south"}
    return {names[party]: [one.file_name for one in own] for party, own in data.items()}


def files(clinics: Agreed) -> set[str]:
    return Vault(clinics.settings).identities()


def test_a_table_is_received_looked_at_and_submitted(clinics: Agreed) -> None:
    north = clinics.consortium.of_north
    content = csv_of(rows())
    sent = clinics.send(north, content, "C:\\clinic\\mine.CSV")
    assert (sent.file_name, sent.suffix) == ("mine.CSV", ".csv")
    assert state(clinics, sent) is SubmissionState.CHECKING
    with pytest.raises(RefusedError, match="still being looked at"):
        clinics.submit(north, sent)
    assert clinics.work_off() == 1
    assert state(clinics, sent) is SubmissionState.CHECKED
    assert having(clinics) == {}
    clinics.submit(north, sent)
    clinics.submit(north, sent)
    assert state(clinics, sent) is SubmissionState.SUBMITTED
    assert having(clinics) == {"north": ["mine.CSV"]}
    with clinics.database.reading() as session:
        log = events.of(session, clinics.consortium.collaboration)
        assert [one.action for one in log[-2:]] == ["file-received", "submitted"]
        assert log[-1].party_id == clinics.consortium.north.id
        assert b"".join(Vault(clinics.settings).open(clinics.now(sent).blob_id)) == content


def test_what_has_problems_cannot_take_part(clinics: Agreed) -> None:
    north = clinics.consortium.of_north
    sent = clinics.checked(north, b"x,kind\n1,red\n")
    assert state(clinics, sent) is SubmissionState.REFUSED
    with pytest.raises(RefusedError, match="correct what is listed"):
        clinics.submit(north, sent)
    assert having(clinics) == {}


def test_who_has_not_accepted_the_terms_submits_nothing(database: Database, tmp_path: Path) -> None:
    clinics = agreed(database, tmp_path)
    clinics.propose()
    clinics.accept(clinics.consortium.of_south)
    north = clinics.consortium.of_north
    sent = clinics.checked(north, csv_of(rows()))
    with pytest.raises(RefusedError, match="has not accepted the terms"):
        clinics.submit(north, sent)
    clinics.accept(north)
    clinics.submit(north, sent)


def test_a_new_table_stands_in_the_place_of_the_old_one_unless_it_adds(clinics: Agreed) -> None:
    north = clinics.consortium.of_north
    first, second, third = (
        clinics.checked(north, csv_of(rows(seed=seed)), f"{seed}.csv") for seed in (1, 2, 3)
    )
    clinics.submit(north, first)
    clinics.submit(north, second)
    assert having(clinics) == {"north": ["2.csv"]}
    assert state(clinics, first) is SubmissionState.WITHDRAWN
    kept = [clinics.now(second), clinics.now(third)]
    assert files(clinics) == {one.blob_id for one in kept} | {one.findings["seen"] for one in kept}
    clinics.submit(north, third, adds=True)
    assert having(clinics) == {"north": ["2.csv", "3.csv"]}


def test_what_is_withdrawn_is_erased(clinics: Agreed) -> None:
    north = clinics.consortium.of_north
    sent = clinics.checked(north, csv_of(rows()))
    clinics.submit(north, sent)
    clinics.withdraw(north, sent)
    clinics.withdraw(north, sent)
    gone = clinics.now(sent)
    assert (gone.state, gone.blob_id, gone.findings) == ("withdrawn", None, {})
    assert files(clinics) == set()
    assert having(clinics) == {}
    with clinics.database.reading() as session:
        assert session.query(Blob).count() == 0
        log = [one.action for one in events.of(session, clinics.consortium.collaboration)]
        assert log.count("withdrawn") == 1
    with pytest.raises(RefusedError, match="send it again"):
        clinics.submit(north, sent)


def test_what_is_withdrawn_while_it_is_looked_at_stays_withdrawn(clinics: Agreed) -> None:
    north = clinics.consortium.of_north
    sent = clinics.send(north, csv_of(rows()))
    clinics.withdraw(north, sent)
    assert clinics.work_off() == 1
    assert clinics.now(sent).findings == {}
    assert state(clinics, sent) is SubmissionState.WITHDRAWN


def test_a_withdrawal_that_is_not_kept_erases_nothing(clinics: Agreed) -> None:
    north = clinics.consortium.of_north
    sent = clinics.checked(north, csv_of(rows()))
    with pytest.raises(ZeroDivisionError), clinics.database.transaction() as session:  # noqa: PT012, PT011
        who = clinics.who(session, north)
        submissions.withdraw(session, clinics.settings, who, sent.id)
        with session.begin_nested():
            session.flush()
        _ = 1 / 0
    assert files(clinics) == {sent.blob_id, sent.findings["seen"]}
    assert state(clinics, sent) is SubmissionState.CHECKED


@pytest.mark.parametrize("closed", ["closed", "computing", "previewed", "releasing"])
def test_nothing_comes_or_goes_once_the_round_is_closed(clinics: Agreed, closed: str) -> None:
    north = clinics.consortium.of_north
    submitted = clinics.checked(north, csv_of(rows()))
    clinics.submit(north, submitted)
    ready = clinics.checked(north, csv_of(rows(seed=2)))
    with clinics.database.transaction() as session:
        session.query(Round).one().state = closed
    for attempt in (
        lambda: clinics.send(north, csv_of(rows(seed=3))),
        lambda: clinics.submit(north, ready),
        lambda: clinics.withdraw(north, submitted),
        lambda: clinics.withdraw(north, ready),
    ):
        with pytest.raises(RefusedError, match="round 1 takes nothing any longer"):
            attempt()
    assert having(clinics) == {"north": ["mine.csv"]}
    with clinics.database.transaction() as session:
        session.query(Round).one().state = RoundState.OPEN.value
    clinics.withdraw(north, submitted)


def test_another_s_submission_is_as_if_it_were_not_there(
    clinics: Agreed, database: Database, tmp_path: Path
) -> None:
    sent = clinics.checked(clinics.consortium.of_north, csv_of(rows()))
    others = agreed(database, tmp_path, "other-")
    others.propose()
    others.accept_all()
    attempts = [
        (clinics, clinics.consortium.of_south),
        (clinics, clinics.consortium.operator),
        (clinics, clinics.consortium.auditor),
        (others, others.consortium.of_north),
    ]
    texts = set()
    for where, person in attempts:
        for attempt in (where.submit, where.withdraw):
            with pytest.raises(NotFoundError, match="no such page") as refused:
                attempt(person, sent)
            texts.add(str(refused.value))
        with pytest.raises(NotFoundError, match="no such page") as refused:
            where.submit(person, Submission(id="nothing"))
        texts.add(str(refused.value))
    for person in (clinics.consortium.operator, clinics.consortium.auditor):
        with pytest.raises(NotFoundError, match="no such page"):
            clinics.send(person, b"x")
    assert len(texts) == 1
    assert state(clinics, sent) is SubmissionState.CHECKED


def test_the_same_file_is_received_once(clinics: Agreed) -> None:
    north, south = clinics.consortium.of_north, clinics.consortium.of_south
    content = csv_of(rows())
    first = clinics.send(north, content, "a.csv")
    again = clinics.send(north, content, "b.csv")
    assert again.id == first.id
    assert clinics.send(south, content).id != first.id
    clinics.withdraw(north, first)
    assert clinics.send(north, content).id != first.id


def test_a_disk_has_an_end(clinics: Agreed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submissions, "MOST_AT_ONCE", 2)
    north = clinics.consortium.of_north
    first = clinics.send(north, b"1")
    clinics.send(north, b"2")
    with pytest.raises(RefusedError, match="has 2 files in this round already"):
        clinics.send(north, b"3")
    clinics.withdraw(north, first)
    clinics.send(north, b"3")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd.csv", "passwd.csv"),
        ("..\\..\\boot.xlsx", "boot.xlsx"),
        ("\x1b[2Ja\r\nb.csv", "\\x1b[2Ja\\r\\nb.csv"),
        ("exe.\u202evsc.csv", "exe.\\u202evsc.csv"),
        ("<script>alert(1)<" + "/script>.csv", "script>.csv"),
        ("x" * 300 + ".parquet", "x" * 192 + ".parquet"),
        (".csv", ".csv"),
        ("a.csv.gz", "a.csv.gz"),
    ],
)
def test_names_are_shown_and_lead_nowhere(clinics: Agreed, name: str, shown: str) -> None:
    sent = clinics.checked(clinics.consortium.of_north, b"x", name)
    assert sent.file_name == shown
    assert not [*clinics.settings.work.glob("*")]


@pytest.mark.parametrize("name", ["a.exe", "csv", "a.csv.exe", "", "a.csv\0", "a.csv/"])
def test_what_is_no_table_by_its_name_is_refused(clinics: Agreed, name: str) -> None:
    with pytest.raises(DataError, match="is no table that can be read here"):
        clinics.send(clinics.consortium.of_north, b"x", name)


def test_who_sends_rows_sends_no_sums_and_the_other_way_round(
    database: Database, tmp_path: Path
) -> None:
    keys = {"north": str(KEYS["North"].public)}
    clinics = agreed(database, tmp_path, toml=draft_of("north", "south", "west", keys=keys))
    clinics.propose()
    with pytest.raises(DataError, match="this is a table, which then stays at home"):
        clinics.send(clinics.consortium.of_north, b"x")
    with pytest.raises(DataError, match="sends rows, and this is a contribution"):
        clinics.send(clinics.consortium.of_south, b"x", "a.contribution")


def test_nothing_is_received_before_there_are_terms(database: Database, tmp_path: Path) -> None:
    clinics = agreed(database, tmp_path)
    with pytest.raises(RefusedError, match="no terms were proposed yet"):
        clinics.send(clinics.consortium.of_north, b"x")


def test_a_party_that_the_terms_lack_sends_nothing(database: Database, tmp_path: Path) -> None:
    clinics = agreed(database, tmp_path, toml=draft_of("north", "west"))
    clinics.propose()
    with pytest.raises(RefusedError, match="takes no part in the terms"):
        clinics.send(clinics.consortium.of_south, b"x")


def test_what_was_sent_is_looked_at_again_under_other_terms(clinics: Agreed) -> None:
    north, south = clinics.consortium.of_north, clinics.consortium.of_south
    fits, fails = rows(), rows(seed=2)
    submitted = clinics.checked(north, csv_of(fits))
    clinics.submit(north, submitted)
    other = clinics.checked(south, csv_of(fails))
    clinics.submit(south, other)
    bound = max(fails["y"].to_pylist())
    least = max(max(fits["y"].to_pylist()), 1.0)
    assert bound != least
    narrow = TOML.replace("[0, 300]", f"[0, {min(bound, least) + 1e-6}]")
    clinics.put_draft(draft_of("north", "south", toml=narrow))
    clinics.propose()
    clinics.accept_all()
    for person, sent in ((north, submitted), (south, other)):
        assert state(clinics, sent) is SubmissionState.SUBMITTED
        assert clinics.submit(person, sent).id == sent.id
    assert clinics.work_off() == 2
    states = {state(clinics, submitted), state(clinics, other)}
    assert states == {SubmissionState.SUBMITTED, SubmissionState.REFUSED}
    with clinics.database.reading() as session:
        log = [one.action for one in events.of(session, clinics.consortium.collaboration)]
    assert log.count("no-longer-fits") == 1


def released(clinics: Agreed) -> None:
    """The newest round, as if it had been released."""
    with clinics.database.transaction() as session:
        newest = rounds.current(session, clinics.consortium.collaboration)
        assert newest is not None
        newest.state = RoundState.RELEASED.value
        newest.closed = now()
        rounds.open_next(session, clinics.consortium.collaboration)


def test_what_was_sent_for_earlier_rounds_counts_until_there_is_something_new(
    clinics: Agreed,
) -> None:
    north, south = clinics.consortium.of_north, clinics.consortium.of_south
    for person, name in ((north, "north-1.csv"), (south, "south-1.csv")):
        clinics.submit(person, clinics.checked(person, csv_of(rows()), name))
    released(clinics)
    assert having(clinics) == {"north": ["north-1.csv"], "south": ["south-1.csv"]}
    newer = clinics.checked(north, csv_of(rows(seed=2)), "north-2.csv")
    assert having(clinics)["north"] == ["north-1.csv"]  # until it is submitted
    clinics.submit(north, newer)
    assert having(clinics) == {"north": ["north-2.csv"], "south": ["south-1.csv"]}
    with clinics.database.reading() as session:
        first = session.query(Round).filter_by(number=1).one()
        data = submissions.data_of(session, first)
        assert {one.file_name for own in data.values() for one in own} == {
            "north-1.csv",
            "south-1.csv",
        }
        (old,) = data[clinics.consortium.north.id]
    with pytest.raises(RefusedError, match="what was released cannot be taken back"):
        clinics.withdraw(north, old)
    released(clinics)
    assert having(clinics) == {"north": ["north-2.csv"], "south": ["south-1.csv"]}


def test_what_was_not_submitted_in_time_is_no_part_of_the_next_round(clinics: Agreed) -> None:
    north = clinics.consortium.of_north
    late = clinics.checked(north, csv_of(rows()))
    released(clinics)
    with pytest.raises(RefusedError, match="sent for an earlier round"):
        clinics.submit(north, late)


def test_data_of_earlier_rounds_are_looked_at_under_other_terms_and_stay(clinics: Agreed) -> None:
    north = clinics.consortium.of_north
    sent = clinics.checked(north, csv_of(rows()))
    clinics.submit(north, sent)
    released(clinics)
    clinics.put_draft(draft_of("north", "south", toml=TOML.replace("[0, 300]", "[0, 1]")))
    proposed = clinics.propose()
    assert clinics.work_off() == 1
    kept = clinics.now(sent)
    assert kept.state == SubmissionState.SUBMITTED.value
    assert kept.findings["terms"] == proposed.id
    assert kept.findings["problems"]


def test_a_check_of_a_worker_that_was_too_slow_writes_nothing(clinics: Agreed) -> None:
    sent = clinics.send(clinics.consortium.of_north, csv_of(rows()))
    slow = queue.take(clinics.database, "slow", -1.0)
    assert clinics.work_off() == 1
    found = clinics.now(sent).findings
    assert slow is not None
    with pytest.raises(queue.LeaseLostError, match="no longer held"):
        check(clinics.settings, clinics.database, slow)
    assert clinics.now(sent).findings == found
    with clinics.database.reading() as session:
        assert session.query(Job).one().state == JobState.DONE.value
