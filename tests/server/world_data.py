"""Terms, acceptances and submissions in a world: see `tests/server/world.py`."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.server.consortia import draft, rounds, terms
from fairpool.server.consortia.who import Who
from fairpool.server.settings import Settings
from fairpool.server.store.tables import (
    Blob,
    Round,
    RoundState,
    Submission,
    SubmissionState,
    Terms,
)
from fairpool.server.work.vault import Vault
from tests.server.agreed import draft_of


def agreed_things(
    session: Session, settings: Settings, operator: Who, party: Who
) -> dict[str, str]:
    """What stands in addresses of terms and submissions; made where the collaboration has none.

    The newest round is closed, so that whoever may send something is told so.

    Args:
        session: The open transaction.
        settings: Of the service.
        operator: Of the collaboration.
        party: One of the party's own people, whose things they are.
    """
    in_force = terms.in_force(session, operator.collaboration)
    if in_force is None:
        in_force = _closed(session, settings, operator, party)
    accepted = terms.accepted_by(session, in_force)
    sent = session.scalars(
        select(Submission)
        .where(Submission.party_id == party.own_party.id)
        .order_by(Submission.created.desc())
    ).first()
    assert sent is not None
    return {
        "digest": in_force.digest,
        "acceptance_id": accepted[party.own_party.id].id,
        "submission_id": sent.id,
    }


def _closed(session: Session, settings: Settings, operator: Who, party: Who) -> Terms:
    """Terms that the party has accepted, and a round that it has sent something for."""
    draft.put(session, operator.collaboration, draft_of("north", "south"))
    proposed = terms.propose(session, settings, operator)
    terms.accept(session, settings, party, proposed.digest)
    stored = Vault(settings).store_bytes(b"x,kind,y\n1,red,1\n")
    session.add(Blob(id=stored.id, size=stored.size, sha256=stored.sha256))
    newest: Round | None = rounds.current(session, operator.collaboration)
    assert newest is not None
    session.flush()
    session.add(
        Submission(
            round_id=newest.id,
            party_id=party.own_party.id,
            person_id=party.person.id,
            blob_id=stored.id,
            file_name="mine.csv",
            suffix=".csv",
            state=SubmissionState.SUBMITTED.value,
        )
    )
    newest.state = RoundState.CLOSED.value
    newest.terms_id = proposed.id
    session.flush()
    return proposed
