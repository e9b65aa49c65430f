"""Where a collaboration stands before a round: its secret, its ledger, and what is kept."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fairpool.consortium.folders import STATE_FOLDER as STATE_FOLDER
from fairpool.consortium.folders import nothing_there
from fairpool.consortium.rounds.agreement import Agreement
from fairpool.consortium.rounds.kept import Kept
from fairpool.consortium.rounds.known import Known
from fairpool.errors import LedgerError, PlanError
from fairpool.exchange.plan import SignedPlan
from fairpool.keyed_noise.secret import Secret
from fairpool.ledger.ledger import Ledger
from fairpool.ledger.transaction import unfinished
from fairpool.rounds.history import History, PartRecord, history_of
from fairpool.rounds.party_batches import Part, PartyBatches
from fairpool.signatures import SigningKey

LEDGER_FILE = "ledger.jsonl"
SECRET_FILE = "secret.key"
OPERATOR_KEY = "operator.key"
PLAN_FILE = "plan.json"
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
        plan: What all parties agreed to before anybody sent anything; None: there is none.
    """

    folder: Path
    secret: Secret
    is_new: bool
    history: History
    head: str
    agreement: Agreement | None
    agreement_digest: str
    learns_anew: bool = False
    plan: SignedPlan | None = None

    @property
    def number(self) -> int:
        """Of the round to come."""
        return self.history.next_number

    @property
    def kept(self) -> Kept:
        """What is kept of earlier rounds' rows."""
        folder = self.folder / STATE_FOLDER / KEPT_FOLDER
        return Kept(folder, self.secret.subkey(SEAL))

    @property
    def learns_from_sums(self) -> bool:
        """Whether scales are learned in this round, as the plan says."""
        is_draft = self.agreement is not None and self.agreement.is_draft
        return is_draft and self.plan is not None and self.plan.plan.learned_from_sums

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
                parts[name] = self._part(name, record)
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

    def _part(self, name: str, record: PartRecord) -> Part:
        if record.contribution:
            return Part.of_sums(record.party, record.contribution, name=name, rows=record.rows)
        keys = self.kept.keys(name, record.party)
        return Part(name=name, party=record.party, parent=record.parent, keys=keys)


def nobody(folder: Path, plan: SignedPlan | None = None) -> RoundContext:
    """A collaboration that has released nothing yet.

    Args:
        folder: Where it is.
        plan: What all parties agreed to before anybody sent anything; None: there is none.
    """
    return RoundContext(
        folder=folder,
        secret=Secret.fresh(),
        is_new=True,
        history=History(),
        head=NO_HEAD,
        agreement=None if plan is None else Agreement.of_plan(plan),
        agreement_digest="",
        plan=plan,
    )


def home_of(configuration: Path) -> Path:
    """The folder of a collaboration, from it or from its configuration file.

    What is not there is refused: a folder of another name, mistyped, would mean the one around it.
    """
    if not configuration.exists():
        raise nothing_there(configuration)
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
        return nobody(folder, read_plan(folder))
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
    plan = read_plan(folder)
    agreement = None if plan is None else Agreement.of_plan(plan)
    digest = ""
    if history.last is not None and not learn_anew:
        agreement = read_agreement(folder, history.last.agreement)
    if history.last is not None:
        digest = history.last.agreement
    return RoundContext(
        folder=folder,
        secret=secret,
        is_new=False,
        history=history,
        head=ledger.head,
        agreement=agreement,
        agreement_digest=digest,
        learns_anew=learn_anew and history.last is not None,
        plan=plan,
    )


def read_plan(folder: Path) -> SignedPlan | None:
    """What all parties agreed to before anybody sent anything; None: there is no plan."""
    path = folder / PLAN_FILE
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PlanError(f"{path}: the plan cannot be read ({error.strerror})") from None
    plan = SignedPlan.of_content(content, str(path))
    key = SigningKey.read(folder / STATE_FOLDER / OPERATOR_KEY)
    if key.public != plan.operator:
        raise PlanError(
            f"{path}: somebody else signed this plan (fingerprint {plan.operator.fingerprint}), and"
            f" this collaboration's key is {key.public.fingerprint}; restore the plan from your"
            " copy, or write a new one: fairpool plan --replace"
        )
    return plan


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
