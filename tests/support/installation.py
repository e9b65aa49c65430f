"""Environments that have what users install, and nothing else."""

import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Installation:
    """An environment with the wheel, and a folder to work in."""

    binaries: Path
    work: Path

    def run(self, program, *arguments, cwd=None, **variables):
        command = [str(self.binaries / program), *map(str, arguments)]
        return subprocess.run(
            command,
            cwd=cwd or self.work,
            env=self.environment | variables,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )

    def output(self, program, *arguments, **more):
        done = self.run(program, *arguments, **more)
        assert (done.returncode, done.stderr) == (0, ""), (arguments, done.stdout, done.stderr)
        return done.stdout

    def pip(self, *arguments):
        return self.run("python", "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments)

    @property
    def environment(self):
        """That of a user who has just logged in.

        Nothing leads back to the checkout or to this Python.
        """
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("PYTHON", "COV", "VIRTUAL_ENV"))
        }
        return kept | {
            "XDG_CACHE_HOME": str(self.work / "cache"),
            "PYTHONNOUSERSITE": "1",
            "PYTHONUTF8": "1",
        }


@contextmanager
def distribution():
    """What `make dist` makes: the wheel, which is made of the source archive, and that archive."""
    with TemporaryDirectory(prefix="fairpool-dist-") as name:
        command = [sys.executable, "-m", "build", "--outdir", name, CHECKOUT]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        yield sorted(Path(name).iterdir())


@contextmanager
def new_environment(python):
    """One of that Python, in which nothing is installed yet.

    It lies in a folder that goes at once: pytest keeps the last three of its own, and one of these
    has 600 MB.
    """
    with TemporaryDirectory(prefix="fairpool-plain-install-") as name:
        folder = Path(name).resolve()
        subprocess.run([python, "-m", "venv", folder / "environment"], check=True)
        work = folder / "work"
        work.mkdir()
        binaries = "Scripts" if os.name == "nt" else "bin"
        yield Installation(folder / "environment" / binaries, work)
