"""What any file is that fairpool writes for others: a reward, a plan, a contribution, a receipt.

Which of them it is, its content tells, whatever the file is called.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairpool.archive import ABOUT, read_archive
from fairpool.archive import ENTRY as ARCHIVE
from fairpool.consortium.folders import STATE_FOLDER
from fairpool.consortium.inspected_letter import (
    InspectedLetter,
    inspected_letter,
    inspected_statement,
    is_letter,
    is_statement,
)
from fairpool.consortium.prediction import describe_reward
from fairpool.consortium.recognising import STATE, recognised
from fairpool.errors import DataError, RewardFileError, cut, printable
from fairpool.exchange import attestation, receipt
from fairpool.exchange.contribution_file import ENTRY, ContributionFile, Manifest, Privacy
from fairpool.exchange.disclosed import certain_disclosures, words_of_the_operator
from fairpool.exchange.plan import SignedPlan
from fairpool.exchange.plan_words import plan_as_plain, plan_in_words
from fairpool.exchange.receipt import Receipt
from fairpool.parties.rough_counts import roughly
from fairpool.realisation.reward_file import read_reward
from fairpool.signatures import Signed

HEADER = 8
"""A safetensors file begins with its header's length in so many bytes."""


@dataclass(frozen=True, kw_only=True)
class Inspected:
    """What a file is.

    Attributes:
        entries: In words, entry by entry.
        plain: The same for programs.
        sentences: What is to be read as a text.
    """

    entries: Mapping[str, Any]
    plain: Mapping[str, Any]
    sentences: tuple[str, ...] = field(default=())


def inspect_file(path: Path) -> Inspected:
    """Say what a file is, with everything checked that can be without any other file."""
    if path.is_dir():
        raise DataError(
            f"{path}: this is a folder; give a file in it, or see what was released from it with"
            f" fairpool rounds {path}"
        )
    content = read_reward(path)
    name = str(path)
    found = recognised(content)
    if found is None and STATE_FOLDER in path.absolute().parts[:-1]:
        found = STATE
    if found is not None:
        entries = {"this is": found.what, "use": found.use}
        return Inspected(entries=entries, plain=entries)
    if is_letter(content):
        return _as_inspected(inspected_letter(content, name))
    if content.lstrip()[:1] == b"{":
        if _is_receipt(content):
            return _described_receipt(Receipt.of_content(content, name))
        if is_statement(content):
            return _as_inspected(inspected_statement(content, name))
        if _is_attestation(content):
            return _described_attestation(Signed.of_content(content, attestation.KIND, name))
        plan = SignedPlan.of_content(content, name)
        sentences = [*certain_disclosures(plan.plan)]
        sentences += [f"The operator writes: {one}" for one in words_of_the_operator(plan.plan)]
        return Inspected(
            entries=plan_in_words(plan), plain=plan_as_plain(plan), sentences=tuple(sentences)
        )
    if _has_entry(content, ARCHIVE):
        return _described_archive(path)
    if _has_entry(content, ENTRY):
        return _described_contribution(ContributionFile.of_bytes(content, name))
    if not _may_be_tensors(content):
        raise RewardFileError(
            f"{printable(name)}: no file that fairpool writes, or cut short; if somebody sent it,"
            " ask for it again; a table is looked at by fairpool check (the operator's) or by"
            " fairpool contribute (a party's)"
        )
    described = describe_reward(content, name)
    rho = "not known" if described["rho"] is None else f"{described['rho']:.4g}"
    return Inspected(entries={**described, "rho": rho}, plain=described)


def _is_receipt(content: bytes) -> bool:
    return f'"kind":"{receipt.KIND}"'.encode() in content


def _is_attestation(content: bytes) -> bool:
    return f'"kind":"{attestation.KIND}"'.encode() in content


def _as_inspected(letter: InspectedLetter) -> Inspected:
    return Inspected(entries=letter.entries, plain=letter.entries, sentences=letter.sentences)


def _described_attestation(found: Signed) -> Inspected:
    """What an auditor has signed."""
    findings = found.body.get("findings", [])
    answer = "nothing is FALSE" if found.body.get("ok") is True else "something is FALSE"
    entries = {
        "an auditor's attestation of round": str(found.body.get("round")),
        "signed with the key": found.key.fingerprint,
        "found": f"{answer}, in {len(findings)} lines",
        "record in the ledger": str(found.body.get("release")),
    }
    sentences = ("`fairpool audit FOLDER ROUND` finds it anew.",)
    return Inspected(entries=entries, plain=found.body, sentences=sentences)


def _may_be_tensors(content: bytes) -> bool:
    """Whether a file begins as a safetensors file does, though it may be cut short."""
    return content[HEADER : HEADER + 1] == b"{"


def _has_entry(content: bytes, entry: str) -> bool:
    """Whether a safetensors file has a description of this name."""
    length = int.from_bytes(content[:HEADER], "little")
    return f'"{entry}"'.encode() in content[HEADER : HEADER + length]


def _described_archive(path: Path) -> Inspected:
    """A saved collaboration, which only its operator should have."""
    found = read_archive(path)
    names = list(found["models"].names)
    entries = {
        "collaboration of": ", ".join(names),
        "rho": found["rho"],
        "contributions by": found["contributions"].concept.name,
    }
    plain = {"parties": names, "rho": found["rho"], "rewards": found["rewards"].tolist()}
    return Inspected(entries=entries, plain=plain, sentences=(ABOUT,))


def _described_contribution(file: ContributionFile) -> Inspected:
    manifest = file.manifest
    plain = {
        **vars(manifest),
        "operator": str(manifest.operator),
        "privacy": None if manifest.privacy is None else vars(manifest.privacy),
        "key": str(file.document.key),
        "arrays": {name: list(array.shape) for name, array in file.arrays.items()},
        "digest": file.digest,
    }
    sentences = (
        "Its signature and its arrays are as they were signed. Whether the key is the party's own,"
        " and whether rows can have such sums under the plan, `fairpool check` and `fairpool run`"
        " say.",
    )
    return Inspected(entries=_contribution_in_words(file), plain=plain, sentences=sentences)


def _contribution_in_words(file: ContributionFile) -> dict[str, str]:
    manifest = file.manifest
    entries = {
        "contribution of": manifest.party,
        "signed with the key": file.document.key.fingerprint,
        "for the operator": manifest.operator.fingerprint,
        "made": manifest.made,
        "rows": f"{roughly(manifest.privacy is not None)}{manifest.rows}",
    }
    if manifest.left_out:
        entries["rows left out"] = f"{manifest.left_out} (they are in earlier contributions)"
    if manifest.counts is not None:
        entries["rows of each class"] = ", ".join(str(count) for count in manifest.counts)
    return entries | {
        "holds": f"sums over these rows: {_arrays_in_words(file)}; no row",
        "noise on it": _noise_in_words(manifest.privacy),
        "rows may be seen": _rows_in_words(manifest),
        "knows of": f"{len(manifest.earlier)} earlier contribution(s), whose rows it does not have",
        "replaces": _few_digests(manifest.replaces) or "none",
        "plan's hash": manifest.plan,
        "features' hash": manifest.features,
        "hash": file.digest,
    }


def _arrays_in_words(file: ContributionFile) -> str:
    arrays = []
    for name, array in sorted(file.arrays.items()):
        shape = " x ".join(str(size) for size in array.shape) or "a number"
        arrays.append(f"{name} ({shape})")
    return ", ".join(arrays)


def _noise_in_words(privacy: Privacy | None) -> str:
    if privacy is None:
        return "none"
    return (
        f"on its sums, not on labels; it hides single rows: epsilon {privacy.epsilon:g}, delta"
        f" {privacy.delta:g}"
    )


def _rows_in_words(manifest: Manifest) -> str:
    if manifest.rows_may_be_seen:
        return "yes, its party agreed that the operator may compute them"
    return "no"


def _few_digests(digests: tuple[str, ...]) -> str:
    return cut(", ".join(digest[:16] for digest in digests))


def _described_receipt(found: Receipt) -> Inspected:
    entries = {
        "receipt for": found.party,
        "signed by the operator": found.operator.fingerprint,
        "received": found.received,
        "contribution": found.contribution,
        "rows": f"{found.rows}, as the contribution says",
        "file's sha256": found.file,
        "plan's hash": found.plan,
        "features' hash": found.features,
    }
    plain = {**entries, "rows": found.rows, "operator": str(found.operator)}
    return Inspected(entries=entries, plain=plain)
