"""What auditors do: compute a released round anew, and sign what they found."""

import os
from dataclasses import dataclass
from pathlib import Path

from fairpool.client.connection import Request
from fairpool.client.records import read
from fairpool.client.records.computing import Audit, Round, SignedAudit
from fairpool.client.saving import save
from fairpool.client.within import Within, number_of
from fairpool.compute.files import plain_content
from fairpool.errors import ServiceError
from fairpool.signatures.signed import MOST_BYTES

PATIENCE = 3600.0
"""Seconds: the service computes a whole round before it answers."""


@dataclass(frozen=True, kw_only=True, repr=False)
class AsAuditor(Within):
    """A collaboration, for those who check its operator."""

    def audit(self, round_: Round | int) -> Audit:
        """Have the service compute a released round anew, and compare."""
        path = self._path(f"/rounds/{number_of(round_)}/audit")
        asked = Request(method="POST", path=path, patience=PATIENCE)
        return read(Audit, self.connection.ask(asked))

    def save_copy(self, round_: Round | int, path: str | os.PathLike[str]) -> Path:
        """All that `fairpool audit` needs to compute a round at home, as a zip.

        The secret of the noise is in it: keep it as such.
        """
        asked = self._path(f"/rounds/{number_of(round_)}/audit.zip")
        return save(self.connection, Request(path=asked, patience=PATIENCE), path)

    def sign(self, round_: Round | int, path: str | os.PathLike[str]) -> SignedAudit:
        """Have the service keep what `fairpool audit --out audit.json --sign auditor.key` wrote.

        Args:
            round_: Of which round.
            path: That file.
        """
        place = Path(path)
        try:
            document = plain_content(place, MOST_BYTES).decode()
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or "no signed document"
            raise ServiceError(
                f"{place}: cannot be read ({why}); give what fairpool audit --out wrote"
            ) from None
        sent = {"document": document}
        answer = self._ask(
            "POST", f"/rounds/{number_of(round_)}/audit/signature", sent, is_repeatable=False
        )
        return read(SignedAudit, answer)

    def save_signed_audit(self, round_: Round | int, path: str | os.PathLike[str]) -> Path:
        """What was last signed of a round."""
        return self._save(f"/rounds/{number_of(round_)}/audit/signature", path)

    def save_ledger(self, path: str | os.PathLike[str]) -> Path:
        """What was released, one record a line."""
        return self._save("/ledger", path)

    def save_events(self, path: str | os.PathLike[str]) -> Path:
        """What happened, one event a line, each with the hash of the one before."""
        return self._save("/events", path)
