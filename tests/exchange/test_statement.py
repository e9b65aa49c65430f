"""What the operator signs for a party: read as it was written, or refused."""

from dataclasses import replace

import pytest

from fairpool.errors import SignatureError
from fairpool.exchange.statement import KIND, SentModel, SignedStatement, Statement
from fairpool.realisation.commitment import Commitment
from fairpool.signatures import sign
from tests.support.exchange import OPERATOR

STATEMENT = Statement(
    collaboration="Trial",
    round=2,
    party="north",
    name="North",
    plan="ab" * 32,
    ledger="cd" * 32,
    letter="ef" * 32,
    rows=120,
    waiting=0,
    inputs=("12" * 32,),
    contributions=("34" * 32,),
    concept="shapley",
    total=12.5,
    value=4.25,
    contribution=5.5,
    standard_error=0.0,
    rho=0.5,
    reward=9.75,
    holds=9.75,
    model=SentModel(
        content="56" * 32, worth=9.75, eta=0.75, commitment=Commitment(digest="78" * 32, shift=3)
    ),
)


def read(statement):
    return SignedStatement.of_content(statement.signed(OPERATOR).content, "letter.html")


@pytest.mark.parametrize(
    "statement",
    [
        STATEMENT,
        replace(STATEMENT, model=None, plan=None, inputs=(), contributions=()),
        replace(STATEMENT, model=replace(STATEMENT.model, eta=None, commitment=None)),
    ],
)
def test_a_statement_is_read_as_it_was_written(statement):
    found = read(statement)
    assert found.statement == statement
    assert found.operator == OPERATOR.public
    assert found.digest == statement.signed(OPERATOR).digest


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"version": 2}, "has version 2.*update fairpool"),
        ({"more": 1}, "unknown entry .more."),
        ({"rho": 1.5}, "rho 1.5 is outside 0 .. 1"),
        ({"value": "4"}, "value .*4.* is not a finite number"),
        ({"round": 1.5}, "round 1.5 is not a whole number"),
        ({"ledger": "xy"}, "is no digest"),
        ({"inputs": "12" * 32}, "are no digests"),
        ({"model": {"worth": 1}}, "unknown model"),
    ],
)
def test_a_statement_of_another_shape_is_refused_though_it_is_signed(changes, reason):
    body = STATEMENT.signed(OPERATOR).body | changes
    content = sign(OPERATOR, KIND, body).content
    with pytest.raises(SignatureError, match=f"letter.html: not a usable statement: .*{reason}"):
        SignedStatement.of_content(content, "letter.html")


@pytest.mark.parametrize("missing", sorted(STATEMENT.signed(OPERATOR).body))
def test_a_statement_lacks_nothing(missing):
    body = dict(STATEMENT.signed(OPERATOR).body)
    del body[missing]
    with pytest.raises(SignatureError, match=r"letter.html: not a usable statement"):
        SignedStatement.of_content(sign(OPERATOR, KIND, body).content, "letter.html")


def test_an_edited_statement_is_refused():
    content = STATEMENT.signed(OPERATOR).content.replace(b"4.25", b"4.26")
    with pytest.raises(SignatureError, match="its signature is wrong"):
        SignedStatement.of_content(content, "letter.html")
