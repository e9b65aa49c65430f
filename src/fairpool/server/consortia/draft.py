"""The draft: a collaboration.toml without anybody's data, which the operator edits until it fits.

It may be unfinished. What keeps it from being proposed is told at once, and nothing is made of it
before that: it is read as text alone, and never leads to a file.
"""

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError
from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from fairpool.consortium.configuration import FILE_NAME, LONGEST_NAME, Configuration, PartySection
from fairpool.consortium.configuration_file import ConfigurationFile, configuration_of, toml_values
from fairpool.consortium.planning.plan import problems_beforehand
from fairpool.consortium.refusals import privacy_problems
from fairpool.errors import ConfigurationError, FairpoolError, cut, is_printable, shown
from fairpool.server.consortia import events
from fairpool.server.consortia.dropped import Dropped, without_data
from fairpool.server.consortia.who import Who
from fairpool.server.refused import NotFoundError
from fairpool.server.store.tables import (
    Acceptance,
    Collaboration,
    Event,
    Invitation,
    Membership,
    Party,
    Submission,
)
from fairpool.server.work.places import configuration_with

LONGEST = 200_000
"""Characters: of thousands of columns."""

FEWEST_PARTIES = 2

LARGEST_MODEL = 1000
"""Of [model], no number is larger: a plan is made while everybody else's changes wait."""

_SOMEWHERE = "data"
"""Stands for the data of a party that will send rows."""


def change(session: Session, who: Who, toml: str) -> Dropped:
    """Put another text in place of the draft; one that is not even TOML is refused.

    Args:
        session: The open transaction.
        who: The operator.
        toml: The text.

    Returns:
        What is kept of it.
    """
    if not who.is_operator:
        raise NotFoundError
    kept = readable(toml)
    session.refresh(who.collaboration, with_for_update=True)
    if kept.text != who.collaboration.draft:
        put(session, who.collaboration, kept.text)
        events.record(session, who.collaboration, who, "draft-changed")
    return kept


def readable(toml: str) -> Dropped:
    """A text as a draft has it; refused where it is too long, or no TOML."""
    if len(toml) > LONGEST:
        raise ConfigurationError(
            f"{FILE_NAME}: {len(toml)} characters are more than the {LONGEST} that are taken here;"
            " leave out columns that are not used"
        )
    return without_data(toml)


def put(session: Session, collaboration: Collaboration, toml: str) -> None:
    """Make a text the draft; its parties can then be invited.

    Args:
        session: The open transaction, in which nobody else changes the collaboration.
        collaboration: Whose draft.
        toml: A text that `readable` gave.
    """
    collaboration.draft = toml
    values = toml_values(toml, FILE_NAME)
    name = values.get("name")
    if isinstance(name, str) and name.strip() and len(name) <= LONGEST_NAME and is_printable(name):
        collaboration.name = name
    _put_parties(session, collaboration, [*_parties_in(values)])
    session.flush()


def problems(toml: str) -> list[str]:
    """Everything that keeps a text from being proposed."""
    try:
        checked(toml)
    except FairpoolError as error:
        return [*error.problems]
    return []


def checked(toml: str) -> Configuration:
    """What a text says; refused with everything that keeps it from being proposed."""
    values = toml_values(readable(toml).text, FILE_NAME)
    found = [*_of_this_disk(values)]
    try:
        file = _read(values, toml)
        configuration = file.configuration
        # Whether each could be given its data, once there are some.
        configuration_with(
            toml, {party.permanent_id: _SOMEWHERE for party in configuration.parties}
        )
    except FairpoolError as error:
        raise ConfigurationError(*found, *map(_without_name, error.problems)) from None
    found += map(_without_name, file.problems)
    if len(configuration.parties) < FEWEST_PARTIES:
        found.append("parties: there is one, and pooling takes two at least; add the others")
    found += _of_size(values)
    if configuration.features is None:
        found.append(
            "features: missing; list the input columns: before anybody sends a table, all are to"
            " know what it must have"
        )
    if not file.problems:
        # What is said twice by a plan and by all else is told once.
        found += dict.fromkeys([*privacy_problems(configuration), *_of_a_plan(configuration)])
    if found:
        raise ConfigurationError(*found)
    return configuration


def sends_sums(configuration: Configuration) -> bool:
    """Whether a party sends sums, so that all agree to a plan."""
    return any(party.key is not None for party in configuration.parties)


def _of_a_plan(configuration: Configuration) -> list[str]:
    return problems_beforehand(configuration) if sends_sums(configuration) else []


def _without_name(problem: str) -> str:
    """A problem of the draft: there is but one file."""
    return problem.removeprefix(f"{FILE_NAME}: ")


def _read(values: dict[str, Any], toml: str) -> ConfigurationFile:
    """The configuration, of which nothing is said but that data of parties are lacking."""
    parties = values.get("parties")
    if isinstance(parties, list):
        for party in parties:
            if isinstance(party, dict) and "key" not in party:
                party.setdefault("data", _SOMEWHERE)
    return configuration_of(values, text=toml, name=FILE_NAME)


def _of_this_disk(values: dict[str, Any]) -> Iterator[str]:
    """What would have files of the service's own disk read."""
    for section in ("public", "test"):
        if section in values:
            yield (
                f"[{section}]: its data would lie on this service's own disk, where nobody may"
                f" look; leave [{section}] out, and give ranges and levels in [columns.NAME]"
            )
    columns = values.get("columns")
    for name, column in columns.items() if isinstance(columns, dict) else ():
        if isinstance(column, dict) and "encoder" in column:
            yield (
                f"[columns.{cut(name)}]: its encoder would lie on this service's own disk, where"
                ' nobody may look; leave the column out (role = "ignore"), or work with fairpool'
                " run"
            )


def _of_size(values: dict[str, Any]) -> Iterator[str]:
    """What would make a model that this service has no room for."""
    model = values.get("model")
    for key, value in model.items() if isinstance(model, dict) else ():
        numbers = value if isinstance(value, list) else [value]
        for number in numbers:
            if isinstance(number, int) and number > LARGEST_MODEL:
                yield (
                    f"[model] {key}: {shown(number)} is more than {LARGEST_MODEL}, the most of a"
                    " model here; give less, or work with fairpool run"
                )


def _parties_in(values: dict[str, Any]) -> Iterator[PartySection]:
    """The parties that are said well enough to be invited."""
    parties = values.get("parties")
    for party in parties if isinstance(parties, list) else ():
        try:
            yield PartySection.model_validate(party)
        except ValidationError:
            continue  # `problems` tells


def _put_parties(
    session: Session, collaboration: Collaboration, sections: list[PartySection]
) -> None:
    """Have a record of every party in the draft, and none of those that were never used."""
    known = {
        party.permanent: party
        for party in session.scalars(
            select(Party).where(Party.collaboration_id == collaboration.id)
        )
    }
    used = {identity for identity, party in known.items() if _is_used(session, party)}
    for place, section in enumerate(sections):
        identity = section.permanent_id
        if identity not in known:
            party = Party(collaboration_id=collaboration.id, permanent=identity)
            session.add(party)
            known[identity] = party
        if identity not in used:
            _describe(known[identity], section, place)
    wanted = {section.permanent_id for section in sections}
    for identity in known.keys() - used - wanted:
        session.delete(known[identity])


def agree_on_parties(
    session: Session, collaboration: Collaboration, configuration: Configuration
) -> None:
    """Call parties what the terms call them, and put them in that order.

    Args:
        session: The open transaction.
        collaboration: Whose parties.
        configuration: What the terms say.
    """
    mine = select(Party).where(Party.collaboration_id == collaboration.id)
    known = {party.permanent: party for party in session.scalars(mine)}
    for place, section in enumerate(configuration.parties):
        _describe(known[section.permanent_id], section, place)


def _describe(party: Party, section: PartySection, place: int) -> None:
    party.name = section.name
    party.place = place
    party.public_key = section.key


def _is_used(session: Session, party: Party) -> bool:
    """Whether anything refers to a party, so that the draft alone does not decide about it."""
    records = (
        Membership.party_id,
        Invitation.party_id,
        Acceptance.party_id,
        Submission.party_id,
        Event.party_id,
    )
    return any(session.scalar(select(exists().where(of == party.id))) for of in records)
