"""A released round as an auditor finds it: what the ledger says, and what it was made of."""

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from fairpool.consortium.configuration import FILE_NAME
from fairpool.consortium.rounds.agreement import Agreement
from fairpool.consortium.rounds.context import (
    KEPT_FOLDER,
    LEDGER_FILE,
    MAC,
    PLAN_FILE,
    ROUNDS_FOLDER,
    SEAL,
    SECRET_FILE,
    STATE_FOLDER,
    agreement_paths,
    home_of,
    read_agreement,
)
from fairpool.consortium.rounds.keeping import FORGOTTEN
from fairpool.consortium.rounds.kept import Kept
from fairpool.errors import ContributionError, DataError, FairpoolError, LedgerError, shown
from fairpool.exchange.arrival import Arrived, Sender, arrive
from fairpool.exchange.contribution_file import SUFFIX, ContributionFile, most_bytes
from fairpool.exchange.plan import SignedPlan
from fairpool.exchange.receipt import Receipt
from fairpool.keyed_noise.secret import Secret
from fairpool.ledger.record import Record
from fairpool.ledger.verification import Verification, verify
from fairpool.rounds.history import RELEASE, History, PastRound, history_of

MOST_CONTRIBUTIONS = 100_000


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenedRound:
    """A released round.

    Attributes:
        folder: The collaboration's, or a copy of what the operator shows of it.
        ledger: What was found in its ledger.
        body: The record of the release.
        release: The hash of that record.
        past: The round.
        before: All earlier releases.
        after: The same with this one.
        plan: What was agreed; None: there is no plan.
        secret: What noise and salts are made of; None: it is not shown.
        agreement: Scaling, features and hyperparameters of the round.
        agreement_is_recorded: Whether that is what the ledger has the hash of.
        arrived: Contributions by digest.
        damaged: Contributions that cannot be used, and why.
        settings: The configuration that was used, as far as the round's folder has it.
        receipts: What parties hold against the operator.
        forgotten: Parts whose sums were erased before, since they had taken no part for long.
    """

    folder: Path
    ledger: Verification = field(repr=False)
    body: dict[str, Any] = field(repr=False)
    release: str
    past: PastRound
    before: History = field(repr=False)
    after: History = field(repr=False)
    plan: SignedPlan | None
    secret: Secret | None
    agreement: Agreement
    agreement_is_recorded: bool
    arrived: dict[str, Arrived] = field(repr=False)
    damaged: tuple[str, ...]
    settings: dict[str, Any] = field(repr=False)
    receipts: tuple[Receipt, ...] = ()
    forgotten: frozenset[str] = frozenset()

    @property
    def kept(self) -> Kept | None:
        """Sums over rows that the operator has kept; None: nobody can read them."""
        if self.secret is None:
            return None
        return Kept(self.folder / STATE_FOLDER / KEPT_FOLDER, self.secret.subkey(SEAL))

    def setting(self, section: str, name: str, default: Any) -> Any:
        """A key of the configuration that was used."""
        return self.settings.get(section, {}).get(name, default)


def open_round(
    configuration: Path, number: int, *, plan: Path | None = None, receipts: Sequence[Path] = ()
) -> OpenedRound:
    """Everything that there is of a round; nothing is written.

    Args:
        configuration: The collaboration's folder, or a copy of what the operator shows of it:
            ledger.jsonl, plan.json, contributions, rounds/ and .fairpool/ without the private key.
        number: Of the round.
        plan: What was agreed, as parties have it; None: as the operator has it.
        receipts: What parties hold against the operator.
    """
    folder = home_of(configuration)
    secret_path = folder / STATE_FOLDER / SECRET_FILE
    secret = Secret.read(secret_path) if secret_path.exists() else None
    ledger = verify(folder / LEDGER_FILE, None if secret is None else secret.subkey(MAC))
    told = _told(folder / LEDGER_FILE, ledger, number)
    body = told.body
    plans = _plans(folder, body, plan)
    arrived, damaged = _contributions(folder, plans)
    digest = body["agreement"]
    agreement = read_agreement(folder, digest)
    content = agreement_paths(folder, digest)[0].read_bytes()
    return OpenedRound(
        folder=folder,
        ledger=ledger,
        body=body,
        release=told.release,
        past=told.after.rounds[-1],
        before=told.before,
        after=told.after,
        plan=plans[0] if plans else None,
        secret=secret,
        agreement=agreement,
        agreement_is_recorded=hashlib.sha256(content).hexdigest() == digest,
        arrived=arrived,
        damaged=damaged,
        settings=_settings(folder, body),
        receipts=tuple(Receipt.of_content(path.read_bytes(), str(path)) for path in receipts),
        forgotten=told.forgotten,
    )


class _Told(NamedTuple):
    """What a ledger tells of a round."""

    body: dict[str, Any]
    release: str
    before: History
    after: History
    forgotten: frozenset[str]


def _told(path: Path, ledger: Verification, number: int) -> _Told:
    """What a ledger tells of a round; its operator may have written anything into it."""
    try:
        return _read_round(path, ledger.records, number)
    except FairpoolError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise LedgerError(
            f"{path}: round {number} is not recorded as fairpool records rounds ({what}); ask the"
            " operator for the ledger again"
        ) from None


def _read_round(path: Path, records: Sequence[Record], number: int) -> _Told:
    releases = [
        place
        for place, record in enumerate(records)
        if record.kind == RELEASE and record.body["round"] == number
    ]
    if not releases:
        raise LedgerError(
            f"{path}: it tells of no release of round {number}; `fairpool rounds {path.parent}`"
            " lists them (rounds before an exchange of the secret are in older ledgers)"
        )
    place = releases[0]
    record = records[place]
    after = history_of(records[: place + 1])
    inside = [record.body["folder"]]
    for past in after.rounds:
        inside += [one.path for one in past.parties if one.path is not None]
    for one in inside:
        parts = PurePosixPath(one).parts
        if not parts or parts[0] != ROUNDS_FOLDER or ".." in parts:
            raise LedgerError(f"{path}: {shown(one)} is no place of a round")
    forgotten = set()
    for earlier in records[:place]:
        if earlier.kind == FORGOTTEN:
            forgotten |= set(earlier.body["parts"])
    return _Told(
        body=record.body,
        release=record.hash,
        before=history_of(records[:place]),
        after=after,
        forgotten=frozenset(forgotten),
    )


def _plans(folder: Path, body: dict[str, Any], given: Path | None) -> list[SignedPlan]:
    """All plans that are here: first the one that the round is compared with."""
    of_round = folder / body["folder"] / "operator" / PLAN_FILE
    paths = [of_round, folder / PLAN_FILE, *sorted(folder.glob(f"*/*/operator/{PLAN_FILE}"))]
    if given is not None:
        paths.insert(0, given)
    elif not of_round.exists() and body["files"].get(f"operator/{PLAN_FILE}") is not None:
        raise DataError(f"{of_round}: the plan of the round is gone; give it (--plan)")
    plans: dict[str, SignedPlan] = {}
    for path in paths:
        if path.exists() or path == given:
            plan = SignedPlan.of_content(path.read_bytes(), str(path))
            plans.setdefault(plan.digest, plan)
    return list(plans.values())


def _contributions(
    folder: Path, plans: Sequence[SignedPlan]
) -> tuple[dict[str, Arrived], tuple[str, ...]]:
    """All contributions below the folder, with everything checked that can be."""
    arrived: dict[str, Arrived] = {}
    damaged: list[str] = []
    if not plans:
        return arrived, ()
    most = max(most_bytes(plan.plan) for plan in plans)
    files = sorted(path for path in folder.rglob(f"*{SUFFIX}") if not path.is_symlink())
    if len(files) > MOST_CONTRIBUTIONS:
        raise DataError(f"{folder}: it has more than {MOST_CONTRIBUTIONS} contributions")
    for path in files:
        with path.open("rb") as file:
            content = file.read(most + 1)
        try:
            one = _arrived(content, str(path), plans)
        except ContributionError as error:
            damaged += error.problems
        else:
            arrived[one.file.digest] = one
    return arrived, tuple(damaged)


def _arrived(content: bytes, name: str, plans: Sequence[SignedPlan]) -> Arrived:
    """A contribution, checked under the first plan that has its party.

    A party may have left since, and then a later plan does not have it.
    """
    read = ContributionFile.of_bytes(content, name)
    for plan in plans:
        planned = plan.plan.party(read.manifest.party)
        if planned is not None and planned.key is not None:
            sender = Sender(id=planned.id, name=planned.name, key=planned.key)
            return arrive(content, name, plan=plan, sender=sender)
    raise ContributionError(f"{name}: no plan has its party with a key")


def _settings(folder: Path, body: dict[str, Any]) -> dict[str, Any]:
    """The configuration that was used; nothing where the round's folder has none."""
    name = f"operator/{FILE_NAME}"
    path = folder / body["folder"] / name
    try:
        content = path.read_bytes()
    except OSError:
        return {}
    if hashlib.sha256(content).hexdigest() != body["files"].get(name):
        raise DataError(f"{path}: it is not what was released, as the ledger tells it")
    try:
        return tomllib.loads(content.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"{path}: it cannot be read ({error})") from None
