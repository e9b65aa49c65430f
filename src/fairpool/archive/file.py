"""The file itself: one description, and arrays; no pickle, and everything checked."""

from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError

from fairpool.__about__ import __version__
from fairpool.archive.models import decode_model, encode_model
from fairpool.archive.parties import decode_party, encode_party
from fairpool.archive.results import (
    decode_contributions,
    decode_notes,
    decode_verdicts,
    encode_contributions,
    encode_note,
    encode_verdict,
    per_party,
)
from fairpool.errors import RewardFileError, shown
from fairpool.outcome import Outcome
from fairpool.realisation import Models
from fairpool.realisation.tensor_file import NUMBERS_AND_BYTES, Tensors, digest, packed, unpacked
from fairpool.rewards.scheme import WORDS, SilentScheme
from fairpool.stored import number, text
from fairpool.tables.arrays import LARGEST
from fairpool.values import InformationGain

ENTRY = "fairpool-collaboration"
VERSION = 1
KEYS = {
    "version",
    "fairpool",
    "about",
    "parties",
    "contributions",
    "rho",
    "asked",
    "incentives",
    "models",
    "notes",
    "sha256",
}
ABOUT = (
    "A whole collaboration: every party's rows or sums, every coalition's value, every party's"
    " model. For the operator alone; hand out single rewards, which are files of their own."
)
ARRAYS_OF_PARTIES = ("rewards", "kept", "most")
SLACK = 1e-6
"""By so much of everybody's value may others be beyond their bounds, for rounding."""

WRONG = (
    KeyError,
    TypeError,
    AttributeError,
    ValueError,
    IndexError,
    OverflowError,
    RecursionError,
    MemoryError,
)
"""What a wrong description may run into."""


def archive_bytes(outcome: Outcome) -> bytes:
    """An outcome as the content of a file; what no file can hold is refused, with the reason."""
    if outcome.received:
        raise RewardFileError(
            "the outcome of a round is kept in its folder, with its ledger, and not saved by itself"
        )
    for reward in outcome.models:
        if type(reward.posterior.model) is not type(outcome.game.model):
            raise RewardFileError(
                f'the reward of "{reward.party}" is of another model than the values; realise it'
                " again"
            )
    tensors: Tensors = {}
    for name in ARRAYS_OF_PARTIES:
        values = getattr(outcome, name)
        if values is not None:
            tensors[name] = values
    if outcome.game.tabulated:
        tensors["values"] = outcome.game.values()
    described = {
        "version": VERSION,
        "fairpool": __version__,
        "about": ABOUT,
        "parties": [
            encode_party(party, i, tensors) for i, party in enumerate(outcome.game.pool.parties)
        ],
        "contributions": encode_contributions(outcome.contributions, tensors),
        "rho": outcome.rho,
        "asked": outcome.asked,
        "incentives": [encode_verdict(verdict) for verdict in outcome.incentives],
        "models": [encode_model(reward, i, tensors) for i, reward in enumerate(outcome.models)],
        "notes": [encode_note(note) for note in outcome.notes],
    }
    return packed(ENTRY, described, {k: np.ascontiguousarray(v) for k, v in tensors.items()})


def read_archive(path: Path) -> dict[str, Any]:
    """The attributes of the outcome in a file; what is cut short, edited or no such is refused."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise RewardFileError(f"{path}: there is no such file") from None
    except OSError as error:
        raise _not_an_archive(path, error) from None
    try:
        described, tensors = unpacked(
            content, ENTRY, str(path), what="fairpool collaboration", kinds=NUMBERS_AND_BYTES
        )
    except (SafetensorError, UnicodeDecodeError) as error:
        raise _not_an_archive(path, error) from None
    try:
        return _decoded(described, tensors, str(path))
    except WRONG as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise RewardFileError(f"{path}: not a usable collaboration: {what}") from None


def _not_an_archive(path: Path, error: Exception) -> RewardFileError:
    return RewardFileError(f"{path}: not a saved collaboration, or cut short ({error})")


def _decoded(d: dict[str, Any], tensors: Tensors, name: str) -> dict[str, Any]:
    if d.get("version") != VERSION:
        raise RewardFileError(
            f"it has version {shown(d.get('version'))}, this fairpool reads version {VERSION};"
            " update fairpool"
        )
    if d["sha256"] != digest(d, tensors):
        raise RewardFileError("it is not as it was written: it was edited, or damaged")
    if set(d) != KEYS:
        raise RewardFileError(f"it lacks an entry, or has another: {shown(sorted(set(d) ^ KEYS))}")
    _refuse_unusable(tensors)
    parties = [decode_party(one, i, tensors) for i, one in enumerate(d["parties"])]
    models = Models(decode_model(one, i, tensors, name) for i, one in enumerate(d["models"]))
    if models.names != tuple(party.name for party in parties) or not models:
        raise RewardFileError(f"it has models of {shown(models.names)}, who are not the parties")
    game = InformationGain(models[0].posterior.model, parties)
    if "values" in tensors:
        game.adopt(_values(tensors.pop("values"), game.n))
    contributions = decode_contributions(d["contributions"], game.n, tensors)
    of_parties = {name: per_party(tensors, name, game.n) for name in ARRAYS_OF_PARTIES}
    if of_parties["rewards"] is None:
        raise RewardFileError("it lacks rewards")
    if tensors:
        raise RewardFileError(f"it has the unknown array {shown(sorted(tensors)[0])}")
    return {
        "game": game,
        "contributions": contributions,
        "scheme": SilentScheme(game, contributions),
        "rho": number(d["rho"], "rho", least=0, most=1),
        "asked": _asked(d["asked"]),
        "incentives": decode_verdicts(d["incentives"]),
        "models": models,
        "notes": decode_notes(d["notes"]),
        **of_parties,
    }


def _refuse_unusable(tensors: Tensors) -> None:
    """Refuse numbers that are not finite, or so large that nothing can be computed with them."""
    for name, tensor in tensors.items():
        # A row of infinite noise tells nothing, which is allowed.
        if not name.endswith(".noise_variance") and not (np.abs(tensor) <= LARGEST).all():
            raise RewardFileError(
                f'tensor "{name}" has values that are not finite, or beyond {LARGEST:g}'
            )


def _values(values: Any, n: int) -> Any:
    """One value for every coalition of n parties; nobody's is worth nothing."""
    if values.shape != (1 << n,) or values.dtype != np.float64 or values[0] != 0:
        raise RewardFileError(f"it has values of shape {values.shape} for {n} parties")
    total = float(values[-1])
    slack = SLACK * abs(total)
    # Information gains are monotone.
    if values.min() < -slack or values.max() > total + slack:
        raise RewardFileError(
            f"it has values from {values.min():g} to {values.max():g}; they lie between 0 and that"
            f" of everybody's data, {total:g}"
        )
    return values


def _asked(asked: Any) -> float | str:
    """What rho was asked for: a number, or a word."""
    if isinstance(asked, str):
        if text(asked) not in WORDS:
            raise RewardFileError(f"rho {shown(asked)} is none of {', '.join(WORDS)}")
        return asked
    return number(asked, "asked", least=0, most=1)
