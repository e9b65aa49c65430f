"""Whether a reward predicts better, and what nobody can check, as people and programs are told."""

import json
from dataclasses import replace

import pytest

from fairpool.audit import AgainstAlone, Comparison, PairedDifference, Uncheckable
from fairpool.consortium.result_json import result_of
from fairpool.consortium.scrutiny import worse_notes
from fairpool.report.prediction import PredictionWords, as_json, signed, uncheckable_as_json
from tests.support.projects import finished_run, project, rendered

WORDS = PredictionWords()


def difference(mean, error, rows=50, **more):
    numbers = {"alone": 4.0, "reward": 4.0 + mean, "larger_is_better": True} | more
    return PairedDifference(difference=mean, standard_error=error, rows=rows, **numbers)


def against(mean, error, **more):
    how = Comparison(
        log_density=difference(mean, error, **more),
        squared_error=difference(-mean, error, larger_is_better=False),
    )
    return AgainstAlone(party="north", test=None, own_rows=how)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return finished_run(project(tmp_path_factory.mktemp("p")))


def test_a_party_is_told_in_plain_words():
    (better,) = WORDS.sentences(against(0.12, 0.03))
    assert WORDS.has_errors([against(0.12, 0.03)])
    assert better == (
        "Your own data (50 rows, each left out of both models in turn) are predicted better with"
        " your reward than with your data alone: mean log density +0.120 ± 0.030 nats per row; root"
        " mean squared error 1.97, alone 2."
    )
    (worse,) = WORDS.sentences(against(-0.12, 0.03))
    assert "are predicted worse with your reward than with your data alone: " in worse
    assert "−0.120 ± 0.030" in worse
    (same,) = WORDS.sentences(against(0.02, 0.03))
    assert "are predicted no differently, as far as so many rows can tell: " in same
    (unknown,) = WORDS.sentences(against(0.02, float("nan"), rows=1))
    assert unknown.endswith("(1 rows, each left out of both models in turn) are too few to tell.")


@pytest.mark.parametrize(
    ("mean", "error", "text"),
    [
        (12.3456, 4.56, "+12.3 ± 4.6"),
        (-1234.0, 567.0, "−1234 ± 567"),
        (0.0, 0.0, "+0.000 ± 0.000"),
        (1.0, float("nan"), "–"),
    ],
)
def test_errors_are_shown_to_two_digits(mean, error, text):
    assert signed(difference(mean, error)) == text


def test_what_nobody_can_check_in_words():
    some = Uncheckable(rows=7, added=2.0, from_them=1.3)
    assert "65% comes from rows where nobody else has data" in WORDS.taken_on_trust(some)
    none = Uncheckable(rows=0, added=2.0, from_them=0.0)
    assert "can check your labels" in WORDS.taken_on_trust(none)
    assert Uncheckable(rows=3, added=0.0, from_them=0.0).share == 0
    assert uncheckable_as_json(None) is None


def test_numbers_that_are_not_known_are_none_in_json():
    entries = as_json(against(0.02, float("nan"), rows=1))
    assert entries["test"] is None
    assert entries["own_rows"]["verdict"] == "not known"
    assert entries["own_rows"]["log_density"]["standard_error"] is None


def test_the_operator_is_warned_of_worse_predictions_beyond_chance():
    clear = against(-0.12, 0.03)
    doubtful = replace(against(-0.12, 0.052), party="south")
    assert doubtful.own_rows.verdict == "worse"
    (note,) = worse_notes([clear, doubtful])
    assert note.party == "north"
    assert note.code == "reward predicts worse"
    assert 'the reward of "north" predicts its own rows worse than its own data alone' in note.text
    assert not list(worse_notes([against(0.12, 0.03)]))


def test_result_and_report_have_everybodys(run):
    files = rendered(run)
    result = json.loads(files["operator/result.json"])
    assert result == json.loads(json.dumps(result_of(run)))
    report = files["operator/report.html"].decode()
    assert "Does each reward predict better than the party's own data?" in report
    assert "What nobody can check" in report
    for i, party in enumerate(result["parties"]):
        assert party["against_alone"] == as_json(run.against_alone[i])
        assert party["uncheckable"] == uncheckable_as_json(run.uncheckable[i])
        for how in (run.against_alone[i].test, run.against_alone[i].own_rows):
            assert signed(how.log_density) in report


def test_a_letter_tells_its_own_comparison_and_no_places(run):
    """Nor how many rows nobody can check; nothing of anybody else's."""
    uncheckable = tuple(
        Uncheckable(rows=1717 + i, added=3.25, from_them=3.25 * share)
        for i, share in enumerate((0.4567, 0.3, 0.2))
    )
    files = rendered(replace(run, uncheckable=uncheckable))
    letter = files["parties/Party-0/letter.html"].decode()
    own, *others = run.against_alone
    for sentence in WORDS.sentences(own):
        assert sentence in letter
    for other in others:
        for sentence in WORDS.sentences(other):
            assert sentence not in letter
    assert "46% comes from rows where nobody else has data" in letter
    for text in ("30% comes", "20% comes", "1717", "3.25", "45.67"):
        assert text not in letter
