"""Contributions, verdicts and notes in an archive."""

from typing import Any

import numpy as np

from fairpool.contributions import Contributions
from fairpool.contributions.concept import GIVEN, Concept
from fairpool.contributions.registry import CONCEPTS
from fairpool.errors import RewardFileError, shown
from fairpool.notes import Note
from fairpool.realisation.tensor_file import Tensors
from fairpool.stored import text, whole_number
from fairpool.verdicts import ANSWERS, Verdict, Verdicts, Witness

KNOWN = CONCEPTS | {GIVEN.name: GIVEN}


def encode_contributions(phi: Contributions, tensors: Tensors) -> dict[str, Any]:
    """How they were measured; the numbers go among the tensors."""
    if KNOWN.get(phi.concept.name) is not phi.concept:
        raise RewardFileError(
            f'contributions by "{phi.concept.name}", a concept of your own, cannot be saved: a file'
            " holds no code"
        )
    tensors["contributions"] = phi.values
    tensors["standard_errors"] = phi.standard_errors
    return {"method": phi.method, "evaluations": phi.evaluations, "concept": phi.concept.name}


def decode_contributions(described: dict[str, Any], n: int, tensors: Tensors) -> Contributions:
    """The contributions of n parties."""
    values, errors = tensors.pop("contributions"), tensors.pop("standard_errors")
    if values.shape != (n,) or errors.shape != (n,):
        raise RewardFileError(f"it has {values.shape} contributions of {n} parties")
    name = text(described["concept"])
    if name not in KNOWN:
        raise RewardFileError(f"no concept {shown(name)} is known")
    concept: Concept = KNOWN[name]
    return Contributions(
        values=values,
        standard_errors=errors,
        method=text(described["method"]),
        evaluations=whole_number(described["evaluations"], "evaluations"),
        concept=concept,
    )


def encode_verdict(verdict: Verdict) -> dict[str, Any]:
    """A verdict with what shows that a condition fails."""
    described: dict[str, Any] = {
        "condition": verdict.condition,
        "holds": verdict.holds,
        "why": verdict.why,
    }
    witness = verdict.witness
    if witness is not None:
        # Numbers may be infinite, which JSON cannot say; a text can.
        numbers = {name: repr(float(value)) for name, value in witness.numbers.items()}
        coalition = witness.coalition
        described["witness"] = {
            "parties": list(witness.parties),
            "coalition": None if coalition is None else list(coalition),
            "numbers": numbers,
        }
    return described


def decode_verdicts(described: list[dict[str, Any]]) -> Verdicts:
    """The verdicts, in order."""
    return Verdicts(_decode_verdict(one) for one in described)


def _decode_verdict(described: dict[str, Any]) -> Verdict:
    holds = described["holds"]
    if holds is not None and not isinstance(holds, bool):
        raise RewardFileError(f"{shown(holds)} is none of {', '.join(map(str, ANSWERS))}")
    witness = None
    if "witness" in described:
        said = described["witness"]
        coalition = said["coalition"]
        witness = Witness(
            parties=tuple(text(name) for name in said["parties"]),
            coalition=None if coalition is None else tuple(text(name) for name in coalition),
            numbers={name: float(text(value)) for name, value in said["numbers"].items()},
        )
    return Verdict(
        condition=text(described["condition"]),
        holds=holds,
        why=text(described["why"]),
        witness=witness,
    )


def encode_note(note: Note) -> dict[str, Any]:
    """A note, whom it is about, and its words."""
    return {"code": note.code, "party": note.party, "text": note.text}


def decode_notes(described: list[dict[str, Any]]) -> tuple[Note, ...]:
    """The notes, in order."""
    notes = []
    for one in described:
        code = text(one["code"])
        party = None if one["party"] is None else text(one["party"])
        notes.append(Note(code=code, party=party, text=text(one["text"])))
    return tuple(notes)


def per_party(tensors: Tensors, name: str, n: int) -> Any:
    """One finite number for each of n parties, or None where there are none."""
    if name not in tensors:
        return None
    values = tensors.pop(name)
    if values.shape != (n,) or not np.isfinite(values).all():
        raise RewardFileError(f"{name} of shape {values.shape} is not a number for each party")
    return values
