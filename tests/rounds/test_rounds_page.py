"""The chapter "Since last time" of docs/rounds.md and the code must agree."""

import re
from pathlib import Path

import pytest

from fairpool.rounds import FACTORS
from fairpool.rounds.effort import MOST_WORK, SAMPLINGS
from tests.test_paper_map import find

PAGE = (Path(__file__).parents[2] / "docs/rounds.md").read_text()
CHAPTER = re.search(r"^## Since last time\n(.*?)(?=^##? |\Z)", PAGE, re.M | re.S)[1]


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(fairpool\.[\w.]+)`", CHAPTER))))
def test_every_name_exists(name):
    find(name)


def test_the_factors_and_bounds_are_those_of_the_code():
    assert re.findall(r"^\| `(\w+)` \|", CHAPTER, re.M) == list(FACTORS)
    assert MOST_WORK == 1e12
    assert "10^12" in CHAPTER
    assert SAMPLINGS == 5
    assert "four times more" in CHAPTER


def test_the_example_runs():
    (example,) = re.findall(r"```python\n(.*?)```", CHAPTER, re.S)
    names = {}
    exec(example, names)
    parts = names["parts"]
    assert parts.own_data == 0.0
    assert parts.others_data != 0.0 != parts.terms
