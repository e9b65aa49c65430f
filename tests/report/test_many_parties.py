"""Pictures of many parties: no label on another, and everybody's name on the page."""

import re

import numpy as np
import pytest

import fairpool as fp
from fairpool.coalitions import MOST_NAMED
from fairpool.report import charts
from fairpool.report.letter import Letter, render_letter
from fairpool.report.report import Context, render_report
from fairpool.report.scores import Scores
from fairpool.report.scores_chart import scores_chart
from fairpool.report.treatment import Treatment
from fairpool.targets import LABELS
from tests.support.browser import chromium, console, open_page
from tests.support.examples import MODELS, make_parties


def of(n):
    sizes = np.random.default_rng(n).integers(3, 12, n)
    return fp.collaborate(make_parties(sizes.tolist(), 0), MODELS["blr"], rho=0.7, rng=1)


@pytest.fixture(scope="module", params=[3, 6, 20, 40])
def result(request):
    return of(request.param)


def texts(svg):
    """Where each text of a picture stands: (text, x, y), as far as translations say it."""
    found = []
    places = []
    for tag in re.finditer(r"<g\b([^>]*)>|</g>|<text\b([^>]*)>([^<]*)</text>", svg):
        if tag[0] == "</g>":
            places.pop()
        elif tag[0].startswith("<g"):
            places.append(_moved(tag[1]))
        else:
            x, y = np.sum([*places, _moved(tag[2])], axis=0)
            found.append((tag[3], x, y))
    return found


def _moved(attributes):
    moved = re.search(r"translate\(([-\d.e]+),\s*([-\d.e]+)\)", attributes or "")
    return (0.0, 0.0) if moved is None else (float(moved[1]), float(moved[2]))


def names_apart(svg, names):
    """The smallest distance between the lines of two parties' names that are drawn."""
    heights = sorted({round(y, 1) for text, _, y in texts(svg) if text in names})
    assert heights
    return min(np.diff(heights), default=np.inf)


def test_every_drawn_party_has_a_line_of_its_own(result):
    names = result.game.names
    assert names_apart(charts.as_svg(charts.rewards_chart(result)), names) >= 20


def test_names_along_rho_do_not_meet(result):
    svg = charts.as_svg(charts.rho_chart(result))
    drawn = charts.drawn_parties(result)
    if len(drawn) > len(charts.DASHES):
        assert names_apart(svg, result.game.names) >= charts.LINE_OF_TEXT * 0.9
        best = result.game.names[drawn[0]]
        assert best in {text for text, _, _ in texts(svg)}
    else:
        shown = {text for text, _, _ in texts(svg)}
        assert {result.game.names[i] for i in drawn} <= shown


def test_scores_have_a_line_for_each_party(result):
    n = result.game.n
    entries = [{m.key: 1.0 + i / n for m in LABELS.measures} for i in range(n)]
    scores = Scores(
        rows=9, target=LABELS, alone=tuple(entries), reward=tuple(entries), everyone=entries[0]
    )
    svg = charts.as_svg(scores_chart(result, scores))
    assert names_apart(svg, result.game.names) >= 20
    assert [text for text, _, _ in texts(svg)].count("everybody's model") == 1


def test_numbers_stand_in_their_bars_and_beside_those_that_are_too_short(result):
    svg = charts.as_svg(charts.rewards_chart(result))
    shown = [text for text, _, _ in texts(svg)]
    for i in charts.drawn_parties(result):
        assert f"alone {result.game.alone[i]:.1f}" in shown
        assert f"receives {result.rewards[i]:.1f}" in shown
    zeros = [fp.Party("none", np.zeros((0, 3)), []), *make_parties([9, 8], 0)]
    with_none = fp.collaborate(zeros, MODELS["blr"], rho=1.0, rng=1)
    at = {text: x for text, x, _ in texts(charts.as_svg(charts.rewards_chart(with_none)))}
    assert at["alone 0.0"] > at[f"alone {with_none.game.alone[1]:.1f}"] - 7


def test_names_that_would_meet_are_left_out():
    ends = [{"party": str(k), "reward": reward} for k, reward in enumerate((10, 9.99, 5, 4.9, 0))]
    assert [end["party"] for end in charts.apart(ends)] == ["0", "2", "4"]
    assert charts.apart([]) == []


def test_the_page_names_everybody_and_folds_what_is_long(result):
    page = render_report(result, Context())
    for name in result.game.names:
        assert f"<tr><td>{name}</td>" in page
    assert page.count("In words, party by party") == (result.game.n > 6)


def test_only_tables_to_which_something_was_done_are_listed():
    result = of(3)
    plain = [Treatment(owner=f"clinic {k}", read=700) for k in range(4)]
    mended = Treatment(owner="mended", read=50, dropped=2)
    summed = Treatment(owner="summed", read=60, contributions=("ab" * 32,))

    def section(*treatments):
        page = render_report(result, Context(treatments=treatments))
        return " ".join(page.split("What was done to the tables")[1].split("</section>")[0].split())

    said = section(*plain)
    assert "Of all tables every row and value was used as it came: 2,800 rows in 4 tables." in said
    assert "<table" not in said
    said = section(*plain[:1], mended, summed)
    assert "Of all other tables every row and value was used as it came: 700 rows in 1 tab" in said
    assert re.findall(r"<tr><td>(.*?)</td>", said) == ["mended", "summed"]
    assert "every row and value" not in section(mended)


def test_a_letter_says_what_open_means_where_something_is():
    for n, sampled in ((3, False), (20, True)):
        result = of(n)
        letter = Letter(title="t", target=LABELS, file="reward.safetensors", reveals=())
        page = " ".join(render_letter(result, 0, letter).split())
        assert ("? open" in page) == sampled
        assert ("“Open” is what could not be decided: of so many parties" in page) == sampled


@pytest.mark.soak
def test_pages_of_a_hundred_parties_fit_a_phone_and_a_desk(tmp_path):
    result = of(100)
    result.report(tmp_path / "report.html")
    letter = Letter(title="t", target=LABELS, file="reward.safetensors", reveals=("Nothing.",))
    for i in (0, 99):
        (tmp_path / f"letter-{i}.html").write_text(render_letter(result, i, letter))
    with chromium(tmp_path / "profile") as browser:
        for width in (390, 1280):
            for path in sorted(tmp_path.glob("*.html")):
                open_page(browser, path, width)
                found = browser.execute_script("return document.documentElement.scrollWidth")
                assert (path.name, found) == (path.name, width)
                assert console(browser) == []


LONG = ["Hospital of the Sisters of Charity, the first ward", "Klinikum 🏥 " + "ü" * 50, "short"]


def test_long_names_are_cut_in_charts_and_whole_in_tables():
    parties = [
        fp.Party(name, one.X, one.y)
        for name, one in zip(LONG, make_parties([9, 8, 7], 0), strict=True)
    ]
    result = fp.collaborate(parties, MODELS["blr"], rho=0.7, rng=1)
    page = render_report(result, Context())
    for name in LONG:
        assert f"<tr><td>{name}" in page
        for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
            assert name == "short" or name not in {text for text, _, _ in texts(svg)}
    assert "Hospital of the Si…first ward" in page
    assert "Klinikum 🏥 üüüüüü…üüüüüüüüüüü" in page


@pytest.mark.parametrize("n", [4, 6, 20])
def test_what_is_said_of_the_values_of_groups_is_what_there_is(n):
    result = of(n)
    page = render_report(result, Context())
    assert ("What every group's data is worth" in page) == (n == 4)
    assert "values.csv" not in page  # which only a run of a folder writes
    page = render_report(result, Context(folders=("parties/x",) * n))
    assert ("the value of every group's data is in values.csv" in page) == (n == 6)
    assert ("values.csv beside this page has each party alone" in page) == (n == 20)


def test_of_a_large_coalition_a_sentence_has_the_first_few_and_the_result_all():
    result = of(40)
    stable = result.incentives["stable"]
    assert stable.holds is False
    coalition = stable.witness.coalition
    assert len(coalition) > MOST_NAMED
    named = ", ".join(coalition[:MOST_NAMED])
    assert f"{{{named} and {len(coalition) - MOST_NAMED} more}}" in stable.why
    (entry,) = [one for one in result.to_dict()["incentives"] if one["condition"] == "stable"]
    assert entry["coalition"] == list(coalition)
    assert entry["why"] == stable.why
    for verdict, entry in zip(result.incentives, result.to_dict()["incentives"], strict=True):
        if verdict.holds:
            assert entry["coalition"] is None
