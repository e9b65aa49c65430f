"""docs/server.md as it is followed: every command and every block, against real processes.

What people do in a browser between two blocks (make an account, make a token) is done here.
"""

import os
import re
import shlex
import socket
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

from fairpool.exchange.plan import SignedPlan
from tests.client.certificates import certificate
from tests.client.conftest import account_of
from tests.server.conftest import fresh_postgres, postgres_programs
from tests.server.mail.mailbox import PASSWORD, let_in, mailbox
from tests.support.pages import ROOT, Walk, page_text
from tests.support.projects import COMMAND

PAGE = page_text("server")
PARTIES = ("north", "south", "east")
CLINICS = ("south", "east")
SAID_ADDRESS = "http://127.0.0.1:8000"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


class Machines(Walk):
    """A machine for everybody on the page; services and workers are processes of their own."""

    def __init__(self, folder):
        super().__init__(folder, groups={"each party": PARTIES, "each clinic": CLINICS})
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.processes = {}
        self.environment = {}
        self.replaced = {}
        for place, name in enumerate(PARTIES):
            write_patients(self.machine(name) / "patients.csv", 60 + 30 * place, place)

    def run(self, machine, line):
        for old, new in self.replaced.items():
            line = line.replace(old, new)
        line = line.replace(SAID_ADDRESS, self.address)
        program, _, rest = line.partition(" ")
        mine = self.environment.setdefault(machine, {})
        if program == "export":
            name, _, value = rest.partition("=")
            mine[name] = value
        elif re.match(r"fairpool (serve|worker)\b", line):
            self.start(machine, line.replace("--port 8000", f"--port {self.port}"))
        else:
            with pytest.MonkeyPatch.context() as patch:
                for name, value in mine.items():
                    patch.setenv(name, value)
                super().run(machine, line)
        if line.startswith("fairpool server check"):
            self.said[machine, "check"] = self.said[machine]
        if line == "fairpool keys new":
            self.key = re.search(r'key = "ed25519:\w+"', self.said[machine])[0]

    def start(self, machine, line):
        with (self.folder / f"{machine}.log").open("a") as log:
            process = subprocess.Popen(
                [COMMAND, *shlex.split(line)[1:]],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=self.machine(machine),
                env=os.environ | self.environment[machine],
            )
        self.processes[machine] = process
        # Otherwise a program that says nothing would keep all tests waiting.
        watch = threading.Timer(240, process.kill)
        watch.start()
        said = ""
        while not re.search(r"Ctrl-C\s+ends\s+it\.", said):
            more = process.stdout.readline()
            assert more, (line, (self.folder / f"{machine}.log").read_text())
            said += more
        watch.cancel()
        self.said[machine] = self.said[machine, "start"] = said
        if machine == "service":
            link = re.search(r"http\S+/invitations/\S+", said)[0]
            self.put_token("operator", account_of(self.address, link, "operator"))

    def put_token(self, machine, token):
        file = self.machine(machine) / "token"
        file.touch(mode=0o600)
        file.write_text(token)

    def take(self, block):
        if block.language == "toml":
            text, changed = re.subn(r'key = "ed25519:\.\.\.".*', self.key, block.text)
            assert changed == 1
            (self.machine("operator") / block.where.split()[1]).write_text(text)
        elif block.language == "python":
            for machine in self.groups.get(block.where, [block.where]):
                text = block.text.replace(SAID_ADDRESS, self.address)
                self.execute(type(block)(block.language, machine, text, block.heading))
                self.after(block.text)
        else:
            super().take(block)

    def after(self, text):
        """What people do in a browser, or by telephone."""
        if "links[" not in text:
            return
        for name, link in self.names["links"].items():
            self.put_token(name.lower(), account_of(self.address, link, name.lower()))
        plan = self.names["operator"].plan(self.names["terms"])
        fingerprint = SignedPlan.of_content(plan, "plan").operator.fingerprint
        self.variables["FINGERPRINT"] = fingerprint

    def end(self):
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            process.wait(60)
            process.stdout.close()


def write_patients(path: Path, count: int, seed: int) -> None:
    rng = np.random.default_rng([18, seed])
    age, bmi = rng.uniform(20, 80, count), rng.uniform(18, 40, count)
    progression = (2 * age + 3 * bmi + rng.normal(0, 20, count)).clip(0, 400)
    rows = np.column_stack([age, bmi, progression]).round(2)
    np.savetxt(path, rows, "%.2f", ",", header="age,bmi,progression", comments="")


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    """The page's server for mail, by TLS."""
    folder = tmp_path_factory.mktemp("mail")
    path, tls = certificate(folder, "localhost")
    with mailbox(tls=tls, authenticator=let_in, auth_require_tls=False) as made:
        yield made, path


@pytest.fixture(scope="module")
def walked(tmp_path_factory, request, box):
    folder = tmp_path_factory.mktemp("page")
    walk = Machines(folder)
    (folder / "etc").mkdir()
    (folder / "backups").mkdir()
    walk.replaced = {
        "/srv/fairpool": str(folder / "srv"),
        "/etc/fairpool": str(folder / "etc"),
        "/mnt/backups": str(folder / "backups"),
        "--workers 0": f"--workers 0 --port {free_port()}",
        "mail.example.org:465": f"localhost:{box[0].port}",
    }
    password = folder / "etc" / "mail.password"
    password.touch(mode=0o600)
    password.write_text(PASSWORD)
    walk.environment["production"] = {"SSL_CERT_FILE": str(box[1])}
    database = f"sqlite:///{folder / 'database.sqlite'}"
    if postgres_programs() is not None:
        database = fresh_postgres(request.getfixturevalue("postgres")).replace("+psycopg", "")
    walk.replaced["postgresql://fairpool:PASSWORD@db.example.org/fairpool"] = database
    try:
        yield walk.follow(PAGE)
    finally:
        walk.end()


def test_every_command_of_the_page_does_what_it_says(walked):
    for name in PARTIES:
        assert (walked.machine(name) / "letter.html").stat().st_size > 1000
        assert (walked.machine(name) / "reward.safetensors").is_file()
    (receipt,) = walked.machine("north").glob("*.receipt")
    assert receipt.with_suffix(".contribution").is_file()
    assert (walked.machine("operator") / "report.html").is_file()
    assert (walked.machine("auditor") / "round-1.zip").is_file()
    assert "The key of uploads is not in it" in walked.said["production"]
    assert "Files and database belong together." in walked.said["another"]
    assert "fairpool is at https://pool.example.org" in walked.said["production", "start"]


def test_the_page_s_mail_arrives(walked, box):
    (said,) = box[0].to("me@example.org")
    assert "the fairpool service at https://pool.example.org" in said
    assert box[0].signed_in == [True]


def test_north_sent_no_row(walked):
    rows = (walked.machine("north") / "patients.csv").read_bytes().splitlines()[1:]
    assert len(rows) == 60
    for path in walked.folder.rglob("*"):
        if path.is_file() and "north" not in path.relative_to(walked.folder).parts:
            content = path.read_bytes()
            assert not any(row in content for row in rows), path


def test_every_claim_names_a_test_that_there_is():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) > 25
    for path, name in named:
        assert re.search(rf"^def {name}\(", (ROOT / path).read_text(), re.M), (path, name)


def test_every_line_of_the_tables_of_thieves_and_people_names_its_test():
    _, _, section = PAGE.partition("## Who can see and do what")
    section, _, _ = section.partition("## It withstands")
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    lines = [line for line in lines if not re.match(r"\| (who|a thief of) \|", line)]
    assert len(lines) == 13
    for line in lines:
        assert re.search(r"`tests/[\w/]+\.py::\w+`( \|)$", line), line


def test_every_attack_names_its_test():
    _, _, section = PAGE.partition("## It withstands")
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    attacks = lines[1 : lines.index("| what | share in `make test` | measured | takes |")]
    assert len(attacks) == 22
    for line in attacks:
        assert re.search(r"`tests/[\w/]+\.py::\w+`( \|)$", line), line
