"""A real Dask scheduler and real worker processes, on loopback."""

import gc
import json
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from distributed import Client

DASK = str(Path(sys.executable).with_name("dask"))


@dataclass
class Cluster:
    address: str
    scheduler: subprocess.Popen
    workers: list = field(default_factory=list)

    def add_worker(self):
        command = [DASK, "worker", self.address, "--no-nanny", "--nthreads", "1", "--no-dashboard"]
        self.workers.append(
            subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        )

    def stop(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@contextmanager
def cluster(folder, workers=2):
    """Started when the scheduler answers; workers may take a moment longer."""
    file = Path(folder) / "scheduler.json"
    command = [
        DASK,
        "scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--no-dashboard",
        "--scheduler-file",
        str(file),
    ]
    found = Cluster(
        "", subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    )
    try:
        found.address = _address_in(file, found.scheduler)
        for _ in range(workers):
            found.add_worker()
        yield found
    finally:
        found.stop()
        _collect()


@contextmanager
def connected(address, workers=2):
    """A client of a cluster, once so many workers are there."""
    client = Client(address, timeout=20, set_as_default=False)
    try:
        client.wait_for_workers(workers, timeout=60)
        yield client
    finally:
        client.close(timeout=2)
        _collect()


def _collect():
    """Have the sockets collected that Dask leaves open, here and not in some test after this one.

    Their tests ignore the warnings of that; others take them for their own.
    """
    gc.collect()


def _address_in(file, scheduler):
    """The scheduler's address, once its file is written; a moment before, the file is empty."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert scheduler.poll() is None
        with suppress(FileNotFoundError, json.JSONDecodeError):
            return json.loads(file.read_text())["address"]
        time.sleep(0.05)
    raise TimeoutError(f"no scheduler wrote {file} within a minute")
