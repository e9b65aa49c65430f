"""What an operator forgets between rounds: of parties that have left, and of rows taken out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fairpool.compute.workers import Workers
from fairpool.consortium.preparation import prepare_alone
from fairpool.consortium.request import RunRequest
from fairpool.consortium.rounds.context import (
    LEDGER_FILE,
    MAC,
    RoundContext,
    open_context,
)
from fairpool.consortium.rounds.contributing import refuse_other_identity
from fairpool.consortium.rounds.identification import Identities, identify
from fairpool.consortium.rounds.keeping import FORGOTTEN
from fairpool.consortium.rounds.releasing import one_at_a_time, settle
from fairpool.errors import DataError, few, shown
from fairpool.ledger.ledger import Ledger
from fairpool.rounds.batches import rows_gone
from fairpool.rounds.history import ERASURE, History
from fairpool.rounds.party_batches import Part, PartyBatches
from fairpool.rounds.row_keys import Keys, in_order, places


@dataclass(frozen=True, kw_only=True)
class Erasure:
    """What was erased, and what cannot be.

    Attributes:
        party: The party's permanent identity.
        rows: How many rows something was kept of.
        holders: Who holds models that these rows went into.
    """

    party: str
    rows: int
    holders: tuple[str, ...]


def erase_party(configuration: Path, party: str, *, names: Sequence[str]) -> Erasure:
    """Forget all that is kept of a party that has left, at once.

    Args:
        configuration: The collaboration's folder, or its configuration.
        party: Its permanent identity, or what it was called last.
        names: The permanent identities of those who take part by the configuration.
    """
    with one_at_a_time(configuration):
        settle(configuration)
        context = open_context(configuration)
        history = context.history
        identity = _identity_of(history, party)
        if identity in names:
            raise DataError(
                f'party "{party}" still takes part; take it out of the configuration first'
                " ([[parties]]), then erase what is kept of it"
            )
        parts = []
        for name, record in history.parts.items():
            if record.party == identity and name not in history.erased:
                parts.append(name)
        if not parts:
            raise DataError(f'party "{party}": nothing is kept of it any longer')
        rows = sum(history.parts[name].rows for name in parts if _is_leaf(history, name))
        holders = _holders(history, identity)
        ledger = Ledger.open(context.folder / LEDGER_FILE, context.secret.subkey(MAC))
        # The record first: should the process be killed now, the next erasure does the rest.
        ledger.append(
            ERASURE,
            {
                "party": identity,
                "parts": parts,
                "summary": f"all that was kept of {identity} was erased ({len(parts)} parts)",
            },
        )
        for name in parts:
            context.kept.erase(name)
        context.kept.erase_record(identity)
    return Erasure(party=identity, rows=rows, holders=holders)


@dataclass(frozen=True, kw_only=True)
class Withdrawal:
    """What was erased of rows that a party took out of its table.

    Attributes:
        party: The party's permanent identity.
        rows: How many rows are gone.
        beside: How many rows were released together with them, and take no part until they return.
        holders: Who holds models that they went into.
    """

    party: str
    rows: int
    beside: int
    holders: tuple[str, ...]


def erase_withdrawn(
    configuration: Path, party: str, *, names: Sequence[str], workers: Workers | None = None
) -> Withdrawal:
    """Forget all sums that rows are in which a party has taken out of its table, at once.

    Without them the batches of these rows cannot stand: they leave with the next round, and the
    rows beside them return with the next batch.

    Args:
        configuration: The collaboration's folder, or its configuration.
        party: Its permanent identity, or what it was called last.
        names: The permanent identities of those who take part by the configuration.
        workers: Who is told about it.
    """
    workers = workers or Workers()
    with one_at_a_time(configuration):
        settle(configuration)
        context = open_context(configuration)
        identity = _identity_of(context.history, party)
        if identity not in names:
            raise DataError(
                f'party "{party}" takes no part any longer; erase all that is kept of it: fairpool'
                f" erase --party {identity}"
            )
        identities = _identities_now(configuration, identity, workers, context)
        batches = context.batches_of(identity)
        gone = rows_gone(identities.keys, batches.parts)
        kept = [name for name in gone if context.kept.has_sums(name)]
        if not kept:
            raise DataError(
                f'party "{party}": none of the rows that were released is gone, or nothing is kept'
                " of those that are; take the rows out of its table first, then erase what is kept"
                " of them"
            )
        lost = _lost_rows(identities.keys, [batches.parts[name] for name in kept])
        ledger = Ledger.open(context.folder / LEDGER_FILE, context.secret.subkey(MAC))
        # The record first: should the process be killed now, the next erasure does the rest.
        summary = f"sums that {lost} withdrawn row(s) of {identity} were in were erased"
        ledger.append(FORGOTTEN, {"parts": kept, "rows": lost, "summary": summary})
        for name in kept:
            context.kept.erase_sums(name)
        context.kept.erase_record(identity)
    return Withdrawal(
        party=identity,
        rows=lost,
        beside=_rows_beside(batches, gone),
        holders=_holders(context.history, identity),
    )


def _identities_now(
    configuration: Path, party: str, workers: Workers, context: RoundContext
) -> Identities:
    """Who a party's rows are, by its table as it is now."""
    request = RunRequest(configuration=configuration)
    preparation = prepare_alone(request, party, workers, context)
    if preparation.parties[0].arrived:
        raise DataError(
            f'party "{party}": its rows came as sums, so that nobody here knows which are gone;'
            " take out the contribution that they are in: it leaves with the next round"
        )
    identities = identify(
        preparation.parties[0],
        preparation.encoding,
        party=party,
        secret=context.secret,
        progress=workers.progress,
    )
    refuse_other_identity(context, party, identities)
    return identities


def _lost_rows(present: Keys, parts: Sequence[Part]) -> int:
    """How many different rows of some parts are no longer there."""
    known = in_order(present)
    lost: set[object] = set()
    for part in parts:
        lost |= set(part.keys[places(known, part.keys) < 0].tolist())
    return len(lost)


def _rows_beside(batches: PartyBatches, gone: Mapping[str, int]) -> int:
    """How many rows are still there of the active batches that lost some."""
    beside = 0
    for name in batches.active:
        parts = batches.batches[name].parts
        if not gone.keys().isdisjoint(parts):
            beside += sum(len(batches.parts[part]) - gone.get(part, 0) for part in parts)
    return beside


def _is_leaf(history: History, part: str) -> bool:
    """Whether a part's rows are in no later part: rows are to be counted once."""
    return all(record.parent != part for record in history.parts.values())


def _identity_of(history: History, party: str) -> str:
    """The permanent identity of a party, by that or by what it was called last."""
    known = {}
    for past in history.rounds:
        for participation in past.parties:
            known[participation.name] = participation.id
            known[participation.id] = participation.id
    if party not in known:
        listed = few([shown(name) for name in sorted(set(known))])
        raise DataError(f"party {shown(party)} took part in no round; those who did: {listed}")
    return known[party]


def _holders(history: History, identity: str) -> tuple[str, ...]:
    """Who was sent models that a party's rows went into."""
    holders = {}
    for past in history.rounds:
        for participation in past.parties:
            has_some = any(history.parts[part].party == identity for part in participation.etas)
            if participation.id != identity and has_some:
                holders[participation.id] = participation.name
    return tuple(holders.values())
