"""What leaves a party's machine, in words: said before anything does."""

from dataclasses import dataclass

import numpy as np

from fairpool.consortium.home.contributing import Prepared
from fairpool.exchange.contribution_file import ContributionFile
from fairpool.models import Classifier

OF_NUMBERS = {
    "gram": "of every two features, the sum of their products over all rows",
    "moment": "of every feature, the sum of its products with the labels",
    "squares": "the sum of the squared labels",
}
OF_CLASSES = {
    "gram": "of every class and every two features, the sum of their products over its rows",
    "moment": "of every class and feature, the sum over its rows",
    "squares": "how many rows each class has",
}
"""What each array is."""

SAID = ("party", "made", "rows", "left_out", "counts", "rows_may_be_seen", "nonce")
"""What a manifest says of itself that people can read."""


@dataclass(frozen=True, kw_only=True)
class LeavingArray:
    """Numbers that leave.

    Attributes:
        name: What they are called.
        shape: How many there are.
        size: In bytes.
        what: What they are.
        example: One of them.
    """

    name: str
    shape: tuple[int, ...]
    size: int
    what: str
    example: str


def arrays_that_leave(prepared: Prepared) -> tuple[LeavingArray, ...]:
    """Every array of a contribution, by name: files that are read have no order of their own."""
    of_classes = isinstance(prepared.plan.plan.model, Classifier)
    words = OF_CLASSES if of_classes else OF_NUMBERS
    leaving = []
    for name, array in sorted(prepared.file.arrays.items()):
        first = "".join(f"[{1}]" for _ in array.shape)
        leaving.append(
            LeavingArray(
                name=name,
                shape=array.shape,
                size=array.nbytes,
                what=words[name],
                example=f"{name}{first} = {np.ravel(array)[0]:.6g}",
            )
        )
    return tuple(leaving)


def others_in_words(prepared: Prepared) -> str:
    """Who else is in the plan, as far as that can be checked at home: whose keys they have."""
    others = []
    for party in prepared.plan.plan.parties:
        if party.id == prepared.file.manifest.party:
            continue
        has = "no key: the operator has its rows, if there are any"
        if party.key is not None:
            has = f"key {party.key.fingerprint}"
        others.append(f"{party.name} ({has})")
    return (
        f"Beside you the plan has {'; '.join(others)}. That each is a party with data of its own is"
        " the operator's word; you can ask them for the fingerprints of their keys."
    )


def said_in_manifest(file: ContributionFile) -> dict[str, object]:
    """What leaves besides: what the party says, and signs."""
    manifest = file.manifest
    said: dict[str, object] = {name: getattr(manifest, name) for name in SAID}
    if manifest.counts is None:
        del said["counts"]
    if manifest.privacy is not None:
        said["noise"] = f"epsilon {manifest.privacy.epsilon:g}, delta {manifest.privacy.delta:g}"
    said["earlier"] = len(manifest.earlier)
    said["replaces"] = len(manifest.replaces)
    said["key"] = file.document.key.fingerprint
    return said
