"""`fairpool contribute --to`: a contribution made at home, brought to a real service, once."""

import hashlib
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import fairpool as fp
from fairpool.client.connection import Connection
from fairpool.client.delivering import Delivery, checked_receipt
from fairpool.client.party import AsParty
from fairpool.consortium.home.contributing import Made
from fairpool.errors import FairpoolError
from fairpool.exchange.contribution_file import ContributionFile
from fairpool.exchange.plan import SignedPlan
from fairpool.exchange.receipt import Receipt
from fairpool.signatures import PublicKey, SigningKey, sign
from tests.client.conftest import People, Pool
from tests.server.agreed import csv_of, draft_of, rows
from tests.support.exchange import KEYS, NAMES
from tests.support.home import a_home
from tests.support.projects import COMMAND, fairpool

SUBMISSIONS = "POST /api/v1/collaborations/{}/submissions"


@dataclass(frozen=True, kw_only=True)
class Clinic:
    """North's machine, and its collaboration, in which it sends sums."""

    pool: Pool
    people: People
    place: Path
    trust: str

    @property
    def url(self) -> str:
        return f"{self.pool.address}/collaborations/{self.people.north.part.collaboration_id}"

    @property
    def party(self) -> AsParty:
        return self.people.north

    def write(self, count: int) -> None:
        """Its table has so many rows: the first ones are always the same."""
        (self.place / "mine.csv").write_bytes(csv_of(rows(200).slice(0, count)))

    def contribute(self, *options: str) -> "subprocess.CompletedProcess[str]":
        return fairpool(
            "contribute", "--data", "mine.csv", "--to", self.url, "--yes", *options, cwd=self.place
        )

    def begun(self, what: str = "?") -> int:
        here = SUBMISSIONS.format(self.party.part.collaboration_id) + what
        return self.pool.way.begun(here.encode())

    def receipts(self) -> list[Path]:
        return sorted(self.place.glob("*.receipt"))


def at_work(pool: Pool, place: Path, *, is_accepted: bool = True) -> Clinic:
    """A collaboration in which three parties send sums, and North's machine."""
    keys = {name.lower(): str(KEYS[name].public) for name in NAMES}
    people = pool.consortium(draft_of(*keys, keys=keys))
    terms = people.operator.propose()
    if is_accepted:
        people.north.accept(terms)
    plan = json.loads(people.north.plan(terms))
    trust = _fingerprint(plan["key"])
    made = Clinic(pool=pool, people=people, place=place, trust=trust)
    made.write(100)
    return made


def _fingerprint(key: str) -> str:
    return PublicKey.of_text(key).fingerprint


@pytest.fixture
def clinic(pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clinic]:
    monkeypatch.setenv("FAIRPOOL_HOME", str(a_home(tmp_path / "home")))
    monkeypatch.setenv("FAIRPOOL_TOKEN", pool.tokens["north"])
    (tmp_path / "work").mkdir()
    return at_work(pool, tmp_path / "work")


def test_it_goes_to_the_service_takes_part_and_is_acknowledged(clinic: Clinic) -> None:
    done = clinic.contribute("--trust", clinic.trust)
    assert done.returncode == 0, done.stderr
    assert f"It goes to {clinic.pool.address}, for C" in done.stdout
    (file,) = clinic.place.glob("north-*.contribution")
    (receipt,) = clinic.receipts()
    assert receipt.stem == file.stem
    said = Receipt.of_content(receipt.read_bytes(), "receipt")
    assert (said.party, said.rows) == ("north", 100)
    assert said.file == hashlib.sha256(file.read_bytes()).hexdigest()
    (having,) = clinic.party.standing().having
    assert (having.state, having.sha256) == ("submitted", said.file)
    # Again: the same file, which is not sent a second time.
    assert clinic.begun() == 1
    before = receipt.read_bytes()
    again = clinic.contribute("--json")
    assert again.returncode == 0, again.stdout
    told = json.loads(again.stdout)
    assert told["again"]
    assert [one["was_there"] for one in told["sent"]] == [True]
    assert clinic.begun() == 1
    assert receipt.read_bytes() == before
    # A lost receipt is fetched again.
    receipt.unlink()
    assert clinic.contribute().returncode == 0
    assert Receipt.of_content(receipt.read_bytes(), "receipt").contribution == said.contribution


def test_next_month_the_new_rows_go_and_what_was_not_sent_goes_before_them(clinic: Clinic) -> None:
    plan = clinic.party.plan(clinic.party.terms()[0])
    (clinic.place / "plan.json").write_bytes(plan)
    options = ["--trust", clinic.trust, "--yes", "--out", "first.contribution"]
    local = fairpool("contribute", "plan.json", "--data", "mine.csv", *options, cwd=clinic.place)
    assert local.returncode == 0, local.stderr
    assert clinic.begun() == 0
    clinic.write(160)
    done = clinic.contribute("plan.json", "--out", "second.contribution")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "100 row(s), which this one adds to, and which does not take part there yet" in said
    assert sorted(one.rows for one in clinic.party.standing().having) == [60, 100]
    assert clinic.begun() == 2
    assert len(clinic.receipts()) == 2


@pytest.mark.parametrize(
    "lost",
    [pytest.param("?", id="the upload's", marks=pytest.mark.soak), pytest.param("/", id="another")],
)
def test_an_answer_that_is_lost_is_no_harm(clinic: Clinic, lost: str) -> None:
    here = (SUBMISSIONS.format(clinic.party.part.collaboration_id) + lost).encode()
    clinic.pool.way.lose_answer(here)
    done = clinic.contribute("--trust", clinic.trust)
    assert done.returncode == 0, done.stderr
    assert len(clinic.party.standing().having) == 1
    assert len(clinic.party.standing().sent) == 1


def test_where_the_connection_stays_lost_the_same_command_goes_on_later(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = SUBMISSIONS.format(clinic.party.part.collaboration_id).encode()
    monkeypatch.setattr(Connection.__init__, "__kwdefaults__", {"pauses": (0.01,)})
    clinic.pool.way.lose_answer(here + b"?", times=2)
    stopped = clinic.contribute("--trust", clinic.trust)
    assert stopped.returncode == 2
    said = " ".join(stopped.stderr.split())
    assert "cannot be reached" in said
    assert "is written; run this again to go on: what the service has is not sent twice" in said
    assert clinic.receipts() == []
    sent = clinic.begun()
    # Meanwhile there are more rows; the contribution that was interrupted is not forgotten.
    clinic.write(160)
    done = clinic.contribute()
    assert done.returncode == 0, done.stderr
    assert clinic.begun() == sent + 1
    assert sorted(one.rows for one in clinic.party.standing().having) == [60, 100]
    assert len(clinic.party.standing().sent) == 2
    assert len(clinic.receipts()) == 2


def test_what_would_be_refused_is_said_before_anything_is_made(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRPOOL_HOME", str(a_home(tmp_path / "home")))
    monkeypatch.setenv("FAIRPOOL_TOKEN", pool.tokens["north"])
    (tmp_path / "work").mkdir()
    clinic = at_work(pool, tmp_path / "work", is_accepted=False)
    before = sorted(tmp_path.rglob("*"))
    done = clinic.contribute("--trust", clinic.trust)
    assert done.returncode == 2
    assert "has not accepted the terms in force" in done.stderr
    assert clinic.url in done.stderr
    done = clinic.contribute("--trust", "0000")
    assert done.returncode == 2
    assert "--trust says" in done.stderr
    monkeypatch.setenv("FAIRPOOL_TOKEN", pool.tokens["auditor"])
    done = clinic.contribute("--trust", clinic.trust)
    assert done.returncode == 2
    assert "this token has no part as party" in done.stderr
    monkeypatch.setenv("FAIRPOOL_TOKEN", "fp_" + "x" * 43)
    done = clinic.contribute("--trust", clinic.trust)
    assert done.returncode == 2
    assert "sign in first" in done.stderr
    monkeypatch.setenv("FAIRPOOL_TOKEN", pool.tokens["north"])
    clinic.party.accept(clinic.party.terms()[0])
    done = clinic.contribute()
    assert done.returncode == 2
    assert "never compared" in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_a_round_that_takes_nothing_is_said_before_anything_is_made(clinic: Clinic) -> None:
    assert clinic.contribute("--trust", clinic.trust).returncode == 0
    (path,) = clinic.place.glob("*.contribution")
    content = path.read_bytes()
    made = Made(file=ContributionFile.of_bytes(content, "x"), content=content)
    delivery = Delivery.to(fp.Client(clinic.url, clinic.pool.tokens["north"]), None)
    assert delivery.waiting([made]) == ()
    other = replace(made, content=content + b" ")
    assert delivery.waiting([made, other]) == (other,)
    for changes, why in (
        ({"state": "closed"}, "round 1 takes nothing now, since it is closed; nothing was made"),
        ({"takes_part": False}, "takes no part in the terms in force"),
    ):
        later = replace(delivery, standing=replace(delivery.standing, **changes))
        assert later.waiting([made]) == ()
        with pytest.raises(FairpoolError, match=why):
            later.waiting([made, other])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--data", "mine.csv"], "give the plan.json that the operator sent, or a service"),
        (["plan.json", "--data", "mine.csv"], "--out: give the file to write"),
        (
            ["plan.json", "--data", "mine.csv", "--out", "x.contribution", "--token-file", "t"],
            "--token-file is for a service",
        ),
        (["--data", "mine.csv", "--to", "https://pool.example.org"], "FAIRPOOL_TOKEN"),
        (["--data", "mine.csv", "--to", "http://pool.example.org"], "is not https"),
    ],
)
def test_what_is_lacking_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.delenv("FAIRPOOL_TOKEN", raising=False)
    if "http://pool.example.org" in arguments:
        monkeypatch.setenv("FAIRPOOL_TOKEN", "fp_" + "x" * 43)
    done = fairpool("contribute", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_plan_of_other_terms_is_not_sent_under(clinic: Clinic) -> None:
    other = at_work(clinic.pool, clinic.place)
    plan = other.party.plan(other.party.terms()[0])
    (clinic.place / "plan.json").write_bytes(plan)
    done = clinic.contribute("plan.json", "--trust", clinic.trust)
    assert done.returncode == 2
    assert "this plan is not that of the terms in force" in done.stderr


def test_the_token_is_in_no_process_list_and_nothing_that_is_printed(clinic: Clinic) -> None:
    token = clinic.pool.tokens["north"]
    file = clinic.place / "token"
    file.touch(mode=0o600)
    file.write_text(token)
    environment = {name: value for name, value in os.environ.items() if name != "FAIRPOOL_TOKEN"}
    more = ["--token-file", "token", "--trust", clinic.trust]
    process = subprocess.Popen(
        [COMMAND, "contribute", "--data", "mine.csv", "--to", clinic.url, "--yes", *more],
        cwd=clinic.place,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    command = Path(f"/proc/{process.pid}/cmdline").read_bytes()
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert token.encode() not in command
    assert token not in out + err
    for path in clinic.place.rglob("*"):
        if path.is_file() and path != file:
            assert token.encode() not in path.read_bytes()
    file.chmod(0o644)
    refused = clinic.contribute("--token-file", "token")
    assert refused.returncode == 2
    assert "chmod 600 token" in refused.stderr


def test_a_receipt_of_somebody_else_acknowledges_nothing(clinic: Clinic) -> None:
    assert clinic.contribute("--trust", clinic.trust).returncode == 0
    (path,) = clinic.place.glob("*.contribution")
    content = path.read_bytes()
    made = Made(file=ContributionFile.of_bytes(content, "x"), content=content)
    plan = SignedPlan.of_content(clinic.party.plan(clinic.party.terms()[0]), "plan")
    (receipt,) = clinic.receipts()
    good = receipt.read_bytes()
    assert checked_receipt(good, made, plan).rows == 100
    body = Receipt.of_content(good, "x").document.body
    forged = sign(SigningKey.fresh(), "receipt", dict(body)).content
    with pytest.raises(FairpoolError, match="it acknowledges nothing"):
        checked_receipt(forged, made, plan)
    with pytest.raises(FairpoolError, match="the receipt"):
        checked_receipt(good.replace(b'"rows":100', b'"rows":101'), made, plan)
    other = Made(file=made.file, content=content + b" ")
    with pytest.raises(FairpoolError, match="for something else than was sent: file is"):
        checked_receipt(good, other, plan)
