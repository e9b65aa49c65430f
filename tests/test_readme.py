"""What the README and its page on Python print, beside that they run (tests/test_pages.py)."""

import pytest

from tests.support.pages import Walk, blocks, page_text


@pytest.mark.parametrize("page", ["README", "chain"])
def test_the_chain_does_what_it_says(page, tmp_path):
    walk = Walk(tmp_path)
    printed = ""
    for block in blocks(page_text(page)):
        if block.language == "python":
            walk.take(block)
            printed += walk.printed
    assert "north receives the best model" in printed
    assert len(walk.names["result"].models) == 3
    if page == "chain":
        assert walk.names["verdicts"]["R6"].holds
        assert len(walk.names["models"]) == 3
