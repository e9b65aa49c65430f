"""A real service with a worker, behind a way that can be cut, and people with tokens."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

import fairpool as fp
from fairpool.client.auditor import AsAuditor
from fairpool.client.operator import AsOperator
from fairpool.client.party import AsParty
from tests.client.relay import Relay, relay
from tests.server.agreed import draft_of
from tests.server.served import Served, served

PASSWORD = "four words together"
PEOPLE = ("operator", "north", "south", "auditor")


def account_of(address: str, link: str, name: str) -> str:
    """Make an account by a link, as a browser does; a token for its programs."""
    secret = link.rsplit("/", 1)[1]
    with httpx.Client(base_url=address, timeout=60) as browser:
        who = {"name": name, "email": f"{name}@example.org", "password": PASSWORD}
        entered = browser.post(f"/api/v1/invitations/{secret}/account", json=who)
        assert entered.status_code == 201, entered.text
        browser.headers["X-Form-Token"] = entered.json()["form_token"]
        made = browser.post("/api/v1/tokens", json={"name": "programs"})
        assert made.status_code == 201, made.text
        return str(made.json()["secret"])


@dataclass(frozen=True, kw_only=True)
class Pool:
    """A service, the way to it, and everybody's token."""

    service: Served
    way: Relay
    tokens: dict[str, str]

    @property
    def address(self) -> str:
        return self.service.address

    @property
    def folder(self) -> Path:
        return self.service.errors.with_suffix("")

    def client(self, name: str) -> fp.Client:
        return fp.Client(self.address, self.tokens[name])

    def consortium(self, toml: str | None = None) -> "People":
        """A new collaboration, in which everybody has a part."""
        operator = self.client("operator")
        text = toml or draft_of("north", "south")
        begun = operator.begin(toml=text.replace("Clinics", f"C{secrets.token_hex(4)}"))
        assert begun.problems == ()
        mine = operator.as_operator(begun.id)
        for role, party, name in (
            ("party", "north", "north"),
            ("party", "south", "south"),
            ("auditor", None, "auditor"),
        ):
            link = mine.invite(role, party=party, email=f"{name}@example.org").link
            self.client(name).accept_invitation(link)
        return People(
            operator=mine,
            north=self.client("north").as_party(begun.id),
            south=self.client("south").as_party(begun.id),
            auditor=self.client("auditor").as_auditor(begun.id),
        )


@dataclass(frozen=True, kw_only=True)
class People:
    """Everybody of one collaboration."""

    operator: AsOperator
    north: AsParty
    south: AsParty
    auditor: AsAuditor


def people_of(service: Served, address: str) -> dict[str, str]:
    """An account for everybody, and a token each."""
    assert service.link is not None
    tokens = {"operator": account_of(address, service.link, "operator")}
    operator = fp.Client(address, tokens["operator"])
    begun = operator.begin(toml=draft_of("north", "south"))
    mine = operator.as_operator(begun.id)
    for role, party, name in (
        ("party", "north", "north"),
        ("party", "south", "south"),
        ("auditor", None, "auditor"),
    ):
        tokens[name] = account_of(address, mine.invite(role, party=party).link, name)
    return tokens


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    folder: Path = tmp_path_factory.mktemp("client") / "pool"
    with relay() as way:
        address = f"http://127.0.0.1:{way.port}"
        more = ("--workers", "1", "--address", address)
        with served(folder, *more, FAIRPOOL_UPLOAD_MEBIBYTES="4") as service:
            way.target = port_of(service)
            yield Pool(service=service, way=way, tokens=people_of(service, address))


def port_of(service: Served) -> int:
    """Where a service really listens, which it says nowhere when it has another address."""
    inodes = set()
    for one in Path(f"/proc/{service.process.pid}/fd").iterdir():
        target = one.readlink().name
        if target.startswith("socket:["):
            inodes.add(target.removeprefix("socket:[").removesuffix("]"))
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and fields[9] in inodes:
            return int(fields[1].rsplit(":", 1)[1], 16)
    raise AssertionError("it listens nowhere")
