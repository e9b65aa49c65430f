"""What operators and the people of parties do alike: links for others, and taking them back."""

from dataclasses import dataclass

from fairpool.client.records import read
from fairpool.client.records.people import Invitation, MadeInvitation
from fairpool.client.within import Within


@dataclass(frozen=True, kw_only=True, repr=False)
class Inviting(Within):
    """A collaboration, for those who invite others into it."""

    def invitations(self) -> tuple[Invitation, ...]:
        """Those that nobody has accepted yet: for operators all, else those of one's own party."""
        return self._get(tuple[Invitation, ...], "/invitations")

    def revoke(self, invitation: Invitation) -> None:
        """Take an invitation back."""
        self._ask("DELETE", f"/invitations/{invitation.id}", is_repeatable=False)

    def _invite(self, role: str, party_id: str | None, email: str | None) -> MadeInvitation:
        sent = {"role": role, "party_id": party_id, "email": email}
        return read(MadeInvitation, self._ask("POST", "/invitations", sent, is_repeatable=False))
