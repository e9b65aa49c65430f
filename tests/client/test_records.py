"""The client's records are what the service's own document says that it answers."""

import dataclasses
from pathlib import Path

import pytest

from fairpool.client.records import agreeing, computing, people, sending
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.web.app import create_app

SCHEMAS = {
    people.Account: "Account",
    people.Part: "Part",
    people.Member: "ShownMember",
    people.Replaced: "ShownReplaced",
    people.Collaboration: "ShownCollaboration",
    people.Party: "ShownParty",
    people.Invitation: "OpenInvitation",
    people.MadeInvitation: "MadeInvitation",
    people.InvitedTo: "WhatFor",
    agreeing.Draft: "ShownDraft",
    agreeing.Begun: "NewlyMade",
    agreeing.Terms: "ShownTerms",
    agreeing.Change: "ShownDifference",
    agreeing.Acceptance: "ShownAcceptance",
    sending.Submission: "ShownSubmission",
    sending.Found: "Found",
    sending.Looked: "ShownFindings",
    sending.Task: "ShownTask",
    sending.Standing: "ShownStanding",
    sending.Seen: "Seen",
    computing.Round: "RoundView",
    computing.Job: "JobView",
    computing.Checklist: "ShownChecklist",
    computing.AuditLine: "AuditLine",
    computing.Audit: "AuditResult",
    computing.SignedAudit: "SignedAudit",
}
"""What each record is called in the document."""

LEFT_OUT = {
    "Found": {"more_columns", "receipt"},
    "NewlyMade": {"form"},
    "ShownCollaboration": {"id", "name", "party", "role"},
    "ShownDraft": {"form"},
    "WhatFor": {"email", "expires", "is_reset"},
}
"""What programs need not know."""


@pytest.fixture(scope="module")
def schemas() -> dict[str, dict[str, object]]:
    settings = Settings.of(Path("nowhere"), environment={})
    return create_app(settings, Database(settings.database)).openapi()["components"]["schemas"]


def test_every_record_is_in_the_table() -> None:
    found = set()
    for module in (people, agreeing, sending, computing):
        for thing in vars(module).values():
            if isinstance(thing, type) and dataclasses.is_dataclass(thing):
                found.add(thing)
    assert found == set(SCHEMAS)


@pytest.mark.parametrize("record", SCHEMAS, ids=lambda record: record.__name__)
def test_a_record_has_what_the_service_answers(record: type, schemas) -> None:
    name = SCHEMAS[record]
    fields = {field.name for field in dataclasses.fields(record)}
    properties = schemas[name]["properties"]
    assert fields | LEFT_OUT.get(name, set()) == set(properties)
    for field in dataclasses.fields(record):
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            assert field.name in schemas[name]["required"], field.name
        kinds = properties[field.name].get("anyOf", [properties[field.name]])
        assert str(field.type).endswith("| None") == ({"type": "null"} in kinds), field.name
