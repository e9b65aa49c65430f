"""Signed documents: what was signed comes back, and what was changed does not."""

import json
import tracemalloc

import pytest

import fairpool.errors
from fairpool import canonical
from fairpool.signatures import Signed, SigningKey, sign

KEY = SigningKey(bytes(range(32)))
BODY = {"rho": 1.0, "parties": ["north", "south"], "columns": {"age": [0, 120]}}


def _content(**changes):
    """A signed document with fields of its own, signature and all as they were."""
    fields = json.loads(sign(KEY, "plan", BODY).content) | changes
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return text.encode() + b"\n"


def test_a_document_comes_back_from_its_file():
    signed = sign(KEY, "plan", BODY)
    read = Signed.of_content(signed.content, "plan", "plan.json")
    assert (read, read.digest, read.content) == (signed, signed.digest, signed.content)
    assert read.body == BODY
    assert read.key == KEY.public


def test_equal_documents_are_equal_bytes_however_they_were_built():
    turned = dict(reversed(BODY.items()))
    assert sign(KEY, "plan", turned).content == sign(KEY, "plan", BODY).content


def test_the_digest_is_of_what_is_said_and_by_whom():
    digests = {
        sign(KEY, "plan", BODY).digest,
        sign(KEY, "receipt", BODY).digest,
        sign(SigningKey.fresh(), "plan", BODY).digest,
        sign(KEY, "plan", BODY | {"rho": 0.5}).digest,
    }
    assert len(digests) == 4


def test_every_changed_byte_is_noticed():
    content = sign(KEY, "plan", BODY).content
    for place in range(len(content) - 1):
        damaged = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        with pytest.raises(fairpool.errors.SignatureError, match=r"^plan\.json: "):
            Signed.of_content(damaged, "plan", "plan.json")


@pytest.mark.parametrize("length", [0, 1, 10, 100])
def test_a_document_that_was_cut_is_refused(length):
    content = sign(KEY, "plan", BODY).content[:length]
    with pytest.raises(fairpool.errors.SignatureError, match="no signed plan"):
        Signed.of_content(content, "plan", "plan.json")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"body": BODY | {"rho": 0.5}}, "signature is wrong"),
        ({"key": str(SigningKey.fresh().public)}, "signature is wrong"),
        ({"kind": "receipt"}, "not a plan"),
        ({"kind": 7}, "not a plan"),
        ({"body": [1]}, "no JSON object"),
        ({"key": "ed25519:"}, "no public key"),
        ({"signature": "zz"}, "signature is none"),
        ({"signature": 7}, "signature is none"),
        ({"signature": "00"}, "signature is wrong"),
        ({"more": 1}, "no signed plan"),
    ],
)
def test_a_document_that_was_changed_is_refused_with_the_reason(changes, reason):
    with pytest.raises(fairpool.errors.SignatureError, match=reason):
        Signed.of_content(_content(**changes), "plan", "plan.json")


def test_another_kind_under_the_same_key_is_refused():
    receipt = sign(KEY, "receipt", BODY).content
    with pytest.raises(fairpool.errors.SignatureError, match="'receipt', not a plan"):
        Signed.of_content(receipt, "plan", "plan.json")


def test_what_would_take_much_memory_is_refused_before_it_is_taken_apart():
    """Nobody needs a key to write such a file: 12 MB of empty lists take 400 MB."""
    many = canonical.encoded({"body": {"x": [[]] * 4_000_000}, "key": "", "kind": "plan"})
    tracemalloc.start()
    with pytest.raises(fairpool.errors.SignatureError, match="more than 250,000 values"):
        Signed.of_content(many, "plan", "plan.json")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20
    with pytest.raises(fairpool.errors.SignatureError, match="longer than 16,777,216 bytes"):
        Signed.of_content(bytes(17 << 20), "plan", "plan.json")


def test_what_nobody_would_read_is_not_signed():
    with pytest.raises(fairpool.errors.SignatureError, match="more than 250,000 values"):
        sign(KEY, "plan", {"levels": [0] * 250_000})
    sign(KEY, "plan", {"levels": [0] * 249_990})
