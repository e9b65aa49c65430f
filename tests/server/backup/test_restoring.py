"""A service that is restored goes on where it was when its backup was taken."""

import os
import shutil
import stat
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from fairpool.consortium.rounds.inspecting import verify_folder
from fairpool.consortium.rounds.releasing import one_at_a_time
from fairpool.errors import DataError
from fairpool.ledger.lock import HeldError
from fairpool.server.backup.moment import upkeep
from fairpool.server.backup.restoring import restore
from fairpool.server.backup.rows import lines_of
from fairpool.server.backup.taking import back_up
from fairpool.server.consortia import rounds
from fairpool.server.people import tokens
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import RoundState
from fairpool.server.work import queue
from fairpool.server.work.vault import Vault
from tests.server.agreed import agreed
from tests.server.conftest import fresh_postgres
from tests.server.served import served
from tests.server.test_killed_server import Party
from tests.server.work.computed import LEASE, Computed, closed, preview_second
from tests.server.work.worlds import expire_leases, releases, sqlite_in, wrong
from tests.support.projects import COMMAND, fairpool

KEY = "uploads.key"


def new_place(folder: Path, kind: str, request: pytest.FixtureRequest) -> Settings:
    """Where nothing is yet."""
    environment = {}
    if kind == "postgres":
        environment["FAIRPOOL_DATABASE"] = fresh_postgres(request.getfixturevalue("postgres"))
    return Settings.of(folder, environment=environment)


def new_database(settings: Settings) -> Database:
    settings.folder.mkdir(mode=0o700, exist_ok=True)
    database = Database(settings.database)
    database.migrate()
    return database


def carry_key(made: Computed, target: Settings) -> None:
    target.folder.mkdir(mode=0o700)
    shutil.copy(made.agreed.settings.key_file, target.key_file)


def rows_in(database: Database) -> list[bytes]:
    with database.engine.connect() as connection:
        return list(lines_of(connection))


def elsewhere(made: Computed, settings: Settings) -> Computed:
    """The same collaboration, as another service has it."""
    database = Database(settings.database)
    return Computed(agreed=replace(made.agreed, settings=settings, database=database))


@pytest.fixture(scope="module")
def previewed(tmp_path_factory: pytest.TempPathFactory):
    """One round released, the next one computed and not released, on SQLite, and its backup."""
    folder = tmp_path_factory.mktemp("previewed")
    database = sqlite_in(folder / "server")
    made = Computed(agreed=agreed(database, folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vl_convert.vegalite_to_svg", lambda specification: "<svg></svg>")
        patch.setattr("vl_convert.javascript_bundle", lambda snippet: "vega")
        preview_second(made)
    back_up(made.agreed.settings, database, folder / "first.backup")
    yield made, folder / "first.backup"
    database.close()


@pytest.mark.parametrize(("kind", "target"), [("sqlite", "sqlite"), ("postgres", "postgres")])
def test_a_restored_service_goes_on_with_its_round(
    kind: str, target: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    source = new_place(tmp_path / "server", kind, request)
    made = Computed(agreed=replace(agreed(new_database(source), tmp_path), settings=source))
    preview_second(made)
    assert made.state == RoundState.PREVIEWED
    taken = back_up(source, made.database, tmp_path / "a.backup")
    assert (taken.collaborations, taken.uploads) == (1, 2)
    assert stat.S_IMODE(taken.path.stat().st_mode) == 0o600
    before = rows_in(made.database)
    made.database.close()
    shutil.rmtree(source.folder / "collaborations")

    place = new_place(tmp_path / "again", target, request)
    shutil.copytree(source.folder, place.folder, ignore=lambda _, names: {*names} - {KEY})
    restored = restore(taken.path, place)
    assert restored.has_key
    again = elsewhere(made, place)
    assert rows_in(again.database) == before
    assert wrong(place, again.database) == []
    again.release(again.job(again.rounds()[-1].preview_id))
    assert again.rounds()[1].state == RoundState.RELEASED
    assert len(releases(again.database)) == 2
    found = verify_folder(again.folder)
    assert (list(found.ledger.problems), list(found.files)) == ([], [])
    assert wrong(place, again.database) == []
    modes = {stat.S_IMODE(path.stat().st_mode) for path in place.folder.rglob("*")}
    assert modes <= {0o600, 0o700}
    again.database.close()


@pytest.mark.parametrize("target", ["sqlite", "postgres"])
def test_a_backup_goes_into_either_kind_of_database_and_every_upload_can_be_read(
    previewed, target: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    made, backup = previewed
    place = new_place(tmp_path / "again", target, request)
    carry_key(made, place)
    restore(backup, place)
    database = Database(place.database)
    assert wrong(place, database) == []
    vault, old = Vault(place), Vault(made.agreed.settings)
    assert vault.identities() == old.identities()
    for identity in old.identities():
        assert [*vault.open(identity)] == [*old.open(identity)]
    assert [row[:40] for row in rows_in(database)] == [row[:40] for row in rows_in(made.database)]
    database.close()


def test_the_key_of_uploads_stays_at_home_unless_it_is_asked_for(previewed, tmp_path: Path) -> None:
    made, backup = previewed
    settings = made.agreed.settings
    key = settings.key_file.read_bytes().split()[1]
    assert key not in backup.read_bytes()
    with_it = tmp_path / "with.backup"
    back_up(settings, made.database, with_it, with_key=True)
    assert key in with_it.read_bytes()
    place = Settings.of(tmp_path / "with", environment={})
    assert restore(with_it, place).has_key
    assert place.key_file.read_bytes() == settings.key_file.read_bytes()
    done = fairpool("server", "restore", backup, "--folder", tmp_path / "without")
    assert done.returncode == 0
    assert "put your copy to" in " ".join(done.stdout.split())
    done = fairpool("server", "check", "--folder", tmp_path / "without")
    assert (done.returncode, "the key of uploads is gone" in done.stderr) == (2, True)
    shutil.copy(settings.key_file, tmp_path / "without" / KEY)
    done = fairpool("server", "check", "--folder", tmp_path / "without")
    assert (done.returncode, done.stdout) == (0, "Files and database belong together.\n")


def test_another_key_is_refused(previewed, tmp_path: Path) -> None:
    _, backup = previewed
    place = Settings.of(tmp_path / "again", environment={})
    Vault(place)  # makes one
    place.uploads.rmdir()
    with pytest.raises(DataError, match="is not the key that the uploads of this backup"):
        restore(backup, place)
    assert [path.name for path in place.folder.iterdir()] == [KEY]


def test_what_is_there_is_not_written_over(previewed, tmp_path: Path, postgres: str) -> None:
    made, backup = previewed
    with pytest.raises(DataError, match="no backup is written over"):
        back_up(made.agreed.settings, made.database, backup)
    with pytest.raises(DataError, match="into an empty folder only"):
        restore(backup, made.agreed.settings)
    address = fresh_postgres(postgres)
    full = Database(address)
    full.migrate()
    full.close()
    place = Settings.of(tmp_path / "again", environment={"FAIRPOOL_DATABASE": address})
    with pytest.raises(DataError, match="has tables already; give an empty one"):
        restore(backup, place)
    assert not place.folder.exists()


def changed(backup: Path, to: Path, name: str) -> Path:
    """A copy of which a byte of a file is another one; the checksum of zip fits."""
    with zipfile.ZipFile(backup) as old, zipfile.ZipFile(to, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename.startswith(name):
                content = content[:-1] + bytes([content[-1] ^ 1])
                name = "nothing more"
            new.writestr(entry.filename, content)
    return to


@pytest.mark.parametrize("name", ["uploads/", "collaborations/", "database.jsonl"])
def test_what_was_changed_is_refused_before_anything_is_written(
    previewed, name: str, tmp_path: Path
) -> None:
    _, backup = previewed
    other = changed(backup, tmp_path / "other.backup", name)
    with pytest.raises(DataError, match="is not what was backed up"):
        restore(other, Settings.of(tmp_path / "again", environment={}))
    assert not (tmp_path / "again").exists()


def test_what_is_no_backup_is_refused(previewed, tmp_path: Path) -> None:
    _, backup = previewed
    place = Settings.of(tmp_path / "again", environment={})
    half = tmp_path / "half.backup"
    half.write_bytes(backup.read_bytes()[: backup.stat().st_size // 2])
    with pytest.raises(DataError, match="is no backup that is there as a whole"):
        restore(half, place)
    with pytest.raises(DataError, match="there is no such file"):
        restore(tmp_path / "none", place)
    outside = tmp_path / "outside.backup"
    shutil.copy(backup, outside)
    with zipfile.ZipFile(outside, "a") as archive:
        archive.writestr("collaborations/a/../../../evil", b"x")
    with pytest.raises(DataError, match="other files than its manifest names"):
        restore(outside, place)
    done = fairpool("server", "restore", half, "--folder", tmp_path / "again")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert not place.folder.exists()


def test_a_backup_that_is_killed_leaves_nothing_half(previewed, tmp_path: Path) -> None:
    made, _ = previewed
    settings = made.agreed.settings
    out = tmp_path / "b.backup"
    arguments = ["server", "backup", "--folder", str(settings.folder), "--out", str(out)]
    with (
        one_at_a_time(made.folder),  # so that it waits, and is killed before its end
        subprocess.Popen([COMMAND, *arguments], stdout=subprocess.DEVNULL) as process,
    ):
        end = time.monotonic() + 60
        while not [*settings.work.glob("backup-*")]:
            assert time.monotonic() < end
            time.sleep(0.05)
        process.kill()
    assert not out.exists()
    (left,) = settings.work.glob("backup-*")
    assert [one for one in wrong(settings, made.database) if str(left) in one]
    os.utime(left, (time.time() - 7200,) * 2)
    repaired = fairpool("server", "check", "--folder", settings.folder, "--repair")
    assert (repaired.returncode, left.exists()) == (0, False)
    assert fairpool(*arguments).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["b.backup"]


def test_two_backups_are_not_taken_at_once(previewed, tmp_path: Path) -> None:
    made, _ = previewed
    with (
        upkeep(made.agreed.settings),
        pytest.raises(HeldError, match="another run is at work"),
    ):
        back_up(made.agreed.settings, made.database, tmp_path / "c")
    assert [*tmp_path.iterdir()] == []


def test_without_tables_there_is_nothing_to_back_up(tmp_path: Path) -> None:
    (tmp_path / "server").mkdir(mode=0o700)
    done = fairpool("server", "backup", "--folder", tmp_path / "server", "--out", tmp_path / "x")
    assert (done.returncode, "has no tables yet" in done.stderr) == (2, True)
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x").exists()


def test_a_backup_waits_for_a_round_and_says_so(previewed, tmp_path: Path) -> None:
    made, _ = previewed
    with (
        one_at_a_time(made.folder),
        pytest.raises(DataError, match="a round is being computed there"),
    ):
        back_up(made.agreed.settings, made.database, tmp_path / "c", patience=0)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param("_write 1", marks=pytest.mark.soak),
        "_write 9",
        pytest.param("write_lines before", marks=pytest.mark.soak),
        "write_lines after",
    ],
)
def test_a_restore_that_is_killed_starts_no_service_and_begins_anew(
    previewed, moment: str, tmp_path: Path
) -> None:
    made, backup = previewed
    place = Settings.of(tmp_path / "again", environment={})
    carry_key(made, place)
    name, when = moment.split()
    code = f"""
import os
from pathlib import Path
from fairpool.server.backup import restoring
from fairpool.server.settings import Settings
real, calls = restoring.{name}, []
def killed(*given):
    calls.append(1)
    if {when!r} in ("before", str(len(calls))):
        os._exit(9)
    real(*given)
    if {when!r} == "after":
        os._exit(9)
restoring.{name} = killed
restoring.restore(Path({str(backup)!r}), Settings.of(Path({str(place.folder)!r}), environment={{}}))
"""
    killed = subprocess.run([sys.executable, "-c", code], check=False)
    assert killed.returncode == 9
    done = fairpool("server", "check", "--folder", place.folder)
    assert (done.returncode, "restore it anew" in " ".join(done.stderr.split())) == (2, True)
    restore(backup, place)
    database = Database(place.database)
    assert wrong(place, database) == []
    assert rows_in(database) == rows_in(made.database)
    database.close()


def test_backups_of_a_service_at_work_are_of_one_moment(tmp_path: Path) -> None:
    """A party sends and withdraws all the time; every backup fits together."""
    clinics = agreed(sqlite_in(tmp_path / "server"), tmp_path)
    clinics.propose()
    with clinics.database.transaction() as session:
        _, token = tokens.make(session, clinics.consortium.of_north, name="program", days=1)
    party = Party(token=token, here=f"/api/v1/collaborations/{clinics.id}")
    with served(tmp_path / "server", FAIRPOOL_UPLOADS_PER_HOUR="100000") as service:
        at_work = threading.Thread(target=party.work, args=(service,))
        at_work.start()
        for number in range(3):
            enough = len(party.withdrawn) + 2
            while len(party.withdrawn) < enough and at_work.is_alive():
                time.sleep(0.01)
            back_up(clinics.settings, clinics.database, tmp_path / f"{number}.backup")
        service.process.kill()
        at_work.join()
    clinics.database.close()
    for number in range(3):
        place = Settings.of(tmp_path / f"again-{number}", environment={})
        place.folder.mkdir(mode=0o700)
        shutil.copy(clinics.settings.key_file, place.key_file)
        restore(tmp_path / f"{number}.backup", place)
        database = Database(place.database)
        assert wrong(place, database) == []
        database.close()


def test_a_job_that_was_running_is_taken_again_once_it_is_restored(tmp_path: Path) -> None:
    made = closed(sqlite_in(tmp_path / "server"), tmp_path)
    job = made.act(rounds.preview)
    assert queue.take(made.database, "before", LEASE)
    back_up(made.agreed.settings, made.database, tmp_path / "a.backup")
    place = Settings.of(tmp_path / "again", environment={})
    carry_key(made, place)
    restore(tmp_path / "a.backup", place)
    again = elsewhere(made, place)
    expire_leases(again.database)
    assert again.work_off() == 1
    assert again.job(job.id).state == "done"
    assert wrong(place, again.database) == []
    again.database.close()
    made.database.close()
