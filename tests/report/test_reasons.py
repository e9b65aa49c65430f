"""Why a party gets what it gets: what a letter says, and what the operator alone is told."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import fairpool as fp
from fairpool.contributions.registry import CONCEPTS
from fairpool.report.reasons import as_json, counted_share, letter_sentences, reasons_of
from fairpool.report.report import Context, render_report
from fairpool.rewards.more_rows import MoreRows, Outlook
from tests.support.examples import MODELS, make_parties


def collaboration(**settings):
    parties = make_parties([12, 30, 24], 2)
    return fp.collaborate(parties, MODELS["blr"], rng=1, **({"rho": 0.8} | settings))


@pytest.fixture(scope="module")
def result():
    return collaboration()


def told(result, i, **more):
    """The sentences of party i, as if more rows brought this."""
    numbers = {"rows": 100, "reward": 1.0, "reward_error": 0.2, "share": 0.1, "share_error": 0.01}
    parties = [None] * result.game.n
    parties[i] = MoreRows(**(numbers | more))
    copy = replace(result)
    copy.__dict__["outlook"] = Outlook(parties=tuple(parties))
    return " ".join(letter_sentences(copy, i, ""))


def middle(result):
    return int(np.argsort(result.rewards)[0])


def test_a_letter_says_points_with_an_error_and_the_assumption(result):
    i = middle(result)
    share = result.rewards[i] / result.game.total
    text = told(result, i, share=0.0612, share_error=0.0213)
    assert "100 more rows like yours would change your share by about +6 points (± 2)" in text
    assert f"about {share + 0.0612:.0%} of the best model's information" in text
    assert f"instead of {share:.0%}" in text
    assert "nobody can say" in text
    assert "about −6 points (± 1)" in told(result, i, share=-0.0612, share_error=0.0001)
    assert "less than one point" in told(result, i, share=0.0041)


def test_who_receives_the_best_model_is_told_of_nats(result):
    best = int(np.argmax(result.rewards))
    text = told(result, best, reward=2.1234, reward_error=0.4321, share=0.0)
    assert "would make it worth about 2.1 nats (± 0.4) more" in text
    assert "points" not in text


def test_numbers_of_a_letter_are_rounded(result):
    """What depends on others' data has whole points and tenths of nats, and no more digits."""
    for i in range(3):
        text = " ".join(letter_sentences(result, i, ""))
        assert re.findall(r"\d+\.\d\d", text) == []
        for number in re.findall(r"\d+\.\d", text):
            assert f"{number} nats" in text or f"± {number}" in text or f"{number}%" in text


def test_a_letter_names_nobody_else(result):
    for i in range(3):
        text = " ".join(letter_sentences(result, i, "0.1"))
        for j in range(3):
            assert (result.game.names[j] in text) == False  # noqa: E712


def test_what_counts_is_the_share_of_ones_own_value(result):
    for i in range(3):
        expected = result.contributions.values[i] / result.game.alone[i]
        assert counted_share(result, i) == pytest.approx(expected)
        assert 0 < expected < 1
    standalone = collaboration(contributions="standalone")
    assert counted_share(standalone, 0) == pytest.approx(1)
    assert "the rest as well" not in " ".join(letter_sentences(standalone, 0, ""))
    given = replace(
        result, contributions=replace(result.contributions, concept=CONCEPTS["banzhaf"])
    )
    assert counted_share(given, 0) == counted_share(result, 0)


def test_nothing_is_said_of_a_party_without_data():
    parties = make_parties([12, 0, 9], 1)
    empty = fp.collaborate(parties, MODELS["blr"], rho=0.8, rng=1)
    assert letter_sentences(empty, 1, "") == ()
    assert reasons_of(empty, None)[1].more == "–"


def test_rewards_that_are_lessened_are_no_matter_of_more_rows(result):
    capped = replace(result, rewards=result.rewards * [0.9, 1, 1])
    assert capped.outlook.parties[0] is None
    assert capped.outlook.parties[1] == result.outlook.parties[1]


def test_the_operator_sees_with_whom_each_overlaps_most(result):
    page = render_report(result, Context())
    section = page.split('id="reasons"')[1].split("</section>")[0]
    lines = re.findall(r"<tr><td>(.*?)</tr>", section)
    assert len(lines) == 3
    for line in lines:
        name, _, rest = line.partition("</td>")
        i = result.game.names.index(name)
        others = [j for j in range(3) if j != i]
        closest = max(others, key=lambda j: result.overlap[i, j])
        assert f'<td class="name">{result.game.names[closest]}</td>' in rest
        assert f"{result.overlap[i, closest]:.2f}" in rest
        assert f"{counted_share(result, i):.0%}" in rest


def test_a_report_says_why_more_rows_are_left_out():
    many = fp.collaborate(make_parties([3] * 20, 0), MODELS["blr"], rho=0.8, rng=1)
    page = render_report(many, Context())
    assert many.outlook.why_not
    assert many.outlook.why_not in page
    assert "rows like its own bring" not in page


def test_json_has_every_number(result):
    found = json.loads(json.dumps(as_json(result), allow_nan=False))
    np.testing.assert_allclose(found["overlap"], result.overlap)
    assert [one["rows"] for one in found["more_rows"]] == [100] * 3
    assert found["more_rows_not_told"] is None
