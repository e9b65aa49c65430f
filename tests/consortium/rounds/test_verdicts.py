"""What the verdicts say where parties hold something else than this round's shares, and of caps."""

import html
import json

import numpy as np
import pytest

import fairpool as fp
from fairpool.report.words import as_percent
from tests.support.consortia import Consortium, numbers


def three(folder, **settings):
    tables = {"A": numbers(60, 1), "B": numbers(60, 2, 0.5), "C": numbers(200, 3, 1.0)}
    return Consortium(folder=folder, tables=tables, **settings)


def result_of(folder, number):
    return json.loads((folder / f"rounds/{number:04d}/operator/result.json").read_text())


def test_verdicts_are_about_shares_and_about_what_is_held(tmp_path):
    """After a generous round shares are smaller, but nobody gives anything back."""
    consortium = three(tmp_path, rho=0.1)
    generous = consortium.next_round()
    assert generous.collaboration.held_incentives is None  # everybody holds its share
    consortium.rho = 0.6
    done = consortium.next_round()
    result = done.collaboration
    holds = np.array([one.holds for one in result.received])
    np.testing.assert_allclose(holds, generous.collaboration.rewards, atol=1e-9)
    assert (holds[:2] > result.rewards[:2] + 0.01).all()
    assert not any(one.sent for one in result.received)
    # The same conditions, asked of both.
    expected = fp.check_incentives(result.game, result.contributions, holds)
    told = result_of(tmp_path, 2)
    for name, verdicts in (
        ("incentives", result.incentives),
        ("incentives_of_what_is_held", expected),
    ):
        assert [(one["condition"], one["holds"]) for one in told[name]] == [
            (one.condition, one.holds) for one in verdicts
        ]
    assert result_of(tmp_path, 1)["incentives_of_what_is_held"] is None
    report = (tmp_path / "rounds/0002/operator/report.html").read_text()
    letter = (tmp_path / "rounds/0002/parties/A/letter.html").read_text()
    share = as_percent(result.rewards[0] / result.game.total)
    held = as_percent(holds[0] / result.game.total)
    text = html.unescape(" ".join(letter.split()))
    assert f"You hold {held} of the best model's information already, more than" in text
    assert f"Your share of this round is {share}" in text
    assert "what everybody holds" in report


def test_a_verdict_that_differs_for_what_is_held_is_in_the_report(tmp_path):
    """A party that joins late holds its share; who was there before holds more than a fair one."""
    consortium = three(tmp_path, rho=0.1)
    late = consortium.tables.pop("C")
    consortium.next_round()
    consortium.tables["C"] = late
    consortium.rho = 0.6
    result = consortium.next_round().collaboration
    held = result.held_incentives
    assert held is not None
    differing = [one for one in held if one.holds != result.incentives[one.condition].holds]
    report = (tmp_path / "rounds/0002/operator/report.html").read_text()
    assert ("These conditions have another answer" in report) == bool(differing)
    assert differing


def test_a_cap_of_ones_own_moves_nobody_elses_reward_and_verdicts_say_so(tmp_path):
    free = three(tmp_path / "free", rho=0.3).next_round().collaboration
    capped = three(tmp_path / "capped", rho=0.3, terms={"C": "most = 0.96"})
    result = capped.next_round().collaboration
    np.testing.assert_allclose(result.rewards[:2], free.rewards[:2], atol=1e-9)
    np.testing.assert_allclose(result.rewards[2], 0.96 * result.game.total)
    assert free.rewards[2] == pytest.approx(free.game.total)
    # C is the best, and the best one's reward is no longer all there is.
    changed = [
        one.condition
        for one in result.incentives
        if one.holds != free.incentives[one.condition].holds
    ]
    assert "R3" in changed
    told = {one["condition"]: one for one in result_of(tmp_path / "capped", 1)["incentives"]}
    assert told["R3"]["holds"] is False
