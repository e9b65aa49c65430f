"""Whatever somebody without the key does to a ledger is found, and at the right line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpool.errors import LedgerError
from fairpool.ledger import Ledger, verify
from fairpool.ledger.record import LONGEST_LINE
from tests.support.ledgers import (
    KEY,
    OTHER_KEY,
    ZEROS,
    chained,
    hash_of,
    plain_line,
    sealed_line,
)

LINES = chained([{"value": number} for number in range(5)])
HEADS = [hash_of(line) for line in LINES]
FOREIGN = {
    "of another key": sealed_line(OTHER_KEY, number=3, previous=HEADS[1], body={"value": 9}),
    "blank": b"\n",
    "no text": b"\xff\0\n",
    "half a line": LINES[2][:50] + b"\n",
    "of another ledger": sealed_line(
        OTHER_KEY, number=1, previous=ZEROS, body={"value": 0}, kind="run"
    ),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("tampering") / "ledger.jsonl"


def found_in(path, lines, key=KEY, heads=()):
    """The problems, which `Ledger.open` finds as well."""
    path.write_bytes(b"".join(lines))
    found = verify(path, key, heads)
    assert found.ok == (not found.problems)
    if key is not None and not heads:
        if found.ok:
            Ledger.open(path, key)
        else:
            with pytest.raises(LedgerError, match="the ledger is not as fairpool wrote it"):
                Ledger.open(path, key)
    return found.problems


def first_difference(lines):
    """The number of the first line that is not the ledger's."""
    for number, (line, true) in enumerate(zip(lines, LINES, strict=False), start=1):
        if line != true:
            return number
    return min(len(lines), len(LINES)) + 1


def test_the_ledger_itself_is_whole(path):
    assert found_in(path, LINES) == ()
    assert found_in(path, LINES, heads=[ZEROS, *HEADS]) == ()
    assert found_in(path, LINES, key=None) == ()
    assert verify(path, KEY).head == HEADS[-1]
    assert verify(path, KEY).notes == ()


def test_a_flip_of_any_byte_is_found_in_its_line(path):
    content = b"".join(LINES)
    for place in range(len(content)):
        flipped = bytearray(content)
        flipped[place] ^= 1
        path.write_bytes(flipped)
        found = verify(path, KEY)
        line, _ = found.problems[0]
        assert line == content[:place].count(b"\n") + 1, place


@given(place=st.integers(0, len(b"".join(LINES)) - 1), value=st.integers(1, 255))
def test_any_other_byte_is_found_in_its_line(path, place, value):
    content = bytearray(b"".join(LINES))
    content[place] ^= value
    (line, _), *more = found_in(path, [bytes(content)])
    assert line == b"".join(LINES)[:place].count(b"\n") + 1
    assert len(more) <= 1


def test_a_changed_line_is_one_problem(path):
    for number in range(5):
        lines = list(LINES)
        lines[number] = lines[number].replace(b'"value":', b'"value":1')
        [(line, text)] = found_in(path, lines)
        assert line == number + 1
        assert "is not authentic" in text


def test_a_cut_in_the_middle_is_found_where_it_is(path):
    for first in range(4):
        for last in range(first + 1, 5):
            [(line, text)] = found_in(path, LINES[:first] + LINES[last:])
            assert line == first + 1
            assert f"is record {last + 1}, where record {first + 1} should stand" in text


def test_a_cut_tail_is_found_by_the_heads_that_others_hold(path):
    for left in range(5):
        assert found_in(path, LINES[:left]) == ()
        problems = found_in(path, LINES[:left], heads=HEADS)
        after = f"record {left}" if left else "its beginning"
        assert len(problems) == 5 - left
        for line, text in problems:
            assert line == left + 1
            assert text.endswith(f"the ledger was cut or replaced after {after}")
        assert HEADS[left][:12] in problems[0][1]


@given(size=st.integers(0, len(b"".join(LINES))))
def test_a_cut_at_any_byte_is_found_by_the_last_head(path, size):
    content = b"".join(LINES)[:size]
    problems = found_in(path, [content], heads=[HEADS[-1]])
    lacks_at_most_its_newline = size >= len(b"".join(LINES)) - 1
    assert len(problems) == (0 if lacks_at_most_its_newline else 1)


@given(order=st.permutations(range(5)))
def test_another_order_is_found_where_it_begins(path, order):
    lines = [LINES[number] for number in order]
    problems = found_in(path, lines)
    if lines == LINES:
        assert problems == ()
    else:
        assert problems[0][0] == first_difference(lines)
        assert "what belongs in between was cut out or moved" in problems[0][1]


def test_a_repeated_line_is_one_problem(path):
    for number in range(5):
        for place in range(6):
            lines = [*LINES[:place], LINES[number], *LINES[place:]]
            problems = found_in(path, lines)
            assert problems[0][0] == first_difference(lines)
            if number < place:
                [(_, text)] = problems
                assert text.endswith("it was moved or repeated")


@pytest.mark.parametrize("foreign", FOREIGN.values(), ids=list(FOREIGN))
def test_an_inserted_line_is_one_problem(path, foreign):
    for place in range(6):
        [(line, text)] = found_in(path, [*LINES[:place], foreign, *LINES[place:]])
        assert line == place + 1
        assert "is not authentic" in text or "cannot be read" in text


@pytest.mark.parametrize("foreign", FOREIGN.values(), ids=list(FOREIGN))
def test_a_replaced_line_is_one_problem(path, foreign):
    for place in range(5):
        [(line, _)] = found_in(path, [*LINES[:place], foreign, *LINES[place + 1 :]])
        assert line == place + 1


def test_a_forgery_with_a_chain_of_its_own_is_not_authentic(path):
    """Somebody without the key changes a record and writes all that follows anew."""
    for key in (OTHER_KEY, None):
        forged = [LINES[0]]
        for line in LINES[1:]:
            fields = json.loads(line)
            fields["previous"] = hash_of(forged[-1])
            fields["body"]["value"] += 10
            if key is not None:
                del fields["mac"]
                forged.append(sealed_line(key, **fields))
            else:
                forged.append(plain_line(fields))
        problems = found_in(path, forged)
        assert [line for line, _ in problems] == [2, 3, 4, 5]
        assert all("is not authentic" in text for _, text in problems)
        # Without the key the chain is right; only what others hold contradicts it.
        assert found_in(path, forged, key=None) == ()
        assert "not who wrote the lines" in verify(path, None).notes[0]
        problems = found_in(path, forged, key=None, heads=HEADS[:3])
        assert [line for line, _ in problems] == [2, 2]


def test_a_tail_that_the_holder_of_the_key_replaced_is_found_by_heads_alone(path):
    tail = chained([{"value": 7}] * 3, previous=HEADS[1], first=3)
    replaced = LINES[:2] + tail
    assert found_in(path, replaced) == ()
    [(line, text)] = found_in(path, replaced, heads=[HEADS[0], HEADS[1], HEADS[4]])
    assert line == 3
    assert text.startswith(f"no record has the head {HEADS[4][:12]}..")
    assert text.endswith("cut or replaced after record 2")


def test_two_copies_of_a_ledger_that_went_apart_do_not_fit_together(path):
    """All lines are authentic, and their numbers are right."""
    other = chained([{"value": 7}] * 5)
    for place in range(1, 5):
        [(line, text)] = found_in(path, LINES[:place] + other[place:])
        assert line == place + 1
        assert f"does not continue record {place}" in text
    [(line, text)] = found_in(path, chained([{}], previous=HEADS[0]))
    assert line == 1
    assert "does not continue an empty ledger" in text


def test_without_the_key_a_change_is_found_by_the_line_after_it(path):
    for number in range(4):
        lines = list(LINES)
        lines[number] = lines[number].replace(b'"value":', b'"value":1')
        [(line, text)] = found_in(path, lines, key=None)
        assert line == number + 2
        assert f"does not continue record {number + 1}" in text
    # The last line has none after it.
    lines = [*LINES[:4], LINES[4].replace(b'"value":', b'"value":1')]
    assert found_in(path, lines, key=None) == ()
    assert len(found_in(path, lines, key=None, heads=[HEADS[4]])) == 1


def test_every_problem_is_listed(path):
    lines = [LINES[0].replace(b"note", b"nope"), b"?\n", LINES[1], LINES[4], LINES[3]]
    assert [line for line, _ in found_in(path, lines)] == [1, 2, 4, 5]


def test_a_line_without_end_is_not_read_to_its_end(path):
    path.write_bytes(LINES[0])
    with path.open("r+b") as file:
        file.truncate(3 * LONGEST_LINE)  # nothing but zeros, which take no room on the disk
        file.seek(0, 2)
        file.write(b"\n" + LINES[1])
    problems = verify(path, KEY).problems
    assert problems == ((2, f"the line cannot be read: it is longer than {LONGEST_LINE} bytes"),)


@pytest.mark.parametrize("head", ["", "abc", "G" * 64, None, 5])
def test_what_is_no_head_is_said(path, head):
    [(line, text)] = found_in(path, LINES, heads=[head])
    assert line == 0
    assert "is no head of a ledger: 64 hexadecimal digits" in text


@given(content=st.binary(max_size=400))
def test_no_content_is_an_error(path, content):
    path.write_bytes(content)
    for key in (KEY, None):
        found = verify(path, key, [HEADS[0]])
        assert not found.ok
        assert found.records == ()
        assert found.head == ZEROS
