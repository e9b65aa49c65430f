"""Parties are listed by what they receive, in tables, texts and charts."""

import re

import numpy as np
import pytest

import fairpool as fp
from fairpool.report import charts
from fairpool.report.order import by_reward
from fairpool.report.report import Context, render_report
from tests.support.examples import MODELS, make_parties


@pytest.fixture(scope="module")
def result():
    parties = make_parties([4, 30, 12, 9], 2)
    return fp.collaborate(parties, MODELS["blr"], rho=0.8, rng=1)


def test_the_largest_reward_comes_first(result):
    order = by_reward(result)
    assert sorted(order) == [0, 1, 2, 3]
    assert order != [0, 1, 2, 3]
    assert (np.diff(result.rewards[order]) <= 0).all()


def test_who_receive_the_same_stand_by_what_they_contribute():
    parties = make_parties([4, 30, 12, 9], 2)
    result = fp.collaborate(parties, MODELS["blr"], rho="welfare", rng=1)
    assert np.ptp(result.rewards) < 1e-9
    assert (np.diff(result.contributions.values[by_reward(result)]) < 0).all()


def test_tables_and_charts_of_a_report_keep_that_order(result):
    page = render_report(result, Context())
    names = [result.game.names[i] for i in by_reward(result)]
    tables = re.findall(r'<tbody(?: id="live-rewards")?>(.*?)</tbody>', page, re.DOTALL)
    listed = [re.findall(r"<tr><td>([^<]+)</td>", table) for table in tables]
    assert [one for one in listed if one[: len(names)] == names]
    for one in listed:
        of_parties = [name for name in one if name in names]
        assert of_parties in ([], names)
    assert [result.game.names[i] for i in charts.drawn_parties(result)] == names
