"""Rounds in which parties put noise on their sums."""

import html
import json

import pytest

from fairpool.consortium.inspection import inspect_file
from fairpool.consortium.rounds.comparing import compare_rounds
from fairpool.consortium.updating import update_file
from fairpool.errors import RewardFileError
from fairpool.parties import NoisySummary
from fairpool.report.terminal import text_of
from tests.support.noisy import NoisyCase
from tests.support.projects import round_folder, write
from tests.support.sums import NAMES, classes, numbers

SIZES = (2400, 1800, 2100)


def tables(*, of_classes=False, sizes=SIZES):
    make = classes if of_classes else numbers
    return {
        name: make(rows, seed, 0.4 * seed)
        for seed, (name, rows) in enumerate(zip(NAMES, sizes, strict=True))
    }


def case(tmp_path, name="case", *, of_classes=False, **settings):
    settings = {"kind": "fourier", "tables": tables(of_classes=of_classes)} | settings
    folder = tmp_path / name
    folder.mkdir()
    return NoisyCase(folder=folder, classes=of_classes, **settings)


def letter_of(folder, name, number=1):
    path = round_folder(folder, number) / "parties" / name / "letter.html"
    return html.unescape(" ".join(path.read_text().split()))


@pytest.mark.parametrize("kind", ["fourier", "sparse_gp"])
@pytest.mark.parametrize("of_classes", [False, True], ids=["numbers", "classes"])
def test_noise_costs_its_party_value_and_rewards_are_worth_what_is_due(tmp_path, kind, of_classes):
    exact = case(tmp_path, "exact", kind=kind, of_classes=of_classes)
    exact.planned()
    before = exact.next_round()
    without = before.collaboration
    hidden = case(
        tmp_path, "noisy", kind=kind, of_classes=of_classes, epsilons={NAMES[0]: 3.0, NAMES[1]: 8.0}
    )
    hidden.planned()
    done = hidden.next_round()
    with_noise = done.collaboration
    assert isinstance(with_noise.game.pool.parties[0], NoisySummary)
    alone, exactly = with_noise.game.alone, without.game.alone
    assert 0 < alone[0] < alone[1] < exactly[1]
    assert alone[0] < exactly[0]
    assert alone[2] == pytest.approx(exactly[2], rel=1e-9)
    for model, due in zip(with_noise.models, with_noise.rewards, strict=True):
        assert model.value == pytest.approx(due, abs=1e-6)
    for one, other in zip(done.evidence.parties, before.evidence.parties, strict=True):
        # Of classes it comes from noisy numbers of rows, and is less well known.
        within = 0.5 if of_classes else 0.2
        assert one.noise_factor == pytest.approx(other.noise_factor, rel=within)


def test_a_further_contribution_adds_to_what_is_known(tmp_path):
    noisy = case(tmp_path, epsilons={NAMES[0]: 3.0})
    plan = noisy.planned()
    first = noisy.next_round().collaboration
    earlier = next(iter(noisy.sent[NAMES[0]].values())).digest
    noisy.seed = 2
    noisy.contribute(NAMES[0], numbers(2500, 9), plan, earlier=(earlier,))
    second = noisy.next_round().collaboration
    assert len(second.game.pool.parties[0].sums) == 2
    assert second.game.alone[0] > first.game.alone[0] + 0.5
    # The next one has no noise at all: sums with and without add up.
    digests = tuple(file.digest for file in noisy.sent[NAMES[0]].values())
    noisy.epsilons = {}
    noisy.contribute(NAMES[0], numbers(400, 10), plan, earlier=digests)
    known = next(iter(noisy.sent[NAMES[2]].values())).digest
    noisy.contribute(NAMES[2], numbers(400, 11), plan, earlier=(known,))
    third = noisy.next_round().collaboration
    assert third.game.alone[0] > second.game.alone[0]
    noises = [one.noise.max() for one in third.game.pool.parties[0].sums]
    assert min(noises) == 0 < max(noises)
    # Who holds more than is due is sent nothing.
    assert third.received[0].sent
    letter = letter_of(noisy.folder, NAMES[0], 3)
    assert (
        "with noise on 2 of 3 contributions (epsilon 3, epsilon 3), which does not hide every row:"
        " 400 rows are in sums without noise, or with too little" in letter
    )
    assert "hides every row (" not in letter
    for received in third.received:
        if received.sent:
            assert received.holds == pytest.approx(received.due, abs=1e-6)


def test_a_party_that_left_is_still_counted_in_what_others_hold(tmp_path):
    noisy = case(tmp_path, epsilons={NAMES[0]: 5.0}, rho=0.8)
    noisy.planned()
    noisy.next_round()
    del noisy.tables[NAMES[0]]
    noisy.by_sums = NAMES[1:]
    done = noisy.next_round()
    assert len(done.collaboration.rewards) == 2
    assert not [note for note in done.notes if note.code == "held rows not counted"]


def test_scales_are_learned_from_sums_without_noise_alone(tmp_path):
    mixed = case(tmp_path, "mixed", epsilons={NAMES[0]: 3.0}, learned_from_sums=True)
    mixed.planned()
    model = mixed.next_round().collaboration.game.model
    exact = case(tmp_path, "exact", by_sums=NAMES[1:], learned_from_sums=True)
    exact.tables = {name: exact.tables[name] for name in NAMES[1:]}
    exact.planned()
    expected = exact.next_round().collaboration.game.model
    assert model.noise_variance == expected.noise_variance
    nobody = case(tmp_path, "all", epsilons=dict.fromkeys(NAMES, 3.0), learned_from_sums=True)
    plan = nobody.planned()
    done = nobody.next_round()
    assert done.collaboration.game.model.noise_variance == plan.plan.model.noise_variance
    assert [note for note in done.notes if note.code == "scales not learned"]


def test_few_rows_take_part_where_noise_hides_them(tmp_path):
    noisy = case(tmp_path, "noisy", epsilons={NAMES[0]: 10.0})
    plan = noisy.planned()
    for name in NAMES[1:]:
        noisy.contribute(name, noisy.tables[name], plan)
    noisy.contribute(NAMES[0], numbers(5, 0), plan)
    done = noisy.next_round().collaboration
    assert done.game.alone[0] < done.game.alone[1]
    assert [model.party for model in done.models] == list(NAMES)
    folder = round_folder(noisy.folder)
    letter = letter_of(noisy.folder, NAMES[0])
    assert "with noise that hides every row (epsilon 10)" in letter
    report = (folder / "operator" / "report.html").read_text()
    assert report.count("came as sums with noise that hides every row (epsilon 10)") == 1
    result = json.loads((folder / "operator" / "result.json").read_text())
    assert [party["table"]["epsilons"] for party in result["parties"]] == [[10.0], [], []]


def test_noise_that_hides_nothing_is_not_said_to_hide(tmp_path):
    noisy = case(tmp_path, epsilons={NAMES[0]: 50.0})
    noisy.planned()
    rows = noisy.next_round().collaboration.game.rows[0]
    letter = letter_of(noisy.folder, NAMES[0])
    assert f"(epsilon 50), which does not hide every row: {rows:,} rows are in sums" in letter
    assert "hides every row" not in letter


@pytest.fixture(scope="module")
def some_noise(tmp_path_factory):
    noisy = case(tmp_path_factory.mktemp("some"), epsilons={NAMES[0]: 2.0})
    noisy.planned()
    return noisy, noisy.next_round()


def test_a_letter_speaks_of_what_was_sent_with_noise_and_not_of_rows(some_noise):
    noisy, _ = some_noise
    letter = letter_of(noisy.folder, NAMES[0])
    assert "It has at least the information of what you sent, with its noise." in letter
    assert "a model of them alone may predict better" in letter
    assert "at least the information that what it sent has alone" in letter
    assert "alone, what you sent has" in letter
    assert "trained on the noisy sums that you sent" in letter
    assert "fairpool update reward.safetensors --data your-table.csv" in letter
    for of_rows in ("your own data as they are", "information of your own data", "alone you have"):
        assert of_rows not in letter
    exact = letter_of(noisy.folder, NAMES[1])
    assert "It has at least the information of your own data" in exact
    assert "at least the information that it has alone" in exact
    assert "fairpool update" not in exact
    for name, is_noisy in ((NAMES[0], True), (NAMES[1], False)):
        place = round_folder(noisy.folder) / "parties" / name
        card = (place / "model-card.md").read_text()
        assert ("what the party sent has alone" in card) == is_noisy
        assert ("the noisy sums that you sent" in card) == is_noisy
        inspected = inspect_file(place / "reward.safetensors").entries
        assert ("own data" in inspected) == is_noisy


def test_numbers_of_rows_with_noise_are_about_so_many(some_noise):
    noisy, done = some_noise
    game = done.collaboration.game
    said = f"about {game.rows[0]:,}"
    assert game.rows[0] != SIZES[0]
    assert f">{said.capitalize()} rows of data" in letter_of(noisy.folder, NAMES[0])
    assert f">{SIZES[1]:,} rows of data" in letter_of(noisy.folder, NAMES[1])
    assert "about 1,800" not in letter_of(noisy.folder, NAMES[1])
    page = (round_folder(noisy.folder) / "operator" / "report.html").read_text()
    assert f"pooled about {sum(game.rows):,} rows" in page
    assert f'<td class="n">{said}</td>' in page
    assert f'<td class="n">{SIZES[1]:,}</td>' in page
    assert f"about {game.rows[0]}" in text_of(done.collaboration)
    assert f"about {SIZES[1]}" not in text_of(done.collaboration)


@pytest.mark.parametrize("of_classes", [False, True], ids=["numbers", "classes"])
def test_a_recipient_puts_other_rows_than_its_noisy_sums_in_their_place(tmp_path, of_classes):
    noisy = case(tmp_path, of_classes=of_classes, epsilons={NAMES[0]: 20.0})
    noisy.planned()
    noisy.next_round()
    place = round_folder(noisy.folder) / "parties"
    few = tmp_path / "few.csv"
    write(few, noisy.tables[NAMES[0]].slice(0, 300))
    updated = update_file(place / NAMES[0] / "reward.safetensors", few)
    assert updated.before.own_noise
    assert not updated.reward.own_noise
    assert "with noise are taken out" in updated.notes[-1].text
    assert updated.reward.value < updated.before.value  # 300 rows instead of sums over 2400
    more = update_file(place / NAMES[0] / "reward.safetensors", few, add=True)
    assert more.reward.own_noise
    assert "count twice" in more.notes[-1].text
    write(few, noisy.tables[NAMES[1]].slice(0, 300))
    with pytest.raises(RewardFileError, match="the rows that the reward was made from are not"):
        update_file(place / NAMES[1] / "reward.safetensors", few)


@pytest.mark.parametrize(
    "epsilons", [(None, 5.0), (5.0, 3.0), (3.0, None)], ids=["then noise", "noise", "noise first"]
)
def test_what_changed_is_told_of_the_rewards_that_were_given(tmp_path, epsilons):
    """Contributions of one party with noise and without, and what is kept of them."""
    first, second = epsilons
    noisy = case(tmp_path, epsilons={NAMES[0]: first} if first else {})
    plan = noisy.planned()
    noisy.next_round()
    earlier = next(iter(noisy.sent[NAMES[0]].values())).digest
    noisy.epsilons = {NAMES[0]: second} if second else {}
    noisy.seed = 2
    noisy.contribute(NAMES[0], numbers(2500, 9), plan, earlier=(earlier,))
    noisy.next_round()
    done = noisy.next_round()
    released = noisy.releases()
    for change, one, other in [
        (compare_rounds(noisy.folder, 1, 2), released[0], released[1]),
        (done.since.changes, released[1], released[2]),
    ]:
        for i, name in enumerate(NAMES):
            told = change.of(name)
            assert told.before == pytest.approx(one["parties"][i]["reward"], abs=1e-6)
            assert told.after == pytest.approx(other["parties"][i]["reward"], abs=1e-6)
