"""Contributions after the secret was exchanged: their noise would be new, so that it is booked."""

import pytest

from fairpool.errors import ContributionError
from tests.support.projects import fairpool
from tests.support.sums import NAMES, Case, numbers

SIZES = (240, 180, 210)


@pytest.fixture
def case(tmp_path):
    """A first round, and then another secret."""
    tables = {n: numbers(r, s, s / 3) for s, (n, r) in enumerate(zip(NAMES, SIZES, strict=True))}
    case = Case(folder=tmp_path / "project", tables=tables)
    case.planned()
    case.next_round()
    done = fairpool("key", "rotate", case.folder, "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    return case


def test_known_contributions_would_get_new_noise_and_are_refused(case):
    with pytest.raises(ContributionError, match="released before the secret was exchanged"):
        case.next_round()


def test_a_second_look_is_booked_and_said(case):
    case.terms = dict.fromkeys(NAMES, "second_look = 2")
    done = case.next_round()
    notes = [note for note in done.notes if note.code == "second look"]
    assert sorted(note.party for note in notes) == sorted(NAMES)
    # What everybody held before counts, so that nobody is sent the same with other noise.
    assert not any(one.sent for one in done.collaboration.received)
    case.terms = {}
    again = case.next_round()  # the same contributions under the same secret: nothing new
    assert not [note for note in again.notes if note.code == "second look"]
