"""What the installed command runs, run in this process: most tests would spend their time on
starting another one.
"""

import io
import os
import subprocess
import sys
import traceback
import warnings
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from types import ModuleType
from unittest.mock import patch

from fairpool.cli import entry


def run_in_process(arguments, cwd=None):
    """The exit code, standard output and standard error that the process would have."""
    out, err = _pipe(), _pipe()
    with ExitStack() as stack:
        stack.enter_context(_as_a_program(arguments))
        stack.enter_context(chdir(cwd or os.getcwd()))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        stack.enter_context(_warnings_of_a_program())
        code = _exit_code()
    return subprocess.CompletedProcess(["fairpool", *arguments], code, _text(out), _text(err))


def _exit_code():
    try:
        entry()
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
            return 1
        return end.code or 0
    except Exception:
        traceback.print_exc()
        return 1
    return 0


@contextmanager
def _as_a_program(arguments):
    """Set `sys.argv` and `__main__`, which are the test runner's here.

    The name in the program's messages comes from them.
    """
    own = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        with patch.object(sys, "argv", ["fairpool", *arguments]):
            yield
    finally:
        sys.modules["__main__"] = own  # and nothing else: what the command loaded stays loaded


@contextmanager
def _warnings_of_a_program():
    """As Python starts: most are printed to standard error, a few kinds are ignored.

    None is an error.
    """
    with warnings.catch_warnings():
        warnings.resetwarnings()
        for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", kind)
        warnings.showwarning = _print_warning
        yield


def _print_warning(message, category, filename, lineno, file=None, line=None):
    (file or sys.stderr).write(warnings.formatwarning(message, category, filename, lineno, line))


def _pipe():
    """Bytes of UTF-8, and no terminal."""
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _text(stream):
    return stream.buffer.getvalue().decode()
