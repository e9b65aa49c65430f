"""Processes that write to a ledger and are killed, or that write to it together.

Run as a program, `python -m tests.support.ledger_processes WHAT FOLDER`: a fork must not inherit
the test runner's threads. For every way to die, a child is forked that dies there; what it leaves,
and what the next run makes of that, is one line of JSON.
"""

import hashlib
import io
import json
import os
import resource
import shutil
import signal
import sys
from itertools import count
from pathlib import Path

from fairpool.consortium.writing import write
from fairpool.errors import LedgerError
from fairpool.ledger import Ledger, begin, exclusive, finish, recover, verify
from tests.support.kill_points import content
from tests.support.ledgers import KEY

CHANGES = (
    "open",
    "write",
    "flush",
    "fsync",
    "ftruncate",
    "fchmod",
    "flock",
    "close",
    "mkdir",
    "rename",
    "unlink",
    "rmdir",
)
FILES = {"operator/result.json": b"{}", "a/model": b"model of a" * 9, "b/model": b"model of b"}
HASHES = {path: hashlib.sha256(text).hexdigest() for path, text in FILES.items()}
BODY = {"folder": "rounds/0001", "files": HASHES, "summary": "round 1"}


def append(root):
    Ledger.open(root / "ledger.jsonl", KEY).append("note", {"text": "x" * 40})


def release(root):
    """A run as the next round will be: lock, recover, intent, files, release."""
    with exclusive(root / "lock"):
        ledger = Ledger.open(root / "ledger.jsonl", KEY)
        recover(ledger, root)
        intent = begin(ledger, BODY)
        write(FILES, root / BODY["folder"])
        finish(ledger, intent, BODY)


def recovery(root):
    with exclusive(root / "lock"):
        recover(Ledger.open(root / "ledger.jsonl", KEY), root)


def die_before_call(point, pipe):
    """From now on, die before call number `point` of the system that could change something."""
    numbers = count()

    def look(frame, event, function):
        if event != "c_call" or function.__name__ not in CHANGES:
            return
        is_system = function.__module__ in ("posix", "fcntl")
        is_file = isinstance(getattr(function, "__self__", None), io.BufferedWriter)
        if (is_system or is_file) and next(numbers) == point:
            os.write(pipe, function.__name__.encode())
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(look)


def die_at_size(size):
    """From now on, die as soon as a file would grow beyond so many bytes: up to there it does."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def in_child(work):
    """Do the work in a fork; its return code, and what it wrote to the pipe it is given."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work(writing)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def kinds(root):
    return [record.kind for record in Ledger.open(root / "ledger.jsonl", KEY).records]


def told(root, code, name):
    """What is left, and what the next run makes of it."""
    path = root / "ledger.jsonl"
    line = {"code": code, "call": name}
    if path.exists():
        line["mode"] = path.stat().st_mode & 0o777
        line["size"] = path.stat().st_size
        line["ok"] = verify(path, KEY).ok
    line["torn"] = Ledger.open(path, KEY).torn
    line["kinds"] = kinds(root)
    done = recover(Ledger.open(path, KEY), root)
    line["finished"] = None if done is None else done.finished
    line["again"] = recover(Ledger.open(path, KEY), root) is not None
    line["after"] = kinds(root)
    files = content(root)
    for name in ("ledger.jsonl", "lock"):
        files.pop(name, None)
    line["files"] = files
    if path.exists():
        Ledger.open(path, KEY).append("next", {})
        line["next"] = kinds(root)
        line["ok at last"] = verify(path, KEY).ok
    return line


def fresh(root, before):
    shutil.rmtree(root)
    shutil.copytree(before, root)


def killed_before_every_call(root, before, work):
    for point in count():
        fresh(root, before)

        def dying(pipe, point=point):
            die_before_call(point, pipe)
            work(root)

        code, name = in_child(dying)
        print(json.dumps({"from": before.name} | told(root, code, name)), flush=True)
        if not name:
            return


def killed_at_every_byte(root, before, work):
    """At every byte near both ends of what is written, and at some in between."""
    fresh(root, before)
    first = (root / "ledger.jsonl").stat().st_size
    work(root)
    last = (root / "ledger.jsonl").stat().st_size
    for size in (
        *range(first, first + 12),
        *range(first + 12, last - 5, 17),
        *range(last - 5, last + 1),
    ):
        fresh(root, before)

        def dying(pipe, size=size):
            die_at_size(size)
            work(root)

        code, _ = in_child(dying)
        print(json.dumps({"from": before.name} | told(root, code, "")), flush=True)


def append_at_last(path, body):
    """Add a record, as often refused as others were faster."""
    while True:
        try:
            return Ledger.open(path, KEY).append("note", body)
        except LedgerError as error:
            if "another run has added" not in str(error):
                raise


def many_writers(root, writers=4, each=15):
    """Children that add to one ledger at the same time."""
    start, go = os.pipe()
    children = []
    for writer in range(writers):
        child = os.fork()
        if child == 0:
            try:
                os.close(go)
                os.read(start, 1)  # until the parent lets go
                for number in range(each):
                    append_at_last(root / "ledger.jsonl", {"writer": writer, "number": number})
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    os.close(go)
    for child in children:
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def hold_lock(root):
    """Hold the lock, with a worker of this process at hand, until a line is read."""
    with exclusive(root / "lock"):
        begun, begins = os.pipe()
        worker = os.fork()
        if worker == 0:
            os.write(begins, b"!")  # by now it has let go of the lock, which the fork inherited
            signal.pause()
        os.read(begun, 1)
        print(worker, flush=True)
        sys.stdin.readline()
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)


def main(what, folder, *befores):
    root = Path(folder)
    works = {"append": append, "release": release, "recovery": recovery}
    if what == "many":
        many_writers(root)
    elif what == "lock":
        hold_lock(root)
    else:
        way, _, name = what.partition(" ")
        kill = {"calls": killed_before_every_call, "bytes": killed_at_every_byte}[way]
        for before in befores:
            kill(root, Path(before), works[name])


if __name__ == "__main__":
    main(*sys.argv[1:])
