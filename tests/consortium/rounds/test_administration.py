"""Between rounds: looking, comparing, verifying, erasing, exchanging the secret, handing over."""

import json
import os
import re
import shutil

import numpy as np
import pyarrow as pa
import pytest

import fairpool as fp
from tests.support.projects import fairpool, project, write
from tests.support.shared import built_once


def answer(*arguments):
    done = fairpool(*arguments, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def refused(*arguments):
    done = fairpool(*arguments, "--json")
    assert done.returncode == 2
    return json.loads(done.stdout)["errors"]


def rows(count, seed):
    """Rows that a linear model fits, so that none of them stands out."""
    rng = np.random.default_rng(seed)
    x, z = rng.uniform(-1, 1, (2, count))
    return pa.table({"x": x, "z": z, "y": 3 * x + 2 * z + rng.normal(0, 0.5, count)})


def two_rounds(folder):
    """A first round, and one in which a party has more rows."""
    parties = ""
    for i in range(3):
        write(folder / f"p{i}.csv", rows((60, 60, 300)[i], i))
        parties += f'[[parties]]\nname = "Party {i}"\ndata = "p{i}.csv"\n'
    (folder / "collaboration.toml").write_text(
        'target = "y"\n[model]\nkind = "blr"\n[rewards]\nrho = 0.5\n' + parties
    )
    answer("run", folder)
    write(folder / "p1.csv", pa.concat_tables([rows(60, 1), rows(40, 7)]))
    answer("run", folder)


@pytest.fixture
def folder(tmp_path, tmp_path_factory):
    """Two rounds on disk, to be changed as one likes."""
    built = built_once(tmp_path_factory, "two-rounds", two_rounds)
    return shutil.copytree(built, tmp_path / "project")


def leave(folder, name):
    """Take a party out of the configuration."""
    path = folder / "collaboration.toml"
    head, *parties = path.read_text().split("[[parties]]\n")
    staying = [party for party in parties if f'"{name}"' not in party]
    path.write_text("[[parties]]\n".join([head, *staying]))


def test_rounds_are_listed(folder):
    listed = answer("rounds", folder)["rounds"]
    assert [one["round"] for one in listed] == [1, 2]
    assert [len(one["parties"]) for one in listed] == [3, 3]
    sent = {party["name"]: party["sent"] for party in listed[1]["parties"]}
    assert sent == {"Party 0": True, "Party 1": False, "Party 2": True}
    shown = fairpool("rounds", folder).stdout
    assert "Party 1" in shown
    assert re.search(r"│ Party 1 [^\n]*│ no +│", shown)
    assert re.search(r"│ Party 0 [^\n]*│ yes +│", shown)


def test_a_folder_without_rounds_says_how_to_begin(tmp_path):
    (error,) = refused("rounds", project(tmp_path))
    assert "no round was released yet; start with fairpool run" in error


def test_two_rounds_are_compared_and_the_parts_add_up(folder):
    changes = answer("compare", folder, 1, 2)
    assert changes["comparable"]
    by_name = {party["name"]: party for party in changes["parties"]}
    for party in by_name.values():
        moved = party["after"] - party["before"]
        assert sum(party["parts"].values()) == pytest.approx(moved, abs=1e-9)
    # Only party 1 has other rows: its own reward moves by its own data, the others' by its.
    assert by_name["Party 1"]["parts"]["others_data"] == 0
    assert by_name["Party 0"]["parts"]["own_data"] == 0
    rewards = {}
    for number in (1, 2):
        result = json.loads((folder / f"rounds/000{number}/operator/result.json").read_text())
        rewards[number] = {party["name"]: party["reward"] for party in result["parties"]}
    for name, party in by_name.items():
        assert party["before"] == pytest.approx(rewards[1][name], abs=1e-9)
        assert party["after"] == pytest.approx(rewards[2][name], abs=1e-9)


@pytest.mark.parametrize(
    ("rounds", "words"), [((1, 3), "there is no round 3; those released are 1 to 2")]
)
def test_rounds_that_are_not_there_are_not_compared(folder, rounds, words):
    (error,) = refused("compare", folder, *rounds)
    assert words in error


def test_the_ledger_is_shown_and_verified(folder):
    shown = answer("ledger", "show", folder)
    kinds = [record["kind"] for record in shown["records"]]
    assert kinds == ["run", "intent", "release"] * 2
    heads = []
    for number in (1, 2):
        letter = (folder / f"rounds/000{number}/parties/Party-0/letter.html").read_text()
        heads += [record["hash"] for record in shown["records"] if record["hash"] in letter]
    assert len(heads) == 2
    found = answer("ledger", "verify", folder, "--head", heads[0], "--head", heads[1])
    assert found == {"ok": True, "head": shown["head"], "records": 6, "problems": [], "notes": []}


def damaged(*arguments):
    done = fairpool("ledger", "verify", *arguments, "--json")
    assert done.returncode == 2
    found = json.loads(done.stdout)
    assert not found["ok"]
    return found["problems"]


COMMANDS = """
rounds {}
compare {} 1 2
ledger show {}
ledger verify {}
audit {} 1
erase {} --party Party-0
key rotate {} --yes
key lost {}
receipts {}
run {}
"""


@pytest.mark.parametrize("line", COMMANDS.strip().splitlines())
def test_a_mistyped_folder_is_not_the_collaboration_around_it(folder, line):
    before = sorted(folder.rglob("*"))
    typed = folder / "mistyped"
    (error,) = refused(*line.replace("{}", str(typed)).split(" "))
    assert error.startswith(f"{typed}: there is no such folder; `fairpool init")
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("command", ["show", "verify"])
def test_where_nothing_was_released_no_ledger_is_missing(tmp_path, command):
    folder = project(tmp_path / "new")
    (error,) = refused("ledger", command, folder)
    assert error == f"{folder}: no round was released yet; start with fairpool run {folder}"


@pytest.mark.parametrize("trace", [".fairpool/secret.key", "rounds", "ledger-before-0001.jsonl"])
def test_where_anything_was_released_a_ledger_is_missing(folder, tmp_path, trace):
    left = project(tmp_path / "left")
    (left / trace).parent.mkdir(exist_ok=True)
    if trace == "rounds":
        (left / trace).mkdir()
    else:
        shutil.copy(folder / trace.replace("-before-0001", ""), left / trace)
    assert any("the ledger cannot be read" in problem for problem in damaged(left))


def test_who_has_a_letter_knows_that_a_ledger_is_missing(tmp_path):
    folder = project(tmp_path / "new")
    assert any("cannot be read" in problem for problem in damaged(folder, "--head", "ab" * 32))


def test_a_cut_ledger_is_noticed_by_a_letter(folder):
    lines = (folder / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "ledger.jsonl").write_bytes(b"".join(lines[:3]))
    letter = (folder / "rounds/0002/parties/Party-0/letter.html").read_text()
    head = next(word for word in letter.replace("<", ">").split(">") if len(word) == 64)
    problems = damaged(folder, "--head", head)
    assert any("was cut or replaced after" in problem for problem in problems)
    assert any("rounds/0002: no record of the ledger tells of it" in one for one in problems)


def flipped(lines):
    at = len(lines[3]) // 2
    changed = bytes([*lines[3][:at], lines[3][at] ^ 1, *lines[3][at + 1 :]])
    return [*lines[:3], changed, *lines[4:]]


TAMPERED = {
    "a flipped bit": (flipped, 4),
    "a record cut out": (lambda lines: [*lines[:2], *lines[3:]], 3),
    "records in another order": (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], 2),
    "a record once more": (lambda lines: [*lines, lines[2]], 7),
    "a line inserted": (lambda lines: [*lines[:4], b'{"kind":"release"}\n', *lines[4:]], 5),
}
"""What is done to the six lines of a ledger, and where it is found."""


@pytest.mark.parametrize("how", TAMPERED)
def test_whatever_is_done_to_the_ledger_is_found_by_the_command_and_stops_the_next_run(how, folder):
    path = folder / "ledger.jsonl"
    change, line = TAMPERED[how]
    changed = b"".join(change(path.read_bytes().splitlines(keepends=True)))
    path.write_bytes(changed)
    assert any(f"line {line}: " in problem for problem in damaged(folder))
    shown = fairpool("ledger", "show", folder, "--json")
    assert shown.returncode == 2
    assert any(f"line {line}: " in problem for problem in json.loads(shown.stdout)["problems"])
    for command in (["run"], ["run", "--preview"]):
        assert any(f"line {line}: " in error for error in refused(*command, folder))
    assert path.read_bytes() == changed
    assert (folder / "latest").read_text() == "rounds/0002\n"


def test_a_changed_model_is_noticed_and_not_built_on(folder):
    path = folder / "rounds/0002/parties/Party-0/reward.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    (problem,) = damaged(folder)
    assert "Party-0/reward.safetensors: not the model that was released in round 2" in problem
    (error,) = refused("run", folder)
    assert "not the model that was released in round 2" in error


def test_a_ledger_that_is_gone_stops_everything(folder):
    (folder / "ledger.jsonl").unlink()
    (error,) = refused("run", folder)
    assert "the ledger is gone, but rounds were released" in error


def test_rounds_whose_secret_and_ledger_are_gone_are_no_new_beginning(folder):
    (folder / "ledger.jsonl").unlink()
    shutil.rmtree(folder / ".fairpool")
    (error,) = refused("run", folder)
    assert "rounds were released, but both the secret and the ledger are gone" in error
    assert not (folder / ".fairpool/secret.key").exists()


def test_a_party_that_has_left_is_erased_and_what_stays_is_told(folder):
    (error,) = refused("erase", folder, "--party", "Party 1")
    assert "still takes part; take it out of the configuration first" in error
    leave(folder, "Party 1")
    labels = [*rows(60, 1)["y"].to_pylist(), *rows(40, 7)["y"].to_pylist()]
    assert all(kept_with(folder, label) for label in labels)
    kept = kept_parts(folder)
    done = answer("erase", folder, "--party", "Party 1")
    assert done == {"party": "Party 1", "rows": 100, "holders": ["Party 0", "Party 2"]}
    # No row of it is kept, nor anything else of the parts that the ledger names.
    assert not any(kept_with(folder, label) for label in labels)
    shown = answer("ledger", "show", folder)["records"]
    assert shown[-1]["kind"] == "erasure"
    assert set(shown[-1]["body"]["parts"]) == kept - kept_parts(folder) != set()
    (error,) = refused("erase", folder, "--party", "Party 1")
    assert "nothing is kept of it any longer" in error
    # The others go on without it; what they hold of it is no longer counted, which is said.
    result = answer("run", folder)
    assert any("are not counted in what parties hold" in text for text in result["warnings"])
    # It cannot return with rows that nobody can recognise any longer.
    path = folder / "collaboration.toml"
    path.write_text(path.read_text() + '[[parties]]\nname = "Party 1"\ndata = "p1.csv"\n')
    (error,) = refused("run", folder)
    assert "all that was kept of it was erased" in error


def test_whoever_never_took_part_cannot_be_erased(folder):
    (error,) = refused("erase", folder, "--party", "Party 9")
    assert "took part in no round; those who did" in error


def kept_with(folder, label):
    """The files beside the secret in which a label stands."""
    number = np.float64(label).tobytes()
    paths = [path for path in (folder / ".fairpool").rglob("*") if path.is_file()]
    return [path.name for path in paths if number in path.read_bytes()]


def kept_parts(folder):
    """The parts of which anything is kept."""
    kept = (folder / ".fairpool/kept").iterdir()
    return {path.name.split(".")[0] for path in kept if path.suffix != ".record"}


def kept_sums(folder):
    kept = (folder / ".fairpool/kept").iterdir()
    return [path for path in kept if path.suffix not in (".rows", ".record")]


def test_sums_are_forgotten_as_agreed(folder):
    leave(folder, "Party 1")
    path = folder / "collaboration.toml"
    path.write_text(path.read_text() + "[retention]\nrounds = 2\n")
    before = kept_sums(folder)
    known = len(list((folder / ".fairpool/kept").glob("*.rows")))
    answer("run", folder)
    assert {*before} <= {*kept_sums(folder)}
    answer("run", folder)
    gone = {path.name.split(".")[0] for path in {*before} - {*kept_sums(folder)}}
    shown = answer("ledger", "show", folder)["records"]
    assert shown[-1]["kind"] == "forgotten"
    assert set(shown[-1]["body"]["parts"]) == gone != set()
    assert "were erased, as agreed" in shown[-1]["body"]["summary"]
    # Who the rows are stays known: otherwise they could come back as new ones.
    assert len(list((folder / ".fairpool/kept").glob("*.rows"))) == known


@pytest.mark.parametrize("lost", [False, True])
def test_the_secret_is_exchanged(folder, lost):
    secret = folder / ".fairpool/secret.key"
    old = secret.read_text()
    head = answer("ledger", "show", folder)["head"]
    command = "lost" if lost else "rotate"
    if lost:
        secret.unlink()
        (error,) = refused("run", folder)
        assert "the secret is gone, but there is a ledger" in error
        assert "fairpool key lost" in error
    assert answer("key", command, folder) == {"changed": False}
    assert answer("key", command, folder, "--yes")["changed"]
    assert secret.read_text() != old
    assert secret.stat().st_mode & 0o777 == 0o600
    assert (folder / f"ledger-before-{head[:12]}.jsonl").exists()
    # Heads of old letters are still confirmed, and what was released is still known.
    found = answer("ledger", "verify", folder, "--head", head)
    assert found["ok"]
    assert "the secret was exchanged before" in found["notes"][0]
    assert [one["round"] for one in answer("rounds", folder)["rounds"]] == [1, 2]
    # Rows that were released are found, and are released again only as a second look.
    errors = refused("run", folder)
    assert len(errors) == 3
    assert all("two noises on one label average out" in error for error in errors)
    path = folder / "collaboration.toml"
    path.write_text(path.read_text().replace("data = ", "second_look = 3\ndata = "))
    before = {
        party["name"]: party["holds"] for party in answer("rounds", folder)["rounds"][1]["parties"]
    }
    after = answer("run", folder, "--preview")["parties"]
    # Both looks count, so that nobody is sent anything but what is missing to its share.
    for party in after:
        assert party["holds"] >= before[party["name"]] - 1e-9


def test_a_secret_that_is_there_is_not_lost(folder):
    (error,) = refused("key", "lost", folder, "--yes")
    assert "exchange it: fairpool key rotate" in error


def test_the_operators_role_is_handed_over(folder, tmp_path):
    """The drill of docs/operator-guide.md: everything in one archive, verified at the other end."""
    archive = shutil.make_archive(str(tmp_path / "handover"), "gztar", folder)
    elsewhere = tmp_path / "elsewhere"
    shutil.unpack_archive(archive, elsewhere, filter="data")
    os.chmod(elsewhere / ".fairpool/secret.key", 0o600)
    assert answer("ledger", "verify", elsewhere)["ok"]
    for root in (folder, elsewhere):
        write(root / "p0.csv", pa.concat_tables([rows(60, 0), rows(60, 8)]))
    here = answer("run", folder)
    there = answer("run", elsewhere)
    # Whoever operates it, the next round is the same, to the noise.
    assert here["parties"] == there["parties"]
    for party in ("Party-1", "Party-2"):
        place = f"rounds/0003/parties/{party}/reward.safetensors"
        weights = [fp.load_reward(root / place).posterior.weights for root in (folder, elsewhere)]
        np.testing.assert_array_equal(*weights)
