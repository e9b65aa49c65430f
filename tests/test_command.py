"""The installed command as a process, every subcommand once: what `fairpool` in this process gives
must be the same.
"""

import re
import shutil
import subprocess
import warnings

import pytest
import typer.main

from fairpool.cli import app
from fairpool.errors import FairpoolWarning
from fairpool.signatures import SigningKey
from tests.support import in_process
from tests.support.projects import (
    COMMAND,
    fairpool,
    fairpool_process,
    known_secret,
    project,
    reward_file,
    table,
    write,
)

COMMANDS = {
    "help": ["--help"],
    "wrong usage": ["run", "project", "--speed", "9"],
    "demo": ["demo"],
    "init": ["init", "new"],
    "check": ["check", "project"],
    "check, refused": ["check", "damaged"],
    "keys show": ["keys", "show", "north.key"],
    "agreement": ["agreement", "project", "--out", "agreement.md"],
    "plan, refused": ["plan", "project"],
    "run": ["run", "project"],
    "preview": ["run", "project", "--preview"],
    "predict": [
        "predict",
        "reward.safetensors",
        "--data",
        "project/test.csv",
        "--out",
        "predicted.csv",
    ],
    "inspect": ["inspect", "reward.safetensors"],
    "update": ["update", "reward.safetensors", "--data", "more.csv", "--add"],
    "export": ["export", "reward.safetensors", "--to", "coefficients.json"],
    "verify": ["verify", "reward.safetensors"],
    "reproduce": ["reproduce", "fig4", "--quick"],
    "key rotate": ["key", "rotate", "project"],
    "key lost": ["key", "lost", "project"],
    "ledger verify, none": ["ledger", "verify", "project"],
    "ledger show, none": ["ledger", "show", "project"],
    "keys new, refused": ["keys", "new", "--out", "north.key"],
    "contribute, refused": ["contribute", "more.csv", "--data", "more.csv", "--out", "sums"],
    "receipts, refused": ["receipts", "project"],
    "rounds, refused": ["rounds", "project"],
    "compare, refused": ["compare", "project", "1", "2"],
    "erase, refused": ["erase", "project", "--party", "Nobody"],
    "audit, refused": ["audit", "project", "1"],
    "serve, refused": ["serve", "--address", "nowhere"],
    "worker, refused": ["worker", "--folder", "nowhere"],
    "server check, refused": ["server", "check", "--folder", "nowhere"],
    "server password, refused": ["server", "password", "--email", "a@b.org", "--folder", "nowhere"],
    "server mail, refused": ["server", "mail", "--to", "a@b.org", "--folder", "nowhere"],
    "server backup, refused": ["server", "backup", "--folder", "nowhere", "--out", "x"],
    "server restore, refused": ["server", "restore", "nowhere", "--folder", "new"],
}
SELDOM = {name for name in COMMANDS if name.endswith((", refused", ", none"))} - {
    "check, refused",
    "plan, refused",
}
"""Of what is refused a share is enough; `make soak` has all."""

SHOWS_WHAT_IS_WRONG = {"ledger verify, none", "ledger show, none", "check, refused"}
"""On standard output, since that is what was asked for."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """All that the commands need, in one folder; each works on a copy."""
    folder = tmp_path_factory.mktemp("place")
    released = project(folder / "released")
    assert fairpool("run", released).returncode == 0
    shutil.move(reward_file(released, "Party-1"), folder)
    shutil.rmtree(released)
    (project(folder / "project") / ".fairpool").mkdir()
    known_secret().write(folder / "project" / ".fairpool" / "secret.key")
    SigningKey(bytes(32)).write(folder / "north.key")
    write(folder / "more.csv", table(9, 7))
    project(folder / "damaged")
    (folder / "damaged" / "p0.csv").write_text("x,z,kind,y\n1,2,röd,oops\n")
    return folder


def files(folder, name):
    """Every file, with its content where that is the same each time.

    It is not for pictures, nor for a demo with its own secret, by which what it keeps is called.
    """
    found = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        if name == "demo" and path.parent.name == "kept":
            continue
        same = path.suffix in {".csv", ".toml", ".json", ".txt"} and name != "demo"
        text = path.read_bytes().decode() if same else ""
        found[str(path.relative_to(folder))] = re.sub(r'"seconds": [^,}]+', "", text)
    return found


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.soak) if name in SELDOM else name for name in COMMANDS],
)
def test_the_process_does_and_says_what_the_same_command_does_here(place, tmp_path, name):
    seen = []
    for way in (fairpool, fairpool_process):
        folder = tmp_path / way.__name__
        shutil.copytree(place, folder)
        done = way(*COMMANDS[name], cwd=folder)
        seen.append((done.returncode, done.stdout, done.stderr, files(folder, name)))
    here, process = seen
    is_refused = name == "wrong usage" or name.endswith((", refused", ", none"))
    assert process[0] == 2 * is_refused, process[2]
    assert bool(process[1]) == (not is_refused or name in SHOWS_WHAT_IS_WRONG)
    assert bool(process[2]) == (is_refused and not name.endswith(", none"))
    assert here == process


def names_of_commands(group, before=()):
    """Of all commands, also of those in groups, as they are written."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from names_of_commands(command, (*before, name))
        else:
            yield (*before, name)


def test_every_command_is_among_them():
    names = set(names_of_commands(typer.main.get_command(app)))
    assert len(names) > 20
    lines = [tuple(line) for line in COMMANDS.values()]
    assert {name for name in names if not any(one[: len(name)] == name for one in lines)} == set()


def warn():
    warnings.warn("old", DeprecationWarning, stacklevel=1)
    for _ in range(2):  # the second time it is known
        warnings.warn("take care", FairpoolWarning, stacklevel=1)
    raise SystemExit(3)


def fail():
    raise RuntimeError("a bug")


def end_with_a_text():
    raise SystemExit("no")


@pytest.mark.parametrize(
    ("entry", "code", "out", "err"),
    [
        (
            warn,
            3,
            "",
            r'.*test_command\.py:\d+: FairpoolWarning: take care\n  warnings\.warn\("take'
            r' care".*\n',
        ),
        (fail, 1, "", r"Traceback (.|\n)*RuntimeError: a bug\n"),
        (end_with_a_text, 1, "", "no\n"),
        (print, 0, "\n", ""),
    ],
)
def test_warnings_faults_and_exit_codes_here_are_those_of_a_process(
    monkeypatch, entry, code, out, err
):
    monkeypatch.setattr(in_process, "entry", entry)
    done = fairpool("anything")
    assert (done.returncode, done.stdout) == (code, out)
    assert re.fullmatch(err, done.stderr)


def test_a_reader_who_has_enough_is_no_error(tmp_path):
    """As `fairpool predict ... | head -1` is: the pipe is closed before all is written."""
    folder = project(tmp_path / "p")
    assert fairpool("run", folder, "--quiet").returncode == 0
    write(tmp_path / "many.csv", table(20_000, 1))
    reward = reward_file(folder, "Party-0")
    command = [COMMAND, "predict", reward, "--data", tmp_path / "many.csv", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(10)
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 0)
