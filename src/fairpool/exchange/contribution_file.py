"""What a party sends instead of rows: sums over them, in a safetensors file with a signed manifest.

The manifest says whose rows were summed up, under which plan, and the hash of every array, so that
its signature covers all. A file holds nothing else: neither rows nor names of files.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from safetensors import SafetensorError

from fairpool.errors import ContributionError, SignatureError, printable, shown
from fairpool.exchange.plan import Plan
from fairpool.models import Classifier
from fairpool.signatures import PublicKey, Signed, SigningKey, sign
from fairpool.stored import number, text, whole_number
from fairpool.tables.arrays import FloatArray

KIND = "contribution"
"""Of the signed document."""

ENTRY = "fairpool-contribution"
"""Where it stands in the file."""

SUFFIX = ".contribution"
"""How such files are named, by which the configuration knows them from tables."""

VERSION = 1
NAME_DIGITS = 32
"""Of the digest, so many name a contribution in a ledger: nobody finds two with the same."""

LONGEST_MANIFEST = 1 << 20
MOST_ROWS = 2**53
HIDES_ROWS = 10.0
"""With a larger epsilon a row can be read out of sums over few rows, noise or not."""

MOST_LISTED = 10_000
"""Contributions that one names: one a day, for decades."""

FIELDS = {
    "version",
    "operator",
    "plan",
    "features",
    "party",
    "made",
    "nonce",
    "rows",
    "left_out",
    "counts",
    "earlier",
    "replaces",
    "rows_may_be_seen",
    "privacy",
    "arrays",
}
_DIGEST = re.compile("[0-9a-f]{64}")
_NONCE = re.compile("[0-9a-f]{32}")

Arrays = Mapping[str, FloatArray]
"""Sums over rows by name: gram, moment and squares, as a model's `moments` gives them."""


@dataclass(frozen=True, kw_only=True)
class Privacy:
    """Noise that hides single rows, which the party has put on its sums.

    Attributes:
        epsilon: How much one row can change the odds of anything that is seen.
        delta: But for so small a chance.
        noise: The standard deviation of the noise on each diagonal entry of the sums.
    """

    epsilon: float
    delta: float
    noise: float

    @property
    def hides_rows(self) -> bool:
        """Whether rows are hidden so well that there may be few of them."""
        return self.epsilon <= HIDES_ROWS


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a party says about its sums, and signs.

    Attributes:
        operator: Whom they are for.
        plan: The digest of the plan that they were made under.
        features: Of the way in which rows became sums: see `Plan.features_digest`.
        party: The permanent identity of the party.
        made: When, as ISO 8601 in UTC.
        nonce: 32 random digits, so that no two contributions are the same.
        rows: How many rows went in.
        left_out: How many complete rows of the table are in earlier contributions instead.
        counts: Of classes, how many rows of each; None: labels are numbers, or privacy hides them.
        earlier: The digests of this party's contributions that have none of these rows.
        replaces: The digests of those that this one stands in place of.
        rows_may_be_seen: Whether the party agreed that the operator may compute its rows.
        privacy: Which noise hides single rows; None: none does.
    """

    operator: PublicKey
    plan: str
    features: str
    party: str
    made: str
    nonce: str
    rows: int
    left_out: int
    counts: tuple[int, ...] | None = None
    earlier: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    rows_may_be_seen: bool = False
    privacy: Privacy | None = None

    @property
    def is_hidden(self) -> bool:
        """Whether noise hides each row, also among few."""
        return self.privacy is not None and self.privacy.hides_rows


@dataclass(frozen=True, kw_only=True, eq=False)
class ContributionFile:
    """Sums over a party's rows, and what it has signed.

    Attributes:
        manifest: What it says.
        arrays: The sums.
        document: Whose signature it is, and the digest that the contribution is known by.
    """

    manifest: Manifest
    arrays: Arrays = field(repr=False)
    document: Signed = field(repr=False)

    @property
    def digest(self) -> str:
        """What it is known by."""
        return self.document.digest

    @property
    def name(self) -> str:
        """What the ledger calls it."""
        return self.digest[:NAME_DIGITS]

    def has_sums_of(self, other: "ContributionFile") -> bool:
        """Whether another has the very same sums, whatever is said about them."""
        return bool(self.document.body["arrays"] == other.document.body["arrays"])

    @classmethod
    def made(cls, key: SigningKey, manifest: Manifest, arrays: Arrays) -> "ContributionFile":
        """Sign a contribution.

        Args:
            key: The party's.
            manifest: What it says.
            arrays: The sums.
        """
        arrays = {name: np.array(array, np.float64, order="C") for name, array in arrays.items()}
        document = sign(key, KIND, _entries(manifest, arrays))
        return cls(manifest=manifest, arrays=arrays, document=document)

    def to_bytes(self) -> bytes:
        """The content of the file; the same contribution gives the same bytes."""
        metadata = {ENTRY: self.document.content.decode("ascii").removesuffix("\n")}
        content: bytes = safetensors.numpy.save(dict(self.arrays), metadata=metadata)
        return content

    @classmethod
    def of_bytes(cls, content: bytes, name: str) -> "ContributionFile":
        """The contribution in a file; what is cut short, edited or of another kind is refused.

        Whether key, plan and sums are right is for `fairpool.exchange.arrival` to say.

        Args:
            content: What `to_bytes` gave.
            name: What errors call it, such as the file's path.
        """
        where = printable(name)
        try:
            text_, arrays = _read(content)
            document = Signed.of_content(text_.encode("ascii"), KIND, name)
        except (SafetensorError, UnicodeError, ValueError, RecursionError, KeyError) as error:
            if isinstance(error, SignatureError):
                raise ContributionError(*error.problems) from None
            raise ContributionError(
                f"{where}: no contribution of fairpool, or cut short ({error}); ask for it again"
            ) from None
        try:
            manifest = _decoded(document.body)
            _check_arrays(document.body["arrays"], arrays)
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise ContributionError(f"{where}: not a usable contribution: {what}") from None
        return cls(manifest=manifest, arrays=arrays, document=document)


def shapes_of(plan: Plan) -> dict[str, tuple[int, ...]]:
    """The shape of each array of a contribution under a plan."""
    nothing = plan.model.moments(np.zeros((0, plan.inputs)), np.zeros(0))
    return {name: np.shape(array) for name, array in nothing._asdict().items()}


def most_bytes(plan: Plan) -> int:
    """So long can a contribution under a plan be."""
    values = sum(int(np.prod(shape)) for shape in shapes_of(plan).values())
    return 8 * values + LONGEST_MANIFEST


def class_counts(plan: Plan, arrays: Arrays) -> tuple[int, ...] | None:
    """How many rows of each class sums are over; None where labels are numbers."""
    if not isinstance(plan.model, Classifier):
        return None
    counts = arrays["squares"]
    if not ((counts >= 0) & (counts == np.rint(counts)) & (counts <= MOST_ROWS)).all():
        raise ContributionError(f"its counts of classes {shown(counts.tolist())} are none")
    return tuple(int(count) for count in counts)


def _entries(manifest: Manifest, arrays: Arrays) -> dict[str, Any]:
    described = {}
    for name, array in arrays.items():
        described[name] = {"shape": list(array.shape), "sha256": _hash(array)}
    privacy = None if manifest.privacy is None else vars(manifest.privacy)
    said = {**vars(manifest), "operator": str(manifest.operator), "privacy": privacy}
    return {**said, "version": VERSION, "arrays": described}


def _hash(array: FloatArray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array, dtype="<f8").tobytes()).hexdigest()


def _read(content: bytes) -> tuple[str, dict[str, FloatArray]]:
    stored = dict(safetensors.deserialize(content))  # type: ignore[no-untyped-call]  # not typed
    # The library has checked the header: its length in 8 bytes, then JSON.
    length = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8 : 8 + length]).get("__metadata__") or {}
    if set(metadata) != {ENTRY}:
        raise ValueError("a safetensors file, but not of a contribution")
    arrays = {}
    for name, tensor in stored.items():
        if tensor["dtype"] != "F64":
            raise ValueError(f"array {shown(name)} is {tensor['dtype']}, needs F64")
        arrays[name] = np.frombuffer(tensor["data"], dtype="<f8").reshape(tensor["shape"])
    return metadata[ENTRY], arrays


def _check_arrays(said: dict[str, Any], arrays: Arrays) -> None:
    """Refuse arrays that are not those which were signed."""
    if set(said) != set(arrays):
        raise ContributionError("its arrays are not those that were signed")
    for name, array in arrays.items():
        expected = {"shape": list(array.shape), "sha256": _hash(array)}
        if said[name] != expected:
            raise ContributionError(
                f"array {shown(name)} is not as it was signed: it was edited, or damaged"
            )
        if not np.isfinite(array).all():
            raise ContributionError(f"array {shown(name)} has values that are not finite")


def _decoded(entries: dict[str, Any]) -> Manifest:
    if entries.get("version") != VERSION:
        raise ContributionError(
            f"it has version {shown(entries.get('version'))}, this fairpool reads version"
            f" {VERSION}; update fairpool"
        )
    unknown = sorted(set(entries) - FIELDS)
    if unknown:
        raise ContributionError(f"it has the unknown entry {shown(unknown[0])}")
    counts = entries["counts"]
    if not isinstance(entries["rows_may_be_seen"], bool):
        raise ContributionError("rows_may_be_seen must be true or false")
    return Manifest(
        operator=PublicKey.of_text(entries["operator"]),
        plan=_digest(entries["plan"]),
        features=_digest(entries["features"]),
        party=text(entries["party"]),
        made=text(entries["made"]),
        nonce=_nonce(entries["nonce"]),
        rows=_count(entries["rows"], "rows"),
        left_out=_count(entries["left_out"], "left_out"),
        counts=None if counts is None else tuple(_count(one, "counts") for one in counts),
        earlier=_digests(entries["earlier"]),
        replaces=_digests(entries["replaces"]),
        rows_may_be_seen=entries["rows_may_be_seen"],
        privacy=_privacy(entries["privacy"]),
    )


def _count(value: Any, name: str) -> int:
    count = whole_number(value, name)
    if not 0 <= count <= MOST_ROWS:
        raise ContributionError(f"{name} {shown(count)} is no number of rows")
    return count


def _nonce(value: Any) -> str:
    if not isinstance(value, str) or not _NONCE.fullmatch(value):
        raise ContributionError(f"nonce {shown(value)} is none")
    return value


def _digest(value: Any) -> str:
    if not isinstance(value, str) or not _DIGEST.fullmatch(value):
        raise ContributionError(f"{shown(value)} is no digest")
    return value


def _digests(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or len(values) > MOST_LISTED:
        raise ContributionError(f"{shown(values)} are no digests")
    digests = tuple(_digest(value) for value in values)
    if len(set(digests)) < len(digests):
        raise ContributionError("it names a contribution twice")
    return digests


def _privacy(entries: Any) -> Privacy | None:
    if entries is None:
        return None
    if set(entries) != {"epsilon", "delta", "noise"}:
        raise ContributionError(f"it has the unknown privacy {shown(entries)}")
    return Privacy(
        epsilon=number(entries["epsilon"], "epsilon", least=0),
        delta=number(entries["delta"], "delta", least=0, most=1),
        noise=number(entries["noise"], "noise", least=0),
    )
