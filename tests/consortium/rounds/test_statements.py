"""A release carries statements: in reward files, in letters, and by digest in the ledger."""

import pytest

import fairpool as fp
from fairpool.consortium.rounds.context import LEDGER_FILE, OPERATOR_KEY, STATE_FOLDER
from fairpool.consortium.rounds.stating import salt_of
from fairpool.exchange.statement import SignedStatement
from fairpool.keyed_noise.secret import Secret
from fairpool.ledger.record import parse
from fairpool.realisation.carried import statement_in
from fairpool.realisation.commitment import is_kept
from fairpool.report.sealed_letter import unsealed
from fairpool.signatures import SigningKey
from tests.support.projects import reward_file, round_folder
from tests.support.sums import NAMES, Case, numbers

SIZES = (240, 180, 210)


@pytest.fixture(scope="module", params=[NAMES, ()], ids=["sums", "rows"])
def released(request, tmp_path_factory):
    """A first round of parties who send sums, or rows."""
    case = Case(
        folder=tmp_path_factory.mktemp("statements"),
        tables={n: numbers(r, s, s / 3) for s, (n, r) in enumerate(zip(NAMES, SIZES, strict=True))},
        by_sums=request.param,
    )
    case.planned()
    first = case.next_round()
    return case, first


def in_reward(folder, name, number=1):
    content = reward_file(folder, name, number).read_bytes()
    return SignedStatement.of_content(statement_in(content, "reward"), "reward")


def in_letter(folder, name, number=1):
    page = (round_folder(folder, number) / "parties" / name / "letter.html").read_bytes()
    return SignedStatement.of_content(unsealed(page, "letter").statement, "letter")


def test_file_letter_and_ledger_carry_the_same_statement(released):
    case, _ = released
    lines = (case.folder / LEDGER_FILE).read_bytes().splitlines(keepends=True)
    records = [parse(line) for line in lines]
    told = next(record.body["statements"] for record in records if record.kind == "release")
    key = SigningKey.read(case.folder / STATE_FOLDER / OPERATOR_KEY)
    assert set(told) == set(NAMES)
    for name in NAMES:
        stated = in_reward(case.folder, name)
        assert stated == in_letter(case.folder, name)
        assert stated.digest == told[name]
        assert stated.operator == key.public


def test_it_says_what_the_run_found(released):
    case, run = released
    result = run.collaboration
    for i, name in enumerate(NAMES):
        said = in_reward(case.folder, name).statement
        model = fp.load_reward(reward_file(case.folder, name))
        assert (said.party, said.round, said.rows) == (name, 1, case.tables[name].num_rows)
        # Of the others, no more digits than letters have.
        assert said.total == round(result.game.total, 2) != result.game.total
        assert said.value == result.game.alone[i]
        phi = result.contributions.values[i]
        assert said.contribution == round(phi, 2) != phi
        assert said.reward == result.rewards[i]
        assert said.model.worth == model.value
        assert said.ledger == model.ledger.head
        sent = [file.digest for file in case.sent.get(name, {}).values()]
        assert list(said.contributions) == sent
        assert len(said.inputs) == 1


def test_it_commits_to_what_the_models_were_trained_with(released):
    case, run = released
    secret = Secret.read(case.folder / STATE_FOLDER / "secret.key")
    for i, name in enumerate(NAMES):
        commitment = in_reward(case.folder, name).statement.model.commitment
        trained = run.collaboration.models[i].posterior
        assert is_kept(commitment, trained, salt_of(secret, number=1, party=name))
        assert not is_kept(commitment, trained, salt_of(secret, number=2, party=name))
        # What the recipient has is not what was committed to: it is hidden.
        shown = fp.load_reward(reward_file(case.folder, name)).posterior
        assert not is_kept(commitment, shown, salt_of(secret, number=1, party=name))


def test_nobody_is_told_of_anybody_else(released):
    case, _ = released
    for name in NAMES:
        said = in_reward(case.folder, name).document.content.decode()
        assert not any(other in said for other in NAMES if other != name)
