"""What a letter is, and whether its words are those that the operator has signed."""

import html
import re
from dataclasses import dataclass

from fairpool.errors import SignatureError, printable
from fairpool.exchange.statement import KIND, SignedStatement
from fairpool.report.sealed_letter import letter_digest, unsealed

COMMAND = "fairpool verify reward.safetensors --letter letter.html --data your-table.csv"
"""What a recipient does with a letter."""

_LETTER = b'<main class="letter">'
_TITLE = re.compile(rb"<title>([^<]*)</title>")


@dataclass(frozen=True, kw_only=True)
class InspectedLetter:
    """A letter, or the statement in one.

    Attributes:
        entries: What it is, entry by entry.
        sentences: What to do with it.
    """

    entries: dict[str, str]
    sentences: tuple[str, ...]


def is_letter(content: bytes) -> bool:
    """Whether a page is a letter."""
    return content.startswith(b"<!DOCTYPE html>") and _LETTER in content


def is_statement(content: bytes) -> bool:
    """Whether a signed document is a statement."""
    return f'"kind":"{KIND}"'.encode() in content


def inspected_letter(content: bytes, name: str) -> InspectedLetter:
    """A letter, checked as far as it can be by itself.

    Args:
        content: The page.
        name: What errors call it, such as the file's path.
    """
    parts = unsealed(content, name)
    if parts.statement is None:
        title = _TITLE.search(content)
        what = "" if title is None else html.unescape(title[1].decode(errors="replace"))
        return InspectedLetter(
            entries={"letter": what, "signed": "no"},
            sentences=(
                "Nobody has signed it: it is of a preview, or of a party whose data were left out.",
            ),
        )
    signed = SignedStatement.of_content(parts.statement, name)
    if signed.statement.letter != letter_digest(content):
        raise SignatureError(
            f"{printable(name)}: the letter is not the one that the operator signed: something in"
            " it was changed; ask for it again"
        )
    entries = {"letter to": signed.statement.name, **_of_statement(signed)}
    if parts.file:
        entries["sha256 of its model"] = parts.file
    check = f"To check it together with its model: {COMMAND}"
    if signed.statement.model is None:
        check = (
            "No model came with it. The model that you have is checked with the letter that came"
            f" with that: {COMMAND}"
        )
    return InspectedLetter(
        entries=entries,
        sentences=(
            "Every word of it is as it was signed. Whether the key is the operator's own, compare"
            " over the telephone.",
            check,
        ),
    )


def inspected_statement(content: bytes, name: str) -> InspectedLetter:
    """A statement by itself, out of a letter or a reward file.

    Args:
        content: The signed document.
        name: What errors call it, such as the file's path.
    """
    signed = SignedStatement.of_content(content, name)
    return InspectedLetter(
        entries={"statement to": signed.statement.name, **_of_statement(signed)},
        sentences=(f"To check it, with the letter and the model that carry it: {COMMAND}",),
    )


def _of_statement(signed: SignedStatement) -> dict[str, str]:
    """What an operator said, and who that is."""
    said = signed.statement
    new_model = "none; the party keeps the model that it has"
    if said.model is not None:
        new_model = f"worth {said.model.worth:.6g} nats"
    return {
        "of": f"{said.collaboration}, round {said.round}",
        "signed by the operator": signed.operator.fingerprint,
        "share of the round": f"{said.reward:.6g} nats of {said.total:.6g}",
        "held after it": f"{said.holds:.6g} nats",
        "new model": new_model,
        "record in the ledger": said.ledger,
    }
