"""What an auditor signs of a round: which release it looked at, and what it found."""

from collections.abc import Sequence

from fairpool.signatures import Signed, SigningKey, sign

KIND = "attestation"
"""Of the signed document."""

VERSION = 1


def attested(
    key: SigningKey, *, number: int, release: str, ok: bool, findings: Sequence[dict[str, str]]
) -> Signed:
    """What was found, signed.

    Args:
        key: The auditor's.
        number: Of the round.
        release: The hash of the release's record in the ledger.
        ok: Whether nothing is FALSE.
        findings: Every line, with what it is about, the answer and the text.
    """
    said = {
        "version": VERSION,
        "round": number,
        "release": release,
        "ok": ok,
        "findings": list(findings),
    }
    return sign(key, KIND, said)
