import json
import shutil
import threading

import pytest
import structlog

from fairpool.compute.files import make_private_folder
from fairpool.consortium.rounds.context import open_context
from fairpool.server.consortia import closing, rounds
from fairpool.server.consortia.found import found_in
from fairpool.server.refused import RefusedError
from fairpool.server.store.tables import Job
from fairpool.server.work import queue, stages
from fairpool.server.work.progress import Hold
from fairpool.server.work.stages import Work
from fairpool.server.work.worker import do
from tests.server.agreed import csv_of, draft_of, rows
from tests.server.work.computed import LEASE, closed, closed_with_many
from tests.server.work.worlds import expire_leases, releases, told, wrong
from tests.support.dask_cluster import cluster, connected
from tests.support.projects import fairpool

NUMBERS = ("value", "contribution", "reward", "realised")


def result_of(folder, number=1):
    path = folder / "rounds" / f"{number:04d}" / "operator" / "result.json"
    return json.loads(path.read_text())


def released_in_ledger(folder):
    """The rounds that the ledger tells of."""
    return [past.number for past in open_context(folder).history.rounds]


def test_a_round_is_previewed_and_released(database, tmp_path):
    made = closed(database, tmp_path)
    preview = made.preview()
    assert (preview.state, preview.problem) == ("done", None)
    assert made.state == "previewed"
    report = made.folder / ".preview" / preview.id / "operator" / "report.html"
    assert "Clinics" in report.read_text()
    assert not (made.folder / "ledger.jsonl").exists()
    assert not (made.folder / "data").exists()
    assert wrong(made.agreed.settings, database) == []
    job = made.release(preview)
    assert (job.state, job.problem) == ("done", None)
    assert [round_.state for round_ in made.rounds()] == ["released", "open"]
    for party, found in zip(
        result_of(made.folder)["parties"], preview.result["parties"], strict=True
    ):
        assert {name: party[name] for name in NUMBERS[:3]}.items() <= found.items()
    assert releases(database) == [job.result["head"]]
    left = {path.name for path in made.folder.iterdir()}
    expected = {".fairpool", "collaboration.toml", "latest", "ledger.jsonl", "rounds"}
    assert left - {"plan.json"} == expected
    assert wrong(made.agreed.settings, database) == []


def test_it_is_what_the_command_line_gives_for_the_same_tables(database, tmp_path):
    made = closed(database, tmp_path)
    made.release(made.preview())
    folder = tmp_path / "by-hand"
    (folder / "data").mkdir(parents=True)
    text = (made.folder / "collaboration.toml").read_text()
    (folder / "collaboration.toml").write_text(text)
    for name, table in (("north", rows(40, 1)), ("south", rows(60, 2))):
        (folder / "data" / name).mkdir()
        (folder / "data" / name / "whatever.csv").write_bytes(csv_of(table))
    assert fairpool("run", folder).returncode == 0
    by_hand, by_service = result_of(folder), result_of(made.folder)
    for name in ("total", "rho", "rho_rational", "rho_stable"):
        assert by_service[name] == pytest.approx(by_hand[name], rel=1e-12)
    for mine, other in zip(by_service["parties"], by_hand["parties"], strict=True):
        assert mine["name"] == other["name"]
        for name in NUMBERS:
            assert mine[name] == pytest.approx(other[name], rel=1e-12)


def test_the_next_round_has_what_parties_have_by_then(database, tmp_path):
    made = closed(database, tmp_path)
    made.release(made.preview())
    north = made.agreed.consortium.of_north
    more = csv_of(rows(70, 1))  # its first rows are those that it had
    made.send(north, more)
    made.act(closing.close)
    job = made.release(made.preview())
    assert (job.state, job.problem) == ("done", None)
    first, second = (result_of(made.folder, number)["parties"] for number in (1, 2))
    assert [party["rows"] for party in first] == [40, 60]
    assert [party["rows"] for party in second] == [70, 60]
    assert [round_.state for round_ in made.rounds()] == ["released", "released", "open"]
    assert wrong(made.agreed.settings, database) == []


def test_data_that_cannot_be_valued_together_are_told_without_any_path(database, tmp_path):
    toml = draft_of("north", "south").replace("inducing_points = 8", "inducing_points = 60")
    made = closed(database, tmp_path, toml=toml)
    job = made.preview()
    assert job.state == "failed"
    assert "north" in job.problem
    assert str(tmp_path) not in job.problem
    assert made.state == "closed"
    assert told(database, "failed") == 1
    made.act(rounds.reopen)
    assert wrong(made.agreed.settings, database) == []


def test_what_nobody_foresaw_is_told_by_a_number_and_written_to_the_log(
    database, tmp_path, monkeypatch, capsys
):
    structlog.reset_defaults()  # a service of another test may have it write elsewhere
    made = closed(database, tmp_path)

    def broken(*_):
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(stages, "run", broken)
    job = made.preview()
    assert job.state == "failed"
    assert job.problem.startswith("something went wrong here, number ")
    number = job.problem.removeprefix("something went wrong here, number ").partition(";")[0]
    assert "secret" not in job.problem
    log = capsys.readouterr().out
    assert number in log
    assert "secret detail" in log
    monkeypatch.undo()
    again = made.act(rounds.resume, job.id)
    made.work_off()
    assert made.job(again.id).state == "done"


def test_nothing_but_what_was_previewed_is_released(database, tmp_path):
    made = closed(database, tmp_path)
    preview = made.preview()
    with database.transaction() as session:
        job = session.get_one(Job, preview.id)
        party = {**job.result["parties"][0], "reward": 1.5 * job.result["parties"][0]["reward"]}
        job.result = {**job.result, "parties": [party, *job.result["parties"][1:]]}
    job = made.release(preview)
    assert job.state == "failed"
    assert 'this is not what was previewed (another reward of "north"' in job.problem
    assert made.state == "previewed"
    assert not (made.folder / "rounds").exists()
    assert releases(database) == []


def test_a_job_that_takes_down_every_worker_is_given_up(database, tmp_path):
    made = closed(database, tmp_path)
    job = made.act(rounds.preview)
    for _ in range(3):
        queue.take(database, "dead", LEASE)
        expire_leases(database)
    made.work_off()
    found = made.job(job.id)
    assert found.state == "failed"
    assert "whoever worked on this died, 3 times" in found.problem
    assert made.state == "closed"


def test_a_file_that_takes_down_every_worker_is_refused_and_can_be_sent_again(database, tmp_path):
    made = closed(database, tmp_path)
    made.act(rounds.reopen)
    north = made.agreed.consortium.of_north
    sent = made.agreed.send(north, csv_of(rows(30, 5)))
    for _ in range(3):
        dead = queue.take(database, "dead", LEASE)
        left = made.agreed.settings.work / f"{dead.id}-{dead.fence}"
        make_private_folder(left)
        expire_leases(database)
    made.work_off()
    found = made.agreed.now(sent)
    assert found.state == "refused"
    [problem] = found_in(made.agreed.settings, found).problems
    assert "whoever worked on this died, 3 times" in problem
    assert [*made.agreed.settings.work.iterdir()] == []
    assert wrong(made.agreed.settings, database) == []
    assert made.agreed.withdraw(north, sent).state == "withdrawn"
    assert made.agreed.checked(north, csv_of(rows(30, 5))).state == "checked"


def test_a_release_that_only_lacks_its_record_is_recorded_and_cannot_be_cancelled(
    database, tmp_path, monkeypatch
):
    made = closed(database, tmp_path)
    job = made.act(rounds.release, made.preview().id)

    def dies(*_):
        raise KeyboardInterrupt("dead")

    monkeypatch.setattr(rounds, "released", dies)
    with pytest.raises(KeyboardInterrupt, match="dead"):
        made.work_off()
    monkeypatch.undo()
    assert released_in_ledger(made.folder) == [1]
    assert releases(database) == []
    expire_leases(database)
    with pytest.raises(RefusedError, match="cannot be stopped any longer"):
        made.act(rounds.cancel, job.id)
    made.work_off()
    assert made.job(job.id).state == "done"
    assert len(releases(database)) == 1
    assert made.rounds()[0].state == "released"


class CancelsAt(Hold):
    """A job that its operator cancels once so much of it is done."""

    def __call__(self, text, done=0, total=None):
        if text == "valuing coalitions":
            self.steps.append((done, total))
        if text == "valuing coalitions" and done == self.at:
            self.made.act(rounds.cancel, self.taken.id)
            while True:  # what computes goes on until it is told, which is within a second
                super().__call__(text, done, total)
        super().__call__(text, done, total)


def do_with(made, *, at=None):
    """Do the job that waits; how many coalitions it said were valued, step by step."""
    taken = queue.take(made.database, "w", LEASE)
    hold = CancelsAt(made.database, taken, LEASE, threading.Event())
    hold.made, hold.at, hold.steps = made, at, []
    with hold:
        work = Work(settings=made.agreed.settings, database=made.database, taken=taken, hold=hold)
        do(work)
    return [*hold.steps]


def test_a_computation_that_is_cancelled_stops_and_goes_on_with_what_is_there(tmp_path, sqlite):
    made = closed_with_many(sqlite, tmp_path)
    job = made.act(rounds.preview)
    assert do_with(made, at=2) == [(0, 4), (1, 4), (2, 4)]
    assert made.job(job.id).state == "cancelled"
    assert made.state == "closed"
    made.act(rounds.resume, job.id)
    assert do_with(made) == [(2, 4), (3, 4), (4, 4)]
    assert made.state == "previewed"
    made.act(rounds.release, made.rounds()[-1].preview_id)
    assert do_with(made) == [(4, 4)]  # of the release nothing is valued anew
    assert made.rounds()[0].state == "released"


class CancelsAtTheEnd(Hold):
    """A job that its operator cancels when all but its record is there."""

    def __call__(self, text, done=0, total=None):
        super().__call__(text, done, total)
        if text == "writing":
            self.made.act(rounds.cancel, self.taken.id)


def test_a_preview_that_was_cancelled_is_never_found_done(tmp_path, database):
    made = closed(database, tmp_path)
    job = made.act(rounds.preview)
    taken = queue.take(database, "w", LEASE)
    hold = CancelsAtTheEnd(database, taken, LEASE, threading.Event())
    hold.made = made  # nobody looks for it meanwhile: the thread that does has not been started
    do(Work(settings=made.agreed.settings, database=database, taken=taken, hold=hold))
    assert (made.job(job.id).state, made.state) == ("cancelled", "closed")
    assert not (made.folder / ".preview").exists()
    assert wrong(made.agreed.settings, database) == []
    made.act(rounds.resume, job.id)
    made.work_off()
    assert made.state == "previewed"


def test_a_worker_that_is_to_end_gives_its_job_back(tmp_path, database):
    made = closed(database, tmp_path)
    job = made.act(rounds.preview)
    stop = threading.Event()

    class Stops(Hold):
        def __call__(self, text, done=0, total=None):
            if text == "judging labels by simulated ones":
                stop.set()
            super().__call__(text, done, total)

    taken = queue.take(database, "w", LEASE)
    with Stops(database, taken, LEASE, stop) as hold:
        do(Work(settings=made.agreed.settings, database=database, taken=taken, hold=hold))
    found = made.job(job.id)
    assert (found.state, found.tries, found.worker) == ("queued", 0, None)
    assert made.state == "computing"
    made.work_off()
    assert made.state == "previewed"


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # Dask leaves sockets open
def test_the_workers_of_a_cluster_compute(tmp_path, sqlite):
    made = closed_with_many(sqlite, tmp_path)
    with cluster(tmp_path) as found:
        with connected(found.address):
            preview = made.act(rounds.preview)
        made.work_off(cluster=found.address)
        there = made.job(preview.id)
    assert (there.state, there.problem) == ("done", None)
    shutil.rmtree(made.folder / ".fairpool-checkpoint")
    here = made.preview()
    for mine, other in zip(here.result["parties"], there.result["parties"], strict=True):
        for name in NUMBERS[:3]:
            assert mine[name] == pytest.approx(other[name], rel=1e-12)


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # Dask leaves sockets open
def test_a_cluster_that_is_not_there_is_told(tmp_path, sqlite):
    made = closed(sqlite, tmp_path)
    job = made.act(rounds.preview)
    made.work_off(cluster="tcp://127.0.0.1:9")
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in made.job(job.id).problem
    assert made.state == "closed"
