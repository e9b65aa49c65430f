import json
import os
import shutil
import time

from sqlalchemy import text

from fairpool.compute.files import make_private_folder
from fairpool.server.check import check_service
from fairpool.server.consortia import rounds
from fairpool.server.leftovers import remove
from fairpool.server.store.tables import Blob, Event, Release, Round
from fairpool.server.work import queue
from fairpool.server.work.vault import Vault
from tests.server.agreed import csv_of, rows
from tests.server.work.computed import LEASE, closed
from tests.server.work.worlds import sqlite_in
from tests.support.projects import fairpool

OLD = 2 * 3600


def found(made):
    return check_service(made.agreed.settings, made.database)


def texts(made):
    return [one.text for one in found(made)]


def make_old(path):
    then = time.time() - OLD
    for one in [path, *path.rglob("*")]:
        os.utime(one, (then, then))


def released(database, folder):
    made = closed(database, folder)
    made.release(made.preview())
    return made


def test_what_belongs_together_is_no_finding_at_any_stage(database, tmp_path):
    made = closed(database, tmp_path)
    assert found(made) == []
    made.act(rounds.preview)
    assert found(made) == []
    made.work_off()
    assert found(made) == []
    made.act(rounds.release, made.rounds()[0].preview_id)
    assert found(made) == []
    made.work_off()
    assert found(made) == []


def test_a_file_without_a_record_is_removed_once_it_is_old(sqlite, tmp_path):
    made = closed(sqlite, tmp_path)
    vault = Vault(made.agreed.settings)
    orphan = vault.store_bytes(b"x").id
    path = made.agreed.settings.uploads / orphan
    assert texts(made) == [f"the upload {orphan} has no record: it was sent, and never received"]
    assert remove(found(made)) == []
    make_old(path)
    assert remove(found(made)) == [path]
    assert found(made) == []


def test_a_record_without_a_file_is_told_and_stays(sqlite, tmp_path):
    made = closed(sqlite, tmp_path)
    with sqlite.reading() as session:
        identity = session.query(Blob).first().id
    Vault(made.agreed.settings).remove(identity)
    [finding] = found(made)
    assert finding.text == f"the upload {identity} is no longer on the disk"
    assert "from a backup, or have its party send it again" in finding.remedy
    assert finding.path is None


LEFT = {
    "an upload that was cut off": "uploads/abc.part",
    "what a job had in the clear that was killed": "work/job-1/new.csv",
    "tables in the clear": "collaborations/{id}/data/north/0001.csv",
    "a preview that was computed anew": "collaborations/{id}/.preview/other/operator/report.html",
    "a file that was being written": "collaborations/{id}/.plan.json.0123abcd",
    "values of a round that nobody goes on with": "collaborations/{id}/.fairpool-checkpoint/a/b",
}


def test_what_a_killed_job_left_is_removed_once_it_is_old(sqlite, tmp_path):
    made = released(sqlite, tmp_path)
    for what, place in LEFT.items():
        path = made.agreed.settings.folder / place.format(id=made.agreed.id)
        make_private_folder(path.parent)
        path.write_text("x")
        [finding] = found(made)
        assert what in finding.text
        assert remove([finding]) == []
        make_old(finding.path)
        assert remove([finding]) == [finding.path]
        assert not path.exists()
        assert found(made) == []


def test_what_belongs_to_a_job_that_is_at_work_is_left_alone(sqlite, tmp_path):
    made = closed(sqlite, tmp_path)
    made.act(rounds.preview)
    taken = queue.take(sqlite, "w", LEASE)
    for place in (
        made.folder / "data",
        made.folder / ".preview" / f".{taken.id}.partial-7",
        made.folder / ".fairpool-checkpoint",
        made.agreed.settings.work / f"{taken.id}-{taken.fence}",
    ):
        make_private_folder(place)
        make_old(place)
    assert found(made) == []


def test_a_ledger_that_was_changed_is_told(sqlite, tmp_path):
    made = released(sqlite, tmp_path)
    ledger = made.folder / "ledger.jsonl"
    ledger.write_text(ledger.read_text().replace("0.6", "0.7"))
    assert any("ledger, line" in one for one in texts(made))


def test_a_model_that_is_gone_is_told(sqlite, tmp_path):
    made = released(sqlite, tmp_path)
    (made.folder / "rounds/0001/parties/north/reward.safetensors").unlink()
    assert any("reward.safetensors: No such file" in one for one in texts(made))


def test_rounds_that_only_one_side_knows_are_told(database, tmp_path):
    made = released(database, tmp_path)
    with database.transaction() as session:
        session.query(Release).delete()
    assert any(
        "the ledger tells that round 1 was released, and the database does not" in one
        for one in texts(made)
    )
    shutil.rmtree(made.folder)
    assert texts(made) == []  # now neither tells of any
    with database.transaction() as session:
        released_round = session.query(Round).filter_by(number=1).one()
        somebody = made.agreed.consortium.operator.id
        session.add(Release(round_id=released_round.id, head="h", released_by=somebody))
    assert any(
        "the database tells that round 1 was released, and the ledger does not" in one
        for one in texts(made)
    )


def test_another_head_is_told(sqlite, tmp_path):
    made = released(sqlite, tmp_path)
    with sqlite.transaction() as session:
        session.query(Release).one().head = "0" * 64
    assert any("one head in the ledger and another in the database" in one for one in texts(made))


def test_events_that_were_changed_are_told(sqlite, tmp_path):
    made = released(sqlite, tmp_path)
    with sqlite.transaction() as session:
        session.query(Event).filter_by(action="released").one().action = "nothing"
    assert any("was changed after it was written down" in one for one in texts(made))


def test_a_round_that_waits_for_nobody_is_told(sqlite, tmp_path):
    made = closed(sqlite, tmp_path)
    with sqlite.transaction() as session:
        session.query(Round).one().state = "computing"
    assert any("round 1 is computing, and no job is at work on it" in one for one in texts(made))


def test_a_folder_of_nobody_is_told(sqlite, tmp_path):
    made = closed(sqlite, tmp_path)
    (made.agreed.settings.collaborations / "nobody").mkdir()
    assert any("nobody: the database has no collaboration of this name" in x for x in texts(made))


def test_a_damaged_database_is_told(sqlite, tmp_path):
    made = closed(sqlite, tmp_path)
    with sqlite.engine.connect() as connection:
        connection.execute(text("PRAGMA writable_schema = ON"))
        connection.execute(text("UPDATE sqlite_master SET rootpage = 3 WHERE name = 'tokens'"))
        connection.commit()
    sqlite.close()
    assert any("the database is damaged" in one for one in texts(made))


def test_the_command_says_what_it_finds_and_removes_what_it_may(tmp_path):
    database = sqlite_in(tmp_path / "server")
    made = closed(database, tmp_path)
    folder = made.agreed.settings.folder
    done = fairpool("server", "check", "--folder", folder)
    assert (done.returncode, done.stdout) == (0, "Files and database belong together.\n")
    orphan = Vault(made.agreed.settings).store_bytes(csv_of(rows(9))).id
    done = fairpool("server", "check", "--folder", folder)
    assert done.returncode == 2
    assert f"the upload {orphan} has no record" in done.stdout
    make_old(made.agreed.settings.uploads / orphan)
    done = fairpool("server", "check", "--folder", folder, "--repair", "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["ok"], told["found"]) == (0, True, [])
    assert told["removed"] == [str(made.agreed.settings.uploads / orphan)]
    database.close()


def test_the_command_without_a_service(tmp_path):
    done = fairpool("server", "check", "--folder", tmp_path / "none")
    assert done.returncode == 2
    assert "there is no service" in done.stderr
