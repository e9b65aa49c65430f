"""An upgrade while a job runs: a worker of the version before holds it, a new service begins."""

import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from fairpool.consortium.rounds.inspecting import verify_folder
from fairpool.consortium.rounds.releasing import one_at_a_time
from fairpool.server.backup.archive import opened_archive
from fairpool.server.backup.taking import back_up
from fairpool.server.consortia import rounds
from fairpool.server.store.database import Database, revision_of, upgrade
from fairpool.server.store.tables import Job, JobState, RoundState
from fairpool.server.work import queue
from fairpool.server.work.progress import Hold
from fairpool.server.work.queue import LeaseLostError, Taken
from fairpool.server.work.stages import Work
from fairpool.server.work.worker import do
from tests.server.conftest import fresh_postgres
from tests.server.served import Served, served
from tests.server.work.computed import LEASE, Computed, closed
from tests.server.work.worlds import releases, told, wrong

BEFORE = "0004"
"""The tables that the older worker knows; it says of itself only what stands in its job."""

KINDS = ["sqlite", pytest.param("postgres", marks=pytest.mark.soak)]


def waiting_release(tmp_path: Path, request: pytest.FixtureRequest, kind: str) -> Computed:
    """A service of the version before, whose operator has asked for a release."""
    (tmp_path / "server").mkdir(mode=0o700)
    address = f"sqlite:///{tmp_path / 'server' / 'database.sqlite'}"
    if kind == "postgres":
        address = fresh_postgres(request.getfixturevalue("postgres"))
    database = Database(address)
    with database.engine.connect() as connection:
        upgrade(connection, BEFORE)
        connection.commit()
    made = closed(database, tmp_path)
    made.act(rounds.release, made.preview().id)
    return made


def new_service(made: Computed) -> AbstractContextManager[Served]:
    address = made.database.engine.url.render_as_string(hide_password=False)
    return served(made.agreed.settings.folder, "--workers", "1", FAIRPOOL_DATABASE=address)


def until(happened) -> None:
    end = time.monotonic() + 120
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_ready(service: Served) -> bool:
    with service.client() as client:
        return client.get("/readyz").status_code == 200


def released_once(made: Computed, job: Job) -> None:
    assert job.state == JobState.DONE
    assert made.rounds()[0].state == RoundState.RELEASED
    assert len(releases(made.database)) == told(made.database, "released") == 1
    found = verify_folder(made.folder)
    assert (list(found.ledger.problems), list(found.files)) == ([], [])
    assert len([*(made.folder / "rounds").iterdir()]) == 1
    assert wrong(made.agreed.settings, made.database) == []
    with made.database.engine.connect() as connection:
        assert revision_of(connection) != BEFORE


def old_worker(made: Computed, taken: Taken) -> None:
    with Hold(made.database, taken, LEASE, threading.Event()) as hold:
        do(
            Work(
                settings=made.agreed.settings,
                database=made.database,
                taken=taken,
                hold=hold,
            )
        )


@pytest.mark.parametrize("kind", KINDS)
def test_an_old_worker_that_lives_finishes_its_job_under_the_new_service(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    made = waiting_release(tmp_path, request, kind)
    taken = queue.take(made.database, "old", LEASE)
    assert taken is not None
    thread = threading.Thread(target=old_worker, args=(made, taken))
    with new_service(made) as service:
        with one_at_a_time(made.folder):  # so that it is at work while the new service begins
            thread.start()
            until(lambda: is_ready(service))
            assert made.job(taken.id).state == JobState.RUNNING
        thread.join(120)
        assert not thread.is_alive()
    job = made.job(taken.id)
    assert (job.fence, job.worker) == (taken.fence, "old")
    released_once(made, job)
    made.database.close()


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_the_job_of_an_old_worker_that_died_is_taken_by_a_new_one(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    made = waiting_release(tmp_path, request, kind)
    taken = queue.take(made.database, "old", 0.5)
    assert taken is not None
    back_up(made.agreed.settings, made.database, tmp_path / "before.backup")
    with opened_archive(tmp_path / "before.backup") as reader:
        assert reader.manifest.revision == BEFORE
    with made.database.engine.connect() as connection:
        assert revision_of(connection) == BEFORE  # a backup changes nothing
    with new_service(made):
        until(lambda: made.job(taken.id).state == JobState.DONE)
    job = made.job(taken.id)
    assert job.fence > taken.fence
    with made.database.open_session() as session, pytest.raises(LeaseLostError, match="no longer"):
        queue.finish(session, taken, {})
    released_once(made, job)
    made.database.close()
