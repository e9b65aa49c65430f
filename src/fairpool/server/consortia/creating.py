"""A new collaboration: its folder, its draft, and whoever made it as its operator."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from fairpool.compute.files import make_private_folder
from fairpool.consortium.configuration import LONGEST_NAME
from fairpool.consortium.guessing.toml_text import text_of
from fairpool.errors import ConfigurationError, is_printable
from fairpool.server.consortia import draft, events
from fairpool.server.consortia.dropped import Dropped
from fairpool.server.refused import NotAllowedError
from fairpool.server.settings import Settings
from fairpool.server.store.tables import Collaboration, Membership, Person, Role, new_identity
from fairpool.server.work.project import folder_of

UNNAMED = "Collaboration"


@dataclass(frozen=True, kw_only=True)
class Created:
    """A collaboration that was made.

    Attributes:
        collaboration: It.
        told: What was taken out of the file that was dropped in, in words.
    """

    collaboration: Collaboration
    told: tuple[str, ...] = ()


def create(
    session: Session,
    settings: Settings,
    person: Person,
    *,
    name: str | None = None,
    toml: str | None = None,
) -> Created:
    """Make a collaboration, which its maker operates.

    Args:
        session: The open transaction.
        settings: Where its folder goes.
        person: Who makes it.
        name: What it is called; None: what the text says.
        toml: A collaboration.toml to begin with; None: an empty draft.
    """
    if not person.may_create:
        raise NotAllowedError(
            "you may take part in collaborations, and not begin any; ask whoever runs this service"
        )
    kept = Dropped(text="") if toml is None else draft.readable(toml)
    if name is not None:
        _refuse_name(name)
        if toml is None:
            kept = Dropped(text=f"name = {text_of(name)}\n")
    collaboration = Collaboration(
        id=new_identity(), name=name or UNNAMED, draft="", created_by=person.id
    )
    make_private_folder(folder_of(settings, collaboration.id))
    session.add(collaboration)
    session.flush()
    session.add(
        Membership(collaboration_id=collaboration.id, person_id=person.id, role=Role.OPERATOR.value)
    )
    draft.put(session, collaboration, kept.text)
    events.record(
        session, collaboration, person, "collaboration-created", {"name": collaboration.name}
    )
    return Created(collaboration=collaboration, told=kept.told)


def _refuse_name(name: str) -> None:
    if not name.strip() or len(name) > LONGEST_NAME or not is_printable(name):
        raise ConfigurationError(
            f"name: give one of 1 to {LONGEST_NAME} letters, digits and signs, in one line"
        )
