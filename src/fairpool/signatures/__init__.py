"""Who says what: Ed25519 keys, and documents that one of them has signed."""

from fairpool.signatures.signed import Signed, sign
from fairpool.signatures.signing_key import PublicKey, SigningKey

__all__ = ["PublicKey", "Signed", "SigningKey", "sign"]
