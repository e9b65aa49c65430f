"""What the operator signs for a party in each round: what its data are worth, and what it gets.

One statement stands in the reward file and in the letter, and its digest in the ledger, so that
nobody can be told one thing here and another there. It says of nobody else more than letter and
file do: what depends on the others' data, and does not stand in a new file, has the letter's
digits. With all of them, v_N of some rounds between which a party changes its own rows would be so
many equations for the others' rows (`docs/privacy.md`, "Numbers in letters").
"""

from dataclasses import dataclass
from typing import Any

from fairpool.errors import SignatureError, printable, shown
from fairpool.ledger.record import is_hash
from fairpool.realisation.commitment import Commitment
from fairpool.signatures import PublicKey, Signed, SigningKey, sign
from fairpool.stored import number, text, whole_number

KIND = "statement"
"""Of the signed document."""

VERSION = 1

DECIMALS = 2
"""Of nats as letters have them."""

DIGITS = 4
"""Of rho as letters have it."""


@dataclass(frozen=True, kw_only=True)
class SentModel:
    """What is said of a new model.

    Attributes:
        content: The digest of the reward file's content.
        worth: What the model in it is worth, in nats.
        eta: The variance of the noise on the others' labels that were new to the party, in squared
            units of the target; None: nothing of the others' was, or there is no such noise.
        commitment: To what the model was trained with; None: it has no weights.
    """

    content: str
    worth: float
    eta: float | None
    commitment: Commitment | None


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What the operator says to one party of one round.

    Attributes:
        collaboration: Its name.
        round: From 1.
        party: The party's permanent identity.
        name: What it is called.
        plan: The digest of the plan; None: there was none.
        ledger: The hash of the run's record, which the letter carries, too.
        letter: The SHA-256 of the letter, in which the places for this statement and for the
            SHA-256 of the file that carries it are empty.
        rows: How many of its rows took part.
        waiting: How many more there are that wait for a later round.
        inputs: The SHA-256 of its files, in order.
        contributions: Of sums, the digests of those that took part.
        concept: How contributions were measured, such as "shapley".
        total: v_N, with the letter's digits.
        value: v_i.
        contribution: phi_i, with the letter's digits.
        standard_error: Of phi_i, with the letter's digits.
        rho: What was used; without a new model, with the letter's digits.
        reward: r_i; without a new model, with the letter's digits.
        holds: What everything that the party holds now is worth, with the letter's digits.
        model: The new model; None: none was sent.
    """

    collaboration: str
    round: int
    party: str
    name: str
    plan: str | None
    ledger: str
    letter: str
    rows: int
    waiting: int
    inputs: tuple[str, ...]
    contributions: tuple[str, ...]
    concept: str
    total: float
    value: float
    contribution: float
    standard_error: float
    rho: float
    reward: float
    holds: float
    model: SentModel | None

    def signed(self, key: SigningKey) -> Signed:
        """The statement as a document that the operator has signed."""
        return sign(key, KIND, _entries(self))


@dataclass(frozen=True, kw_only=True)
class SignedStatement:
    """A statement, and the document that it was read from.

    Attributes:
        statement: What it says.
        document: Who signed it, and its digest.
    """

    statement: Statement
    document: Signed

    @property
    def operator(self) -> PublicKey:
        """Whose signature it is."""
        return self.document.key

    @property
    def digest(self) -> str:
        """What the ledger knows it by."""
        return self.document.digest

    @classmethod
    def of_content(cls, content: bytes, name: str) -> "SignedStatement":
        """The statement in a document, with everything checked but whose key signed it.

        Args:
            content: Of the document.
            name: What errors call it, such as the file's path.
        """
        document = Signed.of_content(content, KIND, name)
        try:
            statement = _decoded(document.body)
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise SignatureError(f"{printable(name)}: not a usable statement: {what}") from None
        return cls(statement=statement, document=document)


def as_in_letters(value: float) -> float:
    """A number of nats as letters have it."""
    return round(value, DECIMALS)


def rho_as_in_letters(rho: float) -> float:
    """rho as letters have it."""
    return float(f"{rho:.{DIGITS}g}")


def _entries(statement: Statement) -> dict[str, Any]:
    model = None
    if statement.model is not None:
        commitment = statement.model.commitment
        said = None if commitment is None else vars(commitment)
        model = {**vars(statement.model), "commitment": said}
    return {**vars(statement), "version": VERSION, "model": model}


def _decoded(entries: dict[str, Any]) -> Statement:
    if entries.get("version") != VERSION:
        raise SignatureError(
            f"it has version {shown(entries.get('version'))}, this fairpool reads version"
            f" {VERSION}; update fairpool"
        )
    unknown = sorted(set(entries) - set(Statement.__dataclass_fields__) - {"version"})
    if unknown:
        raise SignatureError(f"it has the unknown entry {shown(unknown[0])}")
    return Statement(
        collaboration=text(entries["collaboration"]),
        round=whole_number(entries["round"], "round"),
        party=text(entries["party"]),
        name=text(entries["name"]),
        plan=None if entries["plan"] is None else _digest(entries["plan"]),
        ledger=_digest(entries["ledger"]),
        letter=_digest(entries["letter"]),
        rows=whole_number(entries["rows"], "rows"),
        waiting=whole_number(entries["waiting"], "waiting"),
        inputs=_digests(entries["inputs"]),
        contributions=_digests(entries["contributions"]),
        concept=text(entries["concept"]),
        total=number(entries["total"], "total"),
        value=number(entries["value"], "value"),
        contribution=number(entries["contribution"], "contribution"),
        standard_error=number(entries["standard_error"], "standard_error", least=0),
        rho=number(entries["rho"], "rho", least=0, most=1),
        reward=number(entries["reward"], "reward"),
        holds=number(entries["holds"], "holds"),
        model=None if entries["model"] is None else _model(entries["model"]),
    )


def _model(entries: dict[str, Any]) -> SentModel:
    if set(entries) != set(SentModel.__dataclass_fields__):
        raise SignatureError(f"it has the unknown model {shown(entries)}")
    eta, said = entries["eta"], entries["commitment"]
    commitment = None
    if said is not None:
        if set(said) != set(Commitment.__dataclass_fields__):
            raise SignatureError(f"it has the unknown commitment {shown(said)}")
        shift = whole_number(said["shift"], "shift")
        commitment = Commitment(digest=_digest(said["digest"]), shift=shift)
    return SentModel(
        content=_digest(entries["content"]),
        worth=number(entries["worth"], "worth"),
        eta=None if eta is None else number(eta, "eta", least=0),
        commitment=commitment,
    )


def _digest(value: Any) -> str:
    if not is_hash(value):
        raise SignatureError(f"{shown(value)} is no digest")
    assert isinstance(value, str)
    return value


def _digests(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise SignatureError(f"{shown(values)} are no digests")
    return tuple(_digest(value) for value in values)
