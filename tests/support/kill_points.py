"""Kill the command just before each change it makes to the disk, one change after the other.

Run as a program, `python -m tests.support.kill_points FOLDER BEFORE... -- ARGUMENT...`: a fork must
not inherit the test runner's threads. For every folder BEFORE, FOLDER is made to hold what that
holds, a child is forked that kills itself before its first change, then one for the second change,
until one gets through. What each leaves in FOLDER, and what the next run makes of that before it
begins its own work, is one line of JSON.
"""

import hashlib
import json
import os
import shutil
import signal
import sys
from itertools import count
from pathlib import Path

from fairpool.consortium import run as whole_run
from fairpool.consortium.rounds.context import LEDGER_FILE, MAC, SECRET_FILE, STATE_FOLDER
from fairpool.consortium.rounds.releasing import settle
from fairpool.keyed_noise.secret import Secret
from fairpool.ledger import verify
from fairpool.report import letter, report
from tests.support.pictures import without_pictures

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CHANGES = ("os.mkdir", "os.chmod", "os.link", "os.rename", "os.remove", "os.rmdir")


def change(event, values):
    """The change of the disk that Python is about to make, such as "open result.json"; or None."""
    if event == "open":
        path, _, flags = values
        return f"open {Path(path).name}" if isinstance(path, str) and flags & WRITES else None
    if event not in CHANGES:
        return None
    path = Path(os.fsdecode(values[0]))
    if event == "os.remove" and not path.is_symlink() and not path.exists():
        return None  # whoever asks for that does not mind, and nothing changes
    return f"{event} {path.name}"


def run(entry, arguments):
    sys.argv = ["fairpool", *arguments]
    try:
        entry()
    except SystemExit as end:
        if end.code:
            raise


def die_before_change(point, pipe):
    """From now on, die before change number `point`; its name is written to the pipe."""
    numbers = count()

    def hook(event, values):
        name = change(event, values)
        if name is not None and next(numbers) == point:
            os.write(pipe, name.encode())
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def tell_changes(pipe):
    """From now on, write the name of every change to the pipe, each on a line."""

    def hook(event, values):
        name = change(event, values)
        if name is not None:
            os.write(pipe, f"{name}\n".encode())

    sys.addaudithook(hook)


def in_a_child(work, hooked):
    """What a child's hook wrote to a pipe while it did this work, and how the child ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            hooked(writing)
            work()
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        told = pipe.read()
    return told, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_at(point, work):
    """The change before which a child was killed at this work; "" if it got through."""
    name, code = in_a_child(work, lambda pipe: die_before_change(point, pipe))
    if code != (-signal.SIGKILL if name else 0):
        raise RuntimeError(
            f"the command ended with {code} where it was to be killed before {name!r}"
        )
    return name


def changes_of(work):
    """The names of all changes that this work makes, in order; a child does it."""
    names, code = in_a_child(work, tell_changes)
    if code != 0:
        raise RuntimeError(f"the command ended with {code}")
    return names.splitlines()


def content(folder):
    """Every file, by the hash of its bytes."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def once(module, name, which, given):
    """Remember in `given` what a function gave.

    It takes longer than all that is done between two changes to the disk.
    """
    function = getattr(module, name)

    def remembered(*arguments):
        key = name, which(*arguments)
        if key not in given:
            given[key] = function(*arguments)
        return given[key]

    setattr(module, name, remembered)


def reset(folder, before):
    """Make a folder hold what another one holds."""
    shutil.rmtree(folder)
    shutil.copytree(before, folder)


def settled(folder):
    """What the next run finds once it has put things right: files, and what the ledger tells."""
    settle(folder)
    records = []
    secret = folder / STATE_FOLDER / SECRET_FILE
    ledger = folder / LEDGER_FILE
    if ledger.exists():
        verified = verify(ledger, Secret.read(secret).subkey(MAC))
        if not verified.ok:
            raise RuntimeError(f"the ledger is damaged: {verified.problems}")
        records = verified.records
    released = {}
    for record in records:
        if record.kind == "release":
            place = record.body["folder"]
            files = record.body["files"].items()
            released[place] = {f"{place}/{path}": digest for path, digest in files}
    return {"content": content(folder), "released": released}


def every_change(folder, before, work):
    """What is left after being killed before each change, and what the next run makes of it.

    Last, with "" for a change, comes what is left after getting through.
    """
    for point in count():
        reset(folder, before)
        name = killed_at(point, work)
        left = content(folder)
        yield {"from": before.name, "change": name, "content": left, "settled": settled(folder)}
        if not name:
            return


def main(folder, *more):
    end = more.index("--")
    given = {}
    without_pictures()  # what draws them has threads, which a forked child has not
    once(whole_run, "run", lambda request, workers: "run", given)
    once(report, "render_report", lambda result, context: "report", given)
    once(letter, "render_letter", lambda result, i, text: i, given)
    from fairpool.cli import (
        entry,
    )  # only now, so that whatever it imports is what was replaced above

    def work():
        run(entry, more[end + 1 :])

    for before in more[:end]:
        given.clear()
        reset(Path(folder), Path(before))
        work()
        for left in every_change(Path(folder), Path(before), work):
            print(json.dumps(left), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
