"""Receipts: what the operator says that it got, in words that it cannot take back."""

import pytest

from fairpool.errors import SignatureError
from fairpool.exchange.arrival import Sender, arrive
from fairpool.exchange.receipt import KIND, Receipt, receipt_for
from fairpool.signatures import sign
from tests.support.exchange import KEYS, OPERATOR, a_contribution, a_plan, signed_plan

PLAN = signed_plan(a_plan())
WHEN = "2020-01-03T00:00:00Z"


@pytest.fixture
def receipt():
    content = a_contribution(PLAN).to_bytes()
    sender = Sender(id="North", name="North", key=KEYS["North"].public)
    return receipt_for(arrive(content, "c", plan=PLAN, sender=sender), PLAN, WHEN, OPERATOR)


def test_a_receipt_names_plan_contribution_and_file(receipt):
    file = a_contribution(PLAN)
    assert receipt.contribution == file.digest
    assert receipt.plan == PLAN.digest
    assert receipt.operator == PLAN.operator
    assert (receipt.party, receipt.rows, receipt.received) == ("North", 100, WHEN)
    assert Receipt.of_content(receipt.document.content, "north.receipt") == receipt


def test_a_receipt_that_was_edited_is_refused(receipt):
    content = receipt.document.content
    for place in range(0, len(content) - 1, 11):
        changed = bytearray(content)
        changed[place] ^= 0x20
        with pytest.raises(SignatureError, match=r"^north\.receipt: "):
            Receipt.of_content(bytes(changed), "north.receipt")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"version": 2}, "version 2"),
        ({"more": 1}, "not the entries of a receipt"),
        ({"rows": "many"}, "not a whole number"),
        ({"party": 3}, "not a usable receipt"),
    ],
)
def test_a_signed_receipt_that_makes_no_sense_is_refused(receipt, changes, reason):
    content = sign(OPERATOR, KIND, receipt.document.body | changes).content
    with pytest.raises(SignatureError, match=reason):
        Receipt.of_content(content, "north.receipt")


def test_a_contributions_signature_is_none_under_a_receipt(receipt):
    with pytest.raises(SignatureError, match="it is a 'plan', not a receipt"):
        Receipt.of_content(PLAN.document.content, "north.receipt")
