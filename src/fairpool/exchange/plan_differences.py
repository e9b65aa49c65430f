"""What differs between two plans in the way in which rows become sums, in words."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fairpool import canonical
from fairpool.errors import shown
from fairpool.exchange.plan import Plan
from fairpool.model_kinds import encode_posterior
from fairpool.targets import target_entries

RANGE = "range"
FOLLOW = ("mean", "scale")
"""What follows from the range of a column where one is declared."""

MOST_NAMED = 6
"""So many differences are told; whoever wants to see all looks at both plans."""


def differences_in_words(before: Plan, now: Plan) -> str:
    """The first differences of features, as part of a sentence.

    Args:
        before: One plan.
        now: Another, by which rows become other sums.
    """
    differences = feature_differences(before, now)
    more = len(differences) - MOST_NAMED
    texts = [*differences[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])]
    return "; ".join(texts)


def feature_differences(before: Plan, now: Plan) -> tuple[str, ...]:
    """What differs in columns, scaling and features; column by column, then the model.

    Args:
        before: One plan.
        now: The other.
    """
    if before.features_digest == now.features_digest:
        return ()
    texts = []
    columns = _columns_of(before)
    present = _columns_of(now)
    for name, entries in present.items():
        if name not in columns:
            texts.append(f"{name} came")
        else:
            texts += _differences(columns[name], entries, f"{name}: ")
    texts += [f"{name} is gone" for name in columns if name not in present]
    texts += _differences({"ids": before.encoding.ids}, {"ids": now.encoding.ids})
    texts += _differences(before.units, now.units, "the unit of ")
    texts += _differences(_of_model(before), _of_model(now), "the model's ")
    return tuple(texts) or ("the order of columns, or the points at which features are taken",)


def _columns_of(plan: Plan) -> dict[str, dict[str, Any]]:
    """What the plan says of each column, the target's among them."""
    columns = {column.name: dict(column.entries()) for column in plan.encoding.columns}
    columns[plan.encoding.target.name] = dict(target_entries(plan.encoding.target))
    return columns


def _of_model(plan: Plan) -> dict[str, Any]:
    prior = plan.model.posterior(np.zeros((0, plan.inputs)), np.zeros(0))
    described = encode_posterior(prior).description
    return {"number of weights": plan.weights, **described}


def _differences(before: Mapping[str, Any], now: Mapping[str, Any], of: str = "") -> list[str]:
    """What two sets of entries say differently; what follows from a range is not said again."""
    names = list(dict.fromkeys([*before, *now]))
    if before.get(RANGE) != now.get(RANGE):
        names = [name for name in names if name not in FOLLOW]
    texts = []
    for name in names:
        pair = (before.get(name), now.get(name))
        if canonical.encoded(pair[0]) != canonical.encoded(pair[1]):
            texts.append(f"{of}{name} {_in_words(pair[0])} before, {_in_words(pair[1])} now")
    return texts


def _in_words(value: Any) -> str:
    return "(none)" if value is None else shown(value)
