"""What is found in files that parties send, hostile ones among them."""

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pytest

from fairpool.exchange.plan import SignedPlan
from fairpool.exchange.receipt import Receipt
from fairpool.server.consortia import rounds, submissions
from fairpool.server.consortia.found import found_in as read_findings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Submission
from fairpool.server.work import looking, queue
from fairpool.server.work.checking import check
from fairpool.server.work.one_file import Asked, look_at
from fairpool.server.work.vault import Vault
from fairpool.signatures import SigningKey
from tests.server.agreed import Agreed, agreed, csv_of, draft_of, parquet_of, rows
from tests.support.exchange import KEYS, OPERATOR, a_contribution


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory):
    """What is found has nothing to do with the kind of database: one is enough."""
    database = Database(f"sqlite:///{tmp_path_factory.mktemp('checking') / 'database.sqlite'}")
    database.migrate()
    yield database
    database.close()


@pytest.fixture(scope="module")
def clinics(sqlite: Database, tmp_path_factory: pytest.TempPathFactory) -> Agreed:
    made = agreed(sqlite, tmp_path_factory.mktemp("clinics"))
    made.propose()
    made.accept_all()
    return made


def found_in(clinics: Agreed, content: bytes, name: str = "mine.csv") -> dict:
    """What is found in a file of north's; nothing of it is left in the clear."""
    submissions.MOST_AT_ONCE = 10_000
    sent = clinics.checked(clinics.consortium.of_north, content, name)
    assert not [*clinics.settings.work.glob("*")]
    found = json.dumps(told(clinics, sent))
    assert str(clinics.settings.folder) not in found
    return json.loads(found)


def told(where: Agreed, sent: Submission) -> dict:
    """What was found in a submission, as its own party is told."""
    return asdict(read_findings(where.settings, where.now(sent)))


def xlsx_of(table: pa.Table) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(table.column_names)
    for row in table.to_pylist():
        sheet.append([*row.values()])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


KINDS = {
    "mine.csv": csv_of,
    "mine.csv.gz": lambda table: gzip.compress(csv_of(table)),
    "mine.parquet": parquet_of,
    "mine.xlsx": xlsx_of,
}


@pytest.mark.parametrize("name", KINDS)
def test_a_table_that_fits_is_shown_by_its_first_rows(clinics: Agreed, name: str) -> None:
    table = rows(25, seed=4)
    found = found_in(clinics, KINDS[name](table), name)
    assert found["problems"] == []
    assert found["kind"] == "rows"
    assert (found["rows"], found["left_out"]) == (25, 0)
    assert found["columns"] == ["x", "kind", "y"]
    assert len(found["first"]) == 10
    assert [row[1] for row in found["first"]] == table["kind"].to_pylist()[:10]
    assert float(found["first"][9][2]) == pytest.approx(table["y"][9].as_py(), rel=1e-12)
    by_column = {one["column"]: one["by"][0] for one in found["table"]}
    assert by_column["x"]["median"] == pytest.approx(np.median(table["x"]), rel=1e-12)
    assert sum(by_column["kind"]["levels"].values()) == 25


def test_all_problems_are_told_at_once_worst_first_by_line(clinics: Agreed) -> None:
    lines = ["x,kind,y", "1,red,9", "99,red,9", "2,blue,9", "3,red,oops", ",red,1", "4,red,2"]
    found = found_in(clinics, "\n".join(lines).encode(), "our table.csv")
    assert "ask the operator for other terms" in found["notes"][0]
    for said in (
        'our table.csv, line 3, column "x": 99 is outside -10 .. 10',
        "our table.csv, line 4, column \"kind\": 'blue' is not among the levels",
        "our table.csv, line 5, column \"y\": 'oops' is not a number",
        'first at our table.csv, line 6, column "x"',
    ):
        assert any(said in one for one in found["problems"]), said
    assert len(found["problems"]) == 4
    assert not any("north" in one for one in found["problems"])
    assert found["first"][0] == ["1", "red", "9"]


def test_a_table_without_a_column_is_told_which_beside_its_rows(clinics: Agreed) -> None:
    found = found_in(clinics, b"x,sort\n1,red\n")
    assert found["problems"] == ['mine.csv: no columns "y", "kind"; it has x, sort']
    assert found["columns"] == ["x", "sort"]
    assert found["first"] == [["1", "red"]]


def test_long_and_strange_values_are_cut_and_written_out(clinics: Agreed) -> None:
    content = b"x,kind,y,note\n1,red,2," + b"a" * 5000 + b"\n1,red,2,\x1b[2J\xe2\x80\xae\n"
    found = found_in(clinics, content)
    assert found["problems"] == []
    assert found["first"][0][3] == "a" * 77 + "..."
    assert found["first"][1][3] == "\\x1b[2J\\u202e"


def test_endless_problems_are_counted(clinics: Agreed) -> None:
    wide = ",".join(f"c{k}" for k in range(500))
    header = f"x,kind,y,{wide}".encode()
    found = found_in(clinics, header + b"\n" + b"1,red,\n" * 2000)
    assert len(found["problems"]) <= 201


# ---- files that are made to do harm


def parquet_bomb() -> bytes:
    """A few hundred KiB that are a table of hundreds of MiB: few distinct values, many rows."""
    count = 12_000_000
    zeros = pa.array(np.zeros(count))
    kind = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int8)), ["red"])
    table = pa.table({"x": zeros, "y": zeros, "kind": kind})
    return parquet_of(table, compression="zstd", row_group_size=count)


def xlsx_bomb() -> bytes:
    """One cell far away: a sheet that is laid out in full has seventeen thousand million."""
    book = openpyxl.Workbook()
    book.active["A1"] = "x"
    book.active["XFD1048576"] = 1
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def zip_bomb() -> bytes:
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as part,
    ):
        for _ in range(300):
            part.write(bytes(1 << 20))
    return stream.getvalue()


def gzip_bomb() -> bytes:
    """One piece again and again, which is packed once."""
    return gzip.compress(b"x,kind,y\n") + 25 * gzip.compress(b"1,red,1\n" * (1 << 21))


BOMBS = {
    "parquet": (parquet_bomb, "a.parquet", "more than the"),
    "a sheet": (xlsx_bomb, "a.xlsx", "times its size"),
    "a zip": (zip_bomb, "a.xlsx", "times its size"),
    "gzip": (gzip_bomb, "a.csv.gz", "times its size"),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_what_unpacks_to_far_more_is_refused_in_time(clinics: Agreed, bomb: str) -> None:
    make, name, said = BOMBS[bomb]
    content = make()
    assert len(content) < 8 << 20
    problems = found_in(clinics, content, name)["problems"]
    assert any(said in one for one in problems)


def gigantic_cells() -> bytes:
    """Texts that share their bytes in the file, and do not in memory."""
    count = 3000
    texts = pa.DictionaryArray.from_arrays(np.zeros(count, np.int32), ["a" * (1 << 20)])
    table = pa.table({"x": np.zeros(count), "y": np.zeros(count), "kind": texts})
    return parquet_of(table, compression="zstd", use_dictionary=["kind"])


def test_what_takes_more_memory_than_it_may_is_told(clinics: Agreed) -> None:
    small = replace(clinics, settings=replace(clinics.settings, check_bytes=900 << 20))
    found = found_in(small, gigantic_cells(), "a.parquet")
    (problem,) = found["problems"]
    assert "memory" in problem or "was ended by this file" in problem


def test_what_takes_too_long_is_told(clinics: Agreed) -> None:
    slow = replace(clinics, settings=replace(clinics.settings, check_seconds=0.0))
    found = found_in(slow, csv_of(rows(seed=77)))
    assert found["problems"][0].startswith("reading it took longer than 0 seconds")
    assert found_in(clinics, csv_of(rows(seed=78)))["problems"] == []


def test_a_file_that_ends_its_reader_is_told_and_the_next_one_is_read(
    clinics: Agreed, tmp_path: Path
) -> None:
    """The reader is ended from outside, as by a file on which it crashes."""
    file = tmp_path / "new.csv"
    os.mkfifo(file)  # whoever opens it waits for somebody to write
    asked = Asked(
        file=str(file), shown="a.csv", toml=draft_of("north", "south"), plan=None, party="north"
    )
    killed = []

    def go_on() -> None:
        (looker,) = looking._lookers.values()
        children = subprocess.run(
            ["pgrep", "-P", str(looker.process.pid)], capture_output=True, text=True, check=False
        )
        for child in children.stdout.split():
            os.kill(int(child), signal.SIGSEGV)
            killed.append(child)

    looking._stop_all()
    found = looking.look(asked, clinics.settings, go_on)
    assert len(killed) >= 1
    assert found["problems"][0].startswith("what reads tables was ended by this file")
    assert found_in(clinics, csv_of(rows(seed=79)))["problems"] == []


def test_an_error_that_nobody_foresaw_is_told_by_a_number(clinics: Agreed) -> None:
    asked = Asked(file="/nowhere/new.csv", shown="a", toml="", plan=None, party="north")
    found = looking.look(asked, clinics.settings, lambda: None)
    assert found["problems"][0].startswith("something went wrong here while it was read, number ")


def test_who_is_stopped_leaves_nothing_in_the_clear(clinics: Agreed) -> None:
    clinics.send(clinics.consortium.of_north, csv_of(rows(seed=80)))
    taken = queue.take(clinics.database, "test", 60.0)
    assert taken is not None

    def go_on(text: str) -> None:
        if [*clinics.settings.work.glob("*/new.csv")]:
            raise KeyboardInterrupt("stop")

    with pytest.raises(KeyboardInterrupt, match="stop"):
        check(clinics.settings, clinics.database, taken, go_on)
    assert not [*clinics.settings.work.glob("*")]
    check(clinics.settings, clinics.database, taken)
    with clinics.database.transaction() as session:
        queue.finish(session, taken, {})


def test_the_next_worker_removes_what_a_killed_one_left(clinics: Agreed) -> None:
    clinics.send(clinics.consortium.of_north, csv_of(rows(seed=81)))
    taken = queue.take(clinics.database, "killed", -1.0)
    assert taken is not None
    left = clinics.settings.work / f"{taken.id}-{taken.fence}"
    left.mkdir(parents=True)
    (left / "new.csv").write_text("rows")
    assert clinics.work_off() == 1
    assert not left.exists()


DIES = """
import os, sys
from pathlib import Path
from fairpool.server.settings import Settings
from fairpool.server.work import looking, queue
from fairpool.server.work.checking import check
from fairpool.server.work.one_file import Asked

asked = Asked(file=sys.argv[1], shown="a", toml=sys.argv[2], plan=None, party="north")

def go_on():
    (looker,) = looking._lookers.values()
    print(looker.process.pid, flush=True)

looking.look(asked, Settings.of(Path(sys.argv[3]), environment={}), go_on)
"""


def test_nobody_goes_on_reading_for_a_worker_that_was_killed(tmp_path: Path) -> None:
    file = tmp_path / "new.csv"
    os.mkfifo(file)
    toml = draft_of("north", "south")
    worker = subprocess.Popen(
        [sys.executable, "-c", DIES, file, toml, tmp_path], stdout=subprocess.PIPE, text=True
    )
    assert worker.stdout is not None
    looker = int(worker.stdout.readline())
    assert Path(f"/proc/{looker}").exists()
    worker.kill()
    worker.wait()
    worker.stdout.close()
    for _ in range(300):
        if not Path(f"/proc/{looker}").exists():
            break
        time.sleep(0.1)
    assert not Path(f"/proc/{looker}").exists()


def test_an_upload_that_was_damaged_is_told(clinics: Agreed) -> None:
    sent = clinics.send(clinics.consortium.of_north, csv_of(rows(seed=82)))
    file = clinics.settings.uploads / sent.blob_id
    file.write_bytes(file.read_bytes()[:-1])
    clinics.work_off()
    (problem,) = told(clinics, sent)["problems"]
    assert "damaged or changed" in problem


# ---- contributions


@pytest.fixture
def sums(sqlite: Database, tmp_path: Path) -> tuple[Agreed, SignedPlan]:
    """North sends sums."""
    keys = {"north": str(KEYS["North"].public), "south": str(KEYS["South"].public)}
    made = agreed(
        sqlite, tmp_path, f"{tmp_path.name}-", draft_of("north", "south", "west", keys=keys)
    )
    proposed = made.propose()
    made.accept_all()
    return made, SignedPlan.of_content(proposed.plan.encode(), "plan.json")


def contribution(plan: SignedPlan, **changes: object) -> bytes:
    settings = {"party": "north", "key": KEYS["North"], "rows": 200} | changes
    return a_contribution(plan, **settings).to_bytes()


def send_sums(where: Agreed, content: bytes, *, of: str = "north") -> Submission:
    person = {"north": where.consortium.of_north, "south": where.consortium.of_south}[of]
    return where.now(where.checked(person, content, "mine.contribution"))


def test_a_contribution_that_fits_is_told_in_words_and_has_a_receipt(
    sums: tuple[Agreed, SignedPlan],
) -> None:
    where, plan = sums
    sent = send_sums(where, contribution(plan))
    found = told(where, sent)
    assert found["problems"] == ()
    assert (found["kind"], found["rows"]) == ("sums", 200)
    assert found["words"]["contribution of"] == "north"
    receipt = Receipt.of_content(found["receipt"].encode(), "receipt")
    assert receipt.contribution == sent.findings["contribution"]["digest"]
    assert receipt.operator == plan.operator
    assert receipt.received == sent.created.isoformat(timespec="seconds")
    where.submit(where.consortium.of_north, sent)


def test_contributions_that_are_not_this_party_s_for_this_plan_are_refused(
    sums: tuple[Agreed, SignedPlan],
) -> None:
    where, plan = sums
    elsewhere = SignedPlan.of_content(plan.plan.signed(OPERATOR).content, "plan.json")
    attacks = {
        "the registered key of this party": contribution(plan, key=KEYS["South"]),
        "it says that it is of": contribution(plan, party="south"),
        "made for another collaboration": contribution(elsewhere),
        "made under another plan": contribution(plan, features="0" * 64),
        "is not as it was signed": contribution(plan)[:-9] + b"x" * 9,
    }
    for said, content in attacks.items():
        sent = send_sums(where, content)
        assert sent.state == "refused", said
        problems = told(where, sent)["problems"]
        assert any(said in one for one in problems), (said, problems)


def test_another_party_s_contribution_is_refused_where_it_was_stolen(
    sums: tuple[Agreed, SignedPlan],
) -> None:
    where, plan = sums
    (problem,) = told(where, send_sums(where, contribution(plan), of="south"))["problems"]
    assert "it is signed with the key" in problem


def test_increments_count_together_and_copies_do_not(sums: tuple[Agreed, SignedPlan]) -> None:
    where, plan = sums
    north = where.consortium.of_north
    first = send_sums(where, contribution(plan, seed=1))
    where.submit(north, first)
    digest = first.findings["contribution"]["digest"]
    unknowing = send_sums(where, contribution(plan, seed=2))
    assert "were made without knowing of each other" in told(where, unknowing)["problems"][0]
    copied = send_sums(where, contribution(plan, seed=1, nonce="ab" * 16, earlier=(digest,)))
    assert "the same sums to the last bit" in told(where, copied)["problems"][0]
    second = send_sums(where, contribution(plan, seed=3, earlier=(digest, "ff" * 32)))
    assert told(where, second)["problems"] == ()
    assert "1 earlier contribution(s) that are not here" in told(where, second)["notes"][0]
    where.submit(north, second)
    having = _having(where)
    assert having == [first.id, second.id]


def test_a_contribution_in_the_place_of_others_counts_alone(
    sums: tuple[Agreed, SignedPlan],
) -> None:
    where, plan = sums
    north = where.consortium.of_north
    first = send_sums(where, contribution(plan, seed=1))
    where.submit(north, first)
    digest = first.findings["contribution"]["digest"]
    anew = send_sums(where, contribution(plan, seed=2, replaces=(digest,)))
    assert told(where, anew)["problems"] == ()
    where.submit(north, anew)
    assert _having(where) == [anew.id]


def _having(where: Agreed) -> list[str]:
    with where.database.reading() as session:
        round_ = rounds.current(session, where.consortium.collaboration)
        (own,) = submissions.data_of(session, round_).values()
        return [one.id for one in own]


def test_a_receipt_is_signed_by_nobody_else(sums: tuple[Agreed, SignedPlan]) -> None:
    where, plan = sums
    key = SigningKey.read(where.settings.collaborations / where.id / ".fairpool/operator.key")
    assert key.public == plan.operator


def test_what_is_not_asked_for_is_not_looked_at(tmp_path: Path) -> None:
    """Without a key no receipt is given."""
    (tmp_path / "new.csv").write_bytes(csv_of(rows()))
    asked = Asked(
        file=str(tmp_path / "new.csv"),
        shown="mine.csv",
        toml=draft_of("north", "south"),
        plan=None,
        party="north",
    )
    assert look_at(asked)["problems"] == []


def test_uploads_are_the_only_place_where_rows_lie(clinics: Agreed) -> None:
    """Nowhere in the service's folder is a row in the clear, once it was looked at."""
    content = b"x,kind,y\n1.2345678,red,100.25\n" + csv_of(rows()).partition(b"\n")[2]
    sent = clinics.checked(clinics.consortium.of_north, content)
    assert sent.findings["problems"] == 0
    assert b"".join(Vault(clinics.settings).open(sent.blob_id)) == content
    database = clinics.database.engine.url.database
    files = [*clinics.settings.folder.rglob("*"), *Path(database).parent.glob("database.sqlite*")]
    assert len([path for path in files if path.name.startswith("database")]) > 0
    for path in files:
        if path.is_file():
            assert b"1.2345678" not in path.read_bytes(), path
    assert told(clinics, sent)["first"][0] == ("1.2345678", "red", "100.25")
