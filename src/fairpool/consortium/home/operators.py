"""Whom a person has contributed to before: their keys, pinned at first use, and what was agreed.

A plan says who the operator is, and everybody can write a plan. So its key is compared once, by
people, and from then on by this file.
"""

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairpool import canonical
from fairpool.compute.files import write_atomically
from fairpool.errors import FairpoolError, PlanError, shown
from fairpool.exchange.plan import Plan, PlannedParty, SignedPlan
from fairpool.signatures import PublicKey

FILE = "operators.json"
PLANS = "plans"
"""The folder of the plans that were agreed to, one for each operator."""

VERSION = 1

UP_TO_ROUNDING = 1e-9
"""Shares by which a bound that was computed may differ and be the same."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What a person has to do with an operator.

    Attributes:
        is_known: Whether the key was compared before.
        agreed: The plan that was agreed to last; None: none was.
    """

    is_known: bool
    agreed: SignedPlan | None = None

    def other_features(self, plan: SignedPlan) -> bool:
        """Whether rows would become other sums than those that were agreed to."""
        if self.agreed is None:
            return False
        return self.agreed.plan.features_digest != plan.plan.features_digest

    def changes(self, plan: SignedPlan) -> tuple[str, ...]:
        """What else is not as it was agreed, in words."""
        if self.agreed is None or self.agreed.digest == plan.digest:
            return ()
        return _changes(self.agreed.plan, plan.plan)


def standing(home: Path, plan: SignedPlan) -> Standing:
    """What a person has to do with a plan's operator; another key than before is refused.

    Args:
        home: The person's folder.
        plan: Of the operator.
    """
    known = _read(home)
    if str(plan.operator) in known:
        return Standing(is_known=True, agreed=_agreed(home, plan.operator))
    for key, name in known.items():
        if name == plan.plan.name:
            raise PlanError(
                f"the plan {shown(name)} is signed with the key {plan.operator.fingerprint}, and"
                f" that of this name was signed with {PublicKey.of_text(key).fingerprint} before:"
                " somebody else may have written it; ask the operator over the telephone, and if"
                f" the key was really exchanged, take the old one out of {home / FILE}"
            )
    return Standing(is_known=False)


def known_operators(home: Path) -> dict[PublicKey, str]:
    """The name of each collaboration whose operator's key was compared, by the key."""
    return {PublicKey.of_text(key): name for key, name in _read(home).items()}


def refuse_other_fingerprint(plan: SignedPlan, fingerprint: str) -> None:
    """Refuse an operator whose key does not have the fingerprint that a person was told."""
    if _plain(fingerprint) != _plain(plan.operator.fingerprint):
        raise PlanError(
            f"the plan is signed with the key {plan.operator.fingerprint}, and --trust says"
            f" {shown(fingerprint)}; ask the operator over the telephone for the fingerprint of the"
            " key, and do not use this plan.json if it is another"
        )


def remember(home: Path, plan: SignedPlan) -> None:
    """Pin an operator's key, and keep what was agreed to."""
    known = _read(home)
    _plan_file(home, plan.operator).parent.mkdir(mode=0o700, exist_ok=True)
    write_atomically(_plan_file(home, plan.operator), plan.document.content)
    known[str(plan.operator)] = plan.plan.name
    operators = [{"key": key, "name": name} for key, name in known.items()]
    content = json.dumps({"version": VERSION, "operators": operators}, indent=1)
    write_atomically(home / FILE, (content + "\n").encode("ascii"))


def _read(home: Path) -> dict[str, str]:
    """The name of each known operator's collaboration, by its key."""
    path = home / FILE
    try:
        said = json.loads(path.read_text("utf-8"))
        if said["version"] != VERSION:
            raise ValueError(f"version {shown(said['version'])}")
        known = {}
        for one in said["operators"]:
            known[str(PublicKey.of_text(one["key"]))] = str(one["name"])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise PlanError(
            f"{path}: the operators that you know cannot be read ({error}); restore it from your"
            " copy, or remove it and compare fingerprints anew"
        ) from None
    return known


def _agreed(home: Path, operator: PublicKey) -> SignedPlan | None:
    path = _plan_file(home, operator)
    try:
        return SignedPlan.of_content(path.read_bytes(), os.fspath(path))
    except FileNotFoundError:
        return None
    except FairpoolError as error:
        raise PlanError(
            *(f"{problem}; restore it from your copy" for problem in error.problems)
        ) from None


def _plan_file(home: Path, operator: PublicKey) -> Path:
    return home / PLANS / f"{_plain(operator.fingerprint)}.json"


def _plain(fingerprint: str) -> str:
    return "".join(fingerprint.split()).casefold()


def _changes(before: Plan, now: Plan) -> tuple[str, ...]:
    """What differs between two plans, besides the way in which rows become sums."""
    texts = _differences(vars(before.terms), vars(now.terms))
    texts += _other_parties(before, now)
    rest = {
        "origin": "where scaling and features come from",
        "learned_from_sums": "whether noise and prior are learned from sums",
        "drops": "columns without which a row is left out",
        "label_bound": "the largest label",
        "feature_bound": "the largest features",
    }
    for name, what in rest.items():
        was, becomes = getattr(before, name), getattr(now, name)
        if not _agree(was, becomes):
            texts.append(f"{what}: {shown(was)} before, {shown(becomes)} now")
    if before.discloses != now.discloses:
        texts.append("what is disclosed is said in other words: read it")
    return tuple(texts)


def _other_parties(before: Plan, now: Plan) -> list[str]:
    """Who came, who left, and who has another name or key."""
    texts = []
    came = [one.name for one in now.parties if before.party(one.id) is None]
    left = [one.name for one in before.parties if now.party(one.id) is None]
    if came:
        texts.append(f"parties that came: {', '.join(came)}")
    if left:
        texts.append(f"parties that left: {', '.join(left)}")
    for one in now.parties:
        then = before.party(one.id)
        if then is None:
            continue
        if then.name != one.name:
            texts.append(f"{then.name} is called {one.name} now")
        if then.key != one.key:
            texts.append(
                f"another key of {one.name}: {_key_in_words(then)} before, {_key_in_words(one)} now"
            )
    return texts


def _key_in_words(party: PlannedParty) -> str:
    return "none" if party.key is None else party.key.fingerprint


def _agree(before: Any, now: Any) -> bool:
    """Whether two values are the same, up to the rounding of a sum in another order."""
    if isinstance(before, float) and isinstance(now, float):
        return math.isclose(before, now, rel_tol=UP_TO_ROUNDING)
    return bool(before == now)


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    texts = []
    for name, value in now.items():
        if canonical.encoded(value) != canonical.encoded(before[name]):
            texts.append(f"{name}: {shown(before[name])} before, {shown(value)} now")
    return texts
