"""Who asks, and what they are in a collaboration: every function of a collaboration begins here."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.server.refused import NotFoundError
from fairpool.server.store.tables import Collaboration, Membership, Party, Person, Role


@dataclass(frozen=True, kw_only=True)
class Who:
    """A person in a collaboration.

    Attributes:
        person: Who asks.
        membership: What they are in the collaboration.
        collaboration: Where.
        party: Whose people they belong to; None: operators and auditors.
    """

    person: Person
    membership: Membership
    collaboration: Collaboration
    party: Party | None

    @property
    def role(self) -> Role:
        """What they are."""
        return Role(self.membership.role)

    @property
    def is_operator(self) -> bool:
        """Whether they run the collaboration."""
        return self.role is Role.OPERATOR

    @property
    def own_party(self) -> Party:
        """The party of somebody who was required to be of one."""
        if self.party is None:
            raise NotFoundError
        return self.party


def require(
    session: Session,
    person: Person,
    collaboration_id: str,
    *roles: Role,
    alone: bool = False,
) -> Who:
    """Who somebody is in a collaboration, which nobody else learns to exist.

    Raises NotFoundError where there is none, and where they have no part in it or none of the
    roles.

    Args:
        session: Open.
        person: Who asks.
        collaboration_id: Where.
        roles: What they must be, one of these; none: anything.
        alone: Nobody else changes the collaboration until the transaction ends. On SQLite that is
            so for every transaction; on Postgres the collaboration's row is locked. Whatever reads
            first and decides then needs it.
    """
    collaborations = select(Collaboration).where(Collaboration.id == collaboration_id)
    if alone:
        # Before the membership is read, which may have been taken away while this waited.
        collaborations = collaborations.with_for_update()
        collaborations = collaborations.execution_options(populate_existing=True)
        session.scalars(collaborations).one_or_none()
    found = session.execute(
        select(Membership, Collaboration)
        .join(Collaboration, Collaboration.id == Membership.collaboration_id)
        .where(Collaboration.id == collaboration_id, Membership.person_id == person.id)
    ).one_or_none()
    if found is None or (roles and Role(found[0].role) not in roles):
        raise NotFoundError
    membership, collaboration = found
    party = None
    if membership.party_id is not None:
        party = session.get_one(Party, membership.party_id)
    return Who(person=person, membership=membership, collaboration=collaboration, party=party)


def everywhere(session: Session, person: Person) -> list[Who]:
    """Every collaboration that somebody has a part in, the newest first."""
    found = session.execute(
        select(Membership, Collaboration, Party)
        .join(Collaboration, Collaboration.id == Membership.collaboration_id)
        .outerjoin(Party, Party.id == Membership.party_id)
        .where(Membership.person_id == person.id)
        .order_by(Collaboration.created.desc(), Collaboration.id)
    )
    return [
        Who(person=person, membership=membership, collaboration=collaboration, party=party)
        for membership, collaboration, party in found
    ]
