"""What docs/trust.md says of predictions and of rows that nobody can check."""

import re
from pathlib import Path

import pytest

from tests.support.cheating import CHEATS
from tests.support.collaborations import ATTACKS
from tests.support.comparison_calibration import calibrate
from tests.support.invented_rows import INVENTED, example_with, found

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "trust.md").read_text()


def test_every_module_and_test_on_the_page_is_there():
    modules = re.findall(r"`python -m ([\w.]+)`", PAGE)
    assert modules
    for module in modules:
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file()
    tests = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    assert tests
    for file, name in tests:
        assert f"def {name}(" in (ROOT / file).read_text()


def test_in_the_honest_example_everything_can_be_checked(tmp_path):
    of_parties, _ = found(example_with(tmp_path / "p", None))
    assert all(one.share < 0.05 for one in of_parties)


@pytest.mark.parametrize(
    "name",
    ["73 rows, BMI 6 deviations higher", "73 rows, columns shuffled, three times as wide"],
)
def test_rows_invented_far_away_have_to_be_taken_on_trust(tmp_path, name):
    """They earn a third and more of all contributions, and the number says where from."""
    of_parties, phi = found(example_with(tmp_path / "p", INVENTED[name]))
    a, b, c = of_parties
    assert phi[1] > 0.25
    assert b.share > 0.4
    assert 50 < b.rows <= 146
    assert max(a.share, c.share) < 0.1


def test_intervals_hold_about_as_often_as_the_page_says():
    found = calibrate(70, 20)
    assert found["test rows"].coverage > 0.85
    assert found["own rows"].coverage > 0.75
    assert found["own rows"].wrong < 0.06
    # The file alone would flatter its reward: that is why it is not used.
    assert found["own rows, by the file alone"].bias > 2 * abs(found["own rows"].bias)


@pytest.mark.soak
@pytest.mark.parametrize("rows", [30, 70, 200])
def test_intervals_hold_as_often_as_the_page_says(rows):
    found = calibrate(rows, 100)
    assert found["test rows"].coverage > 0.91
    assert found["own rows"].coverage > 0.83
    assert found["own rows"].wrong < 0.02


def test_nothing_is_left_to_be_filled_in_and_every_test_and_module_exists():
    page = (Path(__file__).parents[2] / "docs" / "trust.md").read_text()
    assert not re.search(r"^[A-Z]{6,}$", page, re.MULTILINE)
    root = Path(__file__).parents[2]
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page)
    assert len(named) >= 5
    for file, name in named:
        assert f"def {name}(" in (root / file).read_text(), name
    for module in re.findall(r"python -m ([\w.]+)", page):
        assert (root / f"{module.replace('.', '/')}.py").is_file(), module
    for attack in ATTACKS:
        assert attack in page, attack
    for cheat in CHEATS:
        assert cheat in page, cheat
