"""What operators do: draft, invite, propose, close, look, release."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairpool.client.inviting import Inviting
from fairpool.client.records import read
from fairpool.client.records.agreeing import Draft, Terms
from fairpool.client.records.computing import Checklist, Job, Round
from fairpool.client.records.people import MadeInvitation, Member, Party
from fairpool.client.within import number_of
from fairpool.errors import ServiceError, shown


@dataclass(frozen=True, kw_only=True, repr=False)
class AsOperator(Inviting):
    """A collaboration, for those who run it.

    What moves a round is asked for once. Where the connection is lost before the answer, the error
    says that nobody knows, and `rounds` tells.
    """

    def draft(self) -> Draft:
        """The draft of the next terms."""
        return self._get(Draft, "/draft")

    def change_draft(self, toml: str) -> Draft:
        """Put another text in its place; what keeps it from being proposed is told."""
        return read(Draft, self._ask("PUT", "/draft", {"toml": toml}, is_repeatable=True))

    def parties(self) -> tuple[Party, ...]:
        """The parties of draft and terms."""
        return self._get(tuple[Party, ...], "/parties")

    def invite(
        self, role: str, *, party: str | None = None, email: str | None = None
    ) -> MadeInvitation:
        """Invite somebody by a link: for a party its first person alone; its people invite more.

        Args:
            role: "operator", "party" or "auditor".
            party: The name of the party whose first person they are to be.
            email: Who alone can accept it; None: whoever has the link.
        """
        party_id = None if party is None else self._party(party).id
        return self._invite(role, party_id, email)

    def remove(self, member: Member) -> None:
        """End somebody's part in the collaboration."""
        self._ask("DELETE", f"/members/{member.id}", is_repeatable=False)

    def propose(self) -> Terms:
        """Propose the draft: all parties then read it, and each accepts it for itself."""
        return read(Terms, self._ask("POST", "/terms", is_repeatable=True))

    def checklist(self) -> Checklist:
        """Who must do what."""
        return self._get(Checklist, "/checklist")

    def close(self, round_: Round | int) -> Round:
        """Take nothing any longer; refused while somebody has something to do."""
        return read(Round, self._move(round_, "close"))

    def reopen(self, round_: Round | int) -> Round:
        """Let parties submit and withdraw again, as long as nothing is released."""
        return read(Round, self._move(round_, "reopen"))

    def preview(self, round_: Round | int) -> Job:
        """Have a round computed, to be looked at: wait for the job, then read `result`."""
        return read(Job, self._move(round_, "preview"))

    def result(self, preview: Job) -> dict[str, Any]:
        """What a preview found, in numbers and in words."""
        return self._get(dict[str, Any], f"/jobs/{preview.id}/result")

    def save_preview(self, preview: Job, path: str | os.PathLike[str]) -> Path:
        """The report of a preview, a page with a slider for rho."""
        return self._save(f"/jobs/{preview.id}/report", path)

    def release(self, round_: Round | int, preview: Job) -> Job:
        """Release a round as it was previewed, which cannot be taken back."""
        return read(Job, self._move(round_, "release", {"preview": preview.id}))

    def cancel(self, job: Job) -> Job:
        """Stop a computation; what was computed is kept."""
        return read(Job, self._ask("POST", f"/jobs/{job.id}/cancel", is_repeatable=False))

    def resume(self, job: Job) -> Job:
        """Go on with a computation that was stopped: by another job, which is the answer."""
        return read(Job, self._ask("POST", f"/jobs/{job.id}/resume", is_repeatable=False))

    def save_report(self, round_: Round | int, path: str | os.PathLike[str]) -> Path:
        """The report of a released round."""
        return self._save(f"/rounds/{number_of(round_)}/report", path)

    def save_result(self, round_: Round | int, path: str | os.PathLike[str]) -> Path:
        """All numbers of a released round, as JSON."""
        return self._save(f"/rounds/{number_of(round_)}/result", path)

    def save_ledger(self, path: str | os.PathLike[str]) -> Path:
        """What was released, one record a line."""
        return self._save("/ledger", path)

    def save_events(self, path: str | os.PathLike[str]) -> Path:
        """What happened, one event a line, each with the hash of the one before."""
        return self._save("/events", path)

    def save_signed_audit(self, round_: Round | int, path: str | os.PathLike[str]) -> Path:
        """What an auditor last signed of a round."""
        return self._save(f"/rounds/{number_of(round_)}/audit/signature", path)

    def _move(self, round_: Round | int, how: str, sent: dict[str, object] | None = None) -> bytes:
        path = f"/rounds/{number_of(round_)}/{how}"
        return self._ask("POST", path, sent, is_repeatable=False)

    def _party(self, name: str) -> Party:
        parties = self.parties()
        for party in parties:
            if party.name == name:
                return party
        known = ", ".join(party.name for party in parties)
        raise ServiceError(f"there is no party {shown(name)}; give one of: {known}")
