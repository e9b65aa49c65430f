"""People and collaborations for tests, made without the ways that the service has for them."""

from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.testclient import TestClient

from fairpool.server.people import sessions, tokens
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Collaboration, Membership, Party, Person, Role
from fairpool.server.web.signed_in import cookie_name


@dataclass(frozen=True, kw_only=True)
class Service:
    """An application under test."""

    app: FastAPI
    settings: Settings
    database: Database

    def client(self) -> TestClient:
        """A browser, or a program, that nobody is signed in with."""
        return TestClient(self.app, base_url=self.settings.address, follow_redirects=False)

    def browser(self, person: Person) -> TestClient:
        """A browser that somebody is signed in with, and which sends the token of its forms."""
        with self.database.transaction() as session:
            opened = sessions.open_session(session, self.settings, person)
        client = self.client()
        client.cookies.set(cookie_name(self.settings), opened.cookie)
        client.headers["X-Form-Token"] = opened.kept.form_token
        return client

    def program(self, person: Person) -> TestClient:
        """A program with a token of somebody's."""
        with self.database.transaction() as session:
            _, secret = tokens.make(session, person, name="program", days=1)
        client = self.client()
        client.headers["Authorization"] = f"Bearer {secret}"
        return client


def add_person(database: Database, name: str, **fields: Any) -> Person:
    """A person, called by a name of one word; nobody can sign in with the password."""
    with database.transaction() as session:
        person = Person(email=f"{name}@example.org", name=name, password="none", **fields)
        session.add(person)
    return person


@dataclass(frozen=True, kw_only=True)
class Consortium:
    """A collaboration of two parties, with everybody it has."""

    collaboration: Collaboration
    north: Party
    south: Party
    operator: Person
    of_north: Person
    of_south: Person
    auditor: Person


def add_consortium(database: Database, beginning: str = "") -> Consortium:
    """A collaboration with an operator, two parties of one person each, and an auditor.

    Args:
        database: Where.
        beginning: Of everybody's name, so that there can be several.
    """
    operator = add_person(database, f"{beginning}operator", may_create=True)
    of_north = add_person(database, f"{beginning}north")
    of_south = add_person(database, f"{beginning}south")
    auditor = add_person(database, f"{beginning}auditor")
    with database.transaction() as session:
        collaboration = Collaboration(name=f"{beginning}clinics", draft="", created_by=operator.id)
        session.add(collaboration)
        session.flush()
        north, south = (
            Party(collaboration_id=collaboration.id, permanent=name, name=name, place=place)
            for place, name in enumerate(["north", "south"])
        )
        session.add_all([north, south])
        session.flush()
        for person, role, party in (
            (operator, Role.OPERATOR, None),
            (of_north, Role.PARTY, north),
            (of_south, Role.PARTY, south),
            (auditor, Role.AUDITOR, None),
        ):
            session.add(
                Membership(
                    collaboration_id=collaboration.id,
                    person_id=person.id,
                    role=role,
                    party_id=None if party is None else party.id,
                )
            )
    return Consortium(
        collaboration=collaboration,
        north=north,
        south=south,
        operator=operator,
        of_north=of_north,
        of_south=of_south,
        auditor=auditor,
    )
