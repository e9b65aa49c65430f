"""A file that a party sent, in the words of its card: what was found, and what can be done."""

from typing import Any

from sqlalchemy.orm import Session

from fairpool.server.consortia import checks
from fairpool.server.consortia.found import Found, found_in
from fairpool.server.store.tables import Blob, Person, Submission, SubmissionState, Terms
from fairpool.server.web.pages.here import Here
from fairpool.server.web.pages.party_views import SubmissionCard
from fairpool.server.web.pages.views import Action
from fairpool.server.web.routing import API

WORDS = {
    SubmissionState.CHECKING: ("being looked at", "accent"),
    SubmissionState.REFUSED: ("to correct", "grave"),
    SubmissionState.CHECKED: ("nothing is wrong with it", "good"),
    SubmissionState.SUBMITTED: ("submitted", "good"),
    SubmissionState.WITHDRAWN: ("withdrawn", ""),
}
"""What is said of a state, and in which tone."""


def submission_card(
    session: Session, here: Here, one: Submission, terms: Terms, *, is_open: bool
) -> SubmissionCard:
    """A file that was sent for a round.

    Args:
        session: Open.
        here: Where.
        one: The file.
        terms: In force.
        is_open: Whether the round is.
    """
    state = SubmissionState(one.state)
    is_waiting = checks.is_waiting(one, terms.id) and state is not SubmissionState.WITHDRAWN
    found = None if is_waiting else found_in(here.settings, one)
    shown = SubmissionState.CHECKING if is_waiting else state
    if found is not None and found.problems and state is SubmissionState.SUBMITTED:
        shown = SubmissionState.REFUSED
    words, tone = WORDS[shown]
    blob = None if one.blob_id is None else session.get(Blob, one.blob_id)
    address = f"{here.address}/files/{one.id}"
    card = _card_of(found or Found(problems=()))
    receipt = None
    if found is not None and found.receipt:
        receipt = f"{API}{here.address}/submissions/{one.id}/receipt"
    return SubmissionCard(
        id=one.id,
        address=address,
        file_name=one.file_name,
        size=0 if blob is None else blob.size,
        state=shown.value,
        state_in_words=words,
        tone=tone,
        created=one.created,
        by=session.get_one(Person, one.person_id).name,
        receipt=receipt,
        actions=_actions(address, state, shown) if is_open else (),
        **card,
    )


def _card_of(found: Found) -> dict[str, Any]:
    """What was found, as the card has it."""
    return {
        "rows": found.rows if found.kind else None,
        "left_out": found.left_out,
        "problems": found.problems,
        "notes": found.notes,
        "columns": found.columns,
        "more_columns": found.more_columns,
        "first_rows": found.first,
        "facts": tuple(found.words.items()),
    }


def _actions(address: str, state: SubmissionState, shown: SubmissionState) -> tuple[Action, ...]:
    remove = Action(text="Remove it", address=f"{address}/withdraw", tone="second")
    if state is SubmissionState.SUBMITTED:
        return (Action(text="Withdraw it", address=f"{address}/withdraw", tone="second"),)
    if shown is SubmissionState.CHECKED:
        return (Action(text="Submit it", address=f"{address}/submit"), remove)
    return (remove,)
