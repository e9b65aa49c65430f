"""What a plan says, in words, for whoever looks at the file."""

from typing import Any

from fairpool.columns import CategoryColumn, Column
from fairpool.columns.date import DateColumn, as_date
from fairpool.columns.encoded import EncodedColumn
from fairpool.columns.rules import Rules, as_number
from fairpool.errors import few, shown
from fairpool.exchange.plan import FEWEST_OF_A_CLASS, Plan, SignedPlan
from fairpool.model_kinds import kind_of
from fairpool.models import Classifier, Model
from fairpool.realisation.mechanisms import MECHANISMS
from fairpool.targets import ClassTarget

SHOWN_LEVELS = 12
"""So many levels of a column are shown."""

SHOWN_COLUMNS = 40


def plan_in_words(signed: SignedPlan) -> dict[str, str]:
    """What was agreed, entry by entry."""
    plan = signed.plan
    columns = [column_in_words(column, plan.units) for column in plan.encoding.columns]
    fewest = f"{plan.fewest_rows} rows"
    if isinstance(plan.encoding.target, ClassTarget):
        fewest += f", and of each class {FEWEST_OF_A_CLASS} or none"
    return {
        "plan for": plan.name,
        "made": plan.made,
        "predicts": _target_in_words(plan),
        "from": few(columns, SHOWN_COLUMNS),
        "model": f"{_model_in_words(plan.model)}; {_weights_in_words(plan)}",
        "features from": plan.origin,
        "noise of labels": _noise_in_words(plan),
        "send sums": _senders(plan, sums=True),
        "send rows": _senders(plan, sums=False),
        "a contribution needs": fewest,
        "rho": str(plan.terms.rho),
        "contributions by": plan.terms.contributions,
        "rewards by": f"{_mechanism_in_words(plan)}; covariance {plan.terms.covariance}",
        "plan's hash": signed.digest,
        "features' hash": plan.features_digest,
        "operator": signed.operator.fingerprint,
    }


def plan_as_plain(signed: SignedPlan) -> dict[str, Any]:
    """The same for programs."""
    plan = signed.plan
    parties = []
    for party in plan.parties:
        key = None if party.key is None else str(party.key)
        parties.append({"id": party.id, "name": party.name, "key": key})
    return {
        "name": plan.name,
        "made": plan.made,
        "target": plan.encoding.target.name,
        "columns": [column.name for column in plan.encoding.columns],
        "features": list(plan.encoding.features),
        "weights": plan.weights,
        "label_sets": plan.model.label_sets,
        "origin": plan.origin,
        "learned_from_sums": plan.learned_from_sums,
        "fewest_rows": plan.fewest_rows,
        "feature_bound": plan.feature_bound,
        "label_bound": plan.label_bound,
        "terms": vars(plan.terms),
        "parties": parties,
        "discloses": list(plan.discloses),
        "digest": signed.digest,
        "features_digest": plan.features_digest,
        "operator": str(signed.operator),
        "fingerprint": signed.operator.fingerprint,
    }


def column_in_words(column: Column, units: dict[str, str]) -> str:
    """A column, and what its values may be."""
    if isinstance(column, CategoryColumn):
        values = few([shown(level) for level in column.levels], SHOWN_LEVELS)
        if column.others:
            values += ", or another"
    elif isinstance(column, EncodedColumn):
        values = f"{column.kind}, by {column.pin}"
    else:
        values = _numbers_in_words(column.kind, column.rules)
    return f"{column.name} ({_with_unit(values, column.name, units)})"


def _numbers_in_words(kind: str, rules: Rules) -> str:
    values = kind
    if rules.bounds is not None:
        values = rules.bounds.in_words(as_date if kind == DateColumn.kind else as_number)
    if rules.clips:
        values += ", clipped"
    if rules.log:
        values += ", as logarithm"
    return values


def _with_unit(values: str, name: str, units: dict[str, str]) -> str:
    return f"{values} {units[name]}" if name in units else values


def _target_in_words(plan: Plan) -> str:
    target = plan.encoding.target
    if isinstance(target, ClassTarget):
        return f"{target.name} ({few([shown(level) for level in target.levels], SHOWN_LEVELS)})"
    values = _numbers_in_words(target.kind, target.rules)
    return f"{target.name} ({_with_unit(values, target.name, plan.units)})"


def _model_in_words(model: Model) -> str:
    if isinstance(model, Classifier):
        return f"{kind_of(model.base).title}, for each of {model.label_sets} classes"
    return kind_of(model).title


def _weights_in_words(plan: Plan) -> str:
    inputs = f"{plan.inputs} input(s)"
    return f"{plan.weights} weights on {inputs}"


def _noise_in_words(plan: Plan) -> str:
    if isinstance(plan.model, Classifier):
        noise = plan.encoding.target.label_noise_in_words(plan.model.noise_variance)
        if plan.learned_from_sums:
            return f"{noise}; the prior's scale is learned from everybody's sums"
        return noise
    if plan.learned_from_sums:
        return "learned from everybody's sums, and so is the prior's scale"
    return plan.encoding.target.label_noise_in_words(plan.model.noise_variance)


def _mechanism_in_words(plan: Plan) -> str:
    """How rewards are weakened; a plan may be of a later version, which has other ways."""
    name = plan.terms.mechanism
    mechanism = MECHANISMS.get(name)
    return name if mechanism is None else mechanism.words.heading


def _senders(plan: Plan, *, sums: bool) -> str:
    """Who has a key, with its fingerprint; or who has none."""
    names = []
    for party in plan.parties:
        if sums and party.key is not None:
            names.append(f"{party.name} (key {party.key.fingerprint})")
        if not sums and party.key is None:
            names.append(party.name)
    return "; ".join(names) or "nobody"
