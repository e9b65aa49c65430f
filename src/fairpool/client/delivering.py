"""A contribution that was made at home, brought to a service: once, however often it is tried.

The service knows a file by its hash. What it has is not sent again, and what a lost connection left
half done is gone on with: sent, looked at, submitted, acknowledged.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fairpool.client.client import Client
from fairpool.client.party import AsParty
from fairpool.client.records.sending import OPEN, SUBMITTED, Standing, Submission
from fairpool.compute.files import write_atomically
from fairpool.compute.workers import Progress, no_progress
from fairpool.consortium.folders import folder_names
from fairpool.consortium.home.contributing import Made
from fairpool.consortium.receipts import DIGITS
from fairpool.errors import ContributionError, PlanError, ServiceError, shown
from fairpool.exchange.contribution_file import SUFFIX, ContributionFile
from fairpool.exchange.plan import SignedPlan
from fairpool.exchange.receipt import Receipt


@dataclass(frozen=True, kw_only=True)
class Delivered:
    """A contribution that takes part.

    Attributes:
        submission: What the service calls it.
        receipt: That it came, in the operator's signed words.
        was_there: Whether the service had it before.
    """

    submission: Submission
    receipt: Receipt
    was_there: bool


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """Where contributions of a party go.

    Attributes:
        party: The collaboration, for the party's people.
        plan: The one in force there.
        standing: Where the party stood at first.
    """

    party: AsParty
    plan: SignedPlan
    standing: Standing = field(repr=False)

    @classmethod
    def to(cls, client: Client, plan: SignedPlan | None) -> "Delivery":
        """Find the collaboration that a plan is of.

        Args:
            client: Of the service.
            plan: What the party has; None: what the service has.
        """
        wanted = None if plan is None else plan.digest
        named = client.connection.address.collaboration
        parts = [
            part
            for part in client.parts()
            if part.role == "party" and named in (None, part.collaboration_id)
        ]
        if not parts:
            client.as_party(named)  # which says what the token is for instead
        found = []
        for part in parts:
            party = AsParty(connection=client.connection, part=part)
            in_force = plan_in_force(party)
            if in_force is not None and wanted in (None, in_force.digest):
                found.append((party, in_force))
        if len(found) != 1:
            raise PlanError(_not_one(client, [party for party, _ in found], wanted))
        ((party, in_force),) = found
        return cls(party=party, plan=in_force, standing=party.standing())

    def waiting(self, made: Sequence[Made]) -> tuple[Made, ...]:
        """What does not take part yet; refused where the service would take none of it.

        Args:
            made: All that should take part.
        """
        waiting = tuple(one for one in made if not self._takes_part(one))
        if waiting:
            self._refuse_early()
        return waiting

    def deliver(self, made: Made, *, progress: Progress = no_progress) -> Delivered:
        """Bring a contribution to the service, submit it, and have its receipt.

        Args:
            made: The contribution.
            progress: Called with what is being done.
        """
        there = self._there(made)
        submission = there
        if submission is None:
            progress("sending")
            name = name_of(made.file) + SUFFIX
            submission = self.party.send_content(made.content, name=name)
        progress("waiting until it was looked at")
        looked = self.party.looked_at(submission)
        if looked.found is not None and looked.found.problems:
            raise ServiceError(*looked.found.problems)
        if looked.state != SUBMITTED:
            submission = self.party.submit(submission)
        content = self.party.receipt(submission)
        receipt = checked_receipt(content, made, self.plan)
        return Delivered(submission=submission, receipt=receipt, was_there=there is not None)

    def _there(self, made: Made) -> Submission | None:
        """What the service has of a contribution, for this round or an earlier one."""
        sha256 = hashlib.sha256(made.content).hexdigest()
        for submission in (*self.standing.having, *self.standing.sent):
            if submission.sha256 == sha256:
                return submission
        return None

    def _takes_part(self, made: Made) -> bool:
        there = self._there(made)
        return there is not None and there.state == SUBMITTED

    def _refuse_early(self) -> None:
        """Say before anything is made or sent what the service would say after it."""
        where = f"{self.party.connection.address}/collaborations/{self.party.part.collaboration_id}"
        if not self.standing.takes_part:
            raise ServiceError(
                f"{shown(self.standing.party)} takes no part in the terms in force at {where}; ask"
                " the operator"
            )
        if self.standing.state != OPEN:
            raise ServiceError(
                f"round {self.standing.round} takes nothing now, since it is"
                f" {self.standing.state}; nothing was made or sent; wait for the next round, or"
                " ask the operator to open this one again"
            )
        if not self.standing.has_accepted:
            raise ServiceError(
                f"{shown(self.standing.party)} has not accepted the terms in force, so that nothing"
                f" of it can take part; nothing was made or sent; read and accept them: {where}"
            )


def name_of(file: ContributionFile) -> str:
    """What a contribution and its receipt are called, but for the end."""
    (folder,) = folder_names([file.manifest.party])
    return f"{folder}-{file.digest[:DIGITS]}"


def keep_receipt(receipt: Receipt, path: Path) -> None:
    """Write a receipt; one for the same contribution that is there already stays.

    Args:
        receipt: That was checked.
        path: Where.
    """
    if path.exists():
        before = Receipt.of_content(path.read_bytes(), str(path))
        if (before.contribution, before.operator) == (receipt.contribution, receipt.operator):
            return
        raise ContributionError(
            f"{path}: is a receipt of another operator or for another contribution; move it away"
        )
    write_atomically(path, receipt.document.content)


def plan_in_force(party: AsParty) -> SignedPlan | None:
    """The plan of the terms in force; None: there are no terms yet, or all parties send rows."""
    newest = party.terms()[:1]
    if not newest or not newest[0].has_plan:
        return None
    return SignedPlan.of_content(party.plan(newest[0]), f"the plan at {party.connection.address}")


def checked_receipt(content: bytes, made: Made, plan: SignedPlan) -> Receipt:
    """A receipt, if it is the operator's, and says that this very contribution came.

    Args:
        content: What the service gave.
        made: The contribution.
        plan: Whose operator's key is known.
    """
    receipt = Receipt.of_content(content, "the receipt")
    file = made.file
    expected = {
        "party": file.manifest.party,
        "contribution": file.digest,
        "file": hashlib.sha256(made.content).hexdigest(),
        "features": file.manifest.features,
        "rows": file.manifest.rows,
    }
    if receipt.operator != plan.operator:
        raise ServiceError(
            f"the receipt is signed with the key {receipt.operator.fingerprint}, and the operator's"
            f" is {plan.operator.fingerprint}: it acknowledges nothing; ask the operator"
        )
    for name, value in expected.items():
        said = getattr(receipt, name)
        if said != value:
            raise ServiceError(
                f"the receipt is for something else than was sent: {name} is {shown(said)} there,"
                f" and {shown(value)} here; ask the operator"
            )
    return receipt


def _not_one(client: Client, found: Sequence[AsParty], wanted: str | None) -> str:
    address = client.connection.address
    if found:
        several = ", ".join(
            f"{shown(party.part.name)} ({address}/collaborations/{party.part.collaboration_id})"
            for party in found
        )
        return f"which collaboration is meant? Give the address of one: {several}"
    if wanted is None:
        return (
            f"{address}: no plan is in force for contributions there; where terms ask for rows,"
            " send a table in a browser"
        )
    return (
        f"this plan is not that of the terms in force at {address}; leave it out, and the one there"
        " is taken, or save it from the page of the terms"
    )
