"""A letter's chart has its party's own numbers, though it is prepared for all letters once."""

import re

import pytest

from fairpool.report.share_chart import share_svg


def drawn(svg):
    """Every text, and how long each bar is."""
    bars = re.findall(r'aria-roledescription="bar" d="M0,[\d.]+h([\d.]+)', svg)
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg), [float(length) for length in bars]


def test_each_letter_has_its_own_numbers():
    texts, bars = drawn(share_svg(3.0, 7.5, 10.0))
    assert texts[-3:] == ["30%", "75%", "100%"]
    assert "the model you receive" in texts
    assert bars[0] / bars[2] == pytest.approx(0.3, abs=0.02)
    assert bars[1] / bars[2] == pytest.approx(0.75, abs=0.02)
    again, others = drawn(share_svg(5.0, 9.0, 10.0))
    assert again[-3:] == ["50%", "90%", "100%"]
    assert others[0] / others[2] == pytest.approx(0.5, abs=0.02)


def test_who_holds_more_than_the_best_model_of_this_round():
    texts, bars = drawn(share_svg(3.0, 15.0, 10.0, received="what you hold"))
    assert texts[-3:] == ["30%", "150%", "100%"]
    assert "what you hold" in texts
    assert bars[1] / bars[2] == pytest.approx(1.5, abs=0.02)
