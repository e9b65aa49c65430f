"""`fairpool receipts`: what is right is acknowledged, what is not is refused with the reason."""

import json

import pytest

from fairpool.exchange.receipt import Receipt
from tests.support.exchange import KEYS, OPERATOR
from tests.support.projects import fairpool
from tests.support.sums import Case, contribution_of, numbers


@pytest.fixture
def case(tmp_path):
    tables = {name: numbers(120, seed) for seed, name in enumerate(KEYS)}
    case = Case(folder=tmp_path, tables=tables)
    plan = case.planned()
    for name, table in tables.items():
        case.contribute(name, table, plan)
    case.configure(case.by_sums)
    return case


def receipts_in(folder):
    return sorted((folder / "receipts").glob("*.receipt"))


def test_every_party_gets_a_receipt_for_what_it_signed(case):
    done = fairpool("receipts", case.folder)
    assert done.returncode == 0, done.stderr
    paths = receipts_in(case.folder)
    assert len(paths) == 3
    for name, path in zip(sorted(KEYS), paths, strict=True):
        receipt = Receipt.of_content(path.read_bytes(), str(path))
        (sent,) = case.sent[name].values()
        assert receipt.contribution == sent.digest
        assert receipt.operator == OPERATOR.public
        assert f"{path}: 120 rows of {name}" in done.stdout


def test_asking_again_writes_nothing_new(case):
    fairpool("receipts", case.folder)
    before = {path: path.read_bytes() for path in receipts_in(case.folder)}
    again = fairpool("receipts", case.folder, "--json")
    assert [one["new"] for one in json.loads(again.stdout)["receipts"]] == [False] * 3
    assert {path: path.read_bytes() for path in receipts_in(case.folder)} == before


def test_a_bad_contribution_keeps_nobody_else_from_a_receipt(case):
    (path,) = case.folder.glob("South*.contribution")
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(bytes(content))
    done = fairpool("receipts", case.folder)
    assert done.returncode == 2
    assert "not as it was signed" in done.stderr
    assert len(receipts_in(case.folder)) == 2


def test_a_party_of_whom_nothing_arrived_is_named(case):
    text = (case.folder / "collaboration.toml").read_text()
    without = text.replace('data = ["West-0.contribution"]\n', "")
    (case.folder / "collaboration.toml").write_text(without)
    done = fairpool("receipts", case.folder, "--json")
    assert json.loads(done.stdout)["lacking"] == ["West"]


def test_another_operators_receipt_is_not_written_over(case):
    fairpool("receipts", case.folder)
    path = receipts_in(case.folder)[0]
    other = receipts_in(case.folder)[1].read_bytes()
    path.write_bytes(other)
    done = fairpool("receipts", case.folder)
    assert done.returncode == 2
    assert "for another contribution" in done.stderr
    assert path.read_bytes() == other


def test_without_a_plan_there_is_nothing_to_acknowledge(case):
    (case.folder / "plan.json").unlink()
    done = fairpool("receipts", case.folder)
    assert done.returncode == 2
    assert "write one: fairpool plan" in " ".join(done.stderr.split())


def test_a_contribution_that_is_far_too_long_is_not_read(case):
    plan = case.planned()
    file = contribution_of(case.tables["North"], plan, "North")
    (path,) = case.folder.glob("North*.contribution")
    path.write_bytes(file.to_bytes() + bytes(2 << 20))
    case.configure(case.by_sums)
    done = fairpool("receipts", case.folder)
    assert done.returncode == 2
    assert "is larger than" in " ".join(done.stderr.split())


def test_a_contribution_of_a_party_without_a_key_is_refused(case):
    text = (case.folder / "collaboration.toml").read_text()
    line = f'key = "{KEYS["North"].public}"\n'
    assert line in text
    (case.folder / "collaboration.toml").write_text(text.replace(line, ""))
    done = fairpool("receipts", case.folder)
    assert done.returncode == 2
    assert "nobody knows its key" in " ".join(done.stderr.split())
