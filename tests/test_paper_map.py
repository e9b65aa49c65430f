"""docs/paper-map.md and the code must agree, both ways."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROWS = re.findall(
    r"^\| ([^|]+) \| [^|]+ \| `([^`]+)` \| `([^`]+)` \|$",
    (ROOT / "docs/paper-map.md").read_text(),
    re.M,
)

MUST_HAVE = {
    *(f"Eq. ({k})" for k in (1, 2, 3)),
    *(f"R{k}" for k in range(1, 8)),
    *(f"F{k}" for k in range(1, 5)),
    *(f"Definition {k}" for k in (1, 2, 3)),
    "Theorem 1",
    "Proposition 1",
    "Example 1",
    "Sec. 4.3",
    *(f"App. {letter}" for letter in "AC"),
    *(f"App. D.{k}" for k in (3,)),
    *(f"App. E.{k}" for k in range(1, 6)),
    *(f"App. F.{k}" for k in range(1, 4)),
}
"""What a newcomer would look up."""


def find(dotted):
    parts = dotted.split(".")
    for split in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for name in parts[split:]:
            thing = inspect.getattr_static(thing, name)
        return thing
    raise AssertionError(f"{dotted} does not exist")


@pytest.mark.parametrize(
    ("item", "function", "test"), ROWS, ids=[f"{item}-{function}" for item, function, _ in ROWS]
)
def test_row_agrees_with_the_code(item, function, test):
    documentation = " ".join((find(function).__doc__ or "").split())
    assert item in documentation, f"{function} does not name {item!r} in its documentation"
    path, _, name = test.partition("::")
    assert f"def {name}(" in (ROOT / path).read_text(), f"{test} does not exist"


def test_every_table_row_was_read_and_nothing_is_missing():
    table = [
        line
        for line in (ROOT / "docs/paper-map.md").read_text().splitlines()
        if line.startswith("|")
    ]
    assert len(ROWS) == len(table) - 2
    items = {item.split(",")[0] for item, *_ in ROWS}
    assert items >= MUST_HAVE


def test_every_function_that_cites_a_numbered_item_is_on_the_map():
    mapped = {function.rsplit(".", 1)[-1] for _, function, _ in ROWS}
    for path in (ROOT / "src").rglob("*.py"):
        if "migrations" in path.parts:
            continue  # run by alembic alone
        module = importlib.import_module(
            ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        )
        for name, thing in vars(module).items():
            if getattr(thing, "__module__", None) != module.__name__ or not callable(thing):
                continue
            cited = re.search(
                r"Paper: (Eq\. \(\d\)|R\d|F\d|Definition \d|Theorem 1)", thing.__doc__ or ""
            )
            assert not cited or name in mapped, (
                f"{module.__name__}.{name} cites {cited[1]} but is not on the map"
            )
