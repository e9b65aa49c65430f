"""A worker of a service as a process of its own, with a lease as short as a test can wait for.

Run as a program, `python -m tests.support.service_worker FOLDER DATABASE LEASE`; it ends as the
command does.
"""

import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def service_worker(settings, database, lease):
    """One, which is killed in the end if it is still there."""
    address = database.engine.url.render_as_string(hide_password=False)
    words = [str(settings.folder), address, str(lease)]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.service_worker", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            process.stdout.readline()
            yield process
        finally:
            process.kill()


def main(folder, address, lease):
    from tests.support.pictures import without_pictures

    without_pictures()
    import structlog

    from fairpool.server.settings import Settings
    from fairpool.server.store.database import Database
    from fairpool.server.work.worker import run_worker

    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    settings = Settings.of(Path(folder), environment={"FAIRPOOL_DATABASE": address})
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    print("at work", flush=True)
    run_worker(replace(settings, lease_seconds=float(lease)), Database(address), stop)


if __name__ == "__main__":
    main(*sys.argv[1:])
