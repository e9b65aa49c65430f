"""docs/privacy.md names the attack that shows each of its lines: every one must exist."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "privacy.md").read_text()


def test_every_attack_on_the_page_is_a_test():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) >= 7
    for file, name in named:
        tree = ast.parse((ROOT / file).read_text())
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, name


def test_every_module_that_prints_a_table_is_there():
    for module in re.findall(r"`python -m ([\w.]+)`", PAGE):
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file()
