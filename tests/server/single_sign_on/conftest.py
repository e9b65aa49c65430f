"""Two providers on this machine: a real one, and one that lies."""

import fcntl
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fairpool.server.settings import Settings
from fairpool.server.single_sign_on.configured import CALLBACK, ProviderSettings
from fairpool.server.single_sign_on.provider import Provider
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Identity
from fairpool.server.web.app import create_app
from tests.server.consortium import Service, add_consortium
from tests.server.single_sign_on.liar import Liar
from tests.server.single_sign_on.people import count_of, invite
from tests.server.single_sign_on.real_provider import CLIENT_ID, CLIENT_SECRET, Canaille
from tests.support.pages import ROOT

collect_ignore = ["canaille_server.py"]  # for the provider's own Python

ENVIRONMENT = ".venv-provider"
REQUIREMENTS = Path(__file__).with_name("requirements.txt")


@pytest.fixture(scope="session")
def provider_python() -> Path:
    """The Python of the provider's environment, which is made once for all tests."""
    with REQUIREMENTS.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = subprocess.run(
            ["make", "--silent", f"PYTHON={sys.executable}", f"{ENVIRONMENT}/.ready"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    assert made.returncode == 0, made.stdout + made.stderr
    return ROOT / ENVIRONMENT / "bin" / "python"


@pytest.fixture
def canaille(provider_python: Path) -> Iterator[Canaille]:
    """A real provider, with anna, berta and clara, whose addresses are verified, and with dora."""
    with Canaille.started(provider_python) as provider:
        for name in ("anna", "berta", "clara"):
            provider.add_person(name)
        provider.add_person("dora", is_verified=False)
        provider.add_client("http://127.0.0.1:8000" + CALLBACK)
        yield provider


@pytest.fixture(scope="module")
def lying() -> Iterator[Liar]:
    with Liar.started() as provider:
        yield provider


@pytest.fixture
def liar(lying: Liar) -> Liar:
    """A provider that answers as it is told, and is honest so far."""
    lying.become_honest()
    return lying


@pytest.fixture
def house(settings: Settings, sqlite: Database, canaille: Canaille) -> Service:
    """A service whose people sign in with canaille."""
    return service_of(settings, sqlite, canaille.issuer)


@pytest.fixture
def each_house(settings: Settings, database: Database, canaille: Canaille) -> Service:
    """The same on each kind of database in turn."""
    return service_of(settings, database, canaille.issuer)


@pytest.fixture
def lied_to(settings: Settings, sqlite: Database, liar: Liar) -> Service:
    """A service whose people sign in with the provider that lies."""
    return service_of(settings, sqlite, liar.issuer)


@pytest.fixture(scope="module")
def _kept(tmp_path_factory: pytest.TempPathFactory, lying: Liar) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("kept") / "server"
    folder.mkdir(mode=0o700)
    settings = Settings.of(folder, environment={})
    database = Database(settings.database)
    database.migrate()
    service = service_of(settings, database, lying.issuer)
    invite(service, add_consortium(database), "anna@example.org")
    yield service
    database.close()


@pytest.fixture
def waiting(_kept: Service, liar: Liar) -> Iterator[Service]:
    """The same, to which anna is invited, and where nobody has come in when a test ends."""
    settings = _kept.settings.provider
    assert settings is not None
    _kept.app.state.provider = Provider(settings, _kept.settings.address + CALLBACK)
    yield _kept
    assert count_of(_kept, Identity) == 0


def service_of(settings: Settings, database: Database, issuer: str, **more: object) -> Service:
    """A service with a provider."""
    provider = ProviderSettings(
        issuer=issuer, client_id=CLIENT_ID, client_secret=CLIENT_SECRET, name="Houses"
    )
    settings = replace(settings, provider=provider, **more)  # type: ignore[arg-type]
    return Service(app=create_app(settings, database), settings=settings, database=database)
