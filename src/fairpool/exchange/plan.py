"""What all parties agree to before anybody sends anything: how rows become sums, and on what terms.

A plan is one signed file, `plan.json`. It holds all that a party needs to sum up its own rows, and
nothing that any party's rows have told: scaling and features come from public data, or from ranges
and levels that were declared.
"""

import base64
import binascii
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fairpool import canonical
from fairpool.encoding import TableEncoding
from fairpool.errors import PlanError, is_printable, shown
from fairpool.model_kinds import Stored, decode_posterior, encode_posterior
from fairpool.models import Classifier, WeightModel
from fairpool.realisation.encoding_codec import decode_encoding, encode_encoding
from fairpool.rewards.scheme import WORDS
from fairpool.signatures import PublicKey, Signed, SigningKey, sign
from fairpool.stored import number, text, whole_number
from fairpool.tables.arrays import FloatArray
from fairpool.targets import label_sets

KIND = "plan"
"""Of the signed document."""

VERSION = 1

FEWEST_PARTIES = 3
"""Of two, each would know the other's by subtracting its own from what is said of both."""

FEWEST_OF_A_CLASS = 10
FEWEST_OF_A_LEVEL = 3
FEWEST_ROWS = 10
SAFETY = 3
"""How many numbers must be hidden for every one that a contribution tells."""

BOUNDS = (1e-30, 1e30)
"""Between these, what labels and features are at most; their squares can be computed with."""

LONGEST_NAME = 500
LONGEST_SENTENCE = 2000
"""Characters of what people read in a plan; nobody writes longer ones."""

FIELDS = {
    "version",
    "name",
    "made",
    "parties",
    "encoding",
    "model",
    "origin",
    "learned_from_sums",
    "label_bound",
    "feature_bound",
    "terms",
    "minimum",
    "units",
    "drops",
    "sections",
    "discloses",
}

FEATURES = ("encoding", "model", "units")
"""What decides how rows become sums."""


@dataclass(frozen=True, kw_only=True)
class PlannedParty:
    """A party of the plan.

    Attributes:
        id: What it is known by in all rounds.
        name: What it is called.
        key: Whose signature its contributions need; None: it sends rows.
    """

    id: str
    name: str
    key: PublicKey | None


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What is done with the contributions.

    Attributes:
        rho: As in the configuration: a number, or a word such as "stable".
        contributions: Which concept makes contributions of values, such as "shapley".
        mechanism: How rewards are realised, such as "label_noise".
        covariance: "hidden" or "full".
        colluding: How many parties may put their files together; None: all.
        share_inputs: Whether the parties agreed to show each other their inputs.
        share_labels: Whether they agreed to show each other their labels.
        on_harm: What becomes of a party whose labels do not agree with the others' data.
        false_alarms: The chance that any honest party of a round is said to be one.
    """

    rho: float | str
    contributions: str
    mechanism: str
    covariance: str
    colluding: int | None
    share_inputs: bool
    share_labels: bool
    on_harm: str = "warn"
    false_alarms: float = 0.01


@dataclass(frozen=True, kw_only=True)
class MinimumCounts:
    """How much a contribution needs, so that no single row can be computed from it.

    Attributes:
        parties: Of the plan.
        rows: Of a contribution.
        of_a_class: Rows of each class that there are some of.
        of_a_level: Rows of each level that there are some of.
    """

    parties: int
    rows: int
    of_a_class: int
    of_a_level: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """What all parties agree to.

    Attributes:
        name: Of the collaboration.
        made: When, as ISO 8601 in UTC.
        parties: Everybody.
        encoding: How tables become X and y.
        model: The model before it has seen any data, by which rows are summed up.
        origin: Where scaling and features come from, in words.
        learned_from_sums: Whether the noise variance and a factor on the prior variance are learned
            from everybody's sums; otherwise they are the model's.
        label_bound: Y, the largest |y - prior mean| in the model's units; labels beyond it are
            clipped where noise is to hide single rows. None: nobody knows one.
        feature_bound: R^2, the largest |a(x)|^2 of any row's features. None: there is none.
        terms: What is done with the contributions.
        units: Of columns whose values have a unit, which that is.
        drops: The columns of which a missing value has its row left out; in others that are not
            imputed, it is an error.
        sections: Of each section of the configuration that the model depends on, the hash.
        discloses: What a contribution shows, and to whom, as sentences.
    """

    name: str
    made: str
    parties: tuple[PlannedParty, ...]
    encoding: TableEncoding
    model: WeightModel | Classifier
    origin: str
    learned_from_sums: bool
    label_bound: float | None
    feature_bound: float | None
    terms: Terms
    sections: dict[str, str]
    discloses: tuple[str, ...]
    units: dict[str, str] = field(default_factory=dict)
    drops: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if label_sets(self.encoding.target) != self.model.label_sets:
            raise PlanError(
                f"it describes {label_sets(self.encoding.target)} class(es) for a model of"
                f" {self.model.label_sets}"
            )
        for what, of_parties in (
            ("name", [party.name for party in self.parties]),
            ("id", [party.id for party in self.parties]),
        ):
            if len(set(of_parties)) < len(of_parties):
                raise PlanError(f"two parties have the same {what}")

    @property
    def weights(self) -> int:
        """d, how many weights the model has, of each class."""
        return int(self.model.probe(self.inputs).shape[-1]) - 1

    @property
    def inputs(self) -> int:
        """p, how many inputs the model has."""
        return len(self.encoding.features)

    @property
    def fewest_rows(self) -> int:
        """How many rows a contribution needs, so that they cannot be computed from it.

        The operator sees its Gram matrix, d (d + 1) / 2 numbers that depend on m p inputs, and d
        numbers that depend on m labels; of classes, those of each. A category is one thing to
        guess, not one for each of its levels.
        """
        d, p = self.weights, max(len(self.encoding.columns), 1)
        sets = self.model.label_sets
        if isinstance(self.model, Classifier) and not self.model.shared:
            sets *= 2  # of every class its own rows are summed up, and all others
        of_inputs = -(-SAFETY * sets * d * (d + 1) // (2 * p))
        return max(FEWEST_ROWS, SAFETY * sets * d, of_inputs)

    @property
    def minimum(self) -> MinimumCounts:
        """How much a contribution needs."""
        return MinimumCounts(
            parties=FEWEST_PARTIES,
            rows=self.fewest_rows,
            of_a_class=FEWEST_OF_A_CLASS,
            of_a_level=FEWEST_OF_A_LEVEL,
        )

    @cached_property
    def features_digest(self) -> str:
        """What tells the way in which rows become sums from others, whatever the terms are.

        Contributions under an earlier plan with the same one can be used under this.
        """
        fields = _entries(self)
        return canonical.digest_of({name: fields[name] for name in FEATURES})

    def party(self, identity: str) -> PlannedParty | None:
        """The party that is known by this."""
        return next((party for party in self.parties if party.id == identity), None)

    def party_of(self, key: PublicKey) -> PlannedParty | None:
        """The party whose key this is."""
        return next((party for party in self.parties if party.key == key), None)

    def signed(self, key: SigningKey) -> Signed:
        """The plan as a document that the operator has signed."""
        return sign(key, KIND, _entries(self))


@dataclass(frozen=True, kw_only=True, eq=False)
class SignedPlan:
    """A plan, and the document that it was read from.

    Attributes:
        plan: What it says.
        document: Who signed it, and its digest. The operator's key tells the collaboration from
            others.
    """

    plan: Plan
    document: Signed

    @property
    def operator(self) -> PublicKey:
        """Whose signature it is."""
        return self.document.key

    @property
    def digest(self) -> str:
        """What contributions, receipts and statements know it by."""
        return self.document.digest

    @classmethod
    def of_content(cls, content: bytes, name: str) -> "SignedPlan":
        """The plan in a file, with everything checked but whose key signed it.

        Args:
            content: Of the file.
            name: What errors call it, such as the file's path.
        """
        document = Signed.of_content(content, KIND, name)
        try:
            plan = _decoded(document.body)
        except (
            KeyError,
            TypeError,
            AttributeError,
            ValueError,
            OverflowError,
            RecursionError,
            MemoryError,
        ) as error:
            what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise PlanError(f"{name}: not a usable plan: {what}") from None
        return cls(plan=plan, document=document)


def _entries(plan: Plan) -> dict[str, Any]:
    """The plan as a JSON object."""
    prior = plan.model.posterior(np.zeros((0, plan.inputs)), np.zeros(0))
    stored = encode_posterior(prior)
    tensors = {name: _encoded(tensor) for name, tensor in stored.tensors.items()}
    parties = [
        {"id": party.id, "name": party.name, "key": None if party.key is None else str(party.key)}
        for party in plan.parties
    ]
    return {
        "version": VERSION,
        "name": plan.name,
        "made": plan.made,
        "parties": parties,
        "encoding": encode_encoding(plan.encoding),
        "model": {"description": stored.description, "tensors": tensors},
        "origin": plan.origin,
        "learned_from_sums": plan.learned_from_sums,
        "label_bound": plan.label_bound,
        "feature_bound": plan.feature_bound,
        "terms": vars(plan.terms),
        "minimum": vars(plan.minimum),
        "units": plan.units,
        "drops": list(plan.drops),
        "sections": plan.sections,
        "discloses": list(plan.discloses),
    }


def _decoded(entries: dict[str, Any]) -> Plan:
    if entries.get("version") != VERSION:
        raise PlanError(
            f"it has version {shown(entries.get('version'))}, this fairpool reads version"
            f" {VERSION}; update fairpool"
        )
    unknown = sorted(set(entries) - FIELDS)
    if unknown:
        raise PlanError(f"it has the unknown entry {shown(unknown[0])}")
    tensors = {name: _array(one) for name, one in entries["model"]["tensors"].items()}
    model = decode_posterior(Stored(entries["model"]["description"], tensors)).model
    if not isinstance(model, WeightModel | Classifier):
        raise PlanError("its model has no weights, and needs everybody's rows")
    bounds = []
    for name in ("label_bound", "feature_bound"):
        bound = entries[name]
        least, most = BOUNDS
        bounds.append(None if bound is None else number(bound, name, least=least, most=most))
    if not isinstance(entries["learned_from_sums"], bool):
        raise PlanError("learned_from_sums must be true or false")
    plan = Plan(
        name=_words(entries["name"]),
        made=_words(entries["made"]),
        parties=tuple(_party(one) for one in entries["parties"]),
        encoding=decode_encoding(entries["encoding"]),
        model=model,
        origin=_words(entries["origin"], LONGEST_SENTENCE),
        learned_from_sums=entries["learned_from_sums"],
        label_bound=bounds[0],
        feature_bound=bounds[1],
        terms=_terms(entries["terms"]),
        units={text(name): _words(unit) for name, unit in entries["units"].items()},
        drops=tuple(text(name) for name in entries["drops"]),
        sections={text(name): text(hash_) for name, hash_ in entries["sections"].items()},
        discloses=tuple(_words(one, LONGEST_SENTENCE) for one in entries["discloses"]),
    )
    if plan.model.posterior(np.zeros((0, plan.inputs)), np.zeros(0)).inputs != plan.inputs:
        raise PlanError("its model has other inputs than its columns give")
    if entries["minimum"] != vars(plan.minimum):
        raise PlanError(
            f"its minimum counts {shown(entries['minimum'])} are not those of its model,"
            f" {shown(vars(plan.minimum))}"
        )
    return plan


def _words(value: Any, longest: int = LONGEST_NAME) -> str:
    """What people are to read: one line, not endless, that no terminal obeys."""
    words = text(value)
    if len(words) > longest:
        raise PlanError(f"{shown(words)} has more than {longest} characters")
    if not is_printable(words):
        raise PlanError(f"{shown(words)} has a control character")
    return words


def _party(entries: dict[str, Any]) -> PlannedParty:
    if set(entries) != {"id", "name", "key"}:
        raise PlanError(f"it has the unknown party {shown(entries)}")
    key = None if entries["key"] is None else PublicKey.of_text(entries["key"])
    return PlannedParty(id=_words(entries["id"]), name=_words(entries["name"]), key=key)


def _terms(entries: dict[str, Any]) -> Terms:
    if set(entries) != set(Terms.__dataclass_fields__):
        raise PlanError(f"it has the unknown terms {shown(entries)}")
    rho = entries["rho"]
    colluding = entries["colluding"]
    if isinstance(rho, str) and rho not in WORDS:
        raise PlanError(f"rho {shown(rho)} is none of {', '.join(WORDS)}")
    for name in ("share_inputs", "share_labels"):
        if not isinstance(entries[name], bool):
            raise PlanError(f"{name} must be true or false")
    return Terms(
        rho=rho if isinstance(rho, str) else number(rho, "rho", least=0, most=1),
        contributions=_words(entries["contributions"]),
        mechanism=_words(entries["mechanism"]),
        covariance=_words(entries["covariance"]),
        colluding=None if colluding is None else whole_number(colluding, "colluding"),
        share_inputs=entries["share_inputs"],
        share_labels=entries["share_labels"],
        on_harm=_words(entries["on_harm"]),
        false_alarms=number(entries["false_alarms"], "false_alarms", least=0, most=1),
    )


def _encoded(array: FloatArray) -> dict[str, Any]:
    """An array as JSON: its numbers as bytes, so that they come back to the last bit."""
    content = np.ascontiguousarray(array, dtype="<f8")
    return {
        "shape": list(np.shape(array)),
        "float64": base64.b64encode(content.tobytes()).decode("ascii"),
    }


def _array(entries: dict[str, Any]) -> FloatArray:
    """What `_encoded` gave; a number that is not finite is refused."""
    if set(entries) != {"shape", "float64"}:
        raise PlanError("an array in it is none")
    try:
        content = base64.b64decode(entries["float64"], validate=True)
        array = np.frombuffer(content, dtype="<f8").reshape(entries["shape"])
    except (binascii.Error, ValueError, TypeError):
        raise PlanError("an array in it is none") from None
    if not np.isfinite(array).all():
        raise PlanError("an array in it has values that are not finite")
    return array
