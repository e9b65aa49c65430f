"""What the operator gives back for a contribution: signed, so that nobody can deny that it came.

The party keeps it. An auditor compares it with the ledger: what was acknowledged has to take part.
"""

from dataclasses import dataclass, field
from typing import Any

from fairpool.errors import SignatureError, shown
from fairpool.exchange.arrival import Arrived
from fairpool.exchange.plan import SignedPlan
from fairpool.signatures import PublicKey, Signed, SigningKey, sign
from fairpool.stored import text, whole_number

KIND = "receipt"
"""Of the signed document."""

SUFFIX = ".receipt"
VERSION = 1
FIELDS = {"version", "plan", "features", "party", "contribution", "file", "rows", "received"}


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """That a contribution came, and was found to be right.

    Attributes:
        plan: The digest of the operator's plan.
        features: Of the way in which rows became sums, see `Plan.features_digest`.
        party: The permanent identity of the party.
        contribution: The digest of what it signed.
        file: The SHA-256 of the file that arrived.
        rows: How many rows it says that it is over.
        received: When, as ISO 8601 in UTC.
        document: Whose signature it is.
    """

    plan: str
    features: str
    party: str
    contribution: str
    file: str
    rows: int
    received: str
    document: Signed = field(repr=False, compare=False)

    @property
    def operator(self) -> PublicKey:
        """Whose signature it is."""
        return self.document.key

    @classmethod
    def of_content(cls, content: bytes, name: str) -> "Receipt":
        """The receipt in a file; one that is edited, damaged or of another kind is refused.

        Args:
            content: Of the file.
            name: What errors call it, such as the file's path.
        """
        document = Signed.of_content(content, KIND, name)
        try:
            return _of_document(document)
        except (KeyError, TypeError, ValueError) as error:
            what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise SignatureError(f"{name}: not a usable receipt: {what}") from None


def receipt_for(arrived: Arrived, plan: SignedPlan, received: str, key: SigningKey) -> Receipt:
    """Acknowledge a contribution that was found to be right.

    Args:
        arrived: The contribution.
        plan: What was agreed.
        received: When it came, as ISO 8601 in UTC.
        key: The operator's.
    """
    said = {
        "version": VERSION,
        "plan": plan.digest,
        "features": arrived.manifest.features,
        "party": arrived.manifest.party,
        "contribution": arrived.file.digest,
        "file": arrived.sha256,
        "rows": len(arrived),
        "received": received,
    }
    return _of_document(sign(key, KIND, said))


def _of_document(document: Signed) -> Receipt:
    entries: dict[str, Any] = document.body
    if entries.get("version") != VERSION:
        raise SignatureError(
            f"it has version {shown(entries.get('version'))}, this fairpool reads version"
            f" {VERSION}; update fairpool"
        )
    if set(entries) != FIELDS:
        raise SignatureError("it has not the entries of a receipt")
    texts = {name: text(entries[name]) for name in FIELDS - {"version", "rows"}}
    rows = whole_number(entries["rows"], "rows")
    return Receipt(**texts, rows=rows, document=document)
