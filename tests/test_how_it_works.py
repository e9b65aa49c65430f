"""The pictures of docs/how-it-works.md are those that the page's code draws."""

import re

from docs.draw_ideas import draw
from tests.support.pages import DOCS, page_text


def labels(path):
    """The words in a picture; which numbers stand at an axis depends on who draws it."""
    found = re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))
    return {label for label in found if re.search(r"[a-z]", label)}


def test_every_picture_of_the_page_is_drawn_by_its_code(tmp_path):
    shown = set(re.findall(r"\]\(ideas/([\w-]+\.svg)\)", page_text("how-it-works")))
    draw(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == shown
    assert {path.name for path in (DOCS / "ideas").iterdir()} == shown
    for name in shown:
        assert len(labels(tmp_path / name)) >= 4
        assert labels(tmp_path / name) == labels(DOCS / "ideas" / name)
