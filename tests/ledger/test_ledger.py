"""A ledger on the disk: opened, continued, and left alone when it is not what was read."""

import errno
import fcntl
import os
import resource
import stat
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpool.errors import LedgerError
from fairpool.ledger import Ledger, line_of, lines_of, verify
from tests.support.ledgers import KEY, OTHER_KEY, ZEROS, hash_of, ledger_of, sealed_line


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.jsonl"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_missing_file_is_an_empty_ledger_and_stays_missing(path):
    ledger = Ledger.open(path, KEY)
    assert ledger.records == ()
    assert ledger.head == ZEROS
    assert not ledger.torn
    assert not path.exists()


def test_records_are_added_and_read_again(path):
    ledger = Ledger.open(path, KEY)
    first = ledger.append("run", {"rho": 0.5}, time="2026-03-01T09:30:00Z")
    second = ledger.append("release", {"party": "a"})
    assert (first.number, first.previous, first.body) == (1, ZEROS, {"rho": 0.5})
    assert (second.number, second.previous) == (2, first.hash)
    assert path.read_bytes() == first.line + second.line
    again = Ledger.open(path, KEY)
    assert again.records == ledger.records == (first, second)
    assert again.head == ledger.head == second.hash == hash_of(second.line)
    third = again.append("note", {})
    assert third.previous == second.hash
    assert verify(path, KEY).records == (first, second, third)


def test_the_time_is_now_unless_it_is_given(path):
    ledger = Ledger.open(path, KEY)
    assert ledger.append("note", {}).time.startswith("20")
    assert ledger.append("note", {}, time="2001-02-03T04:05:06Z").time == "2001-02-03T04:05:06Z"
    with pytest.raises(LedgerError, match="time 'today' is not one in UTC"):
        ledger.append("note", {}, time="today")
    assert len(Ledger.open(path, KEY).records) == 2


def test_a_record_that_cannot_be_written_leaves_the_file_as_it_is(path):
    ledger = ledger_of(path, 1)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="nothing that JSON can hold"):
        ledger.append("note", {"a": object()})
    assert path.read_bytes() == before
    ledger.append("note", {})


@given(data=st.data())
def test_a_torn_line_is_cut_off_by_the_next_append_and_not_by_reading(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("torn") / "ledger.jsonl"
    whole = ledger_of(path, 2)
    content = path.read_bytes()
    last = sealed_line(number=3, previous=whole.head)
    size = data.draw(st.integers(1, len(last) - 2))
    power_failure = data.draw(st.booleans())
    torn = content + (b"\0" * size if power_failure else last[:size])
    path.write_bytes(torn)
    ledger = Ledger.open(path, KEY)
    assert ledger.torn
    assert ledger.records == whole.records
    assert path.read_bytes() == torn
    found = verify(path, KEY, [whole.head])
    assert found.ok
    assert "the last line has no end" in found.notes[0]
    record = ledger.append("note", {})
    assert not ledger.torn
    assert path.read_bytes() == content + record.line
    ledger.append("note", {})
    assert not Ledger.open(path, KEY).torn


def test_a_whole_line_that_lacks_only_its_end_is_kept(path):
    """As some editors leave it: what was recorded must not be lost by that."""
    before = ledger_of(path, 3)
    path.write_bytes(path.read_bytes()[:-1])
    ledger = Ledger.open(path, KEY)
    assert ledger.torn
    assert ledger.records == before.records
    assert ledger.head == before.head
    ledger.append("note", {})
    assert not ledger.torn
    assert Ledger.open(path, KEY).records == ledger.records
    assert verify(path, KEY, [before.head]).ok
    assert len(ledger.records) == 4


def test_a_ledger_that_somebody_continued_meanwhile_is_refused(path):
    ledger_of(path, 1)
    mine = Ledger.open(path, KEY)
    theirs = Ledger.open(path, KEY)
    theirs.append("note", {"by": "them"})
    content = path.read_bytes()
    with pytest.raises(LedgerError, match=r"another run has added to the ledger.*run again"):
        mine.append("note", {"by": "me"})
    assert path.read_bytes() == content
    assert len(mine.records) == 1
    theirs.append("note", {})


def test_a_ledger_that_somebody_began_meanwhile_is_refused(path):
    mine = Ledger.open(path, KEY)
    theirs = Ledger.open(path, KEY)
    theirs.append("note", {})
    with pytest.raises(LedgerError, match="another run has added"):
        mine.append("note", {})
    assert len(Ledger.open(path, KEY).records) == 1


def test_between_looking_and_writing_nobody_else_writes(path):
    ledger = ledger_of(path, 1)
    added = sealed_line(number=2, previous=ledger.head)
    with ThreadPoolExecutor() as pool, path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        mine = pool.submit(ledger.append, "note", {})
        done, _ = wait([mine], timeout=0.2)
        assert not done
        file.write(added)
        file.flush()
        fcntl.flock(file, fcntl.LOCK_UN)
        with pytest.raises(LedgerError, match="another run has added"):
            mine.result(timeout=30)
    assert Ledger.open(path, KEY).records[1].line == added


def test_any_change_meanwhile_is_refused_even_of_the_same_size(path):
    ledger = ledger_of(path, 3)
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)
    with pytest.raises(LedgerError, match="somebody has changed it; nothing was written"):
        ledger.append("note", {})
    assert path.read_bytes() == content


def test_a_ledger_that_vanished_is_not_begun_anew(path):
    ledger = ledger_of(path, 2)
    path.unlink()
    with pytest.raises(LedgerError, match="cannot be continued: No such file"):
        ledger.append("note", {})
    assert not path.exists()


def test_a_new_ledger_is_for_this_user_alone(path):
    before = os.umask(0)
    try:
        ledger_of(path, 1)
    finally:
        os.umask(before)
    assert mode(path) == 0o600


def test_a_mode_that_lets_others_read_is_repaired(path):
    ledger = ledger_of(path, 1)
    path.chmod(0o644)
    Ledger.open(path, KEY)
    assert mode(path) == 0o600
    path.chmod(0o660)
    ledger.append("note", {})
    assert mode(path) == 0o600
    path.chmod(0o400)
    assert len(Ledger.open(path, KEY).records) == 2
    assert mode(path) == 0o400
    path.chmod(0o644)
    verify(path, KEY)
    assert mode(path) == 0o644


def test_links_folders_and_pipes_are_refused(path, tmp_path):
    real = tmp_path / "real.jsonl"
    ledger_of(real, 1)
    path.symlink_to(real)
    check_refused(path, "is a link to .*real.jsonl")
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    check_refused(path, "is a link to .*nowhere")
    path.unlink()
    path.mkdir()
    check_refused(path, "is a folder")
    path.rmdir()
    os.mkfifo(path)
    check_refused(path, "is no plain file")


def check_refused(path, match):
    with pytest.raises(LedgerError, match=f"the ledger cannot be read: {match}"):
        Ledger.open(path, KEY)
    [(line, text)] = verify(path, KEY).problems
    assert line == 0
    assert "the ledger cannot be read" in text


def test_a_link_that_was_put_in_its_place_meanwhile_is_not_written_to(path, tmp_path):
    ledger = ledger_of(path, 1)
    moved = path.rename(tmp_path / "moved.jsonl")
    path.symlink_to(moved)
    content = moved.read_bytes()
    with pytest.raises(LedgerError, match="cannot be continued: is a link to"):
        ledger.append("note", {})
    assert moved.read_bytes() == content


@pytest.mark.parametrize("key", [b"", b"short", bytes(33), "x" * 32, None])
def test_a_key_has_32_bytes(path, key):
    with pytest.raises(LedgerError, match="the key of a ledger is 32 bytes"):
        Ledger.open(path, key)


def test_another_ledgers_key_is_refused_and_the_error_tells_no_key(path):
    ledger_of(path, 7)
    with pytest.raises(LedgerError, match=r"or this is another ledger's key.*line 1.*and 2 more"):
        Ledger.open(path, OTHER_KEY)
    found = verify(path, OTHER_KEY)
    assert [line for line, _ in found.problems] == [1, 2, 3, 4, 5, 6, 7]
    assert found.notes == ("no line is authentic: perhaps the key is another ledger's",)
    assert "\\x" not in repr(Ledger.open(path, KEY))


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    ledger = Ledger.open(tmp_path / "none/ledger.jsonl", KEY)
    with pytest.raises(LedgerError, match="cannot be continued: No such file"):
        ledger.append("note", {})


def test_a_full_disk_leaves_the_ledger_as_it_was(path):
    """A file that may not grow as far as it must stands for a disk that is full."""
    ledger = ledger_of(path, 2)
    content = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(content) + 100, limits[1]))
    try:
        with pytest.raises(LedgerError, match=f"continued: {os.strerror(errno.EFBIG)}"):
            ledger.append("note", {"text": "x" * 500})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == content
    ledger.append("note", {})
    assert len(Ledger.open(path, KEY).records) == 3


def test_a_record_in_words(path):
    ledger = Ledger.open(path, KEY)
    plain = ledger.append("key made", {}, time="2026-03-01T09:30:00Z")
    assert line_of(plain) == f"1. 2026-03-01 09:30:00 UTC, key made, {plain.hash[:12]}"
    told = ledger.append("release", {"summary": "round 1\x1b[2J"}, time="2026-03-01T09:30:01Z")
    assert line_of(told) == (
        f"2. 2026-03-01 09:30:01 UTC, release, {told.hash[:12]}: round 1\\x1b[2J"
    )
    odd = ledger.append("release", {"summary": 5}, time="2026-03-01T09:30:01Z")
    assert line_of(odd).endswith(odd.hash[:12])


def test_a_verification_in_words(path):
    ledger = ledger_of(path, 1)
    assert lines_of(verify(path, KEY)) == (f"The ledger is whole: 1 record, head {ledger.head}.",)
    ledger = ledger_of(path, 1)
    text = "\n".join(lines_of(verify(path, None)))
    assert text.startswith(f"The ledger is whole: 2 records, head {ledger.head}.\nNote: without")
    path.write_bytes(path.read_bytes().replace(b'"value":0', b'"value":9', 1))
    assert lines_of(verify(path, KEY)) == (
        "The ledger is not as it was written: 1 problem(s).",
        "Line 1: the line is not authentic: changed, or written without the ledger's key.",
    )
    missing = lines_of(verify(path.with_name("none"), KEY))
    assert missing[1].endswith("none: the ledger cannot be read: No such file or directory.")
