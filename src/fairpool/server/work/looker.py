"""A process that looks at files for a worker: each in a child of its own, with little to use up.

It has everything loaded, so that a child is there at once; and nothing of one file is left when the
next one comes. A line of JSON is a file to look at, or what became of it. It ends with its worker.
"""

import json
import os
import resource
import select
import signal
import traceback
from typing import Any

from fairpool.server.work.one_file import Asked, look_at

PAUSE = 0.2
"""Seconds between two looks at whether the worker is still there."""

MOST_SAID = 16 << 20
"""Bytes that a child may find to say."""

NO_MEMORY = "memory"
"""What a child says that ran out of it."""


def serve(requests: int, answers: int, most_bytes: int, worker: int) -> None:
    """Look at one file after the other, until there are no more requests.

    Args:
        requests: Where these come from, a descriptor.
        answers: Where the answers go.
        most_bytes: So much memory a child may use.
        worker: The process that asks.
    """
    with open(requests, "rb") as coming:
        for line in coming:
            answer = json.dumps(_looked(json.loads(line), most_bytes, worker)) + "\n"
            with open(answers, "wb", closefd=False) as going:
                going.write(answer.encode())


def _looked(request: dict[str, Any], most_bytes: int, worker: int) -> dict[str, Any]:
    """What a child says, or how it ended without a word."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _say(writing, request, most_bytes)
    os.close(writing)
    said = b""
    try:
        while True:
            ready, _, _ = select.select([reading], [], [], PAUSE)
            piece = os.read(reading, 1 << 16) if ready else None
            if piece == b"":
                break
            said += piece or b""
            if os.getppid() != worker or len(said) > MOST_SAID:
                os.kill(child, signal.SIGKILL)
                said = b""
                break
    finally:
        os.close(reading)
        _, status = os.waitpid(child, 0)
    if os.getppid() != worker:
        os._exit(1)
    try:
        answer: dict[str, Any] = json.loads(said)
    except ValueError:
        return {"ended": os.waitstatus_to_exitcode(status)}
    return answer


def _say(writing: int, request: dict[str, Any], most_bytes: int) -> None:
    """In the child: look at the file, say what is found, and end."""
    answer: dict[str, Any]
    try:
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # which would have rows in it
        asked = Asked(**{**request, "others": tuple(request["others"])})
        answer = {"found": look_at(asked)}
    except MemoryError:
        answer = {"problem": NO_MEMORY}
    except BaseException:
        answer = {"unexpected": traceback.format_exc()}
    with os.fdopen(writing, "wb") as stream:
        stream.write(json.dumps(answer).encode())
    os._exit(0)
