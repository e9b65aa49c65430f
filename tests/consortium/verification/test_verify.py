"""A recipient checks its reward: an honest operator's is found so, each lie is found out."""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from fairpool.consortium.auditing.audit import audit
from fairpool.consortium.auditing.opened import open_round
from fairpool.consortium.home.operators import remember
from fairpool.consortium.verification.finding import FALSE, UNKNOWN, VERIFIED
from fairpool.exchange.plan import SignedPlan
from fairpool.signatures import SigningKey
from tests.consortium.verification.conftest import SIZES, Round, released
from tests.support.lying import handed_out, restated, stated, with_model, without
from tests.support.noisy import NoisyCase
from tests.support.projects import fairpool, round_folder, write
from tests.support.sums import NAMES, Case, classes, numbers

SOMEBODY = SigningKey(bytes([77] * 32))


def verified(made, handed, folder, *more, name="North"):
    """What `fairpool verify` says of what a party was handed, as it has it at home."""
    reward, letter = handed.write(folder)
    known = ["--data", made.mine[name], "--plan", made.case.folder / "plan.json"]
    if name in made.case.by_sums:
        known += ["--contribution", made.case.folder / f"{name}-0.contribution"]
    done = fairpool("verify", reward, "--letter", letter, "--json", *known, *more)
    found = json.loads(done.stdout)
    if "errors" in found:
        return done.returncode, found["errors"]
    assert done.returncode == (0 if found["ok"] else 1)
    return done.returncode, [(f["about"], f["answer"], f["text"]) for f in found["findings"]]


def false_lines(found):
    return {about for about, answer, _ in found if answer == FALSE}


@pytest.mark.parametrize("name", NAMES)
def test_an_honest_round_by_sums_has_nothing_false(sums, name, tmp_path):
    code, found = verified(sums, handed_out(sums.case, name), tmp_path, name=name)
    assert (code, false_lines(found)) == (0, set())
    answers = {about: answer for about, answer, _ in found}
    for about in (
        "operator's signature",
        "worth of the model",
        "worth that was signed",
        "letter",
        "words of the letter",
        "plan",
        "model of the plan",
        "what was used of yours",
        "value of your data",
    ):
        assert answers[about] == VERIFIED, about
    for about in ("your data in the model", "your labels in the model", "contributions"):
        assert answers[about] == UNKNOWN, about
    scored = next(text for about, _, text in found if about == "better than alone")
    assert f"on {sums.case.tables[name].num_rows} of your own rows" in scored
    assert "these rows are in both" in scored


def test_an_honest_round_of_rows_has_nothing_false(rows, tmp_path):
    code, found = verified(rows, handed_out(rows.case, "North"), tmp_path)
    assert (code, false_lines(found)) == (0, set())
    assert ("your data in the model", VERIFIED) in [(about, answer) for about, answer, _ in found]


def _sent(said, **changes):
    return replace(said, model=replace(said.model, **changes))


LIES = {
    "value": (lambda said: replace(said, value=said.value - 1), "value of your data"),
    "worth": (lambda said: _sent(said, worth=said.model.worth + 1), "worth that was signed"),
    "reward": (
        lambda said: replace(said, reward=said.reward + 1, holds=said.holds + 1),
        "reward that was signed",
    ),
    "what is held": (lambda said: replace(said, holds=1.0), "what you hold"),
    "rho": (lambda said: replace(said, rho=0.9), "terms of the plan"),
    "measure": (lambda said: replace(said, concept="banzhaf"), "terms of the plan"),
    "plan": (lambda said: replace(said, plan="ab" * 32), "plan"),
    "noise": (lambda said: _sent(said, eta=said.model.eta + 1), "noise on the others' labels"),
    "contributions": (
        lambda said: replace(said, contributions=("ab" * 32,)),
        "what was used of yours",
    ),
    "round": (lambda said: replace(said, round=2), "statement and file"),
    "ledger": (lambda said: replace(said, ledger="ab" * 32), "statement and file"),
    "model": (lambda said: _sent(said, content="ab" * 32), "statement and file"),
    "no model": (lambda said: replace(said, model=None), "statement and file"),
}
"""What the operator says falsely, and the line that finds it."""


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_in_the_statement_is_found_though_it_is_signed(lie, sums, tmp_path):
    change, line = LIES[lie]
    handed = handed_out(sums.case, "North")
    code, found = verified(sums, restated(handed, change(stated(handed))), tmp_path)
    assert code == 1
    assert line in false_lines(found)


def test_a_statement_of_another_party_is_found(sums, tmp_path):
    handed = handed_out(sums.case, "North")
    south = stated(handed_out(sums.case, "South"))
    _, found = verified(sums, restated(handed, south), tmp_path)
    assert {"statement and file", "what was used of yours"} <= false_lines(found)


def test_a_statement_that_somebody_else_signed_is_found(sums, tmp_path):
    handed = handed_out(sums.case, "North")
    forged = restated(handed, stated(handed), key=SOMEBODY)
    _, found = verified(sums, forged, tmp_path)
    assert "operator's signature" in false_lines(found)
    _, found = verified(sums, forged, tmp_path, "--operator", str(SOMEBODY.public))
    assert false_lines(found) == {"operator's signature", "plan"}  # whose key is another


def test_an_edited_statement_is_found(sums, tmp_path):
    handed = handed_out(sums.case, "North")
    value = repr(stated(handed).value).encode()
    other = value[:-1] + (b"1" if value[-1:] != b"1" else b"2")
    edited = replace(
        handed, reward=handed.reward.replace(b'value\\":' + value, b'value\\":' + other)
    )
    assert edited.reward != handed.reward
    _, found = verified(sums, edited, tmp_path)
    assert "operator's signature" in false_lines(found)


WORDS = {
    "a figure": lambda page: changed(page, "By themselves they are worth", "They are worth 9"),
    # Readers see one thing, and what looks for words finds another.
    "hidden words": lambda page: changed(
        page,
        "Your contribution is",
        "Your&#8203; contribution is 9.99 nats<span hidden>Your contribution is</span>",
    ),
    "style": lambda page: changed(page, "main { max-width", "p { display: none } main { max-width"),
    "a blank": lambda page: page + "\n",
}
"""What becomes of a letter's words."""


def changed(page, words, others):
    assert words in page
    return page.replace(words, others, 1)


@pytest.mark.parametrize("how", WORDS)
def test_words_of_the_letter_that_are_not_what_was_signed_are_found(how, sums, tmp_path):
    handed = handed_out(sums.case, "North")
    edited = replace(handed, letter=WORDS[how](handed.letter))
    _, found = verified(sums, edited, tmp_path)
    assert false_lines(found) == {"words of the letter"}


def test_another_file_than_the_letters_is_found(sums, tmp_path):
    handed = handed_out(sums.case, "North")
    hexadecimal = sha256(handed.reward).hexdigest()
    for other in ("ab" * 32, ""):
        edited = replace(handed, letter=changed(handed.letter, hexadecimal, other))
        _, found = verified(sums, edited, tmp_path / other[:2])
        assert false_lines(found) == {"words of the letter"}


def test_an_operator_who_signs_a_lying_letter_is_shown_beside_it(sums, tmp_path):
    """No program reads as people do; so they are told what was signed."""
    handed = handed_out(sums.case, "North")
    said = stated(handed)
    lie = restated(handed, said, words=WORDS["hidden words"])
    _, found = verified(sums, lie, tmp_path)
    assert false_lines(found) == set()
    ((answer, text),) = [found[1:] for found in found if found[0] == "numbers in the letter"]
    assert answer == UNKNOWN
    for number in (said.value, said.total, said.contribution, said.reward, said.model.worth):
        assert f"{number:.2f}" in text
    assert f"{said.rows} of your rows" in text


def test_a_letter_of_more_than_a_few_megabytes_is_none(sums, tmp_path):
    reward, letter = handed_out(sums.case, "North").write(tmp_path)
    letter.write_bytes(bytes(5 << 20))
    done = fairpool("verify", reward, "--letter", letter)
    assert done.returncode == 2
    assert "larger than 4,194,304 bytes" in done.stderr


def test_letter_and_file_that_carry_different_statements_are_found(sums, tmp_path):
    handed = handed_out(sums.case, "North")
    said = stated(handed)
    told = restated(handed, replace(said, contribution=said.contribution + 1))
    mixed = replace(handed, letter=told.letter)
    _, found = verified(sums, mixed, tmp_path)
    assert "letter" in false_lines(found)


def test_another_model_than_the_plans_is_found(sums, tmp_path):
    honest = sums.run.collaboration.models[0].posterior
    other = honest.model.with_noise(2 * honest.model.noise_variance)
    handed = with_model(sums.case, sums.run, "North", replace(honest, model=other))
    _, found = verified(sums, handed, tmp_path)
    assert "model of the plan" in false_lines(found)


def test_own_data_left_out_of_a_full_covariance_are_found(rows, tmp_path):
    model = without(rows.run, "North", left_out="North")
    worth = model.worth  # which the operator says, too
    handed = with_model(rows.case, rows.run, "North", model, value=worth)
    _, found = verified(rows, handed, tmp_path)
    assert false_lines(found) == {"your data in the model"}


def test_more_noise_than_was_said_is_found_in_a_full_covariance(rows, tmp_path):
    model = without(rows.run, "North", eta=5.0)
    handed = with_model(rows.case, rows.run, "North", model)
    _, found = verified(rows, handed, tmp_path)
    assert {"worth of the model", "worth that was signed"} <= false_lines(found)


def test_a_hidden_covariance_proves_nothing_and_nothing_else_is_said(sums, tmp_path):
    """The mean is of a model without North's data, and no line can call that FALSE."""
    honest = sums.run.collaboration.models[0].posterior
    model = without(sums.run, "North", left_out="North")
    handed = with_model(sums.case, sums.run, "North", replace(honest, weights=model.weights))
    code, found = verified(sums, handed, tmp_path)
    assert (code, false_lines(found)) == (0, set())
    texts = {about: text for about, _, text in found}
    assert "only an auditor can tell" in texts["your data in the model"]
    assert "only an auditor can tell" in texts["your labels in the model"]


def test_a_covariance_made_of_other_rows_is_found(sums, tmp_path):
    handed = handed_out(sums.case, "South")
    said = stated(handed_out(sums.case, "North"))
    # South's model, handed to North with North's numbers.
    honest = sums.run.collaboration.models
    lying = with_model(sums.case, sums.run, "North", honest[1].posterior, value=honest[1].value)
    _, found = verified(sums, lying, tmp_path)
    assert said.party == "North"
    assert handed.reward != lying.reward
    assert "your data in the model" in false_lines(found)


def test_a_key_that_was_compared_before_is_known(sums, tmp_path, monkeypatch):
    reward, letter = handed_out(sums.case, "North").write(tmp_path)
    monkeypatch.setenv("FAIRPOOL_HOME", str(tmp_path / "home"))
    done = fairpool("verify", reward, "--letter", letter)
    assert "cannot be verified: operator's signature" in " ".join(done.stdout.split())
    (tmp_path / "home").mkdir(mode=0o700)
    plan = (sums.case.folder / "plan.json").read_bytes()
    remember(tmp_path / "home", SignedPlan.of_content(plan, "plan.json"))
    done = fairpool("verify", reward, "--letter", letter)
    words = " ".join(done.stdout.split())
    assert "verified: operator's signature: it is the key that you compared" in words


def signature_line(reward, *more):
    """What is said of the operator's signature."""
    found = json.loads(fairpool("verify", reward, "--json", *more).stdout)["findings"]
    return next(
        (one["answer"], one["text"]) for one in found if one["about"] == "operator's signature"
    )


def test_the_operator_of_another_collaboration_is_not_this_ones(sums, tmp_path, monkeypatch):
    """Somebody whose key North has compared, for something else, signs what this operator says."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("FAIRPOOL_HOME", str(home))
    plan_file = sums.case.folder / "plan.json"
    plan = SignedPlan.of_content(plan_file.read_bytes(), "plan.json").plan
    other = replace(plan, name="Quite another").signed(SOMEBODY).content
    remember(home, SignedPlan.of_content(other, "other.json"))
    handed = handed_out(sums.case, "North")
    lie = restated(handed, replace(stated(handed), contribution=0.5), key=SOMEBODY)
    reward, _ = lie.write(tmp_path / "lie")
    answer, text = signature_line(reward)
    assert answer == UNKNOWN
    assert "the operator of 'Quite another' with the key" in text
    assert signature_line(reward, "--plan", plan_file)[0] == FALSE
    # Once the key of this collaboration was compared, no other one signs for it.
    remember(home, SignedPlan.of_content(plan_file.read_bytes(), "plan.json"))
    assert signature_line(reward)[0] == FALSE
    honest, _ = handed.write(tmp_path / "honest")
    assert signature_line(honest)[0] == VERIFIED


def waiting(sums, folder, *, number):
    """What is said of a contribution that, as the operator says, waits with all of its rows."""
    handed = handed_out(sums.case, "North")
    said = stated(handed)
    lie = replace(said, contributions=(), rows=0, waiting=said.rows, value=0.0, round=number)
    _, found = verified(sums, restated(handed, lie), folder)
    return [(answer, text) for about, answer, text in found if about == "what was used of yours"]


def test_rows_that_are_enough_do_not_wait_in_a_first_round(sums, tmp_path):
    plan = SignedPlan.of_content((sums.case.folder / "plan.json").read_bytes(), "plan.json").plan
    ((answer, text),) = waiting(sums, tmp_path / "first", number=1)
    assert answer == FALSE
    assert f"{plan.fewest_rows} rows never wait in a first one" in text
    ((answer, text),) = waiting(sums, tmp_path / "later", number=2)
    assert answer == UNKNOWN
    assert "ask for an audit" in text


def test_a_reward_that_its_recipient_has_updated_is_not_the_operators(rows, tmp_path):
    reward, letter = handed_out(rows.case, "North").write(tmp_path)
    more = tmp_path / "more.csv"
    write(more, numbers(20, 51))
    assert fairpool("update", reward, "--data", more, "--add").returncode == 0
    done = fairpool("verify", tmp_path / "reward-updated.safetensors", "--letter", letter)
    assert done.returncode == 2
    assert "give the file that the operator gave you" in done.stderr


def test_a_file_of_before_there_were_statements_is_no_lie():
    old = Path(__file__).parents[2] / "data" / "rewards" / "v2" / "blr.safetensors"
    done = fairpool("verify", old)
    assert done.returncode == 0
    assert "the file carries no statement" in " ".join(done.stdout.split())


@pytest.mark.parametrize("what", ["classes", "noise on sums"])
def test_classes_and_sums_with_noise_have_nothing_false(what, tmp_path):
    if what == "classes":
        tables = {n: classes(r, s) for s, (n, r) in enumerate(zip(NAMES, SIZES, strict=True))}
        case = Case(folder=tmp_path / "project", tables=tables, classes=True)
    else:
        tables = {n: numbers(10 * r, s) for s, (n, r) in enumerate(zip(NAMES, SIZES, strict=True))}
        noise = {"North": 20.0}
        case = NoisyCase(folder=tmp_path / "project", tables=tables, kind="fourier", epsilons=noise)
    case.planned()
    run = case.next_round()
    write(tmp_path / "mine.csv", tables["North"])
    made = Round(case=case, run=run, mine={"North": tmp_path / "mine.csv"})
    code, found = verified(made, handed_out(case, "North"), tmp_path / "at home")
    assert (code, false_lines(found)) == (0, set())
    assert ("value of your data", VERIFIED) in [(about, answer) for about, answer, _ in found]
    assert audit(open_round(case.folder, 1)).ok


def test_the_letter_of_a_later_round_without_a_model_is_no_lie(tmp_path):
    made = released(tmp_path, NAMES)
    first = made.case.sent["North"]["North-0.contribution"].digest
    made.case.contribute("North", numbers(300, 77, 0.5), earlier=(first,))
    made.case.next_round()
    later = round_folder(made.case.folder, 2) / "parties" / "South" / "letter.html"
    handed = replace(handed_out(made.case, "South"), letter=later.read_text())
    _, found = verified(made, handed, tmp_path / "at home", name="South")
    assert false_lines(found) == set()
    assert "it is of round 2, in which no model was sent" in str(found)


def test_papers_of_several_months_are_no_lie(tmp_path):
    """The first file beside the letter and the plan of the second round, whose rho is another."""
    made = released(tmp_path, NAMES)
    case = made.case
    for name in NAMES:
        first = case.sent[name][f"{name}-0.contribution"].digest
        case.contribute(name, numbers(300, 77 + len(name), 0.5), earlier=(first,))
    case.rho = 0.1
    case.next_round()
    later = handed_out(case, "South", 2)
    handed = replace(handed_out(case, "South"), letter=later.letter)
    _, found = verified(made, handed, tmp_path / "at home", name="South")
    assert false_lines(found) == set()
    told = {about: text for about, answer, text in found if answer == UNKNOWN}
    assert "it is of round 2, and the file of round 1" in told["letter"]
    assert "give the plan of that time" in told["plan"]


def test_a_contribution_of_after_the_file_is_no_lie(tmp_path):
    """West alone has new rows: it is sent a letter without a model, and keeps its first file."""
    made = released(tmp_path, NAMES)
    case = made.case
    first = case.sent["West"]["West-0.contribution"].digest
    case.contribute("West", numbers(300, 77, 0.5), earlier=(first,))
    case.next_round()
    letter = round_folder(case.folder, 2) / "parties" / "West" / "letter.html"
    both = ["--contribution", case.folder / "West-1.contribution"]
    handed = handed_out(case, "West")
    later = replace(handed, letter=letter.read_text())
    answers = []
    for papers in (handed, later):
        _, found = verified(made, papers, tmp_path / "at home", *both, name="West")
        assert false_lines(found) == set()
        answers.append([a for about, a, _ in found if about == "what was used of yours"])
    assert answers == [[VERIFIED, UNKNOWN], [VERIFIED, VERIFIED]]


@pytest.mark.parametrize("seed", range(12))
def test_damaged_files_are_refused_or_found_and_never_a_fault_of_ours(seed, sums, tmp_path):
    rng = np.random.default_rng(seed)
    handed = handed_out(sums.case, "North")
    page, content = bytearray(handed.letter.encode()), bytearray(handed.reward)
    carried = page.find(b"fairpool-statement")
    places = (rng.integers(carried, len(page) - 1, 3), rng.integers(0, len(content), 3))
    for damaged, where in zip((page, content), places, strict=True):
        for place in where[: seed % 3 + 1]:
            damaged[place] = rng.integers(0, 256)
    reward, letter = tmp_path / "reward.safetensors", tmp_path / "letter.html"
    for of_reward, of_letter in ((content, handed.letter.encode()), (handed.reward, page)):
        reward.write_bytes(of_reward)
        letter.write_bytes(of_letter)
        done = fairpool("verify", reward, "--letter", letter, "--json")
        assert done.returncode in (0, 1, 2)
        assert "unexpected" not in done.stdout + done.stderr
        if done.returncode == 0:  # what was hit says nothing
            assert json.loads(done.stdout)["ok"]


def test_without_papers_and_data_nothing_is_false_and_little_is_verified(sums, tmp_path):
    reward, _ = handed_out(sums.case, "North").write(tmp_path)
    done = fairpool("verify", reward)
    assert done.returncode == 0
    words = " ".join(done.stdout.split())
    assert "cannot be verified: operator's signature: somebody with the key" in words
    assert "verified: worth of the model" in words
    assert "Nothing is FALSE" in words


def test_sums_without_their_plan_cannot_be_used_and_the_reason_is_said(sums, tmp_path):
    reward, _ = handed_out(sums.case, "North").write(tmp_path)
    mine = sums.case.folder / "North-0.contribution"
    done = fairpool("verify", reward, "--contribution", mine, "--quiet", "--json")
    found = json.loads(done.stdout)["findings"]
    reasons = [line["text"] for line in found if line["about"] == "value of your data"]
    assert reasons == [
        "sums can be used only with the plan that they were made under; give --plan plan.json"
    ]


def test_other_data_than_the_operators_are_not_called_a_lie(rows, tmp_path):
    reward, letter = handed_out(rows.case, "North").write(tmp_path)
    write(tmp_path / "other.csv", numbers(240, 50))
    done = fairpool("verify", reward, "--letter", letter, "--data", tmp_path / "other.csv")
    assert done.returncode == 0
    said = " ".join(done.stdout.split())
    assert "of other data than these" in said
    assert "whether they are in the reward, too, cannot be told" in said
    assert "these rows are in both" not in said


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["missing.safetensors"], "there is no such file"),
        (["{reward}", "--plan", "{letter}"], "no signed plan"),
        (["{reward}", "--letter", "missing.html"], "missing.html"),
        (["{reward}", "--data", "missing.csv"], "missing.csv"),
        (["{reward}", "--operator", "me"], "is no public key"),
        (["{letter}"], "not a reward file"),
    ],
)
def test_what_cannot_be_used_is_an_error(arguments, reason, sums, tmp_path):
    reward, letter = handed_out(sums.case, "North").write(tmp_path)
    given = [one.format(reward=reward, letter=letter) for one in arguments]
    done = fairpool("verify", *given, cwd=tmp_path)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
