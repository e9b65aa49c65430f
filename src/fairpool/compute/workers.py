"""Long work as independent tasks, done by whatever workers there are.

They are this thread, a pool of threads or processes, or a Dask cluster.
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
from typing import Any, NamedTuple, Protocol, TypeVar

from threadpoolctl import threadpool_limits

from fairpool.compute.checkpoint import Checkpoint
from fairpool.compute.files import create
from fairpool.errors import ClusterError, DataError, shown
from fairpool.notes import Note, warn_of

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Result = TypeVar("Result")


class Progress(Protocol):
    """Called with what is being done, and how much of it is done, whenever that changes."""

    def __call__(self, text: str, done: int = 0, total: int | None = None) -> None:
        """Say it."""
        ...  # pragma: no cover


def no_progress(text: str, done: int = 0, total: int | None = None) -> None:
    """Say nothing, for callers who do not want to be told about progress."""


class _Placement(NamedTuple):
    """Something that all tasks need, and where workers find it."""

    shared: Any
    place: Any


@dataclass(eq=False)
class Workers:
    """Who does long work, who is told about it, and where its results are kept meanwhile.

    The results are the same whoever does the work: tasks do not depend on how many workers there
    are, and their results are put together in the tasks' order.

    Workers are not frozen: they collect notes while work is done, and remember what they sent last,
    so that the same thing is not sent again for the next tasks. A copy by `dataclasses.replace`
    adds its notes to the same list.

    Args:
        executor: Any `concurrent.futures.Executor`: threads, processes,
            `dask.distributed.Client.get_executor()`. None: this thread. Each worker uses one BLAS
            thread, so that cores are not oversubscribed.
        progress: Called as (text, done, total) whenever a task is done.
        checkpoint: Where results are kept, so that work that was stopped can be resumed.
        notes: What went wrong and was made good.
    """

    executor: Executor | None = None
    progress: Progress = no_progress
    checkpoint: Checkpoint | None = None
    notes: list[Note] = field(default_factory=list)
    _last_placement: _Placement | None = field(default=None, init=False, repr=False)

    @property
    def here(self) -> int:
        """How many of them share this machine's memory."""
        if isinstance(self.executor, ThreadPoolExecutor | ProcessPoolExecutor):
            return int(self.executor._max_workers)  # type: ignore[union-attr]  # not in typeshed
        return 1

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
        if total is None:
            total = len(tasks)
        # The digest hashes all data, so it is computed only where something is kept under it.
        key = digest() if self.checkpoint else ""
        checkpoint = self.checkpoint if key else None
        results: dict[int, Any] = {}
        if checkpoint:
            for number, task in enumerate(tasks):
                kept = checkpoint.load(key, _file_name(function, task))
                if kept is not None:
                    results[number] = kept
            self.notes.extend(checkpoint.doubts())
        self.progress(doing, before + len(results), total)

        missing = [number for number in range(len(tasks)) if number not in results]
        missing_tasks = [tasks[number] for number in missing]
        for position, result in self.each(function, shared, missing_tasks):
            number = missing[position]
            results[number] = result
            if checkpoint:
                name = _file_name(function, tasks[number])
                self.notes.extend(checkpoint.keep(key, name, result))  # type: ignore[arg-type]
            self.progress(doing, before + len(results), total)
        return [results[number] for number in range(len(tasks))]

    def each(
        self, function: Callable[[Shared, Task], Result], shared: Shared, tasks: Sequence[Task]
    ) -> Iterator[tuple[int, Result]]:
        """Each task's number and result, as they come."""
        if self.executor is None:
            for number, task in enumerate(tasks):
                yield number, function(shared, task)
            return
        number_of: dict[Future[Result], int] = {}
        unfinished = set(range(len(tasks)))
        # Threads share this process's BLAS; a process limits its own, in `_run_elsewhere`.
        in_threads = isinstance(self.executor, ThreadPoolExecutor)
        with threadpool_limits(1 if in_threads else None, "blas"):
            try:
                for number, task in enumerate(tasks):
                    future = self.executor.submit(*self._call(function, shared, task))
                    number_of[future] = number
                for future in as_completed(number_of):
                    yield number_of[future], future.result()
                    unfinished.discard(number_of[future])
            except BrokenExecutor:
                # A worker was killed, and the pool with it. What was not done yet is done here.
                text = (
                    "a worker process died (killed, or out of memory);"
                    f" {len(unfinished)} task(s) are done without it"
                )
                self.notes.append(Note(code="worker died", text=text))
                for number in sorted(unfinished):
                    yield number, function(shared, tasks[number])
            except Exception as error:
                explained = _explained(error, len(unfinished), len(tasks))
                if explained is error:
                    raise
                raise explained from None
            finally:
                # Work whose results nobody will take must not go on.
                for future in number_of:
                    future.cancel()

    def _call(
        self, function: Callable[[Shared, Task], Result], shared: Shared, task: Task
    ) -> tuple[Any, ...]:
        """What an executor is given for one task: a function, and its arguments."""
        if isinstance(self.executor, ThreadPoolExecutor):
            return function, shared, task
        return _run_elsewhere, function, self._place(shared), task

    def _place(self, shared: Any) -> Any:
        """Where workers find what all tasks need: sent once to each, not with every task."""
        if self._last_placement is not None and self._last_placement.shared is shared:
            return self._last_placement.place
        place: Any = shared
        if isinstance(self.executor, ProcessPoolExecutor):
            place = _File.of(shared)
        elif is_dask(self.executor):
            client = self.executor._client  # type: ignore[union-attr]
            place = client.scatter(shared, broadcast=True, hash=False)
        self._last_placement = _Placement(shared, place)
        return place


def as_workers(executor: "Workers | Executor | None") -> Workers:
    """Workers, from themselves, a plain executor, or a Dask client, which has an executor."""
    if isinstance(executor, Workers):
        return executor
    if executor is not None and hasattr(executor, "get_executor"):
        executor = executor.get_executor()
    if not (executor is None or isinstance(executor, Executor)):
        raise DataError(
            f"{shown(executor)} is no executor; give one of concurrent.futures,"
            " or Client.get_executor() of dask.distributed"
        )
    return Workers(executor)


@contextmanager
def workers_of(executor: "Workers | Executor | None") -> Iterator[Workers]:
    """Workers for a function that users call, which warns of what they noted.

    Workers that the caller gave keep their notes for the caller, and nothing is warned of.
    """
    workers = as_workers(executor)
    yield workers
    if workers is not executor:
        warn_of(workers.notes, stacklevel=5)


def is_dask(thing: object) -> bool:
    """Whether an executor, or an error, is of Dask's own kind; Dask need not be installed."""
    return type(thing).__module__.partition(".")[0] == "distributed"


def _file_name(function: Callable[[Any, Any], Any], task: object) -> str:
    """The name under which a checkpoint keeps the result of one task."""
    text = f"{function.__module__}.{function.__qualname__} {task}"
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def _explained(error: Exception, unfinished: int, total: int) -> Exception:
    """The error that a user can act on, where workers or the way to them are at fault.

    Any other error is given back as it is.
    """
    of_dask = is_dask(error)
    gone = isinstance(error, CancelledError | ConnectionError | TimeoutError)
    if gone or (of_dask and isinstance(error, OSError)):
        return ClusterError(
            f"the workers are gone ({type(error).__name__})"
            f" with {unfinished} of {total} tasks to do; look whether the cluster still runs,"
            " then start again (--resume keeps what is done)"
        )
    if of_dask and type(error).__name__ == "KilledWorker":
        return ClusterError(
            "a task's workers died one after the other; they may have too little memory"
            " (--resume keeps what is done)"
        )
    # Of what an executor pickles by itself, only the text tells.
    if isinstance(error, NOT_PICKLED) and "pickle" in str(error):
        return _cannot_be_sent(error)
    return error


NOT_PICKLED = (pickle.PicklingError, AttributeError, TypeError)
"""Python raises each of these for what it cannot pickle."""


def _cannot_be_sent(error: Exception) -> DataError:
    return DataError(
        f"the model or game cannot be sent to other processes ({error});"
        " use threads, or functions at the top of a module"
    )


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
        # The folder goes when nothing here refers to it any longer.
        weakref.finalize(placed, shutil.rmtree, folder, ignore_errors=True)
        with create(placed.path) as file:
            try:
                pickle.dump(thing, file, protocol=5)
            except NOT_PICKLED as error:
                raise _cannot_be_sent(error) from None
        return placed


def _run_elsewhere(function: Callable[[Any, Any], Any], placed: Any, task: Any) -> Any:
    """Do one task in a worker process, which has one core to itself and no more."""
    shared = _read(placed.path) if isinstance(placed, _File) else placed
    with threadpool_limits(1, "blas"):
        return function(shared, task)


@lru_cache(maxsize=1)
def _read(path: Path) -> Any:
    """Read a file once for all tasks of this process; one, since it may be large."""
    with path.open("rb") as file:
        return pickle.load(file)
