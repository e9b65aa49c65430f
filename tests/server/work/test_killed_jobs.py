"""Workers that are killed anywhere: nothing is lost, released twice or left behind."""

import json

import pytest

from fairpool.consortium.rounds.inspecting import verify_folder
from fairpool.server.consortia import rounds
from fairpool.server.store.database import Database
from tests.server.conftest import fresh_postgres
from tests.server.work.computed import closed
from tests.server.work.worlds import (
    World,
    expire_leases,
    releases,
    sqlite_in,
    submitted,
    told,
    wrong,
)
from tests.support.job_kills import workers

DECISIVE = ("commit", "open ledger", "os.rename .000", "os.rename .", "open secret")
"""Changes after which something else is true than before."""


@pytest.fixture(scope="module")
def forked():
    with workers() as program:
        yield program


@pytest.fixture(params=["sqlite", "postgres"])
def kept(request, tmp_path):
    """A database that can be put aside with the folder `server`."""
    if request.param == "sqlite":
        database = sqlite_in(tmp_path / "server")
    else:
        database = Database(fresh_postgres(request.getfixturevalue("postgres")))
        database.migrate()
    yield database
    database.close()


def points_of(changes, every):
    """Every so manieth change, and the first of each decisive kind."""
    chosen = set(range(0, len(changes), every))
    for beginning in DECISIVE:
        found = [point for point, name in enumerate(changes) if name.startswith(beginning)]
        chosen |= set(found[:1])
    return sorted(chosen)


def asked(folder, kind, database):
    """A service whose operator has asked for a preview, or for a release."""
    made = closed(database, folder)
    if kind == "preview":
        job = made.act(rounds.preview)
    else:
        job = made.act(rounds.release, made.preview().id)
    return made, job


def killed_everywhere(made, job, kind, forked, every):
    settings, database = made.agreed.settings, made.database
    world = World.put_aside(settings.folder, database)
    changes = forked.changes(settings, database)
    assert len(changes) > 20
    expected = outcome(made, job, kind)
    before = submitted(database)
    for point in points_of(changes, every):
        world.put_back()
        name = forked.work(settings, database, point)
        assert name.split()[0] == changes[point].split()[0]
        expire_leases(database)
        assert forked.work(settings, database) == ""
        assert outcome(made, job, kind) == expected, f"killed before change {point}: {name}"
        assert submitted(database) == before


def outcome(made, job, kind):
    """What is true in the end, whatever happened on the way."""
    done = made.job(job.id)
    found = {
        "job": (done.state, done.problem),
        "rounds": [(one.number, one.state) for one in made.rounds()],
        "wrong": wrong(made.agreed.settings, made.database),
        "told": told(made.database, "released" if kind == "release" else "previewed"),
        "releases": len(releases(made.database)),
        "left": sorted(path.name for path in made.folder.iterdir()),
    }
    if kind == "preview":
        numbers = done.result["parties"]
    else:
        assert verify_folder(made.folder, releases(made.database)).ok
        result = made.folder / "rounds" / "0001" / "operator" / "result.json"
        numbers = json.loads(result.read_text())["parties"]
    names = ("name", "rows", "value", "contribution", "reward")
    return found | {"numbers": [{name: one[name] for name in names} for one in numbers]}


@pytest.mark.parametrize("kind", ["preview", "release"])
def test_a_job_whose_worker_is_killed_is_done_once(tmp_path, kept, forked, kind):
    made, job = asked(tmp_path, kind, kept)
    killed_everywhere(made, job, kind, forked, 1000)


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["preview", "release"])
def test_a_job_that_is_killed_before_each_change_is_done_once(tmp_path, kept, forked, kind):
    made, job = asked(tmp_path, kind, kept)
    killed_everywhere(made, job, kind, forked, 1)
