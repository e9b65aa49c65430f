"""Collaborations: made of a name, a form or a dropped collaboration.toml, and drafted."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, Field, model_validator

from fairpool.errors import ConfigurationError
from fairpool.server.consortia import checklist, creating, draft, replacing
from fairpool.server.consortia.checklist import Code
from fairpool.server.consortia.form import Column, Form, PartyFields, form_of, toml_of
from fairpool.server.consortia.who import require
from fairpool.server.store.tables import Party, Role, RoundState
from fairpool.server.web.routing import Sent, api_router
from fairpool.server.web.signed_in import CurrentPerson, CurrentSettings, Reading, Transaction

router = api_router()

HERE = "/collaborations/{collaboration_id}"
"""The address of a collaboration."""

CollaborationId = Annotated[str, Path(description="Of a collaboration that one has a part in.")]

Short = Annotated[str, Field(max_length=500)]
Several = Annotated[list[Short], Field(max_length=1000)]


class SentColumn(Sent):
    """A column of a form; all but the name may be left out."""

    name: Short
    kind: Short = ""
    lowest: float | Short | None = None
    highest: float | Short | None = None
    unit: Short = ""
    levels: Several = Field(default_factory=list)
    missing: Short = ""


class SentParty(Sent):
    """A party of a form; all but the name may be left out."""

    name: Short
    id: Short = ""
    key: Short = ""
    most: float | None = None


class SentForm(Sent):
    """A draft as a form; what is left out is as by default."""

    name: Short = ""
    contact: Short = ""
    target: SentColumn = SentColumn(name="")
    inputs: Annotated[list[SentColumn], Field(max_length=2000, default_factory=list)]
    missing: Short = ""
    model: Short = ""
    inducing: Short = ""
    inducing_points: int | None = None
    rho: float | Short = ""
    on_harm: Short = ""
    parties: Annotated[list[SentParty], Field(max_length=1000, default_factory=list)]

    @property
    def form(self) -> Form:
        """What it says."""
        return Form(
            name=self.name,
            contact=self.contact,
            target=_column(self.target),
            inputs=tuple(_column(column) for column in self.inputs),
            missing=self.missing,
            model=self.model,
            inducing=self.inducing,
            inducing_points=self.inducing_points,
            rho=self.rho,
            on_harm=self.on_harm,
            parties=tuple(PartyFields(**party.model_dump()) for party in self.parties),
        )


def _column(sent: SentColumn) -> Column:
    return Column(**{**sent.model_dump(), "levels": tuple(sent.levels)})


class SentDraft(Sent):
    """A draft: a text, or a form."""

    toml: Annotated[str, Field(max_length=draft.LONGEST)] | None = None
    form: SentForm | None = None

    @model_validator(mode="after")
    def _is_one(self) -> "SentDraft":
        if (self.toml is None) == (self.form is None):
            raise ValueError("give either toml or form")
        return self

    @property
    def text(self) -> str:
        """What it says, as a text."""
        if self.form is not None:
            return toml_of(self.form.form)
        assert self.toml is not None  # one of them is there
        return self.toml


class NewCollaboration(Sent):
    """What a collaboration begins with: a name, a collaboration.toml, or a form."""

    name: Annotated[str, Field(max_length=100)] | None = None
    toml: Annotated[str, Field(max_length=draft.LONGEST)] | None = None
    form: SentForm | None = None


class ShownDraft(BaseModel):
    """A draft, and what keeps it from being proposed."""

    toml: str
    form: dict[str, Any] | None
    problems: list[str]
    told: list[str] = []


class NewlyMade(ShownDraft):
    """A collaboration that was made, and its draft."""

    id: str
    name: str


class ShownReplaced(BaseModel):
    """That the people of a party are others than before, whom the operator invited."""

    party: str
    time: datetime
    text: str


class ShownCollaboration(BaseModel):
    """A collaboration as one sees it."""

    id: str
    name: str
    role: Role
    party: str | None
    round: int | None
    state: RoundState | None
    replaced: list[ShownReplaced]


class ShownParty(BaseModel):
    """A party: by its id it is invited."""

    id: str
    permanent: str
    name: str
    key: str | None


class ShownTask(BaseModel):
    """Something that a party, or the operator (without a party), has to do, or has done."""

    code: Code
    party_id: str | None
    party: str
    text: str
    is_done: bool
    blocks: bool

    @classmethod
    def of(cls, task: checklist.Task) -> "ShownTask":
        """As the API tells it."""
        return cls(
            code=task.code,
            party_id=task.party_id,
            party=task.name,
            text=task.text,
            is_done=task.is_done,
            blocks=task.blocks,
        )


class ShownChecklist(BaseModel):
    """Who must do what."""

    round: int | None
    state: RoundState | None
    ready_to_close: bool
    why_not: list[str]
    tasks: list[ShownTask]


@router.post("/collaborations", status_code=201)
def create_collaboration(
    new: NewCollaboration, person: CurrentPerson, settings: CurrentSettings, session: Transaction
) -> NewlyMade:
    """Begin a collaboration, which one then operates.

    Where parties' data lie is taken out of a collaboration.toml, and told: parties send them here.
    """
    if new.toml is not None and new.form is not None:
        raise ConfigurationError("give toml or form, and not both")
    toml = new.toml if new.form is None else toml_of(new.form.form)
    made = creating.create(session, settings, person, name=new.name, toml=toml)
    shown = _shown(made.collaboration.draft, made.told)
    return NewlyMade(id=made.collaboration.id, name=made.collaboration.name, **shown.model_dump())


@router.get(HERE)
def show_collaboration(
    collaboration_id: CollaborationId, person: CurrentPerson, session: Reading
) -> ShownCollaboration:
    """A collaboration that one has a part in, and where its newest round stands."""
    who = require(session, person, collaboration_id)
    now = checklist.of(session, who.collaboration)
    return ShownCollaboration(
        id=who.collaboration.id,
        name=who.collaboration.name,
        role=who.role,
        party=None if who.party is None else who.party.name,
        round=now.round,
        state=now.state,
        replaced=[
            ShownReplaced.model_validate(one, from_attributes=True)
            for one in replacing.told(session, who.collaboration)
        ],
    )


@router.get(HERE + "/draft")
def show_draft(
    collaboration_id: CollaborationId, person: CurrentPerson, session: Reading
) -> ShownDraft:
    """The draft of the next terms, for operators."""
    who = require(session, person, collaboration_id, Role.OPERATOR)
    return _shown(who.collaboration.draft)


@router.put(HERE + "/draft")
def change_draft(
    collaboration_id: CollaborationId, new: SentDraft, person: CurrentPerson, session: Transaction
) -> ShownDraft:
    """Put another draft in its place; it may be unfinished, and must be TOML."""
    who = require(session, person, collaboration_id, Role.OPERATOR, alone=True)
    kept = draft.change(session, who, new.text)
    return _shown(kept.text, kept.told)


@router.get(HERE + "/parties")
def show_parties(
    collaboration_id: CollaborationId, person: CurrentPerson, session: Reading
) -> list[ShownParty]:
    """The parties of draft and terms, for operators, who invite the first person of each."""
    who = require(session, person, collaboration_id, Role.OPERATOR)
    return [
        ShownParty(id=party.id, permanent=party.permanent, name=party.name, key=party.public_key)
        for party in session.query(Party)
        .filter_by(collaboration_id=who.collaboration.id)
        .order_by(Party.place, Party.id)
    ]


@router.get(HERE + "/checklist")
def show_checklist(
    collaboration_id: CollaborationId, person: CurrentPerson, session: Reading
) -> ShownChecklist:
    """Who must do what, for operators."""
    who = require(session, person, collaboration_id, Role.OPERATOR)
    now = checklist.of(session, who.collaboration)
    return ShownChecklist(
        round=now.round,
        state=now.state,
        ready_to_close=now.ready_to_close,
        why_not=list(now.why_not),
        tasks=[ShownTask.of(task) for task in now.tasks],
    )


def _shown(toml: str, told: tuple[str, ...] = ()) -> ShownDraft:
    form = form_of(toml)
    return ShownDraft(
        toml=toml,
        form=None if form is None else asdict(form),
        problems=draft.problems(toml),
        told=list(told),
    )
