"""The peers' virtual environments.

Each has fairpool, as it is here, and one peer, so that both run in one process.
"""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.measure import FOLDER

ROOT = FOLDER.parent


@dataclass(frozen=True)
class Peer:
    """What is installed beside fairpool.

    Attributes:
        requirements: Given to pip, one group after the other.
        pythons: Versions of Python to prefer, for peers whose newest release needs a newer one than
            fairpool.
    """

    requirements: tuple[tuple[str, ...], ...]
    pythons: tuple[str, ...] = ()


PEERS = {
    "shapiq": Peer((("shapiq[proxy,sparse]",),), ("3.12", "3.13")),
    "shap": Peer((("shap",),), ("3.12", "3.13")),
    "pydvl": Peer((("pydvl",),)),
    # The version first, and alone: a plain requirement of torch may bring gigabytes for graphics
    # cards.
    "gpytorch": Peer((("torch==2.13.0",), ("gpytorch",))),
}


def python_of(peer: str) -> Path | None:
    """The peer's interpreter; this one for no peer at all.

    It is None where the peer could not be installed.
    """
    if peer in ("", "sklearn", "fairpool"):
        return Path(sys.executable)
    python = FOLDER / peer / "bin" / "python"
    return python if (FOLDER / peer / ".ready").exists() else None


def reason(peer: str) -> str:
    """Why a peer is not installed."""
    path = FOLDER / f"{peer}.failed"
    return path.read_text().strip() if path.exists() else "its environment was not made"


def make(peer: str) -> None:
    """Make one environment, unless it is there; a failure is noted, not raised."""
    ready, failed = FOLDER / peer / ".ready", FOLDER / f"{peer}.failed"
    wanted = json.dumps(PEERS[peer].requirements) + (ROOT / "pyproject.toml").read_text()
    if ready.exists() and ready.read_text() == wanted:
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    failed.unlink(missing_ok=True)
    python = FOLDER / peer / "bin" / "python"
    try:
        if not python.exists():
            _run(_interpreter(PEERS[peer].pythons), "-m", "venv", str(FOLDER / peer))
        for group in PEERS[peer].requirements:
            _pip(python, *group)
        _pip(
            python,
            "--editable",
            str(ROOT),
            *(r for group in PEERS[peer].requirements for r in group),
        )
        _run(str(python), "-c", f"import fairpool, {peer}")
    except subprocess.CalledProcessError as error:
        lines = [
            line
            for line in error.stderr.splitlines()
            if line.strip() and not line.startswith("WARNING")
        ]
        failed.write_text(lines[-1] if lines else str(error))
        ready.unlink(missing_ok=True)
        print(f"{peer}: not installed: {reason(peer)}")
    else:
        ready.write_text(wanted)
        print(f"{peer}: installed")


def _interpreter(versions: tuple[str, ...]) -> str:
    """The first of these versions that is on this machine and works; else that which runs this."""
    for version in versions:
        pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
        found = [shutil.which(f"python{version}"), *map(str, pyenv.glob(f"{version}.*/bin/python"))]
        for candidate in filter(None, found):
            if not subprocess.run([candidate, "-V"], capture_output=True).returncode:
                return candidate
    return sys.executable


def _pip(python: Path, *arguments: str) -> None:
    _run(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


def main() -> None:
    """All of them, at once: most of it is waiting for files."""
    with ThreadPoolExecutor(len(PEERS)) as threads:
        list(threads.map(make, PEERS))


if __name__ == "__main__":
    main()
