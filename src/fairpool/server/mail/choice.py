"""How often somebody wants mail, and whose mail does not arrive."""

from collections.abc import Collection

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from fairpool.errors import DataError, shown
from fairpool.server.store.tables import Mail, MailChoice, MailState, Person


def choose(session: Session, person: Person, choice: str) -> Person:
    """Want mail so often from now on, what waits to be sent included.

    Args:
        session: The open transaction.
        person: Who asks.
        choice: A word of `MailChoice`.
    """
    if choice not in set(MailChoice):
        words = ", ".join(MailChoice)
        raise DataError(f"mail: {shown(choice)} is none of what can be chosen: {words}")
    found = session.get_one(Person, person.id)
    found.mail = choice
    return found


def not_arriving(session: Session, addresses: Collection[str]) -> dict[str, str]:
    """Why the newest mail to an address was given up, of those addresses where that is so.

    Args:
        session: Open.
        addresses: Of people, and of those who were invited by them.
    """
    whose = func.coalesce(Person.email, Mail.email)
    ended = (
        select(whose, Mail)
        .outerjoin(Person, Person.id == Mail.person_id)
        .where(whose.in_(addresses), Mail.ended.is_not(None))
        .where(Mail.state != MailState.DROPPED.value)
        .order_by(Mail.ended)
    )
    problems = {}
    for address, mail in session.execute(ended):
        problems[address] = mail.problem if mail.state == MailState.GIVEN_UP.value else None
    return {address: problem for address, problem in problems.items() if problem}
