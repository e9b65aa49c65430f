"""Terms, drafts and acceptances, in the words of their page."""

from collections.abc import Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.errors import FairpoolError
from fairpool.server.consortia import draft, terms
from fairpool.server.consortia.plain_words import discloses, in_words
from fairpool.server.consortia.who import Who
from fairpool.server.store.tables import Acceptance, Party, Person, Terms
from fairpool.server.web.pages.here import Here
from fairpool.server.web.pages.terms_views import (
    AcceptanceLine,
    Change,
    DraftCard,
    EarlierTerms,
    Fact,
    TermsCard,
)
from fairpool.server.web.routing import API

OTHER_SETTINGS = Change.between(
    "Configuration", "", "other settings than those below, or other comments"
)

ORDER = (
    "what is predicted",
    "from",
    "model",
    "what a party receives",
    "what a contribution is",
    "parties",
    "missing values",
    "labels that do not agree",
)
"""What a reader wants to know first; the rest follows."""


def versions(session: Session, who: Who) -> Sequence[Terms]:
    """All terms that were ever proposed, the newest last."""
    mine = select(Terms).where(Terms.collaboration_id == who.collaboration.id)
    return session.scalars(mine.order_by(Terms.version)).all()


def terms_card(here: Here, shown: Terms) -> TermsCard:
    """Terms that were proposed."""
    body = terms.body_of(shown)
    return TermsCard(
        version=shown.version,
        digest=shown.digest,
        proposed=shown.proposed,
        facts=_facts(body["words"]),
        shows=tuple(body["discloses"]),
        toml=shown.toml,
        document=_document(here, shown),
        plan=plan_address(here, shown),
    )


def draft_card(who: Who, in_force: Terms | None) -> DraftCard:
    """The draft, as it would be proposed."""
    toml = who.collaboration.draft
    try:
        configuration = draft.checked(toml)
    except FairpoolError as error:
        return DraftCard(facts=(), shows=(), problems=tuple(error.problems), changes=())
    words = in_words(configuration, None)
    changes: tuple[Change, ...] = ()
    if in_force is not None and in_force.toml != toml:
        before = {**terms.body_of(in_force)["words"]}
        before.pop("plan's hash", None)  # the draft's own is made when it is proposed
        changes = _between(before, words) or (OTHER_SETTINGS,)
    shows = () if draft.sends_sums(configuration) else discloses(configuration, None)
    return DraftCard(facts=_facts(words), shows=shows, problems=(), changes=changes)


def changes_of(every: Sequence[Terms]) -> tuple[Change, ...]:
    """What the newest terms say otherwise than those before."""
    if len(every) < 2:
        return ()
    return tuple(
        Change.between(_title(one.what or "what becomes known"), one.before, one.after)
        for one in terms.differences(every[-2], every[-1])
    )


def acceptances_of(
    session: Session, here: Here, who: Who, shown: Terms
) -> tuple[AcceptanceLine, ...]:
    """Who accepted terms: of all parties for operators and auditors, else of one's own."""
    given = terms.accepted_by(session, shown)
    mine = select(Party).where(Party.collaboration_id == who.collaboration.id)
    records = {party.permanent: party for party in session.scalars(mine)}
    lines = []
    for partner in terms.partners(shown):
        party = records[partner.id]
        if who.party is None or who.party.id == party.id:
            lines.append(_acceptance(session, here, partner.name, given.get(party.id)))
    return tuple(lines)


def _acceptance(
    session: Session, here: Here, name: str, given: Acceptance | None
) -> AcceptanceLine:
    if given is None:
        return AcceptanceLine(party=name)
    return AcceptanceLine(
        party=name,
        time=given.time,
        person=session.get_one(Person, given.person_id).name,
        document=f"{API}{here.address}/acceptances/{given.id}/document",
    )


def earlier_of(here: Here, every: Sequence[Terms]) -> tuple[EarlierTerms, ...]:
    """All but the newest terms, the newest of them first."""
    return tuple(
        EarlierTerms(version=one.version, proposed=one.proposed, document=_document(here, one))
        for one in reversed(every[:-1])
    )


def plan_address(here: Here, shown: Terms) -> str | None:
    """Where the plan is by which parties sum up their rows; None: all send rows."""
    return None if shown.plan is None else f"{API}{here.address}/terms/{shown.digest}/plan"


def _document(here: Here, shown: Terms) -> str:
    return f"{API}{here.address}/terms/{shown.digest}/document"


def _facts(words: Mapping[str, str]) -> tuple[Fact, ...]:
    ordered = [what for what in ORDER if what in words]
    ordered += [what for what in words if what not in ORDER]
    return tuple(Fact(title=_title(what), text=words[what]) for what in ordered)


def _between(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Change, ...]:
    found = []
    for what in {**before, **after}:
        was, will = before.get(what, ""), after.get(what, "")
        if was != will:
            found.append(Change.between(_title(what), was, will))
    return tuple(found)


def _title(what: str) -> str:
    return what[:1].upper() + what[1:]
