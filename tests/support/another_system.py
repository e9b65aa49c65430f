"""Commands where Python has less than on Linux, as on Windows.

`python -m tests.support.another_system COMMANDS` takes a list of command lines as JSON, runs them
one after the other, and prints the exit code of each. What is taken away is in `TAKEN`. It is no
Windows: paths, line ends, locks of other programs and the file system stay those of this machine.
"""

import json
import os
import sys
import types
from contextlib import suppress

# What comes from elsewhere knows its systems; it is loaded before anything is taken away.
import altair  # noqa: F401
import cryptography.hazmat.primitives.asymmetric.ed25519  # noqa: F401
import jinja2  # noqa: F401
import numpy  # noqa: F401
import platformdirs  # noqa: F401
import pydantic  # noqa: F401
import rich.console
import rich.progress
import rich.table  # noqa: F401
import safetensors.numpy  # noqa: F401
import scipy.linalg
import scipy.optimize
import scipy.stats  # noqa: F401
import sklearn.cluster
import sklearn.gaussian_process
import sklearn.neural_network  # noqa: F401
import threadpoolctl  # noqa: F401
import typer  # noqa: F401

TAKEN = (
    *("O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "O_CLOEXEC", "O_SYNC"),
    *("link", "fork", "forkpty", "fchmod", "fchown", "chown", "lchown", "mkfifo", "sysconf"),
    *("getuid", "geteuid", "getgid", "getegid", "killpg", "sched_getaffinity"),
)
"""Names of the module `os` that Windows, or some file systems' Pythons, lack."""

MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "tty")


def take_away():
    """Remove what Linux has, and put locks as Windows has them in their place."""
    windows_locks = _windows_locks()
    for name in TAKEN:
        if hasattr(os, name):
            delattr(os, name)
    for name in MODULES:
        sys.modules[name] = None
    sys.modules["msvcrt"] = windows_locks
    system, sys.platform = sys.platform, "win32"
    import fairpool.ledger.lock as lock

    sys.platform = system
    lock.sys = types.SimpleNamespace(platform="win32")


def _windows_locks():
    """`msvcrt.locking`: a lock on a byte of an open file, refused at once where another has it."""
    import fcntl

    def locking(descriptor, mode, count):
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, count, 0, os.SEEK_CUR)

    module = types.ModuleType("msvcrt")
    module.LK_NBLCK, module.locking = 2, locking
    return module


def main():
    take_away()
    from fairpool.cli import entry

    for line in json.loads(sys.argv[1]):
        sys.argv = ["fairpool", *line]
        code = None
        with suppress(SystemExit):
            try:
                entry()
            except SystemExit as end:
                code = end.code
        print(f"exit code {code or 0}", flush=True)


if __name__ == "__main__":
    main()
