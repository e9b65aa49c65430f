"""Every page of docs/ and the README: what they say to run, runs.

docs/rows-at-home.md has a test of its own, since it is about four machines.
"""

import ast
import re
import shlex
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest
import typer.main

from fairpool.cli import app
from tests.support.pages import (
    ROOT,
    Walk,
    blocks,
    indented_blocks,
    page_names,
    page_text,
    says_the_same,
)
from tests.support.stages import STAGES

LANGUAGES = {"sh", "python", "toml", "text"}

NOT_RUN = {
    ("README", "pip install fairpool"): "tests/test_plain_install.py installs the wheel",
    ("start", "python3 -m venv fair"): "tests/test_plain_install.py makes such an environment",
    ("server", "fairpool serve --demo"): "tests/server/test_demo.py starts it, in a browser too",
    (
        "operator-guide",
        "fairpool predict reward.safetensors --data patients.csv --encoders encoders/mini",
    ): ("it needs an encoder and a model of texts; tests/consortium/test_text_runs.py has both"),
}
"""Blocks that no test runs, by page and first line, with the reason."""

WALKS_OF_THEIR_OWN = {
    "rows-at-home": "tests/test_rows_at_home.py",
    "architecture": "tests/test_architecture.py",
    "server": "tests/server/test_page.py",
}

PAGES = [
    name
    for name in page_names()
    if name not in WALKS_OF_THEIR_OWN and any(block.is_run for block in blocks(page_text(name)))
]


@pytest.mark.parametrize("name", PAGES)
def test_everything_on_the_page_runs(name, tmp_path):
    Walk(tmp_path, stage=dict(STAGES.get(name, {}))).follow(page_text(name))


@pytest.mark.parametrize("name", page_names())
def test_every_block_says_what_it_is(name):
    for block in blocks(page_text(name)):
        assert block.language in LANGUAGES or block.language.startswith("{"), block
        if block.where == "not-run":
            first = block.text.split("\n")[0].split("#")[0].strip()
            assert (name, first) in NOT_RUN


def test_nothing_is_listed_as_not_run_that_is_not_there():
    there = set()
    for name in page_names():
        for block in blocks(page_text(name)):
            if block.where == "not-run":
                there.add((name, block.text.split("\n")[0].split("#")[0].strip()))
    assert there == set(NOT_RUN)


def imported(text):
    """The packages that a page's Python blocks import."""
    code = "\n".join(block.text for block in blocks(text) if block.language == "python")
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
    return {name.split(".")[0] for name in found} - sys.stdlib_module_names - {"fairpool"}


@pytest.mark.parametrize("name", page_names())
def test_what_a_page_imports_comes_with_fairpool_or_the_page_says_how_to_get_it(name):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    there = {re.split("[<>=]", requirement)[0] for requirement in project["dependencies"]}
    for line in re.findall(r"pip install ([^`\n]*)", page_text(name)):
        there |= set(line.replace("'", "").split())
    origins = packages_distributions()
    for package in imported(page_text(name)):
        assert there & set(origins[package]), package


def test_links_of_the_readme_lead_to_pages():
    links = re.findall(r"\]\(([^)]+)\)", page_text("README"))
    assert len(links) > 15
    for link in links:
        assert (ROOT / link).is_file(), link


def test_the_readme_is_one_screen():
    assert len(page_text("README").splitlines()) <= 75


COMMAND_LINE = re.compile(r"^ *(?:fairpool|pip|make|python|tar|chmod) ", re.M)
CODE = re.compile(
    r"""^ *(?:import |from \w+ import |\[\[?\w+\]|[a-z_.]+ = (?:["'{]|\[["\d]))""", re.M
)


@pytest.mark.parametrize("name", page_names())
def test_no_code_hides_in_an_indented_block(name):
    """It would not be run."""
    for block in indented_blocks(page_text(name)):
        assert not COMMAND_LINE.search(block), block
        assert not CODE.search(block), block


@pytest.mark.parametrize(
    ("line", "other", "same"),
    [
        ("│ North │  4.70 │ 57% │", "│ North │ 4.69 │ 57% │", True),
        ("│ North │  4.70 │ 57% │", "│ North │ 4.90 │ 57% │", False),
        ("│ North │  4.70 │ 57% │", "│ South │ 4.70 │ 57% │", False),
        ("No problem found.", "No problem found. 3", False),
    ],
)
def test_what_is_printed_is_compared(line, other, same):
    assert says_the_same(line, other) == same


def named_commands():
    """Every command in the middle of a sentence, with the page."""
    found = []
    for name in page_names():
        text = re.sub(r"^```.*?^```$", "", page_text(name), flags=re.S | re.M)
        commands = re.findall(r"`fairpool ([^`]*)`", text)
        found.extend((name, " ".join(command.split())) for command in commands)
    return found


def problems_of(arguments, command):
    """What a command line names that there is not: a command, or an option of it."""
    while arguments and hasattr(command, "commands"):
        if arguments[0].startswith("-"):
            break
        if arguments[0] not in command.commands:
            return [arguments[0]]
        command = command.commands[arguments.pop(0)]
    known = {"-h", "--help"}
    for one in command.params:
        known |= {*one.opts, *one.secondary_opts}
    return [one for one in arguments if re.match(r"--?[a-z]", one) and one not in known]


def test_every_command_in_a_sentence_exists():
    command = typer.main.get_command(app)
    named = named_commands()
    assert len(named) > 60
    for page, line in named:
        assert problems_of(shlex.split(line), command) == [], (page, line)


@pytest.mark.parametrize("line", ["runn x", "run x --speed 9", "keys old", "ledger show -x"])
def test_a_command_that_does_not_exist_is_noticed(line):
    assert len(problems_of(shlex.split(line), typer.main.get_command(app))) == 1
