"""`fairpool serve` as a process, for tests that need a real one."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.support.projects import COMMAND


@dataclass(frozen=True, kw_only=True)
class Served:
    """A service that runs."""

    process: "subprocess.Popen[str]"
    address: str
    link: str | None
    errors: Path

    def client(self) -> httpx.Client:
        """A browser, or a program, that nobody is signed in with."""
        return httpx.Client(base_url=self.address, timeout=60)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.address.rsplit(":", 1)[1])

    def kill(self) -> None:
        """End it, and all its workers, as a machine does that loses its power: kill -9."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(60)

    def stop(self) -> int:
        """End it as a service manager does; its exit code."""
        self.process.terminate()
        return self.process.wait(60)

    def log(self) -> str:
        """What it wrote to standard error so far."""
        return self.errors.read_text()


@contextmanager
def served(folder: Path, *more: str, **environment: str) -> Iterator[Served]:
    """A service on this machine.

    Args:
        folder: Where everything is kept.
        more: Arguments besides; --workers 0 and any port are among them unless they say otherwise.
        environment: Variables besides.
    """
    arguments = ["serve", "--folder", str(folder), "--json"]
    if "--port" not in more:
        arguments += ["--port", "0"]
    if "--workers" not in more:
        arguments += ["--workers", "0"]
    errors = folder.with_suffix(".log")
    with errors.open("a") as log:
        process = subprocess.Popen(
            [COMMAND, *arguments, *more],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=os.environ | environment,
            start_new_session=True,  # so that it can be killed with its workers
        )
    try:
        assert process.stdout is not None
        text = ""
        for line in process.stdout:
            text += line
            if line == "}\n":
                break
        assert text, errors.read_text()
        said = json.loads(text)
        yield Served(process=process, address=said["address"], link=said["link"], errors=errors)
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
