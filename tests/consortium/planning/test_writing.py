"""plan.json: written once, left alone while it says the same, and never replaced by mistake."""

import json
import stat

import pytest

from fairpool.consortium.configuration_file import read_configuration
from fairpool.consortium.planning import Change, write_plan
from fairpool.consortium.rounds.context import read_plan
from fairpool.errors import DataError, PlanError, SecretError, SignatureError
from fairpool.signatures import SigningKey
from tests.support.planned import MADE, edit, planned_project
from tests.support.projects import fairpool

LATER = "2021-02-03T04:05:06Z"
NARROWER = ("range = [0, 120]", "range = [0, 100]")


@pytest.fixture
def folder(tmp_path):
    return planned_project(tmp_path / "project", data="{party}.contribution")


def _written(folder):
    """Which file it is, and when it was written."""
    found = (folder / "plan.json").stat()
    return found.st_ino, found.st_mtime_ns


def test_the_first_plan_makes_the_operators_key_for_its_owner_alone(folder):
    written = write_plan(folder, made=MADE)
    assert written.change is Change.NEW
    key = folder / ".fairpool" / "operator.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert SigningKey.read(key).public == written.plan.operator
    assert read_plan(folder).digest == written.plan.digest
    assert stat.S_IMODE((folder / "plan.json").stat().st_mode) & 0o600 == 0o600
    left = {path.name for path in folder.iterdir()}
    assert left == {"collaboration.toml", "plan.json", ".fairpool"}


def test_a_plan_that_says_the_same_is_left_as_it_is(folder):
    write_plan(folder, made=MADE)
    before = _written(folder)
    again = write_plan(folder, made=LATER)
    assert again.change is Change.NONE
    assert again.plan.plan.made == MADE
    assert _written(folder) == before


def test_other_terms_leave_contributions_usable(folder):
    first = write_plan(folder, made=MADE)
    (folder / "North.contribution").write_bytes(b"some")
    edit(folder, "[rewards]", "[rewards]\nrho = 0.4")
    second = write_plan(folder, made=LATER)
    assert second.change is Change.TERMS
    assert second.plan.plan.features_digest == first.plan.plan.features_digest
    assert second.plan.plan.made == LATER
    assert second.plan.operator == first.plan.operator


def test_a_party_that_joins_leaves_contributions_usable(folder):
    write_plan(folder, made=MADE)
    file = folder / "collaboration.toml"
    file.write_text(file.read_text() + '[[parties]]\nname = "East"\ndata = "east.csv"\n')
    assert write_plan(folder, made=LATER).change is Change.TERMS


def test_other_features_are_written_while_nobody_has_contributed(folder):
    first = write_plan(folder, made=MADE)
    edit(folder, *NARROWER)
    second = write_plan(folder, made=LATER)
    assert second.change is Change.FEATURES
    assert second.plan.plan.features_digest != first.plan.plan.features_digest


def test_other_features_under_contributions_need_to_be_asked_for(folder):
    write_plan(folder, made=MADE)
    before = (folder / "plan.json").read_bytes()
    (folder / "North.contribution").write_bytes(b"some")
    edit(folder, *NARROWER)
    with pytest.raises(PlanError, match=r"\(.* before, .* now\), and contributions of North"):
        write_plan(folder, made=LATER)
    assert (folder / "plan.json").read_bytes() == before
    assert write_plan(folder, made=LATER, replace=True).change is Change.FEATURES


def test_other_features_after_a_release_need_to_be_asked_for(folder):
    write_plan(folder, made=MADE)
    (folder / "ledger.jsonl").write_bytes(b"")
    edit(folder, *NARROWER)
    with pytest.raises(PlanError, match="models made by those were released"):
        write_plan(folder, made=LATER)


def test_a_party_with_a_new_key_is_told_of(folder):
    write_plan(folder, made=MADE)
    file = folder / "collaboration.toml"
    old = read_configuration(folder).configuration.parties[0]
    fresh = SigningKey(bytes([77] * 32)).public
    file.write_text(file.read_text().replace(str(old.public_key), str(fresh)))
    written = write_plan(folder, made=LATER)
    assert written.change is Change.TERMS
    assert written.rekeyed == (old.name,)
    assert write_plan(folder, made=LATER).rekeyed == ()


def test_a_plan_of_somebody_else_is_not_replaced_without_being_asked(folder):
    write_plan(folder, made=MADE)
    (folder / ".fairpool" / "operator.key").unlink()
    SigningKey.fresh().write(folder / ".fairpool" / "operator.key")
    with pytest.raises(PlanError, match="somebody else signed this plan"):
        write_plan(folder, made=LATER)
    assert write_plan(folder, made=LATER, replace=True).change is Change.NEW


def test_a_damaged_plan_is_not_replaced_without_being_asked(folder):
    write_plan(folder, made=MADE)
    file = folder / "plan.json"
    file.write_bytes(file.read_bytes().replace(b'"Trial"', b'"Trail"'))
    with pytest.raises(SignatureError, match="its signature is wrong"):
        write_plan(folder, made=LATER)
    assert write_plan(folder, made=LATER, replace=True).change is Change.NEW


def test_without_the_key_no_other_one_is_made_for_a_plan_that_is_there(folder):
    write_plan(folder, made=MADE)
    (folder / ".fairpool" / "operator.key").unlink()
    with pytest.raises(SecretError, match="restore"):
        write_plan(folder, made=LATER)
    assert not (folder / ".fairpool" / "operator.key").exists()


def test_a_plan_in_the_place_of_a_link_or_a_folder_leaves_what_is_there(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (folder / ".fairpool").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="is a link"):
        write_plan(folder, made=MADE)
    assert not [*(tmp_path / "elsewhere").iterdir()]


def test_the_command_says_in_words_what_was_agreed(folder):
    done = fairpool("plan", folder)
    assert done.returncode == 0, done.stderr
    plan = read_plan(folder)
    said = " ".join(done.stdout.split())
    for words in (
        "weight (0 .. 120 kg)",
        "8 weights on 6 input(s)",
        f"a contribution needs: {plan.plan.fewest_rows} rows",
        "North (key ",
        "send rows: nobody",
        "36 of products of two features each",
        "rho: stable",
        plan.operator.fingerprint,
        f"features' hash: {plan.plan.features_digest}",
    ):
        assert words in said
    again = fairpool("plan", folder)
    assert "says the same already" in again.stdout


def test_the_command_gives_the_same_to_programs(folder):
    said = json.loads(fairpool("plan", folder, "--json").stdout)
    plan = read_plan(folder)
    assert said["change"] == "new"
    assert said["digest"] == plan.digest
    assert said["discloses"] == list(plan.plan.discloses)
    assert said["warnings"] == []


def test_the_command_refuses_with_every_problem_and_writes_nothing(folder):
    edit(folder, "range = [0, 120]", "")
    edit(folder, "range = [0, 300]", "")
    done = fairpool("plan", folder)
    assert done.returncode == 2
    assert done.stderr.count("error: ") == 2
    assert not (folder / "plan.json").exists()
    assert not (folder / ".fairpool" / "operator.key").exists()


def test_the_command_warns_of_what_keeps_parties_from_contributing(tmp_path):
    folder = planned_project(tmp_path, parties=("A", "B", "C"), model='kind = "blr"\n')
    done = fairpool("plan", folder)
    assert "no party has a key" in " ".join(done.stdout.split())


def test_a_plan_after_models_were_released_says_how_it_is_gone_by(folder):
    (folder / "ledger.jsonl").write_bytes(b"")
    assert "fairpool run --learn-anew" in " ".join(fairpool("plan", folder).stdout.split())
