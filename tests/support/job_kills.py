"""Workers that are killed before any of their changes, on the disk or in the database.

Run as a program, `python -m tests.support.job_kills`: it has one thread and everything loaded, so
that a worker can be forked from it at once. A line of JSON on its standard input asks for one; one
on its standard output says what it changed, and whether it was killed.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from sqlalchemy import event
from sqlalchemy.engine import Engine

from tests.support.kill_points import change

ROOT = Path(__file__).parents[2]
LEASE = 60.0


class Workers:
    """The program, from the outside."""

    def __init__(self, process):
        self.process = process

    def changes(self, settings, database):
        """One worker does all jobs that wait, and says what it changed, in order."""
        return self._ask(settings, database, None)["changes"]

    def work(self, settings, database, point=None):
        """The same, but killed before its change of a number, if it gets there.

        Returns:
            The change before which it was killed; "": it got through.
        """
        told = self._ask(settings, database, point)
        return told["changes"][-1] if told["is_killed"] else ""

    def _ask(self, settings, database, point):
        asked = {
            "folder": str(settings.folder),
            "database": database.engine.url.render_as_string(hide_password=False),
            "point": point,
        }
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError("the program that forks workers has ended")
        told = json.loads(answer)
        if told["code"] not in (0, -signal.SIGKILL):
            raise RuntimeError(f"a worker ended by itself: {told}")
        return told


@contextmanager
def workers():
    """The program, as long as this lasts."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.job_kills"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        try:
            yield Workers(process)
        finally:
            process.stdin.close()
            process.wait(60)


def die_before(point, pipe):
    """From now on, write every change to the pipe, and die before change number `point`."""
    numbers = count()
    me = threading.get_ident()

    def reached(name):
        # What the hold's own thread tells of progress comes at any time.
        if threading.get_ident() == me:
            os.write(pipe, f"{name}\n".encode())
            if next(numbers) == point:
                os.kill(os.getpid(), signal.SIGKILL)

    def hook(what, values):
        name = change(what, values)
        if name is not None and not name.endswith(("-wal", "-shm", "-journal")):
            reached(name)

    sys.addaudithook(hook)
    # A transaction is kept at some moment within this: die before it, and after it.
    event.listen(Engine, "commit", lambda _: reached("commit"))


def work_off(folder, database_address, point, pipe):
    """What a worker does until there is nothing to do."""
    import structlog

    from fairpool.server.settings import Settings
    from fairpool.server.store.database import Database
    from fairpool.server.work import queue
    from fairpool.server.work.progress import Hold
    from fairpool.server.work.stages import Work
    from fairpool.server.work.worker import do

    structlog.configure(processors=[lambda *_: ""], logger_factory=structlog.ReturnLoggerFactory())
    settings = Settings.of(Path(folder), environment={"FAIRPOOL_DATABASE": database_address})
    database = Database(settings.database)
    die_before(point, pipe)
    while taken := queue.take(database, "forked", LEASE):
        with Hold(database, taken, LEASE, threading.Event()) as hold:
            do(Work(settings=settings, database=database, taken=taken, hold=hold))
    database.close()


def forked(asked):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            work_off(asked["folder"], asked["database"], asked["point"], writing)
            os._exit(0)
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        changes = pipe.read().splitlines()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {"changes": changes, "is_killed": code == -signal.SIGKILL, "code": code}


def main():
    from tests.support.pictures import without_pictures

    without_pictures()  # what draws them has threads, which a forked child has not
    import fairpool.server.work.worker  # noqa: F401  # so that no child has to load it

    for line in sys.stdin:
        print(json.dumps(forked(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
