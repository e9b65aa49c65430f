"""Long work as independent tasks, done by whatever workers there are: this thread, a pool, or a
Dask cluster.
"""

import hashlib
import pickle
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    as_completed,
)
from concurrent.futures.process import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

from threadpoolctl import threadpool_limits

from fairpool.compute.checkpoint import Checkpoint
from fairpool.errors import ClusterError, DataError, shown
from fairpool.notes import Note, warn_of

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Result = TypeVar("Result")


class Progress(Protocol):
    """Called with what is being done, and how much of it is, whenever some more is."""

    def __call__(self, text: str, done: int = 0, total: int | None = None) -> None:
        """Say it."""
        ...  # pragma: no cover


def no_progress(text: str, done: int = 0, total: int | None = None) -> None:
    """For who does not want to know."""


@dataclass(frozen=True, eq=False)
class Workers:
    """Who does long work, who is told about it, and where its results are kept meanwhile.

    The results are the same whoever does the work: tasks do not depend on how many workers there
    are, and their results are put together in the tasks' order.

    Args:
        executor: Any `concurrent.futures.Executor`: threads, processes,
            `dask.distributed.Client.get_executor()`. None: this thread. Each worker uses one BLAS
            thread, so that cores are not oversubscribed.
        progress: Called as (text, done, total) whenever a task is done.
        checkpoint: Where results are kept, so that work that was stopped can be resumed.
        notes: What went wrong and was made good; more are added as work is done.
    """

    executor: Executor | None = None
    progress: Progress = no_progress
    checkpoint: Checkpoint | None = None
    notes: list[Note] = field(default_factory=list)
    _placed: list[tuple[Any, Any]] = field(
        default_factory=list, repr=False
    )  # the last shared thing, and where it is

    @property
    def here(self) -> int:
        """How many of them share this machine's memory."""
        local = isinstance(self.executor, ThreadPoolExecutor | ProcessPoolExecutor)
        return int(self.executor._max_workers) if local else 1  # type: ignore[union-attr]

    def map(
        self,
        function: Callable[[Shared, Task], Result],
        shared: Shared,
        tasks: Sequence[Task],
        doing: str,
        *,
        digest: Callable[[], str] = lambda: "",
        before: int = 0,
        total: int | None = None,
    ) -> list[Result]:
        """function(shared, task) for every task, in the tasks' order.

        Args:
            function: At the top of a module, so that another process can find it.
            shared: What all tasks need; it goes to each worker once.
            tasks: Small things, such as numbers.
            doing: What it is, for the progress.
            digest: Gives the hash of what the results (arrays) depend on, but for the task; if it
                is empty they are not kept.
            before: How many tasks of the same work are done already, for the progress.
            total: How many there are in all.
        """
        total = len(tasks) if total is None else total
        task_of = f"{function.__module__}.{function.__qualname__}"
        names = [
            hashlib.blake2b(f"{task_of} {task}".encode(), digest_size=12).hexdigest()
            for task in tasks
        ]
        under = digest() if self.checkpoint else ""
        kept = self.checkpoint if under else None
        found = {
            k: r
            for k, name in enumerate(names)
            if kept and (r := kept.load(under, name)) is not None
        }
        results: dict[int, Any] = dict(found)
        self.progress(doing, before + len(results), total)
        wanted = [number for number in range(len(tasks)) if number not in found]
        for position, result in self.each(function, shared, [tasks[number] for number in wanted]):
            number = wanted[position]
            results[number] = result
            if kept:
                self.notes.extend(kept.keep(under, names[number], result))  # type: ignore[arg-type]
            self.progress(doing, before + len(results), total)
        return [results[number] for number in range(len(tasks))]

    def each(
        self, function: Callable[[Shared, Task], Result], shared: Shared, tasks: Sequence[Task]
    ) -> Iterator[tuple[int, Result]]:
        """Each task's number and result, as they come."""
        if self.executor is None:
            yield from ((number, function(shared, task)) for number, task in enumerate(tasks))
            return
        futures: dict[Future[Result], int] = {}
        left = set(range(len(tasks)))
        threads = isinstance(self.executor, ThreadPoolExecutor)
        with threadpool_limits(1 if threads else None, "blas"):
            try:
                placed = shared if threads else self._place(shared)
                for number, task in enumerate(tasks):
                    job = (
                        (function, placed, task)
                        if threads
                        else (_run_elsewhere, function, placed, task)
                    )
                    futures[self.executor.submit(*job)] = number
                for future in as_completed(futures):
                    yield futures[future], future.result()
                    left.discard(futures[future])
            except BrokenExecutor:
                # A worker was killed, and the pool with it. What was not done yet is done here.
                text = f"a worker process died (killed, or out of memory); {len(left)} task(s) are done without it"
                self.notes.append(Note(code="worker died", text=text))
                yield from ((number, function(shared, tasks[number])) for number in sorted(left))
            except Exception as error:
                explained = _explained(error, len(left), len(tasks))
                if explained is error:
                    raise
                raise explained from None
            finally:
                for future in futures:
                    future.cancel()

    def _place(self, shared: Any) -> Any:
        """Where workers find what all tasks need: sent once to each, not with every task."""
        if self._placed and self._placed[0][0] is shared:
            return self._placed[0][1]
        placed: Any = shared
        if isinstance(self.executor, ProcessPoolExecutor):
            placed = _File.of(shared)
        elif is_dask(self.executor):
            placed = self.executor._client.scatter(shared, broadcast=True, hash=False)  # type: ignore[union-attr]
        self._placed[:] = [(shared, placed)]
        return placed


def as_workers(executor: "Workers | Executor | None") -> Workers:
    """Workers, from themselves or from a plain executor; a Dask client is asked for its executor."""
    if isinstance(executor, Workers):
        return executor
    if executor is not None and hasattr(executor, "get_executor"):
        executor = executor.get_executor()
    if not (executor is None or isinstance(executor, Executor)):
        raise DataError(
            f"{shown(executor)} is no executor; give one of concurrent.futures, or"
            " Client.get_executor() of"
            " dask.distributed"
        )
    return Workers(executor)


@contextmanager
def workers_of(executor: "Workers | Executor | None") -> Iterator[Workers]:
    """Workers for a function that users call: it warns of their notes, unless they were given with their own."""
    workers = as_workers(executor)
    yield workers
    if workers is not executor:
        warn_of(workers.notes, stacklevel=5)


def is_dask(executor: object) -> bool:
    """Whether an executor is a Dask client's."""
    return type(executor).__module__.partition(".")[0] == "distributed"


def _explained(error: Exception, left: int, total: int) -> Exception:
    """The error that a user can act on, where workers or the way to them are at fault; otherwise the error itself."""
    of_dask = type(error).__module__.partition(".")[0] == "distributed"
    if isinstance(error, CancelledError | ConnectionError | TimeoutError) or (
        of_dask and isinstance(error, OSError)
    ):
        return ClusterError(
            f"the workers are gone ({type(error).__name__}) with {left} of {total} tasks to do;"
            " look whether the cluster still runs, then start again (--resume keeps what is done)"
        )
    if of_dask and type(error).__name__ == "KilledWorker":
        return ClusterError(
            "a task's workers died one after the other; they may have too little memory (--resume"
            " keeps what is done)"
        )
    if "pickle" in str(error) and isinstance(
        error, pickle.PicklingError | AttributeError | TypeError
    ):
        return DataError(
            f"the model or game cannot be sent to other processes ({error}); use threads, or"
            " functions at the top"
            " of a module"
        )
    return error


@dataclass(frozen=True)
class _File:
    """Something in a private file of this machine, which each worker process reads once.

    It is pickled, as a process pool pickles all that it sends. The file is written and read by this
    program's own processes alone; nothing that a party sends or receives is ever pickled.
    """

    path: Path

    @classmethod
    def of(cls, thing: Any) -> "_File":
        folder = Path(tempfile.mkdtemp(prefix="fairpool-"))  # readable by this user alone
        placed = cls(folder / "shared")
        weakref.finalize(placed, shutil.rmtree, folder, ignore_errors=True)
        with placed.path.open("wb") as file:
            pickle.dump(thing, file, protocol=5)
        return placed


def _run_elsewhere(function: Callable[[Any, Any], Any], placed: Any, task: Any) -> Any:
    """In a worker process: it has a core to itself, no more."""
    with threadpool_limits(1, "blas"):
        return function(_read(placed.path) if isinstance(placed, _File) else placed, task)


@lru_cache(maxsize=1)
def _read(path: Path) -> Any:
    with path.open("rb") as file:
        return pickle.load(file)
