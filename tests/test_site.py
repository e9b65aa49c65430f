"""The site that `make docs` builds: whole, no broken link, no request to elsewhere."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fairpool as fp
from fairpool.cli import app
from tests.support.browser import chromium, console, open_page, requests

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

if importlib.util.find_spec("sphinx") is None and not os.environ.get("CI"):
    pytest.skip("sphinx is not installed: pip install 'fairpool[docs]'", allow_module_level=True)


def build(source, target):
    """What `make docs` does."""
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", source, target]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = build(DOCS, folder)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def page(site, name):
    return (site / f"{name}.html").read_text()


def test_every_page_of_docs_is_on_the_site_and_in_its_list(site):
    names = {path.stem for path in DOCS.glob("*.md")}
    listed = set(re.findall(r'href="([\w-]+)\.html"', page(site, "index")))
    assert names - {"index"} <= listed
    for name in names:
        assert (site / f"{name}.html").is_file()


def test_a_page_that_texts_name_is_a_link_to_it(site):
    assert 'href="trust.html"' in page(site, "classification").split("<article")[1]
    for path in site.glob("*.html"):
        assert "<code>docs/" not in path.read_text()


def test_every_public_name_is_in_the_reference(site):
    described = set(re.findall(r'id="fairpool\.(\w+)"', page(site, "reference")))
    assert described == set(fp.__all__) - {"__version__"}


def test_no_sentence_is_taken_for_a_type(site):
    """A property whose first line has a colon would be."""
    kinds = re.findall(r"Type<span.*?<p>(.*?)</p>", page(site, "reference"), re.S)
    assert len(kinds) > 20
    for kind in kinds:
        assert not re.search(r"[a-z]+ [a-z]+ [a-z]+", re.sub("<[^>]+>", "", kind)), kind


def test_an_option_has_two_hyphens_in_sentences_too(site):
    text = page(site, "commands")
    assert "With --from" in text
    assert not re.search(r"[ >(]\N{EN DASH}[a-z]", text)


def test_every_command_is_described(site):
    text = re.sub(r"<[^>]+>", "", page(site, "commands").split("<article")[1])
    assert len(app.registered_commands) > 10
    for command in app.registered_commands:
        assert f"fairpool {command.name or command.callback.__name__}¶" in text
    for group in app.registered_groups:
        for command in group.typer_instance.registered_commands:
            name = command.name or command.callback.__name__
            assert f"fairpool {group.name} {name}¶" in text


def test_nothing_is_loaded_from_elsewhere(site):
    loads = r"""<(?:script|link|img|iframe|source)\b[^>]*(?:src|href)=["']?(?:https?:)?//[^>]*>"""
    for path in site.rglob("*.html"):
        assert re.findall(loads, path.read_text()) == [], path
    for path in site.rglob("*.css"):
        text = path.read_text()
        assert re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", text) == [], path


def test_every_page_opens_without_an_error_or_a_request(site, tmp_path):
    pages = sorted(site.glob("*.html"))
    assert len(pages) > 15
    with chromium(tmp_path / "profile") as browser:
        for path in pages:
            open_page(browser, path)
            assert (path.name, console(browser), requests(browser)) == (path.name, [], [])
            article = browser.find_element("css selector", "article")
            assert article.get_attribute("innerHTML").strip()
            open_page(browser, path, 390)
            width = browser.execute_script("return document.documentElement.scrollWidth")
            assert (path.name, width) == (path.name, 390)


def test_an_error_on_a_page_and_a_request_would_be_noticed(tmp_path):
    (tmp_path / "bad.html").write_text(
        "<title>bad</title><script>nowhere()</script><img src='http://127.0.0.1:9/x.png'>"
    )
    with chromium(tmp_path / "profile") as browser:
        open_page(browser, tmp_path / "bad.html")
        assert any("nowhere is not defined" in line for line in console(browser))
        assert requests(browser) == ["http://127.0.0.1:9/x.png"]


BROKEN = {
    "[a page](nowhere.md)": "nowhere",
    "[a place](#nowhere)": "nowhere",
    "`docs/nowhere.md`": "there is no page docs/nowhere.md",
    "![a picture](nowhere.png)": "image file not readable: nowhere.png",
}


def test_broken_links_fail_the_build(tmp_path):
    source = tmp_path / "docs"
    source.mkdir()
    for name in ("conf.py", "site_extension.py"):
        shutil.copy(DOCS / name, source)
    shutil.copytree(DOCS / "_static", source / "_static")
    (source / "index.md").write_text("\n\n".join(["# A page", *BROKEN]))
    done = build(source, tmp_path / "site")
    assert done.returncode != 0
    for said in BROKEN.values():
        assert said in done.stderr
    assert done.stderr.count("WARNING") == len(BROKEN)
