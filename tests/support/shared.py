"""Finished work that several tests read: done once in a test run, by whichever of its workers is
first to need it.
"""

import fcntl
import os
import shutil


def built_once(tmp_path_factory, name, build):
    """The folder that `build(folder)` fills.

    It is only to be read, and copied before anything is changed.
    """
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # each worker has a folder of its own in what all share
        base = base.parent
    folder, done = base / name, base / f"{name}.done"
    with open(base / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(
                folder, ignore_errors=True
            )  # what an attempt that failed left: the next one says why, too
            folder.mkdir()
            build(folder)
            done.touch()
    return folder
