"""What an exported model says of itself, for people and for programs."""

from typing import NamedTuple

from fairpool.__about__ import __version__
from fairpool.realisation import ModelReward


class Note(NamedTuple):
    """What a file is.

    Attributes:
        text: For people.
        facts: For programs, all as text: `fairpool.party`, `fairpool.worth_nats`, ...
    """

    text: str
    facts: dict[str, str]


def note_of(reward: ModelReward, gives: str) -> Note:
    """Whose reward it is, what it is worth, and what it gives.

    Args:
        reward: The model.
        gives: What comes out of it, in a sentence.
    """
    encoding = reward.encoding
    target = "labels, as the model was trained on" if encoding is None else encoding.target.name
    facts = {
        "fairpool.version": __version__,
        "fairpool.party": reward.party,
        "fairpool.target": target,
        "fairpool.worth_nats": repr(reward.value),
        "fairpool.due_nats": repr(reward.target),
        "fairpool.model": type(reward.posterior.model).__name__,
    }
    if reward.rho is not None:
        facts["fairpool.rho"] = repr(reward.rho)
    if reward.ledger is not None:
        facts["fairpool.ledger.round"] = str(reward.ledger.round)
        facts["fairpool.ledger.head"] = reward.ledger.head
    lines = [
        f"A reward of a fairpool collaboration, exported by fairpool {__version__}.",
        f"Party: {reward.party}. It predicts: {target}.",
        f"Worth: {reward.value:.6g} nats of information; due: {reward.target:.6g}.",
        gives,
        "Tables are as the collaboration agreed on: its column names, its units.",
        "This file can predict and nothing else: the reward file itself is needed to verify it, or"
        " to add rows to it (fairpool verify, fairpool update).",
    ]
    if reward.updated is not None:
        lines.append(f"Its recipient added {reward.updated.rows} row(s) since.")
    return Note("\n".join(lines), facts)
