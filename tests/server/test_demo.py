"""`fairpool serve --demo`: the consortium that is to be clicked through."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.server.served import Served, served
from tests.support.projects import fairpool


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("demo") / "pool"
    with served(folder, "--demo") as service:
        yield service


@contextmanager
def look_as(demo: Served, name: str) -> Iterator[httpx.Client]:
    """A browser of somebody, who is signed in by a click."""
    with httpx.Client(base_url=demo.address, timeout=60, follow_redirects=True) as client:
        page = client.get("/demo").text
        person = re.search(rf'value="([^"]+)"><button[^>]*>Look as {name}', page)
        assert person is not None
        assert client.post("/demo", data={"person": person[1]}).status_code == 200
        yield client


def first_page(demo: Served, name: str) -> str:
    with look_as(demo, name) as client:
        (address,) = {
            found
            for found in re.findall(r'href="(/collaborations/[\w-]+)"', client.get("/").text)
            if not found.endswith("/new")
        }
        return client.get(address).text


def test_everybody_finds_what_is_theirs_to_do(demo: Served):
    assert "Round 2" in first_page(demo, "Olga")
    assert "You have done everything that is asked of you" in first_page(demo, "Amina")
    ben = first_page(demo, "Ben")
    assert "Correct 4 things in hospital_b_new.csv" in ben
    for column in ("sex", "bmi", "bp", "progression"):
        assert f"column &#34;{column}&#34;" in ben
    assert "The terms have changed: read them, and decide for Hospital C" in first_page(
        demo, "Clara"
    )
    noor = first_page(demo, "Noor")
    assert "Compute round 1 anew" in noor
    assert '<a href="/demo">Look as somebody else</a>' in noor


def test_a_demonstration_that_is_there_is_shown_as_it_is(demo: Served, tmp_path: Path):
    folder = demo.errors.with_suffix("")
    with look_as(demo, "Olga") as client:
        client.post("/account/name", data={"name": "Olga B.", "form_token": form_token(client)})
    with served(folder, "--demo") as again:
        assert "Olga B." in httpx.get(f"{again.address}/demo").text


def form_token(client: httpx.Client) -> str:
    found = re.search(r'name="form_token" value="([^"]+)"', client.get("/account").text)
    assert found is not None
    return found[1]


def test_who_is_not_of_the_demonstration_is_nobody(demo: Served):
    with httpx.Client(base_url=demo.address) as client:
        assert client.post("/demo", data={"person": "x"}).status_code == 404
        elsewhere = {"person": "x", "origin": "https://evil.example"}
        answer = client.post("/demo", data=elsewhere, headers={"Origin": "https://evil.example"})
        assert answer.status_code == 403


def test_a_service_that_is_no_demonstration_lets_nobody_in(tmp_path: Path):
    with served(tmp_path / "pool") as service, service.client() as client:
        assert client.get("/demo").status_code == 404
        assert client.post("/demo", data={"person": "x"}).status_code == 404


@pytest.mark.parametrize(
    "arguments",
    [
        ["--address", "https://pool.example.org"],
        ["--insecure", "--host", "0.0.0.0"],
    ],
)
def test_a_demonstration_is_for_this_machine_alone(tmp_path: Path, arguments: list[str]):
    done = fairpool("serve", "--demo", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "for this machine alone" in done.stderr
    done = fairpool("serve", "--demo", "--host", "0.0.0.0", cwd=tmp_path)
    assert done.returncode == 2
    assert "is not https" in done.stderr


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path):
    folder = tmp_path / "mine"
    folder.mkdir(mode=0o700)
    (folder / "thesis.txt").write_text("years of work")
    done = fairpool("serve", "--demo", "--port", "0", "--folder", str(folder), cwd=tmp_path)
    assert done.returncode == 2
    assert "holds something else" in done.stderr
    assert (folder / "thesis.txt").read_text() == "years of work"
