"""docs/rounds.md and the code must agree."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtri

from fairpool.keyed_noise import bridge
from fairpool.keyed_noise.paths import uniforms
from tests.test_paper_map import find

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/rounds.md").read_text()
NAMES = sorted(set(re.findall(r"`(fairpool\.[\w.]+)`", PAGE)))
CONSTANTS = re.findall(r"`([A-Z_]+) = (\d+)`", PAGE)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_exists(name):
    find(name)


@pytest.mark.parametrize("path", re.findall(r"`((?:tests|bench|docs)/[\w/]+\.\w+)`", PAGE))
def test_every_file_exists(path):
    assert (ROOT / path).exists()


def test_every_constant_of_the_bridge_is_on_the_page():
    known = {name: str(value) for name, value in vars(bridge).items() if name.isupper()}
    assert known.items() <= dict(CONSTANTS).items()


def test_figures_are_those_of_the_code():
    share = 2.0**-bridge.DIGITS
    assert "9.4e-10 less" in PAGE
    assert share < 9.4e-10
    assert "<  4.7e-10" in PAGE
    assert -math.log1p(-share) / 2 < 4.7e-10
    assert f"{len(bridge.steps_to(0.7))} normals per row" in PAGE
    largest = ndtri(uniforms(np.array([2**64 - 1], np.uint64)))[0]
    assert f"at most {largest:.1f} in size" in PAGE


@pytest.mark.parametrize("module", ["fairpool.keyed_noise", "fairpool.keyed_noise.paths"])
def test_the_code_points_to_the_page(module):
    assert "docs/rounds.md" in find(module).__doc__
