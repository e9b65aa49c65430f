"""Intent, files, release: in this order, once, and put right by the next run."""

import os

import pytest

from fairpool.consortium.writing import write
from fairpool.errors import LedgerError
from fairpool.ledger import Ledger, begin, finish, recover, undo, unfinished
from tests.support.kill_points import content
from tests.support.ledger_processes import BODY, FILES
from tests.support.ledgers import KEY

FOLDER = "rounds/0001"
PARTIAL = "rounds/.0001.partial-123"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "rounds").mkdir()
    return tmp_path


@pytest.fixture
def ledger(root):
    return Ledger.open(root / "ledger.jsonl", KEY)


def kinds(ledger):
    return [record.kind for record in Ledger.open(ledger.path, KEY).records]


def put(folder, files=FILES):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text)


def left(root):
    files = content(root)
    files.pop("ledger.jsonl")
    return set(files)


def test_a_release_is_an_intent_and_a_release(ledger, root):
    assert unfinished(ledger) is None
    intent = begin(ledger, BODY)
    assert unfinished(ledger) == intent
    assert intent.body == BODY
    write(FILES, root / FOLDER)
    release = finish(ledger, intent, BODY | {"rho": 0.5})
    assert release.body == BODY | {"rho": 0.5, "intent": intent.hash}
    assert kinds(ledger) == ["intent", "release"]
    assert unfinished(ledger) is None
    assert recover(ledger, root) is None


def test_a_release_is_recorded_once(ledger):
    intent = begin(ledger, BODY)
    release = finish(ledger, intent, BODY)
    for again in (
        lambda: finish(ledger, intent, BODY),
        lambda: undo(ledger, intent, "too late"),
        lambda: finish(ledger, release, BODY),
        lambda: finish(Ledger.open(ledger.path, KEY), intent, BODY),
    ):
        with pytest.raises(LedgerError, match="a release is recorded once"):
            again()
    assert kinds(ledger) == ["intent", "release"]


def test_nothing_is_begun_while_something_waits(ledger):
    intent = begin(ledger, BODY)
    with pytest.raises(LedgerError, match="record 1 was begun and neither finished nor undone"):
        begin(ledger, BODY)
    undone = undo(ledger, intent, "the disk is full")
    assert undone.body == {
        "intent": intent.hash,
        "why": "the disk is full",
        "summary": "rounds/0001 was not released: the disk is full",
    }
    second = begin(ledger, BODY)
    assert unfinished(ledger) == second
    finish(ledger, second, BODY)
    assert kinds(ledger) == ["intent", "undone", "intent", "release"]


def test_records_of_other_kinds_settle_nothing(ledger):
    intent = begin(ledger, BODY)
    ledger.append("note", {"intent": intent.hash})
    ledger.append("release", {"intent": ["odd"]})
    ledger.append("undone", {})
    assert unfinished(ledger) == intent


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"folder": ""}, "path '' is not one below a folder"),
        ({"folder": "."}, "is not one below a folder"),
        ({"folder": "../other"}, "is not one below a folder"),
        ({"folder": "rounds/../.."}, "is not one below a folder"),
        ({"folder": "/etc"}, "path '/etc' is not one below a folder"),
        ({"folder": "rounds//1"}, "is not one below a folder"),
        ({"folder": "rounds\\1"}, "is not one below a folder"),
        ({"folder": 5}, "path 5 is not one below a folder"),
        ({"files": {"../a": "ab" * 32}}, r"path '\.\./a' is not one below a folder"),
        ({"files": {"a": "ab"}}, "file 'a': 'ab' is not a SHA-256"),
        ({"files": {}}, "files {} are not hashes by path"),
        ({"files": ["a"]}, "are not hashes by path"),
    ],
)
def test_an_intent_that_leads_elsewhere_is_refused(ledger, root, changes, match):
    with pytest.raises(LedgerError, match=match):
        begin(ledger, BODY | changes)
    assert ledger.records == ()
    # Nor is it followed where another program has recorded it.
    ledger.append("intent", BODY | changes)
    with pytest.raises(LedgerError, match=match):
        recover(ledger, root)


@pytest.mark.parametrize("name", ["folder", "files"])
def test_an_intent_says_what_it_will_put_in_place(ledger, name):
    body = dict(BODY)
    del body[name]
    with pytest.raises(LedgerError, match=f"an intent needs `{name}`"):
        begin(ledger, body)


def test_a_folder_in_its_place_is_a_release(ledger, root):
    intent = begin(ledger, BODY)
    put(root / FOLDER)
    done = recover(ledger, root)
    assert done.finished
    assert done.intent == intent
    assert done.record.kind == "release"
    assert done.record.body == BODY | {"intent": intent.hash}
    assert (done.removed, done.foreign) == ((), ())
    assert kinds(ledger) == ["intent", "release"]
    assert recover(ledger, root) is None
    assert left(root) == {f"{FOLDER}/{path}" for path in FILES}


def test_a_foreign_file_beside_them_does_not_undo_what_parties_may_have(ledger, root):
    begin(ledger, BODY)
    put(root / FOLDER, FILES | {"a/.DS_Store": b"x"})
    done = recover(ledger, root)
    assert done.finished
    assert done.foreign == (f"{FOLDER}/a/.DS_Store",)
    assert f"{FOLDER}/a/.DS_Store" in left(root)


def test_where_nothing_is_there_the_intent_is_undone(ledger, root):
    intent = begin(ledger, BODY)
    (root / "rounds").rmdir()
    done = recover(ledger, root)
    assert not done.finished
    assert done.record.kind == "undone"
    assert done.record.body["intent"] == intent.hash
    assert (done.removed, done.foreign) == ((), ())
    assert recover(ledger, root) is None


def test_what_was_being_written_is_removed_and_nothing_else(ledger, root):
    begin(ledger, BODY)
    put(root / PARTIAL, {"a/model": b"half", "operator/result.json": FILES["operator/result.json"]})
    put(root / "rounds/.0001.partial-7", {"a/notes.txt": b"foreign", "b/model": b""})
    put(root / "rounds/.0002.partial-7", {"a/model": b"of another round"})
    put(root / "rounds/0000", FILES)
    done = recover(ledger, root)
    assert not done.finished
    assert sorted(done.removed) == [
        f"{PARTIAL}/a/model",
        f"{PARTIAL}/operator/result.json",
        "rounds/.0001.partial-7/b/model",
    ]
    assert done.foreign == ("rounds/.0001.partial-7/a/notes.txt",)
    assert not (root / PARTIAL).exists()
    others = {f"rounds/0000/{path}" for path in FILES}
    assert left(root) == others | {*done.foreign, "rounds/.0002.partial-7/a/model"}


@pytest.mark.parametrize("change", ["lacks", "differs", "link"])
def test_a_folder_that_is_not_the_intents_is_no_release(ledger, root, change):
    begin(ledger, BODY)
    put(root / FOLDER)
    file = root / FOLDER / "a/model"
    file.unlink()
    if change == "differs":
        file.write_bytes(b"somebody else's")
    elif change == "link":
        (root / "elsewhere").write_bytes(FILES["a/model"])
        file.symlink_to(root / "elsewhere")
    done = recover(ledger, root)
    assert not done.finished
    assert sorted(done.removed) == [f"{FOLDER}/b/model", f"{FOLDER}/operator/result.json"]
    if change == "lacks":
        assert not (root / FOLDER).exists()
    else:
        assert done.foreign == (f"{FOLDER}/a/model",)
        assert os.path.lexists(file)
    if change == "link":
        assert (root / "elsewhere").read_bytes() == FILES["a/model"]


def test_a_link_in_the_folders_place_is_left_alone(ledger, root):
    begin(ledger, BODY)
    put(root / "elsewhere")
    (root / FOLDER).symlink_to(root / "elsewhere")
    (root / PARTIAL).symlink_to(root / "elsewhere")
    (root / "elsewhere/into").symlink_to(root / "rounds")
    done = recover(ledger, root)
    assert not done.finished
    assert (done.removed, done.foreign) == ((), ())
    assert {f"elsewhere/{path}" for path in FILES} <= left(root)


def test_what_the_system_refuses_is_an_error_and_still_waits(ledger, root):
    intent = begin(ledger, BODY | {"folder": "rounds/" + "x" * 300})
    with pytest.raises(LedgerError, match="cannot be put right: File name too long"):
        recover(ledger, root)
    assert unfinished(Ledger.open(ledger.path, KEY)) == intent
