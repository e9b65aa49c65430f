"""docs/party-guide.md and the command must agree: options, files at home, and numbers."""

import re
import tomllib
from pathlib import Path

import typer.main

from fairpool.cli import app
from fairpool.consortium.home.hiding import Wish
from fairpool.consortium.home.inputs import find_table
from fairpool.exchange.plan import FEWEST_OF_A_CLASS, FEWEST_OF_A_LEVEL, FEWEST_ROWS, SAFETY
from tests.support.exchange import a_plan, signed_plan
from tests.support.home import a_home, contributed, rows_of, write_table
from tests.support.pages import blocks

PAGE = (Path(__file__).parents[3] / "docs/party-guide.md").read_text()


def options_of(command):
    return {option for one in command.params for option in one.opts}


def test_every_option_of_the_page_exists():
    commands = typer.main.get_command(app).commands
    # Every option is one of a command that the page names; most are of contribute.
    named_commands = set(re.findall(r"`fairpool (\w+)", PAGE))
    assert named_commands <= set(commands)
    of_others = set()
    for line in re.findall(r"`fairpool ((?!contribute)\w+ [^`]*)`", PAGE):
        command, *words = line.split()
        options = {word for word in words if word.startswith("--")}
        assert options <= options_of(commands[command])
        of_others |= options
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE))
    assert named - of_others <= options_of(commands["contribute"])
    assert {"--replace", "--rows-may-be-seen", "--trust", "--yes", "--reading"} <= named


def test_the_files_at_home_are_those_of_the_page(tmp_path):
    home = a_home(tmp_path / "home")
    table = write_table(tmp_path / "mine.csv", rows_of(50))
    wish = Wish(epsilon=3.0, budget=10.0)
    contributed(signed_plan(a_plan()), table, home, tmp_path / "x.contribution", wish=wish)
    section = PAGE.split("## Your own folder")[1]
    named = set(re.findall(r"`([\w.]+/?)`", "".join(re.findall(r"^\| (`.*?) \|", section, re.M))))
    there = {path.name + "/" * path.is_dir() for path in home.iterdir()}
    assert there - {"contributions.lock"} == named


def test_the_reading_of_the_page_is_one(tmp_path):
    (text,) = (block.text for block in blocks(PAGE) if block.where == "here own.toml")
    assert set(tomllib.loads(text)) == {"reading", "columns"}
    text = text.replace("rain_mm", "a").replace('from = "inch"', "")
    (tmp_path / "own.toml").write_text(text)
    table = write_table(tmp_path / "mine.csv", rows_of(3))
    source = find_table(signed_plan(a_plan()), table, tmp_path / "own.toml")
    assert source.delivery.header("a") == "Niederschlag"
    assert source.delivery.dialect.separator == ";"


def test_the_numbers_are_those_of_the_code():
    assert (FEWEST_ROWS, FEWEST_OF_A_CLASS, FEWEST_OF_A_LEVEL, SAFETY) == (10, 10, 3, 3)
    for words in ("at least 10 and 3 d", "3 d (d + 1) / 2", "ten rows of a class, or three of a"):
        assert words in PAGE
