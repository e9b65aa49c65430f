"""The wheel with the newest Python of this machine, where that is newer than the tests' own.

`make test-python` runs all tests with it; this is a share of them.
"""

import pytest

from tests.support import pythons
from tests.support.installation import distribution, new_environment
from tests.support.party_machine import COMMANDS, ROWS, party_machine

pytestmark = pytest.mark.plain_install


def newest_here():
    """The newest Python of this machine that is newer than this one, and its version."""
    found = [(version, pythons.where_is(version)) for version in pythons.newer()]
    return next((one for one in reversed(found) if one[1]), (None, None))


def test_with_a_newer_python_a_party_does_all_it_does_with_this_one(tmp_path):
    """The contribution is the same to the byte, and what was made here is read there."""
    version, python = newest_here()
    if python is None:
        pytest.skip(f"none of Python {', '.join(pythons.newer()) or '(newer)'} is on this machine")
    party = party_machine(tmp_path)
    with distribution() as files, new_environment(python) as newer:
        done = newer.pip("install", "--no-compile", files[0])
        if "No matching distribution" in done.stderr:
            pytest.skip(f"packages for Python {version} cannot be had here: {done.stderr[-300:]}")
        assert done.returncode == 0, done.stderr
        assert newer.output("python", "-V").startswith(f"Python {version}.")
        said = newer.output("fairpool", "demo")
        assert "Hospital A receives the best model, because nobody contributes more." in said
        for command in COMMANDS:
            newer.output("fairpool", *command, cwd=party, FAIRPOOL_HOME=str(party / "home"))
    with_this_one = (party / "x.contribution").read_bytes()
    assert (party / "north.contribution").read_bytes() == with_this_one
    assert len((party / "predictions.csv").read_text().splitlines()) == ROWS + 1
