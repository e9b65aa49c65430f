"""What earlier rounds released, as their records in the ledger tell it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from fairpool.realisation.disclosure import files_together
from fairpool.rounds.holdings import Holding
from fairpool.rounds.party_batches import Batch


@dataclass(frozen=True, kw_only=True)
class PartRecord:
    """What is recorded of a part.

    Attributes:
        party: The party's permanent identity.
        parent: The part that its rows were in before; None: in none.
        rows: How many there are.
        key: The fingerprint of the secret that its rows are known by.
        contribution: Of sums, the digest of the contribution; empty: its rows are known.
    """

    party: str
    parent: str | None
    rows: int
    key: str
    contribution: str = ""


@dataclass(frozen=True, kw_only=True)
class Participation:
    """One party in one round.

    Attributes:
        id: Its permanent identity.
        name: What it was called.
        rows: How many of its rows took part.
        waiting: How many were there, but wait until enough others come.
        batches: The batches that took part.
        identity: The columns that its rows are known by.
        inputs: The SHA-256 of its files.
        value: v_i.
        reward: r_i.
        holds: What all that it holds since then is worth.
        eta: The noise variance of the others' rows that were new to it, in squared units of the
            target; None: it was sent nothing, or nothing of the others'.
        file: The SHA-256 of the model that it was sent; None: nothing was sent.
        path: Where that is, beside the ledger; None: nothing was sent.
        etas: By part of the others' rows, the noise variance in the model that it was sent.
        gone: How many of the rows that took part were no longer there.
        most: The share of v_N that it wanted to hold at most.
        spent: Those of its batches that took part, and were in no new file.
        noisy: Whether its numbers of rows have noise, since it hides its rows.
    """

    id: str
    name: str
    rows: int
    waiting: int
    batches: tuple[str, ...]
    identity: tuple[str, ...]
    inputs: tuple[str, ...]
    value: float
    reward: float
    holds: float
    eta: float | None
    file: str | None
    path: str | None
    etas: Mapping[str, float] = field(default_factory=dict)
    gone: int = 0
    most: float = 1.0
    spent: tuple[str, ...] = ()
    noisy: bool = False

    @property
    def told(self) -> set[str]:
        """The batches that were in new files."""
        return {*self.batches} - {*self.spent}

    def to_dict(self) -> dict[str, Any]:
        """For the ledger."""
        return {
            "id": self.id,
            "name": self.name,
            "rows": self.rows,
            "waiting": self.waiting,
            "batches": list(self.batches),
            "identity": list(self.identity),
            "inputs": list(self.inputs),
            "value": self.value,
            "reward": self.reward,
            "holds": self.holds,
            "eta": self.eta,
            "file": self.file,
            "path": self.path,
            "etas": dict(self.etas),
            "gone": self.gone,
            "most": self.most,
            "spent": list(self.spent),
            "noisy": self.noisy,
        }

    @classmethod
    def of_dict(cls, entries: Mapping[str, Any]) -> "Participation":
        """What `to_dict` gave."""
        return cls(
            id=entries["id"],
            name=entries["name"],
            rows=entries["rows"],
            waiting=entries["waiting"],
            batches=tuple(entries["batches"]),
            identity=tuple(entries["identity"]),
            inputs=tuple(entries["inputs"]),
            value=entries["value"],
            reward=entries["reward"],
            holds=entries["holds"],
            eta=entries["eta"],
            file=entries["file"],
            path=entries["path"],
            etas=entries["etas"],
            # Ledgers of earlier versions do not have these.
            gone=entries.get("gone", 0),
            most=entries.get("most", 1.0),
            spent=tuple(entries.get("spent", ())),
            noisy=entries.get("noisy", False),
        )


@dataclass(frozen=True, kw_only=True)
class PastRound:
    """One release.

    Attributes:
        number: From 1.
        time: When, in UTC.
        head: The hash of the record of its run, which its letters and files carry.
        folder: Where its files are, beside the ledger.
        rho: What was asked for.
        rho_used: The number.
        contributions: How contributions were measured.
        total: v_N.
        terms: The SHA-256 of the configuration.
        agreement: The SHA-256 of scaling, features and hyperparameters.
        parties: Who took part.
        kept: How much each of them kept of what its reward added to its own data; None: all.
    """

    number: int
    time: str
    head: str
    folder: str
    rho: float | str
    rho_used: float
    contributions: str
    total: float
    terms: str
    agreement: str
    parties: tuple[Participation, ...]
    kept: tuple[float, ...] | None = None

    def of(self, party: str) -> Participation | None:
        """What a party, by its permanent identity, did in it."""
        for participation in self.parties:
            if participation.id == party:
                return participation
        return None


@dataclass(frozen=True, kw_only=True)
class History:
    """All releases so far.

    Attributes:
        rounds: In order.
        parts: Every part by name, oldest first.
        batches: Every batch by name, oldest first.
        erased: Parts of which nothing is kept any longer.
    """

    rounds: tuple[PastRound, ...] = ()
    parts: Mapping[str, PartRecord] = field(default_factory=dict)
    batches: Mapping[str, Batch] = field(default_factory=dict)
    erased: frozenset[str] = frozenset()

    @property
    def last(self) -> PastRound | None:
        """The last release; None: there was none."""
        return self.rounds[-1] if self.rounds else None

    @property
    def next_number(self) -> int:
        """Of the round to come."""
        return self.rounds[-1].number + 1 if self.rounds else 1

    @property
    def parents(self) -> dict[str, str | None]:
        """Of every part, the one that its rows were in before."""
        return {name: part.parent for name, part in self.parts.items()}

    def latest(self, party: str) -> Participation | None:
        """The last round that a party took part in, as far as it is concerned."""
        for past in reversed(self.rounds):
            participation = past.of(party)
            if participation is not None:
                return participation
        return None

    def last_sent(self, party: str) -> PastRound | None:
        """The round in which a party was last sent a model; None: it never was."""
        for past in reversed(self.rounds):
            participation = past.of(party)
            if participation is not None and participation.file is not None:
                return past
        return None

    def holding(self, party: str) -> Holding:
        """What a party holds of the others' rows."""
        holding = Holding()
        for past in self.rounds:
            participation = past.of(party)
            if participation is not None:
                holding = holding.after(participation.etas)
        return holding

    def files_with(self, party: str, colluding: int | None) -> int:
        """How many files with a party's rows in them may be in the same hands by now.

        Args:
            party: Its permanent identity.
            colluding: How many recipients may put their files together; None: all.
        """
        files = 0
        for past in self.rounds:
            holders = 0
            for participation in past.parties:
                if participation.id != party and self._has_rows_of(participation, party):
                    holders += 1
            files += files_together(holders, colluding)
        return files

    @cached_property
    def fresh_parts(self) -> dict[str, tuple[str, ...]]:
        """Of every batch the parts whose rows were in no batch before it."""
        fresh: dict[str, tuple[str, ...]] = {}
        known: set[str] = set()
        for name, batch in self.batches.items():
            fresh[name] = tuple(
                part
                for part in batch.parts
                if self.parts[part].parent is None and part not in known
            )
            known |= {*batch.parts}
        return fresh

    @cached_property
    def _recipients(self) -> dict[str, dict[int, set[str]]]:
        """Of every part who was sent it in which round."""
        recipients: dict[str, dict[int, set[str]]] = {}
        for past in self.rounds:
            for one in past.parties:
                for part in one.etas:
                    recipients.setdefault(part, {}).setdefault(past.number, set()).add(one.id)
        return recipients

    def files_with_batch(self, batch: str, colluding: int | None) -> int:
        """How many files with what was new in a batch may be in the same hands by now.

        Args:
            batch: Its name.
            colluding: How many recipients may put their files together; None: all.
        """
        by_round: dict[int, set[str]] = {}
        for part in self.fresh_parts[batch]:
            for number, holders in self._recipients.get(part, {}).items():
                by_round[number] = by_round.get(number, set()) | holders
        return sum(files_together(len(holders), colluding) for holders in by_round.values())

    def _has_rows_of(self, participation: Participation, party: str) -> bool:
        return any(self.parts[part].party == party for part in participation.etas)


RELEASE = "release"
ERASURE = "erasure"
IMPORTED = "imported"
"""The kinds of records that a history is made of; the last one holds those of an older ledger."""


class _Told(NamedTuple):
    """A record of an older ledger."""

    kind: str
    time: str
    body: Mapping[str, Any]


def told_by(records: Sequence[Any]) -> list[_Told]:
    """The records that a history is made of, in order, with those of older ledgers.

    Args:
        records: Each with a `kind`, a `time` and a `body`, in order.
    """
    told = []
    for record in records:
        if record.kind == IMPORTED:
            told += [_Told(**entries) for entries in record.body["records"]]
        elif record.kind in (RELEASE, ERASURE):
            told.append(_Told(kind=record.kind, time=record.time, body=record.body))
    return told


def history_of(records: Sequence[Any]) -> History:
    """The releases in a ledger.

    Args:
        records: Each with a `kind`, a `time` and a `body`, in order.
    """
    rounds = []
    parts: dict[str, PartRecord] = {}
    batches: dict[str, Batch] = {}
    erased: set[str] = set()
    for record in told_by(records):
        body = record.body
        if record.kind == ERASURE:
            erased.update(body["parts"])
            continue
        for name, entries in body["parts"].items():
            parts.setdefault(name, PartRecord(**entries))
        for name, entries in body["batches"].items():
            batch = Batch(name=name, party=entries["party"], parts=tuple(entries["parts"]))
            batches.setdefault(name, batch)
        rounds.append(
            PastRound(
                number=body["round"],
                time=record.time,
                head=body["head"],
                folder=body["folder"],
                rho=body["rho"],
                rho_used=body["rho_used"],
                contributions=body["contributions"],
                total=body["total"],
                terms=body["terms"],
                agreement=body["agreement"],
                parties=tuple(Participation.of_dict(entries) for entries in body["parties"]),
                kept=None if body["kept"] is None else tuple(body["kept"]),
            )
        )
    return History(rounds=tuple(rounds), parts=parts, batches=batches, erased=frozenset(erased))
