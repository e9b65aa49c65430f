"""Terms: proposed by the operator, accepted by each party for itself, and signed with all of that.

Terms are never changed. Others are a new version, which everybody must accept anew; the newest ones
are in force.
"""

from dataclasses import dataclass
from datetime import UTC
from hashlib import sha256

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.consortium.configuration import Configuration
from fairpool.consortium.rounds.operator_key import operator_key
from fairpool.errors import ConfigurationError
from fairpool.exchange.plan import SignedPlan
from fairpool.server.consortia import checks, draft, events, rounds
from fairpool.server.consortia.agreed import (
    Partner,
    accepted_by,
    body_of,
    in_force,
    partners,
)
from fairpool.server.consortia.plain_words import discloses, in_words
from fairpool.server.consortia.planned import plan_for
from fairpool.server.consortia.who import Who
from fairpool.server.refused import NotFoundError, RefusedError
from fairpool.server.settings import Settings
from fairpool.server.store.tables import (
    Acceptance,
    Collaboration,
    Party,
    Person,
    RoundState,
    Terms,
    now,
)
from fairpool.server.work.project import folder_of
from fairpool.signatures import SigningKey, sign

__all__ = [
    "Difference",
    "Partner",
    "accept",
    "accepted_by",
    "body_of",
    "differences",
    "in_force",
    "partners",
    "propose",
]

TERMS = "terms"
ACCEPTANCE = "acceptance"
"""Kinds of signed documents."""


def propose(session: Session, settings: Settings, who: Who) -> Terms:
    """Propose the draft; refused with everything that keeps it from being one.

    A draft that says what is in force already leaves that in force.

    Args:
        session: The open transaction.
        settings: Where the collaboration's folder is.
        who: The operator.
    """
    if not who.is_operator:
        raise NotFoundError
    rounds.lock(session, who.collaboration.id)
    _refuse_while_computed(session, who.collaboration)
    toml = who.collaboration.draft
    configuration = draft.checked(toml)
    _refuse_departed(session, who.collaboration, configuration)
    before = in_force(session, who.collaboration)
    folder = folder_of(settings, who.collaboration.id)
    plan = plan_for(folder, toml, configuration, before=None if before is None else before.plan)
    text = None if plan is None else plan.document.content.decode()
    if before is not None and (before.toml, before.plan) == (toml, text):
        return before
    terms = Terms(
        collaboration_id=who.collaboration.id,
        version=1 if before is None else before.version + 1,
        toml=toml,
        plan=text,
        proposed=now(),
        proposed_by=who.person.id,
    )
    key = operator_key(folder)
    terms.document = _document(terms, configuration, plan, key=key)
    terms.digest = sha256(terms.document.encode()).hexdigest()
    session.add(terms)
    draft.agree_on_parties(session, who.collaboration, configuration)
    session.flush()
    round_ = rounds.open_next(session, who.collaboration)
    checks.ask_again(session, who, round_)
    events.record(
        session,
        who.collaboration,
        who,
        "terms-proposed",
        {"version": terms.version, "terms": terms.digest},
    )
    return terms


def _document(
    terms: Terms, configuration: Configuration, plan: SignedPlan | None, *, key: SigningKey
) -> str:
    """All that is agreed to, signed, as a text."""
    said = {
        "version": terms.version,
        "collaboration": terms.collaboration_id,
        "name": configuration.name,
        "proposed": terms.proposed.astimezone(UTC).isoformat(timespec="seconds"),
        "configuration": terms.toml,
        "plan": None if plan is None else plan.digest,
        "parties": [
            {"id": party.permanent_id, "name": party.name, "key": party.key}
            for party in configuration.parties
        ],
        "words": in_words(configuration, plan),
        "discloses": list(discloses(configuration, plan)),
    }
    return sign(key, TERMS, said).content.decode()


def _refuse_while_computed(session: Session, collaboration: Collaboration) -> None:
    newest = rounds.current(session, collaboration)
    if newest is not None and newest.state not in (RoundState.OPEN, RoundState.RELEASED):
        raise RefusedError(
            f"round {newest.number} is closed, on the terms that everybody accepted; open it again,"
            " or release it, before other terms are proposed"
        )


def _refuse_departed(
    session: Session, collaboration: Collaboration, configuration: Configuration
) -> None:
    """Refuse parties that have left."""
    mine = select(Party).where(Party.collaboration_id == collaboration.id)
    departed = {party.permanent for party in session.scalars(mine) if party.left is not None}
    problems = [
        f'parties {number}: "{party.name}" has left the collaboration; take it out'
        for number, party in enumerate(configuration.parties, 1)
        if party.permanent_id in departed
    ]
    if problems:
        raise ConfigurationError(*problems)


def accept(session: Session, settings: Settings, who: Who, digest: str) -> Acceptance:
    """Accept terms for one's own party; once for each, by whichever of its people comes first.

    Args:
        session: The open transaction.
        settings: Where the collaboration's folder is.
        who: One of the party's own people.
        digest: Of the terms that were looked at: only these are accepted.
    """
    party = who.own_party
    rounds.lock(session, who.collaboration.id)
    terms = in_force(session, who.collaboration)
    if terms is None:
        raise RefusedError("no terms were proposed yet; you will be asked once there are some")
    if terms.digest != digest:
        raise RefusedError(
            "these terms are no longer in force: others were proposed after you looked; read those,"
            " and accept them if they are right"
        )
    if party.left is not None or party.permanent not in {one.id for one in partners(terms)}:
        raise RefusedError(f'"{party.name}" takes no part in these terms; ask the operator')
    given = accepted_by(session, terms).get(party.id)
    if given is not None:
        return given
    acceptance = Acceptance(
        terms_id=terms.id, party_id=party.id, person_id=who.person.id, time=now()
    )
    key = operator_key(folder_of(settings, who.collaboration.id))
    acceptance.document = _accepted(acceptance, terms, party, who.person, key=key)
    session.add(acceptance)
    session.flush()
    events.record(
        session,
        who.collaboration,
        who,
        "terms-accepted",
        {
            "version": terms.version,
            "terms": terms.digest,
            "acceptance": sha256(acceptance.document.encode()).hexdigest(),
        },
    )
    return acceptance


def _accepted(
    acceptance: Acceptance, terms: Terms, party: Party, person: Person, *, key: SigningKey
) -> str:
    said = {
        "collaboration": terms.collaboration_id,
        "terms": terms.digest,
        "version": terms.version,
        "party": party.permanent,
        "name": party.name,
        "person": {"name": person.name, "email": person.email},
        "time": acceptance.time.astimezone(UTC).isoformat(timespec="seconds"),
    }
    return sign(key, ACCEPTANCE, said).content.decode()


@dataclass(frozen=True, kw_only=True)
class Difference:
    """What terms say otherwise than those before.

    Attributes:
        what: Which entry; empty: a sentence on what is disclosed.
        before: What it was; empty: it is new.
        after: What it is; empty: it is gone.
    """

    what: str
    before: str
    after: str


def differences(before: Terms, after: Terms) -> tuple[Difference, ...]:
    """What changed from one version to another, in the words that both were signed with.

    A change that these words do not have is told as one of the configuration.
    """
    old, new = body_of(before), body_of(after)
    found = []
    for what in {**old["words"], **new["words"]}:
        was, now_is = old["words"].get(what, ""), new["words"].get(what, "")
        if was != now_is:
            found.append(Difference(what=what, before=was, after=now_is))
    gone = [one for one in old["discloses"] if one not in new["discloses"]]
    found += [Difference(what="", before=sentence, after="") for sentence in gone]
    come = [one for one in new["discloses"] if one not in old["discloses"]]
    found += [Difference(what="", before="", after=sentence) for sentence in come]
    if not found and before.toml != after.toml:
        found.append(
            Difference(
                what="configuration",
                before="",
                after="its text: other settings than those above, or other comments",
            )
        )
    return tuple(found)
