"""What is to be done once a transaction is kept, and not at all where it is not."""

from collections.abc import Callable

from sqlalchemy import event
from sqlalchemy.orm import Session


def once_committed(session: Session, do: Callable[[], None]) -> None:
    """Do something after the transaction was committed.

    Args:
        session: The open transaction.
        do: What is to be done; it cannot use the session.
    """
    is_over = False

    def committed(session: Session) -> None:
        nonlocal is_over
        if is_over or session.in_nested_transaction():  # a savepoint is not yet kept
            return
        is_over = True
        do()

    def rolled_back(_: Session) -> None:
        nonlocal is_over
        is_over = True

    event.listen(session, "after_commit", committed)
    event.listen(session, "after_rollback", rolled_back)
