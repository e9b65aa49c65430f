"""Files of parties are looked at in other processes: one that is made to do harm ends its own.

What reads tables is large and old, and a file may be made so that it fills memory, never ends, or
ends the program. So each is read by a process that may use so much and no more.
"""

import atexit
import json
import os
import secrets
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import structlog

from fairpool.server.settings import MEBIBYTE, Settings
from fairpool.server.work.looker import NO_MEMORY
from fairpool.server.work.one_file import Asked

PAUSE = 0.1
"""Seconds between two looks at whether to go on."""

_SECRETS = ("FAIRPOOL_DATABASE", "FAIRPOOL_UPLOADS_KEY")
"""Of this process's environment: a process that reads files needs none of them."""

log = structlog.get_logger("fairpool.server")


@dataclass(frozen=True, kw_only=True)
class _Looker:
    """A process that looks at files.

    Attributes:
        process: It.
        requests: Where it is told what to look at, a descriptor.
        answers: Where it says what it found.
    """

    process: subprocess.Popen[bytes]
    requests: int
    answers: int


_lock = threading.Lock()
_lookers: dict[int, _Looker] = {}
"""By how much memory a file may take; they are kept for the next one."""


class _GoneError(Exception):
    """The process that looks is gone."""


def look(asked: Asked, settings: Settings, go_on: Callable[[], None]) -> dict[str, Any]:
    """What is found in a file; what cannot be read for whatever reason has problems.

    Args:
        asked: What to look at.
        settings: How much time and memory it may take.
        go_on: Raises where nobody wants to know any longer.
    """
    with _lock:
        try:
            answer = _answer(asked, settings, go_on)
        except TimeoutError:
            _stop(settings.check_bytes)
            return _problem(
                f"reading it took longer than {settings.check_seconds:g} seconds; send fewer rows,"
                " or only the columns that the terms name"
            )
        except _GoneError:
            _stop(settings.check_bytes)
            answer = {"ended": -signal.SIGKILL}
        except BaseException:
            _stop(settings.check_bytes)
            raise
    return _told(answer, settings)


def _told(answer: dict[str, Any], settings: Settings) -> dict[str, Any]:
    if "found" in answer:
        found: dict[str, Any] = answer["found"]
        return found
    if answer.get("problem") == NO_MEMORY:
        return _problem(
            f"reading it takes more than {settings.check_bytes / MEBIBYTE:.4g} MiB of memory; send"
            " fewer rows, or only the columns that the terms name"
        )
    if "ended" in answer:
        log.warning("looking ended", code=answer["ended"])
        return _problem(
            "what reads tables was ended by this file, which is damaged, far too large, or made to"
            " do that; save the table again, as .csv if it was none, and send that"
        )
    number = secrets.token_hex(4)
    log.error("unexpected", number=number, trace=answer["unexpected"])
    return _problem(
        f"something went wrong here while it was read, number {number}; save the table again, as"
        " .csv if it was none, and send that, or tell whoever runs this service the number"
    )


def _problem(text: str) -> dict[str, Any]:
    return {"problems": [text]}


def _answer(asked: Asked, settings: Settings, go_on: Callable[[], None]) -> dict[str, Any]:
    looker = _looker(settings.check_bytes)
    try:
        _write(looker.requests, json.dumps(asdict(asked)).encode() + b"\n")
    except BrokenPipeError:
        raise _GoneError from None
    answer: dict[str, Any] = json.loads(_line(looker.answers, settings.check_seconds, go_on))
    return answer


def _write(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


def _line(descriptor: int, seconds: float, go_on: Callable[[], None]) -> bytes:
    """What is said next, within a time."""
    end = time.monotonic() + seconds
    said = b""
    while not said.endswith(b"\n"):
        go_on()
        if time.monotonic() > end:
            raise TimeoutError
        ready, _, _ = select.select([descriptor], [], [], PAUSE)
        if ready:
            piece = os.read(descriptor, 1 << 16)
            if not piece:
                raise _GoneError
            said += piece
    return said


def _looker(most_bytes: int) -> _Looker:
    """The process that looks; a new one where there is none, or it is gone."""
    looker = _lookers.get(most_bytes)
    if looker is not None and looker.process.poll() is None:
        return looker
    _stop(most_bytes)
    environment = {name: value for name, value in os.environ.items() if name not in _SECRETS}
    # It makes a child for each file, which only a process without threads does safely.
    environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    coming, requests = os.pipe()
    answers, going = os.pipe()
    serve = f"serve({coming}, {going}, {most_bytes}, {os.getpid()})"
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", f"from fairpool.server.work.looker import serve; {serve}"],
            pass_fds=(coming, going),
            env=environment,
            start_new_session=True,  # so that it can be ended together with its child
        )
    except BaseException:
        os.close(requests)
        os.close(answers)
        raise
    finally:
        os.close(coming)
        os.close(going)
    looker = _Looker(process=process, requests=requests, answers=answers)
    _lookers[most_bytes] = looker
    return looker


def _stop(most_bytes: int) -> None:
    looker = _lookers.pop(most_bytes, None)
    if looker is None:
        return
    with suppress(ProcessLookupError):
        os.killpg(looker.process.pid, signal.SIGKILL)
    os.close(looker.requests)
    os.close(looker.answers)
    looker.process.wait()


@atexit.register
def _stop_all() -> None:
    for most_bytes in [*_lookers]:
        _stop(most_bytes)
