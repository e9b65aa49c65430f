"""Since last time: table, sentences, chart, the report's section and a letter's paragraph."""

import re
from dataclasses import replace

import pytest
from rich.console import Console

import fairpool as fp
from fairpool.report.letter import Letter, render_letter
from fairpool.report.report import Context, render_report
from fairpool.report.since import (
    by_reward,
    letter_sentences,
    operator_sentence,
    since_table,
)
from fairpool.report.since_chart import DIAMOND, MOST_DRAWN, drawn_changes, since_chart
from fairpool.report.since_section import SinceSection
from fairpool.rounds import FACTORS, ByFactor, PartyChange, explain_changes
from fairpool.targets import LABELS
from tests.support.browser import chromium, console, open_page
from tests.support.rounds import a_round, everything_changes, party

A = PartyChange(
    id="a",
    name="Hospital A",
    before=10.2,
    after=12.0,
    share_before=0.61,
    share_after=0.68,
    parts=ByFactor(own_data=1.21, others_data=0.9, joiners=-0.4, leavers=-0.11, terms=0.2),
)


@pytest.fixture(scope="module")
def changes():
    return explain_changes(*everything_changes())


@pytest.fixture(scope="module")
def outcome():
    _, after = everything_changes()
    return fp.collaborate(after.parties, after.model, 0.5, rng=0)


def printed(table):
    terminal = Console(width=140, color_system=None)
    with terminal.capture() as capture:
        terminal.print(table)
    return capture.get()


def cells(text, name):
    (line,) = [line for line in text.splitlines() if f" {name} " in line]
    return [cell.strip() for cell in line.strip("│").split("│")]


def test_the_table_has_every_number_and_the_largest_reward_first(changes):
    text = printed(since_table(changes))
    order = [one.name for one in by_reward(changes)]
    rewards = [changes.of(one.id).after for one in by_reward(changes)]
    assert rewards[:-1] == sorted(rewards[:-1], reverse=True)
    assert order[-1] == "C"  # it left
    assert text.index("│ D") < text.index("│ C")
    b = changes.of("b")
    found = cells(text, "B")
    assert found[1:3] == [f"{b.before:.2f}", f"{b.after:.2f}"]
    parts = [float(cell.replace("−", "-")) for cell in found[5:]]
    assert parts == pytest.approx(list(b.parts.by_factor.values()), abs=0.0051)
    assert cells(text, "D")[1] == "new"
    assert cells(text, "C")[2] == "left"
    assert cells(text, "C")[4:] == ["–"] * (1 + len(FACTORS))


def test_factors_of_which_nobody_heard_have_no_column():
    before, _ = everything_changes()
    more = before.by_id | {"a": party("[bold]A", 20, 77)}
    text = printed(since_table(explain_changes(before, a_round(2, more, rho=before.rho))))
    assert "others'" in text
    assert "joiners" not in text
    assert "terms" not in text
    assert "[bold]A (was A)" in text


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            A,
            "Your reward rose from 61% to 68% of the best model's information (from 10.20 to 12.00"
            " nats): +1.2 nats because of your own data, +0.4 because of what changed with the"
            " others, +0.2 because of the terms.",
        ),
        (
            replace(A, after=8.2, share_after=0.5, parts=ByFactor(others_data=-2.0)),
            "Your reward fell from 61% to 50% of the best model's information (from 10.20 to 8.20"
            " nats): −2.0 nats because of what changed with the others.",
        ),
        (
            replace(A, share_after=0.55, parts=ByFactor(joiners=1.8)),
            "Your reward rose from 10.20 to 12.00 nats; as the best model grew more, that is 55% of"
            " it (61% before): +1.8 nats because of what changed with the others.",
        ),
        (
            replace(A, after=8.2, share_after=0.7, parts=ByFactor(leavers=-2.0)),
            "Your reward fell from 10.20 to 8.20 nats; as the best model shrank more, that is 70%"
            " of it (61% before): −2.0 nats because of what changed with the others.",
        ),
        (
            replace(A, share_after=0.61, parts=ByFactor(own_data=1.8)),
            "Your reward rose from 10.20 to 12.00 nats, and is 61% of the best model's information"
            " as before: +1.8 nats because of your own data.",
        ),
        (
            replace(A, after=10.2, share_after=0.61, parts=ByFactor()),
            "Your reward is what it was, 10.20 nats and 61% of the best model's information.",
        ),
        (
            replace(A, after=10.2, share_after=0.6, parts=ByFactor(own_data=1, leavers=-1)),
            "Your reward is what it was, 10.20 nats; that is now 60% of the best model's"
            " information (61% before): +1.0 nats because of your own data, −1.0 because of what"
            " changed with the others.",
        ),
        (
            replace(A, before=0.0, share_before=None, parts=ByFactor(own_data=12.0)),
            "Your reward rose from 0.00 to 12.00 nats: +12.0 nats because of your own data.",
        ),
        (
            replace(A, parts=None),
            "Your reward rose from 61% to 68% of the best model's information (from 10.20 to 12.00"
            " nats). By what it moved cannot be told apart this time.",
        ),
        (
            replace(A, before=None, share_before=None, parts=None),
            "You did not take part last time, so there is nothing to compare with.",
        ),
        (
            replace(A, parts=ByFactor(own_data=1.8), errors=ByFactor(own_data=0.03)),
            "Your reward rose from 61% to 68% of the best model's information (from 10.20 to 12.00"
            " nats): +1.8 nats because of your own data. These parts are estimates, since there are"
            " many parties.",
        ),
    ],
)
def test_what_a_party_is_told(change, sentence):
    assert " ".join(letter_sentences(change)) == sentence


def test_what_the_operator_is_told():
    assert operator_sentence(A) == (
        "Hospital A's reward rose from 61% to 68% of the best model's information (from 10.20 to"
        " 12.00 nats): +1.21 nats because of its own data, +0.90 because of the data of others who"
        " were there before, −0.40 because of who joined, −0.11 because of who left, +0.20 because"
        " of the terms."
    )


def render(outcome, change):
    letter = Letter(title="Three", target=LABELS, file="r", reveals=("Nothing.",), since=change)
    page = render_letter(outcome, 2, letter)
    return re.sub(r"<svg.*</svg>", "", page, flags=re.S)  # whose parts are numbered on and on


def test_a_letter_tells_its_own_part_and_lumps_the_others(outcome, changes):
    """Whether others grew, joined or left, and how much of it each was, is nobody else's."""
    own = changes.of("a")
    page = render(outcome, own)
    assert f"{own.parts.own_data:+.1f}".replace("-", "−") in page
    parts = own.parts
    elsewhere = replace(parts, others_data=0.0, joiners=parts.others, leavers=0.0)
    assert render(outcome, replace(own, parts=elsewhere)) == page
    # A hundredth of a nat is not told either.
    assert f"{abs(parts.others):.2f}" not in page
    assert "Since last time" not in render(outcome, None)


def test_the_report_has_the_section_only_where_there_was_a_round_before(outcome, changes):
    page = render_report(outcome, Context(title="Three", since=changes))
    section = re.search(r'<section id="since">.*?</section>', page, re.S)[0]
    assert "Round 2 beside round 1" in section
    assert "ρ is 0.5 (0.8 before)" in section
    assert "Contributions were measured by shapley, and now by banzhaf." in section
    assert "D is new; its reward is" in section
    assert "C left; its reward was" in section
    for heading in ("own data", "others' data", "joiners", "leavers", "terms"):
        assert f'<th class="n">{heading.replace(chr(39), "&#39;")}</th>' in section
    assert "<svg" in section
    assert 'id="since"' not in render_report(outcome, Context(title="Three"))


def test_a_model_learned_anew_has_its_reason_and_no_chart():
    before, after = everything_changes()
    other = fp.BayesianLinearRegression(0.7)
    section = SinceSection.of(explain_changes(before, a_round(2, after.by_id, model=other)))
    assert section.chart is None
    assert "learned anew" in section.changes.reason
    assert section.meanings == {}
    assert section.agreed_anew == ("ρ was asked for as 0.8, and now as stable.",)
    assert all(sentence.endswith("nats).") for sentence in section.explanations)


def test_nothing_moved_is_not_drawn():
    before, _ = everything_changes()
    changes = explain_changes(before, a_round(2, before.by_id, rho=before.rho))
    assert since_chart(changes) is None
    section = SinceSection.of(changes)
    assert "nats (as before), and ρ is 0.8 (as before)" in section.lead


def drawn(chart, *, key):
    """Of the rows that are drawn, those that have this key."""
    return next(rows for rows in chart.to_dict()["datasets"].values() if key in rows[0])


def test_pieces_lie_side_by_side_and_sum_to_the_diamond(changes):
    chart = since_chart(changes)
    pieces = drawn(chart, key="factor")
    sums = {row["party"]: row["moved"] for row in drawn(chart, key="moved")}
    assert set(sums) == {"A", "B"}
    for name, moved in sums.items():
        own = [piece for piece in pieces if piece["party"] == name]
        assert sum(piece["end"] - piece["start"] for piece in own) == pytest.approx(moved)
        for below in (True, False):
            side = [piece for piece in own if (piece["end"] < piece["start"]) == below]
            ends = [0.0, *(piece["end"] for piece in side)]
            assert [piece["start"] for piece in side] == ends[: len(side)]


def test_no_word_is_written_under_a_diamond(changes):
    chart = since_chart(changes)
    pieces = drawn(chart, key="factor")
    moved = {row["party"]: row["moved"] for row in drawn(chart, key="moved")}
    low, high = chart.to_dict()["layer"][0]["encoding"]["x"]["scale"]["domain"]
    pixel = (high - low) / chart.to_dict()["width"]
    words = [piece for piece in pieces if piece["word"]]
    assert len(words) >= 3
    for piece in words:
        half = 3 * len(piece["word"]) * pixel
        assert abs(piece["at"] - moved[piece["party"]]) > half + 0.9 * DIAMOND * pixel
        ends = sorted((piece["start"], piece["end"]))
        assert ends[0] < piece["at"] - half < piece["at"] + half < ends[1]


def test_of_many_parties_those_are_drawn_for_whom_most_changed(changes):
    many = []
    for k in range(40):
        parts = ByFactor(own_data=k, terms=-k / 2)
        many.append(replace(A, id=str(k), name=f"P{k}", after=60.0 - k, parts=parts))
    chosen = drawn_changes(replace(changes, parties=tuple(many)))
    assert [one.name for one in chosen] == [f"P{k}" for k in range(40 - MOST_DRAWN, 40)]


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_a_phone_and_a_desk(tmp_path, outcome, changes, width):
    names = {"A": "</script><b>A", "B": "A clinic with quite a long name in a far-away town"}
    parties = [replace(one, name=names.get(one.name, one.name)) for one in changes.parties]
    page = tmp_path / "report.html"
    since = replace(changes, parties=tuple(parties))
    page.write_text(render_report(outcome, Context(title="Three", since=since)))
    with chromium(tmp_path / "profile") as browser:
        open_page(browser, page, width)
        assert console(browser) == []
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        section = browser.find_element("css selector", "#since")
        assert "</script><b>A" in section.text
        assert browser.find_elements("css selector", "#since .chart svg")
