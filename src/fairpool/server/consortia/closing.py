"""Closing a round: everybody has agreed and sent something, and from then on nothing changes."""

from sqlalchemy.orm import Session

from fairpool.server.consortia import checklist, rounds
from fairpool.server.consortia.agreed import in_force
from fairpool.server.consortia.who import Who
from fairpool.server.refused import RefusedError
from fairpool.server.store.tables import Round, RoundState, now


def close(session: Session, who: Who) -> Round:
    """Nobody submits or withdraws any longer; refused while somebody has something to do.

    Args:
        session: The open transaction.
        who: An operator.
    """
    round_ = rounds.to_move(session, who, RoundState.OPEN)
    left = checklist.of(session, who.collaboration)
    if not left.ready_to_close:
        raise RefusedError(*left.why_not)
    terms = in_force(session, who.collaboration)
    assert terms is not None  # there is no round without terms
    round_.state = RoundState.CLOSED.value
    round_.terms_id = terms.id
    round_.closed = now()
    rounds.tell(session, who, "round-closed", round_, terms=terms.digest)
    return round_
