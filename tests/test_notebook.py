"""What results look like in a notebook, and how they go into numpy."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import fairpool as fp
from tests.support.examples import MODELS, make_parties

HOSTILE = "<script>alert('north')</script>"


class Page(HTMLParser):
    """A page's tags, closed in the order in which they were opened, and its text."""

    def __init__(self, html):
        super().__init__()
        self.tags = []
        self.open = []
        self.text = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def result():
    parties = make_parties([25, 8, 14], 1)
    parties[1] = replace_name(parties[1], HOSTILE)
    return fp.collaborate(parties, MODELS["blr"], rho=0.5, rng=0)


def replace_name(party, name):
    return fp.Party(name, party.X, party.y, party.noise_variance)


def test_a_collaboration_is_a_table_with_its_sentences(result):
    page = Page(result._repr_html_())
    assert page.open == []
    assert set(page.tags) == {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
    text = " ".join(page.text)
    assert HOSTILE in text  # as text, since it is no tag
    assert "3 parties, rho = 0.5" in text
    assert f"{result.rewards[2]:.2f}" in page.text
    for sentence in result.explain():
        assert sentence in page.text


def test_a_scheme_has_its_public_name(result):
    assert repr(result.scheme).startswith("RewardScheme(game=InformationGain(")


def test_contributions_are_a_table(result):
    page = Page(result.contributions._repr_html_())
    assert "Contributions (exact)" in page.text
    assert f"{result.contributions.values[1]:.6g}" in page.text
    assert "standard error" not in page.text


def test_sampled_contributions_have_their_errors():
    phi = fp.shapley(fp.TableGame(np.arange(8.0)), method="sampled", rng=0, evaluations=8)
    page = Page(replace(phi, standard_errors=np.array([0.5, 0.25, 0.125]))._repr_html_())
    assert page.tags.count("tr") == 4
    assert "standard error" in page.text
    assert "0.25" in page.text


def test_verdicts_are_a_table(result):
    page = Page(result.incentives._repr_html_())
    assert page.tags.count("tr") == 1 + len(result.incentives)
    for verdict in result.incentives:
        assert verdict.condition in page.text
        assert verdict.why in page.text
    assert {"holds", "fails"} <= set(page.text)


def test_contributions_are_an_array_to_numpy(result):
    phi = result.contributions
    np.testing.assert_array_equal(np.asarray(phi), phi.values)
    assert np.asarray(phi) is phi.values  # nothing is copied
    assert np.asarray(phi, dtype=np.float32).dtype == np.float32
    changed = np.array(phi)
    changed[0] = -1.0
    assert phi.values[0] != -1.0
    assert np.sum(phi) == pytest.approx(result.game.total)
    with pytest.raises(ValueError, match="copy"):
        np.array(phi, dtype=np.float32, copy=False)


@pytest.mark.parametrize("what", ["rewards", "rho"])
def test_a_plot_is_a_chart_that_can_be_kept(result, what, tmp_path):
    file = tmp_path / "chart.svg"
    result.plot(what).save(file)
    svg = file.read_text()
    assert svg.startswith("<svg")
    assert "p2" in svg
    assert "<script" not in svg


def test_a_plot_that_there_is_not_is_refused_with_those_that_there_are(result):
    with pytest.raises(fp.FairpoolError, match="no chart 'pie'; give one of rewards, rho, or"):
        result.plot("pie")
