"""A document and its signature: canonical JSON, so that what is signed can be written in one way.

    {"body":{..},"key":"ed25519:..","kind":"plan","signature":".."}

and a newline. Reading one checks the signature; whose key it is, the reader must know.
"""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fairpool import canonical
from fairpool.errors import SignatureError, cut, printable, shown
from fairpool.signatures.signing_key import PublicKey, SigningKey

FIELDS = {"body", "key", "kind", "signature"}

MOST_BYTES = 16 << 20
MOST_VALUES = 250_000
"""A longer document, or one of more values, is refused before it is taken apart: whoever sends one
need not have signed it, and 60 MB of empty lists take 2 GB of memory."""


@dataclass(frozen=True, kw_only=True)
class Signed:
    """A document that a key has signed; one that is not cannot be made.

    Attributes:
        kind: What it is: "plan", "contribution", "receipt", "statement".
        body: What it says, as a plain JSON object; it must not be changed.
        key: Whose signature it is.
        signature: 64 bytes.
    """

    kind: str
    body: dict[str, Any] = field(hash=False)
    key: PublicKey
    signature: bytes

    def __post_init__(self) -> None:
        if not self.key.has_signed(self.kind, self._message, self.signature):
            raise SignatureError(
                "its signature is wrong: it was edited, or damaged, or somebody else signed it"
            )

    @property
    def _message(self) -> bytes:
        return canonical.encoded({"body": self.body, "key": str(self.key)})

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what was signed, and by whom: what other documents know it by."""
        named = f"fairpool {self.kind}\n".encode() + self._message
        return hashlib.sha256(named).hexdigest()

    @cached_property
    def content(self) -> bytes:
        """The document as a file."""
        return (
            canonical.encoded(
                {
                    "body": self.body,
                    "key": str(self.key),
                    "kind": self.kind,
                    "signature": self.signature.hex(),
                }
            )
            + b"\n"
        )

    @classmethod
    def of_content(cls, content: bytes, kind: str, name: str) -> "Signed":
        """The document in a file; one that is edited, damaged or of another kind is refused.

        Args:
            content: What `content` gave, with or without the newline.
            kind: What it must be.
            name: What errors call it, such as the file's path.
        """
        where = printable(name)
        try:
            _refuse_large(content)
        except SignatureError as error:
            raise SignatureError(f"{where}: {error}") from None
        try:
            entries = canonical.decoded(content.removesuffix(b"\n"))
        except ValueError as error:
            raise SignatureError(
                f"{where}: no signed {kind} of fairpool: {error}; ask for it again"
            ) from None
        try:
            return cls._of_entries(entries, kind)
        except SignatureError as error:
            raise SignatureError(f"{where}: {error}") from None

    @classmethod
    def _of_entries(cls, entries: Any, kind: str) -> "Signed":
        if not isinstance(entries, dict) or set(entries) != FIELDS:
            raise SignatureError(f"no signed {kind} of fairpool")
        if entries["kind"] != kind:
            raise SignatureError(f"it is a {cut(shown(entries['kind']))}, not a {kind}")
        body = entries["body"]
        if not isinstance(body, dict):
            raise SignatureError(f"its body {shown(body)} is no JSON object")
        try:
            signature = bytes.fromhex(entries["signature"])
        except (TypeError, ValueError):
            raise SignatureError("its signature is none") from None
        if signature.hex() != entries["signature"]:  # blanks or capitals: it is written in one way
            raise SignatureError("its signature is none")
        return cls(kind=kind, body=body, key=PublicKey.of_text(entries["key"]), signature=signature)


def sign(key: SigningKey, kind: str, body: dict[str, Any]) -> Signed:
    """Sign a document.

    Args:
        key: Whose signature it gets.
        kind: What it is.
        body: What it says: what JSON can hold.
    """
    message = canonical.encoded({"body": body, "key": str(key.public)})
    # As it will be read: a tuple comes back as a list.
    body = canonical.decoded(canonical.encoded(body))
    signed = Signed(kind=kind, body=body, key=key.public, signature=key.sign(kind, message))
    _refuse_large(signed.content)  # which nobody would read
    return signed


def _refuse_large(content: bytes) -> None:
    """Refuse what would take long to read, or much memory."""
    if len(content) > MOST_BYTES:
        raise SignatureError(f"it is longer than {MOST_BYTES:,} bytes")
    # Before each value there is one of these; some are in texts.
    values = sum(content.count(sign) for sign in (b",", b"[", b"{"))
    if values > MOST_VALUES:
        raise SignatureError(f"it has more than {MOST_VALUES:,} values")
