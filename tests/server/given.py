"""Records that tests of the service begin with."""

from fairpool.server.store.tables import Collaboration, Person, Round, new_identity


def person(session, name="Ada"):
    """Somebody who can sign in nowhere."""
    given = Person(email=f"{new_identity().lower()}@example.org", name=name, password="")
    session.add(given)
    session.flush()
    return given


def round_of(session, number=1):
    """An open round of a new collaboration."""
    operator = person(session)
    collaboration = Collaboration(name="C", draft="", created_by=operator.id)
    session.add(collaboration)
    session.flush()
    given = Round(collaboration_id=collaboration.id, number=number)
    session.add(given)
    session.flush()
    return given


def words(round_, kind, person_id):
    """What is said of a job of a round that is to be queued."""
    return {
        "collaboration_id": round_.collaboration_id,
        "round_id": round_.id,
        "kind": kind,
        "person_id": person_id,
    }
