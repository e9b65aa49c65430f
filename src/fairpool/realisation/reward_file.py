"""Reward files: safetensors with one canonical JSON entry, no pickle.

Everything is checked before it is used.
"""

import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError

from fairpool.compute.files import write_atomically
from fairpool.errors import RewardFileError, shown
from fairpool.model_kinds import Stored, decode_posterior, encode_posterior
from fairpool.models import TrainedPosterior
from fairpool.realisation.delivery_codec import decode_delivery, encode_delivery
from fairpool.realisation.encoding_codec import decode_encoding, encode_encoding
from fairpool.realisation.mechanisms import mechanism_of
from fairpool.realisation.model_reward import LedgerMark, ModelReward, Update
from fairpool.realisation.tensor_file import digest, packed, unpacked
from fairpool.stored import number, text
from fairpool.tables.arrays import FloatArray
from fairpool.tables.delivery import AS_AGREED
from fairpool.targets import label_sets

ENTRY = "fairpool"
VERSION = 2
KEYS = {
    "version",
    "party",
    "target",
    "value",
    "holds_inputs_of_others",
    "rho",
    "columns",
    "encoding",
    "model",
    "sha256",
    "mechanism",
    "updated",
    "delivery",
    "ledger",
    "own_noise",
}
"""What a file's description holds besides the entries of its mechanism, and nothing else."""

MOST_ROWS = 2**53
"""Beyond, numbers in JSON are not exact."""

DEFAULT_MECHANISM = "label_noise"
"""A file that names no mechanism is of this one."""


def save_reward(
    reward: ModelReward,
    path: Path,
    *,
    share_inputs: bool,
    known_noise: bool = False,
    share_labels: bool = False,
) -> None:
    """Write a reward to `path`, atomically: a killed run leaves the old file or none."""
    content = reward_bytes(
        reward, share_inputs=share_inputs, known_noise=known_noise, share_labels=share_labels
    )
    write_atomically(path, content)


def reward_bytes(
    reward: ModelReward,
    *,
    share_inputs: bool,
    known_noise: bool = False,
    share_labels: bool = False,
) -> bytes:
    """A reward as the content of a file; the same reward gives the same bytes.

    Args:
        reward: The model and what it is worth.
        share_inputs: Whether the parties agreed to show each other their inputs.
        known_noise: Whether it may hold noise that somebody knows.
        share_labels: Whether the parties agreed to show each other their labels.
    """
    posterior = reward.posterior
    stored = encode_posterior(posterior)
    refuse_to_hand_out(
        reward, share_inputs=share_inputs, known_noise=known_noise, share_labels=share_labels
    )
    encoding = None if reward.encoding is None else encode_encoding(reward.encoding)
    description = {
        "version": VERSION,
        "party": reward.party,
        "target": reward.target,
        "value": reward.value,
        **reward.mechanism.encode(reward.level),
        "holds_inputs_of_others": reward.holds_inputs_of_others,
        "rho": reward.rho,
        "columns": None if posterior.columns is None else list(posterior.columns),
        "encoding": encoding,
        "model": stored.description,
    }
    if reward.mechanism.name != DEFAULT_MECHANISM:
        description["mechanism"] = reward.mechanism.name
    if reward.updated is not None:
        description["updated"] = asdict(reward.updated)
    if reward.ledger is not None:
        description["ledger"] = asdict(reward.ledger)
    if reward.own_noise:
        description["own_noise"] = True
    if not reward.delivery.is_plain:
        description["delivery"] = encode_delivery(reward.delivery)
    arrays = {}
    for name, tensor in stored.tensors.items():
        arrays[name] = np.array(tensor, dtype=np.float64, order="C")
    return packed(ENTRY, description, arrays)


def refuse_to_hand_out(
    reward: ModelReward, *, share_inputs: bool, known_noise: bool, share_labels: bool
) -> None:
    """Refuse a model that would tell its holder more than was agreed, in whatever kind of file.

    Args:
        reward: The model and what it is worth.
        share_inputs: Whether the parties agreed to show each other their inputs.
        known_noise: Whether it may hold noise that somebody knows.
        share_labels: Whether the parties agreed to show each other their labels.
    """
    _refuse_told_labels(reward, share_labels=share_labels)
    if reward.holds_inputs_of_others and not share_inputs:
        raise RewardFileError(
            f'the reward of "{reward.party}" contains other parties\' inputs; if all agreed to'
            " that, save it with share_inputs=True; otherwise use Bayesian linear regression, or a"
            " sparse Gaussian process whose inducing points are nobody's rows"
        )
    if reward.for_evaluation:
        raise RewardFileError(
            f'the reward of "{reward.party}" is for evaluation (several draws, or noise that is not'
            " nested), and would tell too much; realise it again with the default settings to hand"
            " it out"
        )
    if reward.known_noise and not known_noise:
        raise RewardFileError(
            f'the reward of "{reward.party}" has noise from an rng that you gave: whoever knows or'
            " guesses it, or holds a second model made with it, can remove the noise from the other"
            " parties' labels; to hand the model out, realise it again without rng; to keep it for"
            " yourself, save it with known_noise=True"
        )
    if reward.exposure is not None and not share_inputs:
        problems = reward.exposure.problems()
        if problems:
            raise RewardFileError(*(f'the reward of "{reward.party}": {p}' for p in problems))


def _refuse_told_labels(reward: ModelReward, *, share_labels: bool) -> None:
    """Refuse a file that would tell the classes of other parties' rows, noise or not."""
    if share_labels or reward.exposure is None or not reward.exposure.tells_labels:
        return
    raise RewardFileError(
        f'the reward of "{reward.party}" tells the classes of other parties\' rows, since these are'
        ' weighted by their class, whatever noise is on their labels; use covariance = "hidden"'
        " with a sparse Gaussian process or a regression, or label_blind, or, if all parties agreed"
        " to that, share_labels = true"
    )


def load_reward(path: str | Path) -> ModelReward:
    """Open a reward file, and nothing but it.

    Args:
        path: A file that `ModelReward.save` wrote. One that is cut short, edited or of another kind
            is refused.
    """
    path = Path(path)
    return decode_reward(read_reward(path), str(path))


def read_reward(path: Path) -> bytes:
    """The content of a reward file, which `decode_reward` looks at."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise RewardFileError(f"{path}: there is no such file") from None
    except OSError as error:
        raise _not_a_reward(str(path), error) from None


def decode_reward(content: bytes, name: str, *, refuse_other_worth: bool = True) -> ModelReward:
    """The reward of a file's content; what is cut short, edited or of another kind is refused.

    Args:
        content: What `reward_bytes` gave.
        name: What errors call it, such as the file's path.
        refuse_other_worth: Whether a file is refused whose model is not worth what it says.
    """
    try:
        description, tensors = unpacked(content, ENTRY, name, what="fairpool reward")
    except (SafetensorError, UnicodeDecodeError) as error:
        raise _not_a_reward(name, error) from None
    try:
        _check_version(description.get("version"))
        return _decode(description, tensors, refuse_other_worth=refuse_other_worth)
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
        raise RewardFileError(f"{name}: not a usable reward file: {what}") from None


def _check_version(version: Any) -> None:
    if version == 1:
        raise RewardFileError(
            "it has version 1, which tells its holder more about other parties than it should, and"
            " is no longer read; ask the operator for a new one"
        )
    if version != VERSION:
        raise RewardFileError(
            f"it has version {shown(version)}, this fairpool reads version {VERSION};"
            " update fairpool"
        )


def _not_a_reward(name: str, error: Exception) -> RewardFileError:
    return RewardFileError(
        f"{name}: not a reward file, or cut short ({error}); if it was sent as one, ask for it"
        " again"
    )


def _decode(
    d: dict[str, Any], tensors: dict[str, FloatArray], *, refuse_other_worth: bool
) -> ModelReward:
    if d["sha256"] != digest(d, tensors):
        raise RewardFileError("it is not as it was written: it was edited, or damaged")
    mechanism = mechanism_of(text(d.get("mechanism", DEFAULT_MECHANISM)))
    # What a mechanism writes depends on it alone: any level's entries have the same names.
    known = KEYS | set(mechanism.encode(mechanism.decode(d)))
    unknown = set(d) - known
    if unknown:
        raise RewardFileError(f"it has the unknown entry {shown(sorted(unknown)[0])}")
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise RewardFileError(f'tensor "{name}" has values that are not finite')
    posterior = decode_posterior(Stored(d["model"], tensors))
    encoding = None if d["encoding"] is None else decode_encoding(d["encoding"])
    if encoding is not None and label_sets(encoding.target) != posterior.model.label_sets:
        raise RewardFileError(
            f"it describes {label_sets(encoding.target)} class(es) for a model of"
            f" {posterior.model.label_sets}"
        )
    columns = None if d["columns"] is None else tuple(text(name) for name in d["columns"])
    _check_inputs("inputs", encoding.features if encoding else None, posterior.inputs)
    _check_inputs("columns", columns, posterior.inputs)
    delivery = AS_AGREED
    if "delivery" in d:
        delivery = decode_delivery(d["delivery"])
    level = mechanism.decode(d)
    if refuse_other_worth:
        _check_worth(posterior, level.value)
    own_noise = d.get("own_noise", False)
    for name, said in {
        "holds_inputs_of_others": d["holds_inputs_of_others"],
        "own_noise": own_noise,
    }.items():
        if not isinstance(said, bool):
            raise RewardFileError(f"{name} must be true or false")
    return ModelReward(
        party=text(d["party"]),
        target=number(d["target"], "target", least=0),
        level=level,
        mechanism=mechanism,
        posterior=posterior.with_columns(columns),
        holds_inputs_of_others=d["holds_inputs_of_others"],
        rho=None if d["rho"] is None else number(d["rho"], "rho", least=0, most=1),
        encoding=encoding,
        delivery=delivery,
        updated=_decode_update(d.get("updated")),
        ledger=_decode_mark(d.get("ledger")),
        own_noise=own_noise,
    )


def _decode_mark(entries: Any) -> LedgerMark | None:
    """The round that a reward says it is of."""
    if entries is None:
        return None
    if set(entries) != {"round", "head"}:
        raise RewardFileError(f"it has the unknown ledger {shown(entries)}")
    count = number(entries["round"], "round", least=1, most=MOST_ROWS)
    head = text(entries["head"])
    if not count.is_integer() or not re.fullmatch("[0-9a-f]{64}", head):
        raise RewardFileError(f"it has the unknown ledger {shown(entries)}")
    return LedgerMark(round=int(count), head=head)


def _decode_update(entries: Any) -> Update | None:
    """What the recipient says it has done; the worth itself is computed from the model."""
    if entries is None:
        return None
    if set(entries) != {"rows", "rows_are_all", "awarded"}:
        raise RewardFileError(f"it has the unknown update {shown(entries)}")
    rows = number(entries["rows"], "rows", least=0, most=MOST_ROWS)
    if not rows.is_integer():
        raise RewardFileError(f"rows {rows} is not a whole number")
    if not isinstance(entries["rows_are_all"], bool):
        raise RewardFileError("rows_are_all must be true or false")
    return Update(
        rows=int(rows),
        rows_are_all=entries["rows_are_all"],
        awarded=number(entries["awarded"], "awarded", least=0),
    )


def _check_worth(posterior: TrainedPosterior, stated: float) -> None:
    """Refuse a worth that the model does not have.

    That of a Gaussian process takes a factorisation of all its rows, and is taken as it is.
    """
    if posterior.weight_count and abs(posterior.worth - stated) > 1e-6 * max(stated, 1.0):
        raise RewardFileError(
            f"it says that it is worth {stated:.6g} nats, but its model is worth"
            f" {posterior.worth:.6g}"
        )


def _check_inputs(what: str, names: tuple[str, ...] | None, inputs: int) -> None:
    if names is not None and len(names) != inputs:
        raise RewardFileError(f"it describes {len(names)} {what} for a model of {inputs}")
