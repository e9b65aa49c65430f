"""What a release says of itself: one version everywhere, and requirements that can be tested."""

import re
import tomllib
from pathlib import Path

import fairpool
from tests.support import pythons
from tests.support.lowest import declared, lowest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", text, re.M)[1] == fairpool.__version__
    assert re.search(r'^date-released: "\d{4}-\d\d-\d\d"$', text, re.M)
    assert PROJECT["license"] in text


def test_the_changelog_has_this_version_with_the_day_of_the_citation():
    """And a heading above it, for what follows."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    day = re.search(r'^date-released: "(.+)"$', citation, re.M)[1]
    headings = re.findall(r"^## (.+)$", text, re.M)
    assert headings[:2] == ["Unreleased", f"{fairpool.__version__} – {day}"]


def test_upgrade_notes_are_for_this_version():
    title = (ROOT / "docs/upgrading.md").read_text(encoding="utf-8").splitlines()[0]
    assert title.split(" to ")[1] == ".".join(fairpool.__version__.split(".")[:2])


def test_the_page_of_systems_says_what_was_tested_with_every_named_python():
    text = (ROOT / "docs/systems.md").read_text(encoding="utf-8")
    assert PROJECT["requires-python"] == f">={pythons.named()[0]}"
    assert set(re.findall(r"CPython (3\.\d+)", text)) == set(pythons.named())


def test_a_python_is_found_where_it_is_and_only_where_it_runs(tmp_path, monkeypatch):
    for folder, exit_code in (("shims", 127), ("pyenv/versions/3.13.5/bin", 0)):
        place = tmp_path / folder
        place.mkdir(parents=True)
        (place / "python3.13").write_text(f"#!/bin/sh\necho 3.13\nexit {exit_code}\n")
        (place / "python3.13").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "shims"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    assert pythons.where_is("3.13") == tmp_path / "pyenv/versions/3.13.5/bin/python3.13"
    assert pythons.where_is("3.12") is None
    assert pythons.main(["3.12"]).startswith("no Python 3.12 ")


def test_every_requirement_says_from_where_on():
    requirements = declared()
    assert len(requirements) > 15
    for requirement in requirements:
        name, version = lowest(requirement).split("==")
        assert f"{name}>={version}" == requirement.replace("[binary]", "")


def test_what_is_tested_with_every_version_is_what_users_have():
    users = {one.split(">=")[0] for one in PROJECT["dependencies"]}
    assert users <= {one.split(">=")[0] for one in declared()}
    assert not {"pytest", "sphinx"} & {one.split(">=")[0] for one in declared()}
