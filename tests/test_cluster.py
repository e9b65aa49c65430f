"""On a real Dask cluster: the same numbers as here, whatever happens to its workers; and clear
errors.
"""

import http.server
import json
import socket
import time
from contextlib import contextmanager
from threading import Thread

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool.columns import NumberColumn
from fairpool.compute.checkpoint import Checkpoint
from fairpool.compute.cluster import open_executor
from fairpool.compute.workers import Workers
from fairpool.consortium.statistics import summarise_files
from fairpool.consortium.tables import Source
from fairpool.encoding import TableEncoding
from fairpool.errors import ClusterError
from fairpool.paper.reproduction import reproduce
from fairpool.targets import NumberTarget
from tests.support.dask_cluster import cluster, connected
from tests.support.examples import MODELS, make_parties
from tests.support.projects import fairpool, fairpool_process, is_untouched, project

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("dask")) as found, connected(found.address):
        yield found


@pytest.fixture
def executor(running):
    with connected(running.address) as client:
        yield client.get_executor()


def slow_game():
    """Some seconds of work in several tasks."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 60, 3))
    return fp.InformationGain(
        fp.GaussianProcess(RBF(1.0), 0.1),
        [fp.Party(str(i), x, np.zeros(60)) for i, x in enumerate(X)],
    )


@pytest.mark.parametrize("name", ["gp", "blr"])
def test_all_values_are_those_of_this_machine(executor, name):
    sizes = [4, 0, 7, 1, 3, 5, 2, 6, 3, 4]
    here, there = (fp.InformationGain(MODELS[name], make_parties(sizes, 1)) for _ in range(2))
    np.testing.assert_allclose(there.values(executor), here.values(), rtol=1e-12, atol=1e-12)


def test_what_all_tasks_need_is_on_every_worker_once(running):
    space = fp.InformationGain(MODELS["blr"], make_parties([3] * 12, 0)).space
    with connected(running.address) as client:
        workers = Workers(client.get_executor())
        first = space.values(workers)
        placed = workers._last_placement.place
        deadline = time.monotonic() + 60
        # The scheduler hears of it a moment later.
        while len(client.who_has([placed])[placed.key]) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        np.testing.assert_array_equal(space.values(workers), first)
        assert workers._last_placement.place is placed


def test_a_validation_gain_and_a_client_instead_of_its_executor(running):
    parties = make_parties([4, 6, 5, 3, 3, 2, 4], 1)
    X = np.random.default_rng(0).standard_normal((9, 3))
    here, there = (fp.ValidationGain(MODELS["gp"], parties, X, X[:, 0]) for _ in range(2))
    with connected(running.address) as client:
        np.testing.assert_allclose(there.values(client), here.values(), rtol=1e-12, atol=1e-12)


def test_200_parties_are_sampled(executor):
    rng = np.random.default_rng(0)
    tables = [
        rng.lognormal() * rng.standard_normal((int(rng.integers(1, 9)), 3)) for _ in range(200)
    ]
    parties = [fp.Party(str(i), X, X[:, 0]) for i, X in enumerate(tables)]
    here = fp.collaborate(parties, MODELS["blr"], evaluations=4000)
    there = fp.collaborate(parties, MODELS["blr"], evaluations=4000, executor=executor)
    assert there.contributions.method == "sampled"
    np.testing.assert_allclose(
        there.contributions.values, here.contributions.values, rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(there.rewards, here.rewards, rtol=1e-12)
    assert there.contributions.evaluations == here.contributions.evaluations <= 4000


def test_statistics_of_files_and_row_groups(executor, tmp_path):
    rng = np.random.default_rng(0)
    files = []
    for number in range(2):
        files.append(tmp_path / f"{number}.parquet")
        table = pa.table({name: rng.standard_normal(5000) for name in ("a", "b", "y")})
        pq.write_table(table, files[-1], row_group_size=700)
    encoding = TableEncoding(
        (NumberColumn("a", 0.1, 2.0), NumberColumn("b", 0.0, 1.0)), NumberTarget("y", 0.0, 1.0)
    )
    model = fp.BayesianLinearRegression(0.1)
    source = Source("p", tuple(files))
    here, there = (
        summarise_files("p", source, encoding=encoding, model=model, workers=Workers(e))
        for e in (None, executor)
    )
    np.testing.assert_array_equal(there.gram, here.gram)
    np.testing.assert_array_equal(there.moment, here.moment)
    assert there.rows == 10_000


def test_the_papers_figures(executor, tmp_path):
    reproduce(["fig2", "fig4"], tmp_path / "there", quick=True, executor=executor)
    reproduce(["fig2"], tmp_path / "here", quick=True)
    assert (tmp_path / "there" / "fig2.csv").read_bytes() == (
        tmp_path / "here" / "fig2.csv"
    ).read_bytes()


def test_a_worker_killed_mid_run_costs_only_its_tasks(tmp_path):
    expected = slow_game().values()
    with cluster(tmp_path) as found, connected(found.address) as client:
        steps = []

        def progress(text, done=0, total=None):
            steps.append(done)
            if done == 2:
                found.workers[0].kill()  # kill -9

        values = slow_game().values(Workers(client.get_executor(), progress))
        assert found.workers[0].wait() == -9
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)
    assert steps[-1] == 8


def test_a_cluster_that_is_gone_is_an_error_in_seconds_and_what_is_done_is_kept(tmp_path):
    expected = slow_game().values()
    checkpoint = Checkpoint(tmp_path / "kept")
    with cluster(tmp_path) as found, connected(found.address) as client:
        stopped = []

        def progress(text, done=0, total=None):
            if done == 2:
                found.stop()
                stopped.append(time.monotonic())

        with pytest.raises(
            ClusterError,
            match=r"the workers are gone .* of 8 tasks to do; look whether the cluster",
        ):
            slow_game().values(Workers(client.get_executor(), progress, checkpoint))
        assert time.monotonic() - stopped[0] < 60
    kept = len(list((tmp_path / "kept").rglob("*.npy")))
    assert kept >= 2
    done = []
    values = slow_game().values(
        Workers(None, lambda text, done_=0, total=None: done.append(done_), checkpoint)
    )
    assert done[0] == kept
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)


def test_work_that_is_cancelled_leaves_nothing_running(running):
    with connected(running.address) as client:

        def progress(text, done=0, total=None):
            if done == 1:
                raise KeyboardInterrupt("stop")

        with pytest.raises(KeyboardInterrupt, match="stop"):
            slow_game().values(Workers(client.get_executor(), progress))
        deadline = time.monotonic() + 30
        while any(client.processing().values()):
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_the_command_on_a_cluster(running, tmp_path):
    results = []
    ways = [
        (fairpool, []),
        (fairpool_process, ["--cluster", running.address]),
        (fairpool, ["--jobs", "2"]),
    ]
    for number, (way, more) in enumerate(
        ways
    ):  # the cluster's client has a log of its own, which only a process shows
        folder = project(tmp_path / str(number))
        done = way("run", folder, "--json", *more)
        assert (done.returncode, done.stderr) == (0, "")
        results.append(json.loads(done.stdout))
    for other in results[1:]:
        for mine, theirs in zip(results[0]["parties"], other["parties"], strict=True):
            assert theirs["reward"] == pytest.approx(mine["reward"], rel=1e-12)
            assert theirs["eta"] == pytest.approx(mine["eta"], rel=1e-9)


def test_a_scheduler_that_cannot_be_reached_is_an_error_in_seconds(tmp_path):
    folder = project(tmp_path)
    cases = [
        (
            fairpool_process,
            "tcp://127.0.0.1:9",
            "no Dask scheduler answers at tcp://127.0.0.1:9 within 5 seconds",
        ),
        (fairpool, "nonsense", "'nonsense' is no address of a Dask scheduler"),
    ]
    for way, address, text in cases:
        start = time.monotonic()
        done = way("run", folder, "--cluster", address)
        assert done.returncode == 2
        assert text in done.stderr
        assert "Traceback" not in done.stderr
        assert time.monotonic() - start < 30
    assert is_untouched(folder)


@pytest.mark.parametrize(
    ("at_start", "text"),
    [
        (
            "if name != 'fairpool': return found(name)\n    return '9.9'",
            "has fairpool 9.9; install fairpool",
        ),
        (
            "if name != 'fairpool': return found(name)\n    raise m.PackageNotFoundError(name)",
            "has no fairpool ",
        ),
    ],
)
def test_a_worker_of_another_version_or_without_fairpool_is_an_error(
    tmp_path, monkeypatch, at_start, text
):
    """The worker is a real process, which finds another installation than this one."""
    (tmp_path / "sitecustomize.py").write_text(
        f"import importlib.metadata as m\nfound = m.version\ndef version(name):\n    {at_start}\n"
        "version.__module__, m.version = 'importlib.metadata', version\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with cluster(tmp_path, workers=1) as found:
        monkeypatch.delenv("PYTHONPATH")
        with (
            connected(found.address, 1),
            pytest.raises(ClusterError, match=text),
            open_executor(1, found.address),
        ):
            pass


def test_a_cluster_without_workers_is_an_error(tmp_path):
    with (
        cluster(tmp_path, workers=0) as found,
        pytest.raises(
            ClusterError, match=r"has no workers; start some: dask worker tcp://127\.0\.0\.1"
        ),
        open_executor(1, found.address),
    ):
        pass


def refusal_of(address):
    """What is said about an address, within half a minute.

    A thread that hangs does not hold up the tests.
    """
    texts = []

    def attempt():
        try:
            with open_executor(1, address):
                texts.append("accepted")
        except ClusterError as error:
            texts.append(str(error))

    thread = Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive(), "it hangs"
    return texts[0]


@contextmanager
def listener(answer):
    """A program that takes every connection, and says the same to all."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            taken = []
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return  # the test is over
                taken.append(connection)
                connection.sendall(answer)

        thread = Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(30)


@contextmanager
def web_server():
    class Silent(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"tcp://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join(30)


@pytest.fixture
def short_patience(monkeypatch):
    monkeypatch.setattr("fairpool.compute.cluster.SECONDS", 1)


def test_something_that_never_answers_is_no_scheduler(short_patience):
    with listener(b"") as address:
        assert refusal_of(address).startswith(
            f"no Dask scheduler answers at {address} within 1 seconds (TimeoutError)"
        )


def test_a_web_server_is_no_scheduler(short_patience):
    with web_server() as address:
        assert refusal_of(address).startswith(
            f"no Dask scheduler answers at {address} within 1 seconds"
        )


@pytest.mark.parametrize(
    "answer", [b"SSH-2.0-OpenSSH_9.6\r\n" * 9, bytes(4096), b"\x08" + bytes(7) + b"\x01" * 99]
)
def test_what_answers_in_another_language_is_no_scheduler(short_patience, answer):
    with listener(answer) as address:
        text = refusal_of(address)
    assert address in text
    assert "Dask scheduler" in text
    assert text.endswith("tcp://HOST:PORT")
    assert len(text) < 300


def test_a_worker_is_no_scheduler(running):
    with connected(running.address) as client:
        worker = next(iter(client.scheduler_info()["workers"]))
    expected = f"{worker!r} is no address of a Dask scheduler (it is that of a Dask Worker); give tcp://HOST:PORT"
    assert refusal_of(worker) == expected
