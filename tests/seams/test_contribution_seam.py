"""How to add a way to measure contributions, from collaboration.toml to the letter.

A real one is a file in `fairpool/contributions` that has what stands between the two lines below,
and a line in `fairpool/contributions/registry.py`. Nothing else changes.
"""

import html
import json

import numpy as np
import pytest

import fairpool as fp
from fairpool.contributions import CONCEPTS, Concept, Words
from fairpool.contributions.contributions import exactly
from tests.support.examples import MODELS, make_parties
from tests.support.projects import fairpool, project, round_folder

# ------------------------------------------------------------------------------------------------


def _by_rows(game, **_):
    """v_N shared out by numbers of rows; it samples nothing, and so ignores how to sample."""
    rows = np.array(game.rows)
    return exactly(game.total * rows / rows.sum(), "by rows", BY_ROWS)


BY_ROWS = Concept(
    name="by_rows",
    measure=_by_rows,
    words=Words(
        letter="your share of all rows, of what all data are worth",
        glossary="A party's share of all rows, of the value of all data.",
        from_values="a share of the last, by numbers of rows",
    ),
    efficient=True,  # the only promise: verdicts and intervals rely on no other
)

# ------------------------------------------------------------------------------------------------


@pytest.fixture
def by_rows(monkeypatch):
    """The line in the registry."""
    monkeypatch.setitem(CONCEPTS, BY_ROWS.name, BY_ROWS)


def page(path):
    """A page's text, with its line breaks as blanks."""
    return " ".join(html.unescape(path.read_text()).split())


def test_a_new_concept_goes_from_the_configuration_to_the_letter(tmp_path, by_rows):
    folder = project(tmp_path, extra='[valuation]\ncontributions = "by_rows"', sizes=(40, 25, 30))
    done = fairpool("run", folder, "--quiet", "--rho", "0.2")
    assert (done.returncode, done.stderr) == (0, "")

    result = json.loads((round_folder(folder) / "operator" / "result.json").read_text())
    contributions = [party["contribution"] for party in result["parties"]]
    assert contributions == pytest.approx(result["total"] * np.array([40, 25, 30]) / 95)
    rewards = [party["reward"] for party in result["parties"]]
    assert rewards == pytest.approx(result["total"] * (np.array([40, 25, 30]) / 40) ** 0.2)
    assert result["method"] == "by rows"

    verdicts = {v["condition"]: v["holds"] for v in result["incentives"]}
    assert verdicts["F4"] is None  # nobody proved it for this concept
    assert verdicts["rho-Shapley fair"] is True  # rewards do follow the contributions
    assert verdicts["R4"] is True  # what can be computed is decided as ever

    letter = page(round_folder(folder) / "parties" / "Party-1" / "letter.html")
    said = "your share of all rows, of what all data are worth, 62% of the largest contribution."
    assert said in letter
    assert "Shapley" not in letter
    report = page(round_folder(folder) / "operator" / "report.html")
    assert "computed from these values: a share of the last, by numbers of rows." in report
    assert (
        "A party's share of all rows, of the value of all data. Contributions sum to the value of"
        " all data." in report
    )


def test_settings_that_it_does_not_heed_are_refused(tmp_path, by_rows):
    extra = '[valuation]\ncontributions = "by_rows"\nprecision = 0.1\nevaluations = 500'
    done = fairpool("check", project(tmp_path, extra=extra))
    assert done.returncode == 2
    text = " ".join(done.stderr.split())
    assert 'precision = 0.1 has no meaning for contributions = "by_rows" (only for shapley)' in text
    assert 'evaluations = 500 has no meaning for contributions = "by_rows" (only for sha' in text


def test_without_the_line_in_the_registry_the_name_is_unknown(tmp_path):
    done = fairpool("check", project(tmp_path, extra='[valuation]\ncontributions = "by_rows"'))
    assert done.returncode == 2
    assert "'by_rows' is not a way to measure contributions; there are" in done.stderr


def test_in_python_it_needs_no_line_at_all():
    result = fp.collaborate(make_parties([25, 18, 30], 1), MODELS["gp"], 0.3, contributions=BY_ROWS)
    assert result.contributions.concept is BY_ROWS
    assert result.contributions.values == pytest.approx(
        result.game.total * np.array([25, 18, 30]) / 73
    )


def test_the_promises_are_the_chosen_concepts_whatever_it_is_computed_with():
    """Numbers that were changed after `shapley` gave them have none of its guarantees."""

    def halved(game, **_):
        phi = fp.shapley(game)
        return fp.Contributions(
            phi.values / 2, phi.standard_errors, phi.method, concept=phi.concept
        )

    own = Concept(name="halved", measure=halved, words=BY_ROWS.words)
    result = fp.collaborate(make_parties([25, 18, 30], 1), MODELS["gp"], 0.3, contributions=own)
    assert result.contributions.concept is own
    assert result.incentives["F4"].holds is None
