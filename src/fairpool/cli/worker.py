"""`fairpool worker`: compute for a service."""

import os
import signal
import sys
import threading
from pathlib import Path

from fairpool.cli.options import Cluster, Jobs, Quiet, ServerFolder
from fairpool.cli.screen import screen
from fairpool.cli.serving import opened
from fairpool.errors import DataError


def worker(
    folder: ServerFolder = Path("fairpool-server"),
    jobs: Jobs = 1,
    cluster: Cluster = None,
    quiet: Quiet = False,
) -> None:
    """Work off what a service has to compute, until Ctrl-C.

    The service itself has one such worker. More of them, on as many machines as one likes, need the
    same folder (a disk that all of them see) and the same database (FAIRPOOL_DATABASE, Postgres).
    One that is killed is replaced by any other, which goes on with the values that are there.

    Examples: `fairpool worker`, `fairpool worker --folder /srv/fairpool --jobs 4`, `fairpool worker
    --cluster tcp://10.0.0.5:8786`
    """
    with screen(quiet, as_json=False) as show, opened(folder) as (settings, database):
        from fairpool.server.logs import write_logs
        from fairpool.server.settings import ADDRESS
        from fairpool.server.work.worker import run_worker

        if settings.mail is not None and not os.environ.get(ADDRESS):
            raise DataError(
                f"{ADDRESS}: a mail says where the service is, which this worker is told by nobody;"
                " give the address by which browsers find it, such as https://pool.example.org"
            )
        write_logs()
        stop = threading.Event()
        for sign in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sign, lambda *_: stop.set())
        show.say(f"Working for the service in {folder}; Ctrl-C ends it.")
        sys.stdout.flush()
        run_worker(settings, database, stop, cluster=cluster, jobs=jobs)
        show.say("Ended; what was not finished goes on elsewhere.")
