"""An auditor computes rounds anew: an honest operator's are found so, each lie is found out."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from fairpool.consortium.auditing.audit import audit
from fairpool.consortium.auditing.opened import open_round
from fairpool.consortium.rounds import scales
from fairpool.consortium.rounds.context import (
    KEPT_FOLDER,
    LEDGER_FILE,
    MAC,
    OPERATOR_KEY,
    SECRET_FILE,
    STATE_FOLDER,
)
from fairpool.consortium.verification.finding import FALSE, UNKNOWN, VERIFIED
from fairpool.exchange.arrival import Sender, arrive
from fairpool.exchange.attestation import KIND
from fairpool.exchange.plan import SignedPlan
from fairpool.exchange.receipt import receipt_for
from fairpool.keyed_noise.secret import Secret
from fairpool.ledger.record import NOTHING_BEFORE, make_record, parse
from fairpool.linear_algebra.cholesky import lower_factor
from fairpool.signatures import Signed, SigningKey
from tests.support.exchange import KEYS, OPERATOR
from tests.support.lying import (
    handed_out,
    lying_round,
    restated,
    stated,
    with_collaboration,
    with_reward,
    without,
)
from tests.support.projects import fairpool, reward_file, round_folder
from tests.support.sums import NAMES, Case, classes, contribution_of, numbers

SIZES = (240, 180, 210)
SOUTH = NAMES.index("South")


def a_case(folder, by_sums=NAMES, **more):
    make = classes if more.get("classes") else numbers
    tables = {n: make(r, s, s / 3) for s, (n, r) in enumerate(zip(NAMES, SIZES, strict=True))}
    case = Case(folder=folder / "project", tables=tables, by_sums=by_sums, **more)
    case.planned()
    return case


def answers(found):
    """Every line that is not verified."""
    return [(one.about, one.answer, one.text) for one in found.lines if one.answer != VERIFIED]


def audited(case, number=1, **more):
    return audit(open_round(case.folder, number, **more))


def false_lines(case, number=1, **more):
    return {one.about for one in audited(case, number, **more).false}


def two_rounds(folder, **more):
    """Two rounds; in the second North has sent more."""
    case = a_case(folder, **more)
    case.next_round()
    first = next(iter(case.sent["North"].values())).digest
    make = classes if more.get("classes") else numbers
    case.contribute("North", make(300, 77, 0.5), earlier=(first,))
    case.next_round()
    return case


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"kind": "sparse_gp", "rewards": 'covariance = "full"'},
        {"classes": True},
        {"rho": "stable"},
    ],
    ids=["regression", "full covariance", "classes", "stable"],
)
def test_every_line_of_an_honest_round_of_sums_is_verified(more, tmp_path):
    case = two_rounds(tmp_path, **more)
    for number in (1, 2):
        found = audited(case, number)
        assert answers(found) == []
        about = {one.about for one in found.lines}
        assert {"ledger", "values", "rewards", "noise on labels", "statement"} <= about
    assert {"model", "commitment"} <= {one.about for one in audited(case, 1).lines}


def test_scales_that_were_learned_from_sums_are_learned_again(tmp_path):
    case = two_rounds(tmp_path, learned_from_sums=True)
    assert answers(audited(case, 1)) == []
    # They were learned in the first round.
    assert {about for about, _, _ in answers(audited(case, 2))} == {"noise and prior of the model"}


def test_no_row_and_no_private_key_is_needed(tmp_path):
    case = two_rounds(tmp_path)
    shown = tmp_path / "shown"
    shutil.copytree(case.folder, shown)
    shutil.rmtree(shown / STATE_FOLDER / KEPT_FOLDER)
    (shown / STATE_FOLDER / OPERATOR_KEY).unlink()
    for table in shown.rglob("*.csv"):
        table.unlink()
    for number in (1, 2):
        assert answers(audit(open_round(shown, number))) == []


def test_other_rounding_makes_nothing_false(tmp_path, monkeypatch):
    """Sums that another machine has added up in another order."""
    from fairpool.consortium.auditing import parts

    case = two_rounds(tmp_path)
    rng = np.random.default_rng(3)
    honest = parts.arrays_under

    def rounded_otherwise(data, model):
        arrays = {}
        for name, array in honest(data, model).items():
            stirred = array * (1 + 1e-15 * rng.uniform(-1, 1, array.shape))
            arrays[name] = (stirred + stirred.T) / 2 if stirred.ndim == 2 else stirred
        return arrays

    monkeypatch.setattr(parts, "arrays_under", rounded_otherwise)
    for number in (1, 2):
        assert answers(audited(case, number)) == []


def test_of_rows_it_says_what_is_believed(tmp_path):
    case = a_case(tmp_path, by_sums=NAMES[:1])
    case.next_round()
    found = audited(case)
    assert found.ok
    assert {about for about, _, _ in answers(found)} == {"rows"}
    shutil.rmtree(case.folder / STATE_FOLDER / KEPT_FOLDER)
    found = audited(case)
    assert found.ok
    unknown = {about: text for about, answer, text in answers(found) if answer == UNKNOWN}
    assert unknown["values and rewards"] == "nobody shows rows of South, West, nor sums over them"
    assert "values" not in {one.about for one in found.lines}


def test_without_the_secret_values_are_computed_and_models_are_not(tmp_path):
    case = a_case(tmp_path)
    case.next_round()
    (case.folder / STATE_FOLDER / SECRET_FILE).unlink()
    found = audited(case)
    assert found.ok
    assert {about for about, _, _ in answers(found)} == {"ledger", "model"}
    assert "values" in {one.about for one in found.lines}


# Lies: the operator releases them in all places alike, signs and commits to them.


def test_a_noise_variance_of_labels_that_the_sums_do_not_give_is_found(tmp_path, monkeypatch):
    """It makes everybody's data worth more or less, and all else follows from it."""
    honest = scales.with_rounded_scales

    def noisier(*arguments):
        model = honest(*arguments)
        return model.with_noise(2 * model.noise_variance)

    case = a_case(tmp_path, learned_from_sums=True)
    with monkeypatch.context() as lie:
        lie.setattr(scales, "with_rounded_scales", noisier)
        case.next_round()
    assert false_lines(case) == {"noise and prior of the model"}


def test_another_model_than_the_plans_is_found(tmp_path):
    case = a_case(tmp_path)
    agreed = tmp_path / "agreed.json"
    shutil.copy(case.folder / "plan.json", agreed)
    case.kind = "fourier"
    case.planned()
    case.next_round()
    false = false_lines(case, plan=agreed)
    assert {"noise and prior of the model", "statement"} <= false


def test_a_contribution_that_is_not_so_is_found(tmp_path):
    def lie(done):
        phi = done.collaboration.contributions
        return with_collaboration(done, contributions=replace(phi, values=phi.values * 1.1))

    case = a_case(tmp_path)
    lying_round(case, lie)
    assert false_lines(case) == {"statement"}


def test_a_reward_that_is_not_so_is_found(tmp_path):
    def lie(done):
        rewards = done.collaboration.rewards - np.array([0, 0.5, 0])
        return with_collaboration(done, rewards=rewards)

    case = a_case(tmp_path)
    lying_round(case, lie)
    assert "rewards" in false_lines(case)


def another_rho(folder):
    """A round with rho = 0.9, and a plan that says 0.6, which is what parties have."""
    case = a_case(folder, rho=0.6)
    agreed = folder / "agreed.json"
    shutil.copy(case.folder / "plan.json", agreed)
    for name in NAMES:
        case.contribute(name, case.tables[name])
    case.rho = 0.9
    case.planned()
    case.next_round()
    return case, agreed


def test_another_rho_than_the_plans_is_found(tmp_path):
    case, agreed = another_rho(tmp_path)
    assert false_lines(case, plan=agreed) == {"terms of the plan", "statement"}
    # With the operator's plan alone, the parties' signatures tell that they had another.
    found = audited(case)
    assert found.ok
    assert {about for about, _, _ in answers(found)} == {"plan"}
    assert all("ask the party whether it agrees" in text for _, _, text in answers(found))


def test_a_round_is_compared_with_its_own_plan(tmp_path):
    """Plans change; so do parties, and whoever left is in no later plan."""
    case = a_case(tmp_path, rho=0.3)
    case.next_round()
    west = case.tables.pop("West"), case.sent.pop("West")
    case.by_sums = NAMES[:2]
    case.rho = 0.5
    case.planned()
    first = case.sent["North"]["North-0.contribution"].digest
    case.contribute("North", numbers(300, 77, 0.5), earlier=(first,))
    case.next_round()
    case.tables["West"], case.sent["West"] = west
    case.by_sums = NAMES
    case.planned()
    case.next_round()
    for number in (1, 2, 3):
        found = audited(case, number)
        assert found.ok
        assert {about for about, _, _ in answers(found)} <= {"plan"}
        assert "values" in {one.about for one in found.lines}


def test_a_contribution_in_place_of_another_and_a_model_learned_anew(tmp_path):
    case = a_case(tmp_path, learned_from_sums=True)
    case.next_round()
    old = case.sent["South"]["South-0.contribution"]
    (case.folder / "before").mkdir()
    shutil.move(case.folder / "South-0.contribution", case.folder / "before")
    del case.sent["South"]
    case.terms = {"South": "second_look = 2"}
    case.contribute("South", numbers(400, 90, 0.2), replaces=(old.digest,))
    case.next_round(learn_anew=True)
    for number in (1, 2):
        assert answers(audited(case, number)) == []


def test_another_rho_that_the_ledger_does_not_tell_is_found(tmp_path):
    lied = a_case(tmp_path / "other", rho=0.9).next_round().collaboration

    case = a_case(tmp_path / "told")
    lying_round(
        case,
        lambda done: with_collaboration(
            done, rewards=lied.rewards, models=lied.models, received=lied.received
        ),
    )
    assert {"rewards", "what is held", "noise on labels"} <= false_lines(case)


def test_another_partys_data_left_out_of_values_are_found(tmp_path):
    """The ledger says that all of South's rows took part, and half of them did."""
    half = a_case(tmp_path / "half")
    half.tables["South"] = half.tables["South"].slice(0, 90)
    other = half.next_round().collaboration

    case = a_case(tmp_path / "all")
    lying_round(
        case,
        lambda done: with_collaboration(
            done,
            game=other.game,
            contributions=other.contributions,
            rewards=other.rewards,
            scheme=other.scheme,
            models=other.models,
            received=other.received,
        ),
    )
    assert {"value of all data", "values"} <= false_lines(case)


@pytest.mark.parametrize("left_out", ["South", "West"])
def test_data_left_out_of_a_model_with_a_hidden_covariance_are_found(left_out, tmp_path):
    """South's model, without its own data or without another's; its worth is as it should be."""

    def lie(done):
        honest = done.collaboration.models[SOUTH].posterior
        eta = done.collaboration.models[SOUTH].eta
        other = without(done, "South", left_out=left_out, eta=eta)
        posterior = replace(honest, weights=other.weights, trained_factor=other.factor)
        return with_reward(done, SOUTH, posterior=posterior)

    case = a_case(tmp_path)
    lying_round(case, lie)
    assert false_lines(case) == {"model", "commitment"}


def test_more_noise_than_was_recorded_is_found(tmp_path):
    def lie(done):
        posterior = done.collaboration.models[SOUTH].posterior
        noise = 0.1 * np.random.default_rng(1).normal(size=posterior.weights.shape)
        return with_reward(
            done, SOUTH, posterior=replace(posterior, weights=posterior.weights + noise)
        )

    case = a_case(tmp_path)
    lying_round(case, lie)
    assert false_lines(case) == {"model", "commitment"}


def test_a_noise_variance_that_does_not_give_the_reward_is_found(tmp_path):
    def lie(done):
        received = list(done.collaboration.received)
        etas = {part: 2 * eta for part, eta in received[SOUTH].etas.items()}
        received[SOUTH] = replace(received[SOUTH], etas=etas)
        return with_collaboration(done, received=tuple(received))

    case = a_case(tmp_path)
    lying_round(case, lie)
    assert "noise on labels" in false_lines(case)


def test_a_commitment_to_another_precision_is_found(tmp_path):
    """The model is as it should be; what was committed to is not what it was trained with."""

    def lie(done):
        posterior = done.collaboration.models[SOUTH].posterior
        B = posterior.trained_factor @ posterior.trained_factor.T
        other = replace(posterior, trained_factor=lower_factor(1.01 * B))
        return with_reward(done, SOUTH, posterior=other)

    case = a_case(tmp_path)
    lying_round(case, lie)
    assert false_lines(case) == {"commitment"}


def test_an_acknowledged_contribution_that_took_no_part_is_found(tmp_path):
    case = a_case(tmp_path)
    case.next_round()
    plan = SignedPlan.of_content((case.folder / "plan.json").read_bytes(), "plan.json")
    opened = open_round(case.folder, 1)
    taking_part = next(one for one in opened.arrived.values() if one.manifest.party == "South")
    first = tmp_path / "first.receipt"
    first.write_bytes(
        receipt_for(taking_part, plan, "2020-01-03T00:00:00Z", OPERATOR).document.content
    )
    assert answers(audited(case, receipts=[first])) == []
    # South sends more, gets a receipt, and the operator leaves it out.
    case.contribute("South", numbers(150, 88), plan=plan, earlier=(taking_part.file.digest,))
    opened = open_round(case.folder, 1)
    more = next(one for one in opened.arrived.values() if len(one) == 150)
    second = tmp_path / "second.receipt"
    second.write_bytes(receipt_for(more, plan, "2020-01-04T00:00:00Z", OPERATOR).document.content)
    assert false_lines(case, receipts=[first, second]) == {"receipts"}


def test_an_acknowledged_contribution_that_is_said_to_wait_is_found(tmp_path):
    """Of rows that were in no round before, so many never wait; a few do."""

    def lie(done):
        contributions = list(done.contributions)
        south = contributions[SOUTH]
        more = replace(south.assignment, groups=np.append(south.assignment.groups, [-1] * 150))
        contributions[SOUTH] = replace(south, assignment=more)
        return replace(done, contributions=tuple(contributions))

    case = a_case(tmp_path)
    lying_round(case, lie)
    plan = SignedPlan.of_content((case.folder / "plan.json").read_bytes(), "plan.json")
    first = case.sent["South"]["South-0.contribution"].digest
    answers_of = {}
    for rows in (plan.plan.fewest_rows, plan.plan.fewest_rows - 1):
        table = numbers(rows, 88)
        sent = contribution_of(
            table, plan, "South", earlier=(first,), rows_may_be_seen=rows < plan.plan.fewest_rows
        )
        south = Sender(id="South", name="South", key=KEYS["South"].public)
        arrived = arrive(sent.to_bytes(), "South's", plan=plan, sender=south)
        receipt = receipt_for(arrived, plan, "2020-01-04T00:00:00Z", OPERATOR)
        (tmp_path / f"{rows}.receipt").write_bytes(receipt.document.content)
        found = audited(case, receipts=[tmp_path / f"{rows}.receipt"])
        answers_of[rows] = {one.answer for one in found.lines if one.about == "receipts"}
    assert list(answers_of.values()) == [{FALSE}, {UNKNOWN}]


def test_files_that_are_not_those_of_the_ledger_are_found(tmp_path):
    case = a_case(tmp_path)
    case.next_round()
    handed = handed_out(case, "South")
    said = stated(handed)
    lie = restated(handed, replace(said, contribution=said.contribution + 1))
    lie.write(reward_file(case.folder, "South").parent)
    assert {"reward file", "letter", "statement"} <= false_lines(case)


@pytest.mark.parametrize(
    ("words", "others"),
    [("Your contribution is", "Your&#8203; contribution is not"), ('fairpool-file">', 'file">')],
)
def test_words_of_a_letter_that_were_not_signed_are_found(words, others, tmp_path):
    case = a_case(tmp_path)
    case.next_round()
    path = round_folder(case.folder) / "parties" / "South" / "letter.html"
    page = path.read_text()
    assert words in page
    path.write_text(page.replace(words, others))
    assert false_lines(case) == {"letter"}


def test_a_letter_of_another_party_is_found(tmp_path):
    case = a_case(tmp_path)
    case.next_round()
    parties = round_folder(case.folder) / "parties"
    shutil.copy(parties / "North" / "letter.html", parties / "South" / "letter.html")
    assert "letter" in false_lines(case)


def test_a_letter_of_another_round_is_found(tmp_path):
    case = two_rounds(tmp_path)
    first, second = (round_folder(case.folder, k) / "parties" / "South" for k in (1, 2))
    shutil.copy(first / "letter.html", second / "letter.html")
    assert {"letter", "statement"} <= false_lines(case, 2)


def test_an_edited_ledger_is_found(tmp_path):
    case = a_case(tmp_path)
    case.next_round()
    path = case.folder / LEDGER_FILE
    path.write_bytes(path.read_bytes().replace(b'"rows":180', b'"rows":181'))
    done = fairpool("audit", case.folder, 1)
    assert done.returncode in (1, 2)
    assert "ledger" in done.stdout + done.stderr


def test_statements_that_somebody_else_signed_are_found(tmp_path):
    case = a_case(tmp_path)
    path = case.folder / STATE_FOLDER / OPERATOR_KEY

    def lie(done):
        path.unlink()
        SigningKey(bytes([9] * 32)).write(path)
        return done

    lying_round(case, lie)
    assert false_lines(case) == {"statement"}


# The command.


def test_the_command_tells_signs_and_never_replaces(tmp_path):
    case = a_case(tmp_path)
    case.next_round()
    auditor = SigningKey(bytes([9] * 32))
    auditor.write(tmp_path / "auditor.key")
    out = tmp_path / "audit.json"
    done = fairpool("audit", case.folder, 1, "--out", out, "--sign", tmp_path / "auditor.key")
    assert done.returncode == 0
    assert "Nothing is FALSE" in done.stdout
    signed = Signed.of_content(out.read_bytes(), KIND, "audit.json")
    assert signed.key == auditor.public
    assert signed.body["ok"] is True
    assert signed.body["round"] == 1
    assert signed.body["release"] == open_round(case.folder, 1).release
    again = fairpool("audit", case.folder, 1, "--out", out)
    assert again.returncode == 2
    assert "exists already" in again.stderr


def test_the_command_fails_where_something_is_false(tmp_path):
    case, agreed = another_rho(tmp_path)
    done = fairpool("audit", case.folder, 1, "--plan", agreed, "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert not found["ok"]
    false = [line for line in found["findings"] if line["answer"] == FALSE]
    assert false[0]["about"] == "terms of the plan"
    assert "0.9" in false[0]["text"]
    assert "0.6" in false[0]["text"]


def resealed(case, change):
    """A ledger whose release the operator has changed, with every hash and seal made anew."""
    path = case.folder / LEDGER_FILE
    key = Secret.read(case.folder / STATE_FOLDER / SECRET_FILE).subkey(MAC)
    records = [parse(line) for line in path.read_bytes().splitlines(keepends=True)]
    previous = NOTHING_BEFORE
    lines = []
    for record in records:
        body = dict(record.body)
        if record.kind == "release":
            change(body)
        made = make_record(
            key,
            number=record.number,
            previous=previous,
            kind=record.kind,
            body=body,
            time=record.time,
        )
        previous = made.hash
        lines.append(made.line)
    path.write_bytes(b"".join(lines))


def copied(case, folder):
    shutil.copytree(case.folder, folder)
    return replace(case, folder=folder)


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    case = a_case(tmp_path_factory.mktemp("released"))
    case.next_round()
    return case


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body.pop("parties"),
        lambda body: body.update(parties=[1]),
        lambda body: body.update(batches={}),
        lambda body: body.update(parts={}),
        lambda body: body.update(folder="../../elsewhere"),
        lambda body: body.update(folder=7),
        lambda body: body.update(agreement="ab" * 32),
        lambda body: body.update(statements=[]),
        lambda body: body["parties"][1].update(path="/etc/passwd"),
        lambda body: body["parties"][1].update(etas={"x": "y"}),
        lambda body: body.update(rho="many"),
        lambda body: body.update(contributions="none"),
        lambda body: body.update(total="1"),
    ],
)
def test_whatever_an_operator_records_is_refused_or_false(change, released, tmp_path):
    case = copied(released, tmp_path / "copy")
    resealed(case, change)
    done = fairpool("audit", case.folder, 1)
    assert done.returncode in (1, 2)
    assert "unexpected" not in done.stderr


def test_an_operator_who_seals_a_changed_ledger_is_found(released, tmp_path):
    case = copied(released, tmp_path / "copy")

    def change(body):
        body["parties"][SOUTH]["value"] += 1

    resealed(case, change)
    assert {"values", "statement"} <= false_lines(case)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["{folder}", "7"], "no release of round 7"),
        (["{folder}", "1", "--sign", "my.key"], "give --out, too"),
        (["{folder}/rounds", "1"], "no release of round 1"),
    ],
)
def test_what_cannot_be_audited_is_an_error(arguments, reason, tmp_path):
    case = a_case(tmp_path)
    case.next_round()
    done = fairpool("audit", *(one.format(folder=case.folder) for one in arguments))
    assert done.returncode == 2
    assert reason in done.stderr
