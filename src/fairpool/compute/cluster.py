"""Executors for the command: threads or processes of this machine, or a Dask cluster's workers."""

import asyncio
import logging
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib.metadata import version
from typing import Any

from fairpool.__about__ import __version__
from fairpool.errors import ClusterError, cut, shown

SECONDS = 5
"""How long a scheduler may take to answer."""


@contextmanager
def open_executor(
    jobs: int, cluster: str | None = None, processes: bool = False
) -> Iterator[Executor | None]:
    """The executor that an operator asked for; None for one job, which needs none.

    Args:
        jobs: How many workers on this machine. Threads share all data and suffice where LAPACK or
            Arrow do the work.
        cluster: A Dask scheduler's address, such as tcp://10.0.0.5:8786, instead.
        processes: Processes instead of threads, where Python itself has much to do.
    """
    if cluster is not None:
        with _connected(cluster) as client:
            yield client.get_executor()
        return
    if jobs == 1:
        yield None
        return
    pool_kind = ProcessPoolExecutor if processes else ThreadPoolExecutor
    with pool_kind(jobs) as pool:
        try:
            yield pool
        except BaseException:
            # Somebody who presses Ctrl-C should not wait for all tasks that are in the queue.
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    try:
        from distributed import Client as Connection
    except ImportError:
        raise ClusterError(
            "--cluster needs dask.distributed; install it: pip install 'fairpool[cluster]'"
        ) from None
    # Our own errors say what goes wrong; Dask's log would say it a second time.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        # This comes first because a client that fails to connect leaves a traceback behind.
        kind = asyncio.run(_kind_of(address))
        if kind != "Scheduler":
            raise ClusterError(_refusal(address, f"it is that of a Dask {kind}"))
        client: Any = Connection(address, timeout=SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
    except ClusterError:
        raise
    except OSError as error:
        raise ClusterError(
            f"no Dask scheduler answers at {address} within {SECONDS} seconds"
            f" ({type(error).__name__}); start one with `dask scheduler`,"
            " and give its address as tcp://HOST:PORT"
        ) from None
    except Exception as error:
        # Something else than Dask may answer anything at all, and the address may be none.
        raise ClusterError(_refusal(address, str(error) or type(error).__name__)) from None
    try:
        _check_workers(client, address)
        yield client
    finally:
        with suppress(OSError):  # a scheduler that is gone does not answer a farewell
            client.close(timeout=2)


async def _kind_of(address: str) -> str:
    """The kind of Dask process that answers, which should be "Scheduler"."""
    from distributed.comm.core import connect
    from distributed.core import send_recv

    # Dask's own time limit ends once there is a connection, but something else than Dask may then
    # be silent for ever.
    async with asyncio.timeout(SECONDS):
        comm = await connect(address, timeout=SECONDS)  # type: ignore[no-untyped-call]
        try:
            answer = await send_recv(comm, op="identity")
        finally:
            comm.abort()
    return str(answer["type"])


def _refusal(address: str, why: str) -> str:
    return f"{shown(address)} is no address of a Dask scheduler ({cut(why)}); give tcp://HOST:PORT"


def _check_workers(client: Any, address: str) -> None:
    # This calls a function of Python's own, because a worker without fairpool cannot load ours.
    version_of_worker = client.run(version, "fairpool", on_error="return")
    if not version_of_worker:
        raise ClusterError(
            f"the Dask cluster at {address} has no workers; start some: dask worker {address}"
        )
    for worker, installed in version_of_worker.items():
        if installed == __version__:
            continue
        if isinstance(installed, str):
            has = f"has fairpool {installed}"
        else:  # the error that looking for it gave
            has = f"has no fairpool ({installed})"
        raise ClusterError(f"the worker {worker} {has}; install fairpool {__version__} there")
