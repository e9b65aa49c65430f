"""Where a collaboration stands before a round: its secret, its ledger, and what is kept."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fairpool.consortium.rounds.agreement import Agreement
from fairpool.consortium.rounds.kept import Kept
from fairpool.consortium.rounds.known import Known
from fairpool.errors import LedgerError
from fairpool.keyed_noise.secret import Secret
from fairpool.ledger.ledger import Ledger
from fairpool.ledger.transaction import unfinished
from fairpool.rounds.batches import Part, PartyBatches
from fairpool.rounds.history import History, history_of

LEDGER_FILE = "ledger.jsonl"
STATE_FOLDER = ".fairpool"
SECRET_FILE = "secret.key"
AGREEMENT_FILE = "agreed"
KEPT_FOLDER = "kept"
LOCK_FILE = "lock"
ROUNDS_FOLDER = "rounds"
LATEST_FILE = "latest"
NEW_LEDGER = f".{LEDGER_FILE}.new"
NEW_SECRET = f"{SECRET_FILE}.new"
NEW_KEPT = f"{KEPT_FOLDER}.new"
"""What lies beside collaboration.toml."""

NO_HEAD = "0" * 64
"""Of a ledger without records."""

MAC = "ledger"
SEAL = "kept"
"""What subkeys are for."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RoundContext:
    """What is known of a collaboration before a round.

    Attributes:
        folder: Where its configuration, its ledger and its rounds are.
        secret: Its secret; a new one, which is not yet written, in the first round.
        is_new: Whether the secret is new.
        history: What was released so far.
        head: The ledger's.
        agreement: What all rounds share; None: it is still to be learned, or is to be learned anew.
        agreement_digest: Of the one that is there; empty: none.
        learns_anew: Whether the operator asked for that.
    """

    folder: Path
    secret: Secret
    is_new: bool
    history: History
    head: str
    agreement: Agreement | None
    agreement_digest: str
    learns_anew: bool = False

    @property
    def number(self) -> int:
        """Of the round to come."""
        return self.history.next_number

    @property
    def kept(self) -> Kept:
        """What is kept of earlier rounds' rows."""
        folder = self.folder / STATE_FOLDER / KEPT_FOLDER
        return Kept(folder, self.secret.subkey(SEAL))

    @cached_property
    def known(self) -> Known:
        """Of which files something is kept."""
        return Known(self.kept)

    def batches_of(self, party: str) -> PartyBatches:
        """A party's batches so far, by its permanent identity.

        Those of another secret are not among them: their rows cannot be recognised.
        """
        parts = {}
        for name, record in self.history.parts.items():
            is_known = record.key == self.secret.fingerprint and name not in self.history.erased
            if record.party == party and is_known:
                keys = self.kept.keys(name, party)
                parts[name] = Part(name=name, party=party, parent=record.parent, keys=keys)
        batches = {
            name: batch
            for name, batch in self.history.batches.items()
            if batch.party == party and parts.keys() >= set(batch.parts)
        }
        last = self.history.last
        participation = None if last is None else last.of(party)
        active = () if participation is None else participation.batches
        return PartyBatches(
            party=party,
            parts=parts,
            batches=batches,
            active=frozenset(name for name in active if name in batches),
        )


def nobody(folder: Path) -> RoundContext:
    """A collaboration that has released nothing yet."""
    return RoundContext(
        folder=folder,
        secret=Secret.fresh(),
        is_new=True,
        history=History(),
        head=NO_HEAD,
        agreement=None,
        agreement_digest="",
    )


def home_of(configuration: Path) -> Path:
    """The folder of a collaboration, from it or from its configuration file."""
    return configuration if configuration.is_dir() else configuration.parent


def open_context(configuration: Path, *, learn_anew: bool = False) -> RoundContext:
    """Where a collaboration stands; nothing is written.

    Args:
        configuration: The folder with collaboration.toml, or the file.
        learn_anew: Whether scaling, features and hyperparameters are to be learned anew.
    """
    folder = home_of(configuration)
    secret_path = folder / STATE_FOLDER / SECRET_FILE
    ledger_path = folder / LEDGER_FILE
    if not secret_path.exists():
        if ledger_path.exists():
            raise LedgerError(
                f"{secret_path}: the secret is gone, but there is a ledger; restore it from a"
                " backup, or, if it is lost, say so: fairpool key lost (it says what that costs)"
            )
        _refuse_orphans(folder)
        return nobody(folder)
    if not ledger_path.exists() and (folder / ROUNDS_FOLDER).exists():
        raise LedgerError(
            f"{ledger_path}: the ledger is gone, but rounds were released; restore it from a"
            " backup: it alone tells who holds what"
        )
    secret = Secret.read(secret_path)
    ledger = Ledger.open(ledger_path, secret.subkey(MAC))
    if unfinished(ledger) is not None:
        raise LedgerError(
            f"{ledger_path}: a run was stopped while it released; `fairpool run {folder}` finishes"
            " or undoes that first"
        )
    history = history_of(ledger.records)
    agreement = None
    digest = ""
    if history.last is not None:
        digest = history.last.agreement
        if not learn_anew:
            agreement = read_agreement(folder, digest)
    return RoundContext(
        folder=folder,
        secret=secret,
        is_new=False,
        history=history,
        head=ledger.head,
        agreement=agreement,
        agreement_digest=digest,
        learns_anew=learn_anew and history.last is not None,
    )


def _refuse_orphans(folder: Path) -> None:
    """Refuse to begin anew where rounds were released, of which nothing else is left."""
    rounds = folder / ROUNDS_FOLDER
    if any(rounds.glob("*/operator/result.json")):
        raise LedgerError(
            f"{rounds}: rounds were released, but both the secret and the ledger are gone; restore"
            f" {STATE_FOLDER} and {LEDGER_FILE} from a backup: a new beginning would draw new noise"
            " for the same labels, and forget who holds what"
        )


def agreement_paths(folder: Path, digest: str) -> tuple[Path, Path]:
    """Where an agreement is: the model, and the words about it."""
    stem = folder / STATE_FOLDER / f"{AGREEMENT_FILE}-{digest[:16]}"
    return stem.with_suffix(".safetensors"), stem.with_suffix(".json")


def read_agreement(folder: Path, digest: str) -> Agreement:
    """The agreement with this digest."""
    model, words = agreement_paths(folder, digest)
    try:
        content = model.read_bytes()
        said = words.read_bytes()
    except OSError as error:
        raise LedgerError(
            f"{error.filename}: what all rounds share cannot be read ({error.strerror}); restore"
            f" the folder {STATE_FOLDER} from a backup, or learn the model anew: --learn-anew"
        ) from None
    return Agreement.of_bytes(content, said, str(model))
