"""What the database keeps: one class a table, and no rule but what a database can hold to itself.

Identities are random, so that nobody finds a thing by counting. Whatever lets somebody in (session,
token, invitation) is kept as a hash. Times are in UTC.
"""

import secrets
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    DateTime,
    ForeignKey,
    Index,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    text,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

IDENTITY_BYTES = 16
"""Of a random identity: nobody guesses one of 2^128."""


def new_identity() -> str:
    """An identity that nobody guesses."""
    return secrets.token_urlsafe(IDENTITY_BYTES)


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


class Moment(TypeDecorator[datetime]):
    """A time in UTC, on every database: SQLite forgets the zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To the database."""
        if value is None:
            return None
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002  # SQLAlchemy gives it
    ) -> datetime | None:
        """From the database."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Role(StrEnum):
    """What somebody is in a collaboration."""

    OPERATOR = "operator"
    PARTY = "party"
    AUDITOR = "auditor"


class RoundState(StrEnum):
    """Where a round stands.

    open: parties accept the terms and submit; closed: nobody submits any longer; computing: a job
    is at work; previewed: the operator sees what would be released; releasing: it is being
    released; released: everybody has what it gets.
    """

    OPEN = "open"
    CLOSED = "closed"
    COMPUTING = "computing"
    PREVIEWED = "previewed"
    RELEASING = "releasing"
    RELEASED = "released"


class SubmissionState(StrEnum):
    """checking, refused (with problems), checked (not yet submitted), submitted, withdrawn."""

    CHECKING = "checking"
    REFUSED = "refused"
    CHECKED = "checked"
    SUBMITTED = "submitted"
    WITHDRAWN = "withdrawn"


class JobKind(StrEnum):
    """What a job does."""

    CHECK = "check"
    PREVIEW = "preview"
    RELEASE = "release"


class JobState(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class MailChoice(StrEnum):
    """How often somebody wants mail: never, once a day at most, or whenever it is their turn."""

    OFF = "off"
    DIGEST = "digest"
    AT_ONCE = "at-once"


class About(StrEnum):
    """What somebody is told by mail.

    invited: somebody was named for an invitation; turn: something is to be done; released: a round
    was; found: the checks of evidence found something about the party's labels.
    """

    INVITED = "invited"
    TURN = "turn"
    RELEASED = "released"
    FOUND = "found"


class MailState(StrEnum):
    """waiting (to be sent, again perhaps), sending, sent, given-up, dropped (nothing to tell)."""

    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    GIVEN_UP = "given-up"
    DROPPED = "dropped"


class Base(DeclarativeBase):
    """Of all tables."""

    type_annotation_map = {datetime: Moment, dict[str, Any]: JSON, list[Any]: JSON}  # noqa: RUF012


def _identity() -> Mapped[str]:
    return mapped_column(String(32), primary_key=True, default=new_identity)


def _to(target: str, *, nullable: bool = False, index: bool = True) -> Mapped[Any]:
    return mapped_column(
        String(32), ForeignKey(target, ondelete="RESTRICT"), nullable=nullable, index=index
    )


def _word(values: type[StrEnum], default: StrEnum | None = None) -> Mapped[Any]:
    longest = max(len(value) for value in values)
    return mapped_column(String(longest), default=None if default is None else default.value)


class Person(Base):
    """Somebody who signs in; whose password nobody knows (argon2id)."""

    __tablename__ = "people"
    id: Mapped[str] = _identity()
    email: Mapped[str] = mapped_column(String(254), unique=True)  # in small letters
    name: Mapped[str] = mapped_column(String(100))
    password: Mapped[str] = mapped_column(String(200))
    may_create: Mapped[bool] = mapped_column(default=False)  # collaborations
    mail: Mapped[str] = _word(MailChoice, MailChoice.AT_ONCE)
    created: Mapped[datetime] = mapped_column(default=now)
    left: Mapped[datetime | None] = mapped_column(default=None)


class BrowserSession(Base):
    """A browser that is signed in; the cookie's hash is its name, and it has a token for forms."""

    __tablename__ = "sessions"
    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    person_id: Mapped[str] = _to("people.id")
    form_token: Mapped[str] = mapped_column(String(64))
    created: Mapped[datetime] = mapped_column(default=now)
    seen: Mapped[datetime] = mapped_column(default=now)
    expires: Mapped[datetime]
    until: Mapped[datetime | None] = mapped_column(default=None)  # however much it is used


class Identity(Base):
    """Who somebody is at a provider that they sign in with: issuer and subject, nothing else."""

    __tablename__ = "identities"
    __table_args__ = (
        UniqueConstraint("issuer", "subject"),
        UniqueConstraint("person_id", "issuer"),
    )
    id: Mapped[str] = _identity()
    person_id: Mapped[str] = _to("people.id")
    issuer: Mapped[str] = mapped_column(String(500))
    subject: Mapped[str] = mapped_column(String(255))
    created: Mapped[datetime] = mapped_column(default=now)
    seen: Mapped[datetime] = mapped_column(default=now)  # the provider's last word


class Arrival(Base):
    """A sign-in that was begun at a provider, and is to be ended by the same browser, once."""

    __tablename__ = "arrivals"
    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    browser: Mapped[str] = mapped_column(String(64))
    source: Mapped[str] = mapped_column(String(80), index=True)  # "from:IP"
    wanted: Mapped[str] = mapped_column(String(500))
    # Not held fast: invitations that are over may go.
    invitation_id: Mapped[str | None] = mapped_column(String(32), default=None)
    person_id: Mapped[str | None] = _to("people.id", nullable=True)  # whose account is linked
    expires: Mapped[datetime]


class ApiToken(Base):
    """What a program has instead of a password; shown once, kept as a hash."""

    __tablename__ = "tokens"
    id: Mapped[str] = _identity()
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    person_id: Mapped[str] = _to("people.id")
    name: Mapped[str] = mapped_column(String(100))
    created: Mapped[datetime] = mapped_column(default=now)
    used: Mapped[datetime | None] = mapped_column(default=None)
    expires: Mapped[datetime]
    revoked: Mapped[datetime | None] = mapped_column(default=None)


class Attempts(Base):
    """Failed attempts to sign in, for one address or one account; after too many it waits."""

    __tablename__ = "attempts"
    subject: Mapped[str] = mapped_column(String(80), primary_key=True)  # "account:HASH", "from:IP"
    failed: Mapped[int] = mapped_column(default=0)
    last: Mapped[datetime] = mapped_column(default=now)
    locked_until: Mapped[datetime | None] = mapped_column(default=None)


class Collaboration(Base):
    """A consortium; its folder is called by its identity."""

    __tablename__ = "collaborations"
    id: Mapped[str] = _identity()
    name: Mapped[str] = mapped_column(String(100))
    draft: Mapped[str] = mapped_column(Text)  # collaboration.toml as the operator edits it
    created: Mapped[datetime] = mapped_column(default=now)
    created_by: Mapped[str] = _to("people.id")
    parties: Mapped[list["Party"]] = relationship(order_by="Party.place", viewonly=True)
    rounds: Mapped[list["Round"]] = relationship(order_by="Round.number", viewonly=True)


class Party(Base):
    """A party of a collaboration, by its permanent identity in collaboration.toml."""

    __tablename__ = "parties"
    __table_args__ = (UniqueConstraint("collaboration_id", "permanent"),)
    id: Mapped[str] = _identity()
    collaboration_id: Mapped[str] = _to("collaborations.id")
    permanent: Mapped[str] = mapped_column(String(100))
    name: Mapped[str] = mapped_column(String(100))
    place: Mapped[int]
    public_key: Mapped[str | None] = mapped_column(String(100), default=None)
    left: Mapped[datetime | None] = mapped_column(default=None)


class Membership(Base):
    """What a person is in a collaboration; of one party at most."""

    __tablename__ = "memberships"
    __table_args__ = (
        UniqueConstraint("collaboration_id", "person_id"),
        CheckConstraint("(role = 'party') = (party_id IS NOT NULL)", name="party_of_members"),
    )
    id: Mapped[str] = _identity()
    collaboration_id: Mapped[str] = _to("collaborations.id")
    person_id: Mapped[str] = _to("people.id")
    role: Mapped[str] = _word(Role)
    party_id: Mapped[str | None] = _to("parties.id", nullable=True)
    since: Mapped[datetime] = mapped_column(default=now)


class Invitation(Base):
    """A link for one person, once; without a collaboration: for the first operator."""

    __tablename__ = "invitations"
    id: Mapped[str] = _identity()
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    collaboration_id: Mapped[str | None] = _to("collaborations.id", nullable=True)
    role: Mapped[str] = _word(Role)
    party_id: Mapped[str | None] = _to("parties.id", nullable=True)
    email: Mapped[str | None] = mapped_column(String(254), default=None)
    created: Mapped[datetime] = mapped_column(default=now)
    created_by: Mapped[str | None] = _to("people.id", nullable=True)
    expires: Mapped[datetime]
    used: Mapped[datetime | None] = mapped_column(default=None)
    used_by: Mapped[str | None] = _to("people.id", nullable=True)
    revoked: Mapped[datetime | None] = mapped_column(default=None)


class Terms(Base):
    """What was proposed: never changed; other terms are a new version."""

    __tablename__ = "terms"
    __table_args__ = (UniqueConstraint("collaboration_id", "version"),)
    id: Mapped[str] = _identity()
    collaboration_id: Mapped[str] = _to("collaborations.id")
    version: Mapped[int]
    toml: Mapped[str] = mapped_column(Text)  # collaboration.toml, without anybody's data
    plan: Mapped[str | None] = mapped_column(Text, default=None)  # plan.json, where there is one
    document: Mapped[str] = mapped_column(Text)  # canonical JSON of all that is agreed to, signed
    digest: Mapped[str] = mapped_column(String(64))
    proposed: Mapped[datetime] = mapped_column(default=now)
    proposed_by: Mapped[str] = _to("people.id")


class Acceptance(Base):
    """A party agreed to terms, by one of its own people; the signed text of that is kept."""

    __tablename__ = "acceptances"
    __table_args__ = (
        Index(
            "one_acceptance_of_a_party",
            "terms_id",
            "party_id",
            unique=True,
            sqlite_where=text("ended IS NULL"),
            postgresql_where=text("ended IS NULL"),
        ),
    )
    id: Mapped[str] = _identity()
    terms_id: Mapped[str] = _to("terms.id")
    party_id: Mapped[str] = _to("parties.id")
    person_id: Mapped[str] = _to("people.id")
    document: Mapped[str] = mapped_column(Text)
    time: Mapped[datetime] = mapped_column(default=now)
    ended: Mapped[datetime | None] = mapped_column(default=None)  # nobody of its people was left


class Round(Base):
    """A round of a collaboration, numbered as its ledger numbers releases."""

    __tablename__ = "rounds"
    __table_args__ = (UniqueConstraint("collaboration_id", "number"),)
    id: Mapped[str] = _identity()
    collaboration_id: Mapped[str] = _to("collaborations.id")
    number: Mapped[int]
    state: Mapped[str] = _word(RoundState, RoundState.OPEN)
    terms_id: Mapped[str | None] = _to("terms.id", nullable=True)  # once it is closed
    preview_id: Mapped[str | None] = mapped_column(String(32), default=None)  # the job's
    opened: Mapped[datetime] = mapped_column(default=now)
    closed: Mapped[datetime | None] = mapped_column(default=None)


class Blob(Base):
    """An upload on the disk, encrypted; the file is there before its record is."""

    __tablename__ = "blobs"
    id: Mapped[str] = _identity()
    size: Mapped[int] = mapped_column(BigInteger)  # of what was uploaded
    sha256: Mapped[str] = mapped_column(String(64))  # of what was uploaded
    created: Mapped[datetime] = mapped_column(default=now)


class Submission(Base):
    """A table or a contribution that a party sent for a round."""

    __tablename__ = "submissions"
    id: Mapped[str] = _identity()
    round_id: Mapped[str] = _to("rounds.id")
    party_id: Mapped[str] = _to("parties.id")
    person_id: Mapped[str] = _to("people.id")
    blob_id: Mapped[str | None] = _to("blobs.id", nullable=True)  # None: erased
    file_name: Mapped[str] = mapped_column(String(200))  # as it was called, to be shown only
    suffix: Mapped[str] = mapped_column(String(20))  # of what it is read as
    state: Mapped[str] = _word(SubmissionState, SubmissionState.CHECKING)
    findings: Mapped[dict[str, Any]] = mapped_column(default=dict)  # problems, first rows, columns
    created: Mapped[datetime] = mapped_column(default=now)
    decided: Mapped[datetime | None] = mapped_column(default=None)
    ended: Mapped[datetime | None] = mapped_column(default=None)  # nobody of its people was left


class Job(Base):
    """Work for a worker: leased for a while, and numbered anew whenever somebody takes it.

    Whoever writes for a job says the number (`fence`) under which it was taken; with an older one
    nothing is written.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        Index(
            "one_job_at_a_time",
            "collaboration_id",
            unique=True,
            sqlite_where=text("state IN ('queued', 'running') AND kind <> 'check'"),
            postgresql_where=text("state IN ('queued', 'running') AND kind <> 'check'"),
        ),
    )
    id: Mapped[str] = _identity()
    collaboration_id: Mapped[str] = _to("collaborations.id")
    round_id: Mapped[str] = _to("rounds.id")
    submission_id: Mapped[str | None] = _to("submissions.id", nullable=True)
    kind: Mapped[str] = _word(JobKind)
    state: Mapped[str] = _word(JobState, JobState.QUEUED)
    fence: Mapped[int] = mapped_column(default=0)
    tries: Mapped[int] = mapped_column(default=0)  # workers that took it and did not give it back
    worker: Mapped[str | None] = mapped_column(String(100), default=None)
    leased_until: Mapped[datetime | None] = mapped_column(default=None)
    cancel: Mapped[bool] = mapped_column(default=False)
    is_final: Mapped[bool] = mapped_column(default=False)  # what it does now cannot be stopped
    stage: Mapped[str] = mapped_column(String(200), default="")
    done: Mapped[int] = mapped_column(default=0)
    total: Mapped[int | None] = mapped_column(default=None)
    result: Mapped[dict[str, Any]] = mapped_column(default=dict)
    problem: Mapped[str | None] = mapped_column(Text, default=None)
    created: Mapped[datetime] = mapped_column(default=now)
    created_by: Mapped[str] = _to("people.id")
    started: Mapped[datetime | None] = mapped_column(default=None)
    ended: Mapped[datetime | None] = mapped_column(default=None)


class WorkerSeen(Base):
    """A worker that lives: when it was last seen, by the clock that leases go by."""

    __tablename__ = "workers"
    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    seen: Mapped[datetime]


class Release(Base):
    """A round was released; the database has it once at most."""

    __tablename__ = "releases"
    round_id: Mapped[str] = mapped_column(
        String(32), ForeignKey("rounds.id", ondelete="RESTRICT"), primary_key=True
    )
    head: Mapped[str] = mapped_column(String(64))  # of the ledger, as letters have it
    released: Mapped[datetime] = mapped_column(default=now)
    released_by: Mapped[str] = _to("people.id")


class Event(Base):
    """What somebody did, in order; each has the hash of the one before."""

    __tablename__ = "events"
    __table_args__ = (UniqueConstraint("collaboration_id", "number"),)
    id: Mapped[str] = _identity()
    collaboration_id: Mapped[str] = _to("collaborations.id")
    number: Mapped[int]
    time: Mapped[datetime] = mapped_column(default=now)
    person_id: Mapped[str | None] = _to("people.id", nullable=True)
    party_id: Mapped[str | None] = _to("parties.id", nullable=True)  # whom it is about
    action: Mapped[str] = mapped_column(String(40))
    detail: Mapped[dict[str, Any]] = mapped_column(default=dict)
    previous: Mapped[str] = mapped_column(String(64))
    hash: Mapped[str] = mapped_column(String(64))


class AuditorSignature(Base):
    """An auditor computed a released round anew, and signed what was found."""

    __tablename__ = "auditor_signatures"
    __table_args__ = (UniqueConstraint("round_id", "person_id"),)
    id: Mapped[str] = _identity()
    round_id: Mapped[str] = _to("rounds.id")
    person_id: Mapped[str] = _to("people.id")
    document: Mapped[str] = mapped_column(Text)
    time: Mapped[datetime] = mapped_column(default=now)


class Mail(Base):
    """A mail to one person: leased while it is sent, and numbered as a job is.

    It is written anew for each attempt, from what its notices are about: no text of it is kept.
    """

    __tablename__ = "mails"
    id: Mapped[str] = _identity()
    person_id: Mapped[str | None] = mapped_column(String(32), default=None, index=True)
    email: Mapped[str | None] = mapped_column(String(254), default=None)  # of who has no account
    state: Mapped[str] = _word(MailState, MailState.WAITING)
    fence: Mapped[int] = mapped_column(default=0)
    tries: Mapped[int] = mapped_column(default=0)
    due: Mapped[datetime] = mapped_column(index=True)
    leased_until: Mapped[datetime | None] = mapped_column(default=None)
    problem: Mapped[str | None] = mapped_column(Text, default=None)
    created: Mapped[datetime]
    ended: Mapped[datetime | None] = mapped_column(default=None)


class Notice(Base):
    """One thing to tell one person by mail, written in the transaction that makes it true.

    Nothing refers to the person for the database to hold: otherwise whoever moves a round would
    wait for each of its people who is signing in or leaving at the moment, and they for it.
    """

    __tablename__ = "notices"
    id: Mapped[str] = _identity()
    person_id: Mapped[str | None] = mapped_column(String(32), default=None)
    email: Mapped[str | None] = mapped_column(String(254), default=None)  # of who has no account
    collaboration_id: Mapped[str] = _to("collaborations.id")
    about: Mapped[str] = _word(About)
    round: Mapped[int | None] = mapped_column(default=None)  # its number
    invitation_id: Mapped[str | None] = mapped_column(String(32), default=None)
    mail_id: Mapped[str | None] = _to("mails.id", nullable=True)
    created: Mapped[datetime] = mapped_column(default=now)
