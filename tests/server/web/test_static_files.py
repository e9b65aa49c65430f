import hashlib
import re
from pathlib import Path

import pytest

from fairpool.server.web.static_files import FOLDER, HTMX, static_address
from tests.server.consortium import Service

TEMPLATES = sorted((FOLDER.parent / "templates").glob("*.j2"))
OWN = sorted(path for path in FOLDER.iterdir() if path.name != HTMX and path.suffix != ".txt")


def test_htmx_is_the_file_of_the_package_as_it_was_published():
    digest = hashlib.sha256((FOLDER / HTMX).read_bytes()).hexdigest()
    assert digest == "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"
    assert 'version:"2.0.11"' in (FOLDER / HTMX).read_text()
    assert (FOLDER / "htmx-LICENSE.txt").read_text().startswith("Zero-Clause BSD")


def test_htmx_is_told_to_run_and_write_nothing_that_pages_may_not():
    told = (FOLDER.parent / "templates" / "base.html.j2").read_text()
    for setting in (
        '"includeIndicatorStyles": false',
        '"allowEval": false',
        '"allowScriptTags": false',
        '"selfRequestsOnly": true',
    ):
        assert setting in told


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_have_no_script_or_style_of_their_own(path: Path):
    text = path.read_text()
    assert not re.search(r"<style|\sstyle=|<script(?! src=)|\son[a-z]+=|javascript:", text)
    assert not re.search(r"hx-(on|vars|vals)\b", text)


@pytest.mark.parametrize("path", [*TEMPLATES, *OWN], ids=lambda path: path.name)
def test_nothing_is_asked_of_another_server(path: Path):
    addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"')]*", path.read_text()))
    assert addresses <= {"http://www.w3.org/2000/svg"}


def test_a_file_is_kept_by_browsers_under_the_address_of_its_content(service: Service):
    client = service.client()
    answer = client.get(static_address("fairpool.css"))
    assert answer.status_code == 200
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/css")
    assert client.get("/static/fairpool.css").headers["cache-control"] == "no-store"


@pytest.mark.parametrize("name", ["../app.py", "..%2fapp.py", "%2e%2e/app.py", "", "nothing.css"])
def test_no_other_file_is_given(service: Service, name: str):
    assert service.client().get(f"/static/{name}").status_code == 404
