"""docs/verify.md: every lie in its table is a test, and its measured figures are so."""

import ast
import re
from pathlib import Path

import pytest

from tests.consortium.verification.test_mean_test import alarms

ROOT = Path(__file__).parents[3]
PAGE = " ".join((ROOT / "docs" / "verify.md").read_text().split())


def test_every_lie_of_the_table_is_a_test():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) >= 20
    for file, name in named:
        tree = ast.parse((ROOT / file).read_text())
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, name


@pytest.mark.parametrize(
    ("others", "words"), [(2, "2 rows'"), (5, "with 5"), (15, "with 15"), (60, "with 60")]
)
def test_how_often_the_test_of_the_mean_notices_is_as_measured(others, words):
    share = f"{alarms(others, left_out=True, rate=0.001):.0%}"
    assert re.search(rf"{share}[^%]*{words}|{share} {words}", PAGE), share
