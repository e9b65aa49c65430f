"""What is said of a round in which some party, or nobody, is sent a new model.

Such a party receives nothing in that round, and nowhere is it said that it does.
"""

import html
import json
import re

import pytest

import fairpool as fp
from fairpool.report.held import Held, Standing, kept_sentence
from fairpool.report.rounds import RoundWords
from fairpool.rounds.release import RoundReward
from tests.support.examples import MODELS, make_parties
from tests.support.projects import fairpool, party_table, project, round_folder, write

SIZES = (60, 45, 50)
GROWS, GROWN = 1, 100
"""Who alone has new rows in the second round, and how many it has from then on."""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """By round what `fairpool run` printed, and what was asked after all of them."""
    folder = project(tmp_path_factory.mktemp("texts") / "p", sizes=SIZES)
    words = {}
    for number, rows, rho in (
        (1, SIZES[GROWS], 0.2),
        (2, GROWN, 0.2),
        (3, GROWN, 0.2),
        (4, GROWN, 0.6),
    ):
        write(folder / f"p{GROWS}.csv", party_table(GROWS, GROWN).slice(0, rows))
        words[number] = said("run", folder, "--rho", rho)
    words["rounds"] = said("rounds", folder)
    words["compare"] = said("compare", folder, 1, 2)
    return folder, words


ROUNDS = (1, 2, 3, 4)


def said(*words):
    done = fairpool(*words)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return " ".join(done.stdout.split())


def of_party(folder, number):
    """By name, what `result.json` says of each party."""
    text = (round_folder(folder, number) / "operator" / "result.json").read_text()
    return {party["name"]: party for party in json.loads(text)["parties"]}


def page(folder, number, name):
    path = round_folder(folder, number) / name
    return " ".join(re.sub(r"<[^>]+>", " ", path.read_text()).split())


def test_the_rounds_are_of_every_kind(told):
    folder, _ = told
    sent = {k: [party["sent"] for party in of_party(folder, k).values()] for k in ROUNDS}
    assert sent[1] == [True] * 3
    assert sent[2] == [True, False, True]  # of one party only its own rows changed
    assert sent[3] == [False] * 3
    assert sent[4] == [False, True, False]  # whose share fell with another rho
    found = {standing(party) for k in (3, 4) for party in keepers(folder, k).values()}
    assert found == {*Standing}


def keepers(folder, number):
    """Those who are sent no new model."""
    parties = of_party(folder, number)
    return {name: party for name, party in parties.items() if not party["sent"]}


def standing(party):
    return Held(holds=party["holds"], due=party["reward"], total=1.0).standing


@pytest.mark.parametrize("number", [2, 3, 4])
def test_the_screen_says_who_keeps_its_model_and_what_it_holds(told, number):
    folder, words = told
    for name, party in of_party(folder, number).items():
        sentence = f"{name} keeps the model that it has"
        assert (sentence in words[number]) == (not party["sent"])
        assert (f"{name} receives" in words[number]) == party["sent"]
    assert "┃ share ┃" in words[number]
    assert " receives ┃" not in words[number]
    assert "receives ┃" in words[1]
    assert "holds" not in words[1]


@pytest.mark.parametrize("number", [2, 3, 4])
def test_a_letter_without_a_model_says_what_is_held_and_nothing_of_receiving(told, number):
    folder, _ = told
    for name, party in of_party(folder, number).items():
        letter = page(folder, number, f"{party['folder']}/letter.html")
        assert ("What you receive" in letter) == party["sent"]
        assert bool(re.search(r"\b[Yy]ou receive\b", letter)) == party["sent"], name
        if party["sent"]:
            continue
        assert "What you hold" in letter
        assert re.search("You hold|You keep the model that you have, and hold", letter)
        assert "This is about the model that you have, as it was made" in letter
        assert "“fairpool update”" in letter
        assert "How to use the file" not in letter
        assert "Check it with fairpool inspect letter.html , and your model with" in letter
        assert "Your reward" not in letter
        assert "Your share" in letter


LEADS = {
    Standing.MORE: "of the best model's information already, more than your share of this round",
    Standing.SHARE: "You hold your share of this round already",
    Standing.LESS: "You keep the model that you have, and hold",
}
WHYS = {
    Standing.MORE: "nothing worse is sent",
    Standing.SHARE: "Nothing new is sent to you",
    Standing.LESS: "the rest comes with the next model",
}
OF_OPERATOR = {
    Standing.MORE: "Nothing worse is sent.",
    Standing.SHARE: "which is its share of this round. Nothing new is sent.",
    Standing.LESS: "the rest comes with the next model.",
}


@pytest.mark.parametrize("number", [3, 4])
def test_it_is_said_whether_what_is_held_is_the_share_or_more_or_less(told, number):
    folder, _ = told
    for party in keepers(folder, number).values():
        sentence = party["explanation"]
        letter = html.unescape(page(folder, number, f"{party['folder']}/letter.html"))
        for words in (LEADS, WHYS):
            assert [key for key in Standing if words[key] in letter] == [standing(party)]
        assert [key for key in Standing if sentence.endswith(OF_OPERATOR[key])] == [standing(party)]
        assert "99.9%" not in letter + sentence  # of what is held by rounding


@pytest.mark.parametrize(
    ("holds", "due", "share", "standing"),
    [
        (9.704, 9.698, "97%", Standing.MORE),
        (9.698, 9.704, "97%", Standing.LESS),
        (9.7, 9.7, "97%", Standing.SHARE),
        (9.7, 9.7 + 1e-9, "97%", Standing.SHARE),
        (9.7, 9.0, "90%", Standing.MORE),
        (10.4, 10.0, "100%", Standing.MORE),
    ],
)
def test_two_shares_that_differ_are_not_told_as_one_number(holds, due, share, standing):
    held = Held(holds=holds, due=due, total=10.0)
    assert held.standing is standing
    sentence = kept_sentence("North", held)
    of_letter = " ".join(words_of(held))
    if standing is not Standing.SHARE and f"{holds / 10:.0%}" == share:
        share = "a little less" if standing is Standing.MORE else "a little more"
    assert f"share of this round is {share}" in sentence or standing is Standing.SHARE
    assert f"Your share of this round is {share}" in of_letter or standing is Standing.SHARE
    for text in (sentence, of_letter):
        assert ("of data that take part no longer" in text) == (holds > 10)


def words_of(held):
    model = fp.collaborate(make_parties([20, 30], 0), MODELS["blr"], rng=0).models[0]
    received = RoundReward(model=model, due=held.due, held_before=0.0, holds=held.holds, sent=False)
    return RoundWords(number=2, head="", received=received, total=held.total).sentences()


def test_a_party_that_wants_less_is_told_why_its_letter_looks_unfair(tmp_path):
    folder = project(tmp_path / "p", sizes=(60, 45, 50))
    toml = folder / "collaboration.toml"
    text = toml.read_text()
    toml.write_text(text.replace('data = "p2.csv"', 'data = "p2.csv"\nmost = 0.9'))
    said("run", folder, "--rho", 0.2)
    wish = "You want no more than 90% of the best model's information"
    letters = [page(folder, 1, f"parties/Party-{i}/letter.html") for i in range(3)]
    assert [wish in html.unescape(letter) for letter in letters] == [False, False, True]


def test_a_party_none_of_whose_rows_takes_part_is_told_so(tmp_path):
    folder = project(tmp_path / "p", sizes=(60, 45, 50))
    said("run", folder)
    write(folder / "p1.csv", party_table(1, 45).slice(0, 25))
    said("run", folder)
    (party,) = [one for one in of_party(folder, 2).values() if one["rows"] == 0]
    letter = html.unescape(page(folder, 2, f"{party['folder']}/letter.html"))
    assert "None of your rows takes part in this round, so that they are worth nothing" in letter
    assert "0 rows of data" not in letter
    assert "25 of your rows wait for the next round" in letter


def test_the_report_counts_new_models_and_calls_a_reward_a_share(told):
    folder, _ = told
    first, second, third = (page(folder, k, "operator/report.html") for k in (1, 2, 3))
    assert "Each receives a model worth its reward" in first
    assert "new model" not in first.partition("Terms")[0]
    assert "2 of 3 are sent a new model, and the other keeps what it has" in second
    assert "nobody is sent a new model: all keep what they have" in third
    for text in (second, third):
        assert "Each receives a model" not in text
        assert "Of a party that was sent no new model it is the one that it has" in text
    drawn = [
        " ".join(re.findall(r"<svg.*?</svg>", text, re.S))
        for text in ((round_folder(folder, k) / "operator/report.html").read_text() for k in (1, 3))
    ]
    assert ["receives 1" in drawing for drawing in drawn] == [True, False]
    assert ["share 1" in drawing for drawing in drawn] == [False, True]


def test_compare_says_who_was_sent_nothing(told):
    folder, words = told
    for name, party in of_party(folder, 2).items():
        moved = "reward" if party["sent"] else "share"
        assert f"{name}'s {moved} " in words["compare"]
    unsent = sum(not party["sent"] for party in of_party(folder, 2).values())
    assert words["compare"].count("It was sent no new model") == unsent
    done = json.loads(fairpool("compare", folder, 1, 2, "--json").stdout)
    for party in done["parties"]:
        assert party["sent"] == of_party(folder, 2)[party["name"]]["sent"]
        assert party["holds"] == of_party(folder, 2)[party["name"]]["holds"]


def test_the_list_of_rounds_has_shares_and_says_which_models_are_new(told):
    _, words = told
    assert "receives" not in words["rounds"]
    for heading in ("share", "holds", "new"):
        assert heading in words["rounds"]
    rows = re.findall(r"│ Party \d │[^┃├└]*?│ (yes|no) │", words["rounds"])
    assert (rows.count("yes"), rows.count("no")) == (6, 6)
