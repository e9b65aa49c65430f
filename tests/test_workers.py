"""Who does long work: this thread, threads, processes; what happens when one is killed, and what is
kept on disk.
"""

import os
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pytest

import fairpool as fp
from fairpool.compute.checkpoint import Checkpoint, digest_of
from fairpool.compute.cluster import open_executor
from fairpool.compute.memory import machine_memory, refuse_beyond_memory
from fairpool.compute.workers import Workers, as_workers
from fairpool.errors import DataError, FairpoolWarning
from tests.support.examples import MODELS, make_parties
from tests.support.worker_tasks import blas_threads, die_unless_in

SIZES = [4, 0, 7, 1, 3, 5, 2, 6, 3, 4, 2]


def game(name="gp", seed=1, sizes=SIZES):
    return fp.InformationGain(MODELS[name], make_parties(sizes, seed))


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.mark.parametrize("name", ["gp", "blr", "sparse"])
def test_processes_and_threads_give_the_same_bits(processes, name):
    expected = game(name).values()
    with ThreadPoolExecutor(2) as threads:
        np.testing.assert_array_equal(game(name).values(threads), expected)
    np.testing.assert_array_equal(game(name).values(processes), expected)
    np.testing.assert_array_equal(
        fp.shapley(game(name), executor=processes).values, fp.shapley(game(name)).values
    )


def test_what_all_tasks_need_goes_to_the_workers_once(processes):
    """Ten megabytes in a file, not in every task; and the file is gone afterwards."""
    space = fp.information.WeightSpace(
        np.array([np.eye(300) * (i + 1) for i in range(12)]), np.ones(12)
    )
    workers = Workers(processes)
    first = space.values(workers)
    placed = workers._last_placement.place
    assert placed.path.parent.stat().st_mode & 0o077 == 0  # for this user alone
    assert placed.path.stat().st_size > 8 * space.P.size
    np.testing.assert_array_equal(space.values(workers), first)
    assert workers._last_placement.place is placed  # not sent a second time
    path = placed.path
    del placed, workers
    assert not path.exists()


def test_workers_use_one_blas_thread_each(processes):
    assert set(Workers(processes).map(blas_threads, None, [1, 2, 3], "counting")) == {1}
    before = blas_threads(None, 0)
    with ThreadPoolExecutor(2) as threads:
        assert set(Workers(threads).map(blas_threads, None, [1, 2, 3], "counting")) == {1}
    assert blas_threads(None, 0) == before


def test_a_killed_process_costs_only_its_tasks():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        workers = Workers(pool)
        found = workers.map(die_unless_in, os.getpid(), list(range(12)), "dying")
    assert found == [10 * task for task in range(12)]
    [note] = workers.notes
    assert note.code == "worker died"
    assert "a worker process died (killed, or out of memory)" in note.text


def test_functions_of_the_library_warn_of_their_workers_notes_and_leave_those_of_given_ones():
    broken = ThreadPoolExecutor(1)
    broken.submit = lambda *_: (_ for _ in ()).throw(BrokenExecutor("gone"))
    for function in (fp.shapley, fp.banzhaf, lambda game, executor: game.values(executor)):
        with pytest.warns(FairpoolWarning, match="a worker process died") as said:
            function(game(), executor=broken)
        assert said[0].filename == __file__
        workers = Workers(broken)
        function(game(), executor=workers)
        assert [note.code for note in workers.notes] == ["worker died"]


def test_a_copy_of_workers_adds_its_notes_to_theirs():
    broken = ThreadPoolExecutor(1)
    broken.submit = lambda *_: (_ for _ in ()).throw(BrokenExecutor("gone"))
    workers = Workers(broken)
    game().values(replace(workers, checkpoint=None))
    assert [note.code for note in workers.notes] == ["worker died"]


def test_progress_counts_what_is_done():
    said = []
    with ThreadPoolExecutor(2) as pool:
        game().values(Workers(pool, lambda *what: said.append(what)))
    assert said == [("valuing coalitions", done, 8) for done in range(9)]


def test_an_error_of_a_task_is_the_error(processes):
    space = fp.information.KernelSpace.of(np.diag([1.0, -5, 1, 1]), [1, 1, 1, 1], np.ones(4))
    for executor in (None, processes):
        with pytest.raises(ValueError, match="a covariance is not positive definite"):
            space.values(executor)


def test_what_cannot_be_sent_is_refused_with_the_way_out(processes):
    model = fp.BayesianLinearRegression(0.1, features=lambda X: X**2)
    values = fp.ValidationGain(model, make_parties([3] * 7, 0), np.ones((2, 3)), [0, 1])
    with pytest.raises(DataError, match=r"cannot be sent to other processes .*; use threads"):
        values.values(processes)


@pytest.mark.parametrize("wrong", [4, "threads", ThreadPoolExecutor])
def test_what_is_no_executor_is_refused(wrong):
    with pytest.raises(DataError, match=r"is no executor; give one of concurrent\.futures"):
        as_workers(wrong)


def test_the_command_opens_what_it_is_asked_for():
    for jobs, processes, kind in (
        (1, False, type(None)),
        (2, False, ThreadPoolExecutor),
        (2, True, ProcessPoolExecutor),
    ):
        with open_executor(jobs, processes=processes) as executor:
            assert type(executor) is kind


def test_a_stopped_valuation_goes_on_where_it_was(tmp_path):
    checkpoint = Checkpoint(tmp_path / "kept")
    assert not checkpoint.used
    expected = game().values()

    def stop(text, done=0, total=None):
        if done == 3:
            raise KeyboardInterrupt("stop")

    with pytest.raises(KeyboardInterrupt, match="stop"):
        game().values(Workers(progress=stop, checkpoint=checkpoint))
    assert checkpoint.used
    assert (tmp_path / "kept").stat().st_mode & 0o077 == 0  # for the operator alone
    for file in list((tmp_path / "kept").rglob("*")):
        if file.is_file():
            half = file.with_name(f".{file.name}.0a1b2c3d")
            half.write_text("of a process that was killed")
    said = []
    workers = Workers(progress=lambda *what: said.append(what), checkpoint=checkpoint)
    np.testing.assert_array_equal(game().values(workers), expected)
    assert [done for _, done, _ in said] == [3, 4, 5, 6, 7, 8]
    said.clear()
    np.testing.assert_array_equal(game().values(workers), expected)
    assert [done for _, done, _ in said] == [8]
    workers.checkpoint.clear()
    assert not (tmp_path / "kept").exists()


def test_clearing_leaves_what_others_keep(tmp_path):
    other, mine = Checkpoint(tmp_path), Checkpoint(tmp_path)
    other.keep("theirs", "a", np.ones(2))
    (tmp_path / "notes.txt").write_text("mine")
    mine.keep("ours", "a", np.ones(2))
    mine.clear()
    assert sorted(f.name for f in tmp_path.iterdir()) == ["key", "notes.txt", "theirs"]
    Checkpoint(tmp_path / "never used").clear()


def test_values_that_cannot_be_kept_are_no_reason_to_stop(tmp_path):
    (tmp_path / "file").write_text("in the way")
    workers = Workers(checkpoint=Checkpoint(tmp_path / "file"))
    values = game().values(workers)
    [note] = workers.notes
    assert note.code == "not kept"
    assert note.text.startswith(f"values cannot be kept in {tmp_path / 'file'}")
    assert note.text.endswith("; a stopped run would begin anew")
    np.testing.assert_array_equal(values, game().values())


def test_a_sampled_valuation_goes_on_where_it_was(tmp_path):
    kept = Checkpoint(tmp_path)
    expected = fp.shapley(game("blr", sizes=[3, 5] * 10), rng=4, evaluations=1000)
    for _ in range(2):
        said = []
        workers = Workers(progress=lambda *what, said=said: said.append(what), checkpoint=kept)
        phi = fp.shapley(game("blr", sizes=[3, 5] * 10), rng=4, evaluations=1000, executor=workers)
        np.testing.assert_array_equal(phi.values, expected.values)
    first_done = {text: done for text, done, _ in reversed(said)}
    assert first_done["valuing sampled coalitions"] > 0  # at once


def test_kept_values_are_never_used_for_other_data_or_another_model(tmp_path):
    workers = Workers(checkpoint=Checkpoint(tmp_path))
    for name, seed in (
        ("gp", 1),
        ("gp", 2),
        ("gp-composite", 1),
        ("blr", 1),
        ("blr", 2),
        ("blr-prior", 1),
    ):
        np.testing.assert_array_equal(game(name, seed).values(workers), game(name, seed).values())


def test_kept_values_are_not_used_unless_asked_for_and_damaged_ones_never(tmp_path):
    kept = Checkpoint(tmp_path)
    expected = game().values(Workers(checkpoint=kept))
    for file in tmp_path.rglob("*.npy"):
        np.save(file, np.zeros(2**8))
    np.testing.assert_array_equal(
        game().values(Workers(checkpoint=Checkpoint(tmp_path, resume=False))), expected
    )
    for file in tmp_path.rglob("*.npy"):
        file.write_bytes(file.read_bytes()[:50])
    np.testing.assert_array_equal(game().values(Workers(checkpoint=kept)), expected)
    assert not list(tmp_path.rglob(".*"))  # nothing half-written


def test_a_digest_tells_arrays_apart():
    arrays = [
        np.zeros(4),
        np.zeros((2, 2)),
        np.zeros(4, dtype=np.float32),
        np.array([0, 0, 0, -0.0]),
        np.zeros(0),
    ]
    assert len({digest_of(a) for a in arrays}) == 5
    assert digest_of(np.asfortranarray(np.eye(3, 4))) == digest_of(np.eye(3, 4))


def test_what_does_not_fit_is_refused_beforehand(monkeypatch):
    monkeypatch.setattr("fairpool.compute.memory.machine_memory", lambda: 2**20)
    with pytest.raises(
        DataError,
        match=r"an exact Gaussian process of 400 rows needs about .* GiB of memory, and there",
    ):
        fp.InformationGain(MODELS["gp"], make_parties([200, 200], 0)).value({0})
    wide = fp.BayesianLinearRegression(0.1, features=lambda X: np.tile(X, (1, 60)))
    with pytest.raises(
        DataError, match=r"a model of 181 weights for 2 parties needs about .* to use; use fewer"
    ):
        fp.InformationGain(wide, make_parties([200, 200], 0)).value({0})
    refuse_beyond_memory(2**19, "half", "")


def test_memory_is_asked_for_by_what_is_asked_for(monkeypatch):
    """All values need more than some; samples need room, too."""
    some, all_ = (
        fp.information.KernelSpace.memory([20] * 6, all_values=a, workers=2) for a in (False, True)
    )
    monkeypatch.setattr("fairpool.compute.memory.machine_memory", lambda: (some + all_) / 2 / 0.8)
    small = [20] * 6
    with (
        ThreadPoolExecutor(2) as pool,
        pytest.raises(DataError, match=r"sample the contributions \(shapley\(game, method"),
    ):
        fp.shapley(game(sizes=small), executor=pool)
    assert fp.shapley(game(sizes=small), "sampled", evaluations=60).evaluations == 60
    with pytest.raises(
        DataError,
        match=r"a sample of 1000000 coalitions of 6 parties needs about .*; give fewer eval",
    ):
        fp.shapley(game(sizes=small), "sampled", evaluations=1_000_000)


def test_memory_is_estimated_by_what_will_be_done():
    memory = fp.information.KernelSpace.memory
    assert memory([1000] * 10, all_values=True) < 8 * 2**30 / 1.5
    assert memory([1000] * 10, all_values=True, workers=3) > 1.8 * memory(
        [1000] * 10, all_values=True
    )
    assert memory([4] * 1000, all_values=False) == 8 * 4 * 4000**2
    assert memory([], all_values=True) == 0
    with ThreadPoolExecutor(3) as pool:
        assert (Workers(pool).here, Workers().here) == (3, 1)


def test_a_containers_limit_counts(monkeypatch, tmp_path):
    whole = machine_memory()
    (tmp_path / "limit").write_text(f"{whole // 2}\n")
    (tmp_path / "none").write_text("max\n")
    monkeypatch.setattr("fairpool.compute.memory.LIMITS", [tmp_path / "none", tmp_path / "missing"])
    assert machine_memory() >= whole
    monkeypatch.setattr("fairpool.compute.memory.LIMITS", [tmp_path / "limit"])
    assert machine_memory() == whole // 2
    monkeypatch.delattr(os, "sysconf")  # as on Windows
    assert machine_memory() == whole // 2
    monkeypatch.setattr("fairpool.compute.memory.LIMITS", [])
    assert machine_memory() > whole
