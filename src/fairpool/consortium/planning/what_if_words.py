"""What `fairpool plan --what-if` found, as sentences, and as plain objects for JSON."""

from typing import Any

import numpy as np

from fairpool.consortium.planning.otherwise import LEARNED_ANEW, Otherwise
from fairpool.consortium.planning.simulating import Spread
from fairpool.consortium.planning.stand_ins import Scales
from fairpool.consortium.planning.what_if import COUNT_KEYS, Outlook, WhatIf
from fairpool.consortium.planning.what_if_refusals import refusals
from fairpool.model_kinds import KINDS
from fairpool.models import Classifier
from fairpool.tables.arrays import FloatArray


def assumptions(found: WhatIf) -> tuple[str, ...]:
    """What the figures rest on."""
    return (
        found.stand_in.source.words,
        *_words_of_the_model(found),
        "All parties' rows are taken to be of the same kind. Who has rows that nobody else has"
        " contributes more than is said here, and who has copies contributes less.",
        "Information gain does not look at labels: nothing is said of how well a model predicts.",
    )


def _words_of_the_model(found: WhatIf) -> list[str]:
    """How far the model is that of the first round, and what would bring it nearer."""
    stand_in = found.stand_in
    if stand_in.lacking:
        return [
            "By this configuration all parties send rows, and a round makes scaling, features and"
            " hyperparameters of them. Here they are made of the test rows, from which no round"
            " learns anything; what a round learns can differ by more than any table here shows."
            " Once parties' tables are there, `fairpool run --preview` shows the figures of just"
            " these."
        ]
    if stand_in.scales not in (Scales.START, Scales.TEST):
        return []
    whence = "where learning starts, since nobody's labels are known"
    nearer = "; [test] data would bring these figures nearer"
    if stand_in.scales is Scales.TEST:
        whence = "learned from the test rows, from which no round learns anything"
        nearer = ""
    sentences = [
        f"{_what_is_learned(found)} {whence}. The first round learns from everybody's sums, and"
        " all figures change with that. They would be the same with [public] data, from which both"
        f" learn, or with learn = false, by which both use what [model] gives{nearer}."
    ]
    if "kernel" in KINDS[stand_in.configuration.model.kind].keys:
        sentences.append(
            "A round without plan.json, to which all send rows, also learns length scales, which a"
            " plan fixes."
        )
    return sentences


def _what_is_learned(found: WhatIf) -> str:
    if isinstance(found.plan.model, Classifier):
        return "The scale of the prior is"
    return "The noise variance and the scale of the prior are"


def noise_and_prior(found: WhatIf) -> str:
    """Where the noise variance and the prior's scale come from, beside them."""
    match found.stand_in.scales:
        case Scales.GIVEN:
            return "given in [model]; a round uses the same"
        case Scales.PUBLIC:
            return "learned from public data; a round uses the same"
        case Scales.TEST:
            assert found.stand_in.sample is not None  # of which they were learned
            rows = len(found.stand_in.sample.X)
            return f"learned from {rows} test rows; the first round learns its own"
        case Scales.START:
            return "assumed, where learning starts; the first round learns its own"


def words_of_weights(found: WhatIf) -> str:
    """What the table over the number of weights is about."""
    section = found.stand_in.configuration.model
    kind = KINDS[section.kind]
    keys = [key for key in COUNT_KEYS if key in kind.keys]
    weights = f"{found.configured.weights} weights"
    if isinstance(found.plan.model, Classifier):
        weights += " of each class"
    if keys:
        return f"By the number of weights: {weights} as configured, by [model] {keys[0]}"
    whence = f"one for each of the {found.plan.inputs} numbers that inputs become, and one more"
    if "hidden_layers" in kind.keys:
        whence = "one for each unit of the last of its hidden_layers, and one more"
    return f'By the {weights} that a model of kind = "{section.kind}" has here, {whence}'


def noise_in_words(found: WhatIf, party: int) -> str:
    """How much noise the others' labels get for a party at the configured rho, or why no figure.

    Args:
        found: What was found.
        party: Its place among the parties.
    """
    simulated = found.simulated
    rho = next(iter(found.question.rhos))
    etas = simulated.noise[:, party]
    etas = etas[~np.isnan(etas)]
    below = simulated.below_own[rho]
    if below.all():
        return (
            f"no figure: in all {simulated.count} draws some party would be due less than its own"
            f" data are worth, and a run would refuse rho = {rho}"
        )
    if not len(etas):
        return "no figure: rewards are weakened in another way than by noise on labels"
    of_draws = ""
    if below.any():
        of_draws = (
            f" (of {len(etas)} of {simulated.count} draws; in the others a run would refuse this"
            " rho)"
        )
    return _amount(found, float(np.median(etas))) + of_draws


def _amount(found: WhatIf, eta: float) -> str:
    if eta == 0:
        return "none"
    if np.isinf(eta):
        return "so much that nothing of the others' data is left"
    return found.plan.encoding.target.noise_in_words(eta)


def words_of_otherwise(found: WhatIf) -> str:
    """What the table over what the first round may learn is about."""
    words = "If the first round finds labels more noisy, or less, beside the prior's scale"
    if isinstance(found.plan.model, Classifier):
        words = "If the first round learns another scale of the prior"
    if any(one.is_anew for one in found.otherwise):
        words += f", or learns all from other rows (of {LEARNED_ANEW} choices the least, the most)"
    return words


def change_in_words(found: WhatIf, one: Otherwise) -> str:
    """What is otherwise: the noise beside the prior, or, of classes, the prior; or all."""
    if one.is_anew:
        return "other rows"
    if one.times == 1:
        return "as learned" if found.stand_in.scales is Scales.TEST else "as assumed"
    is_less = one.times < 1
    if isinstance(found.plan.model, Classifier):
        is_less = not is_less  # a smaller prior is as more noise
    return "a tenth" if is_less else "ten times"


def as_plain(found: WhatIf) -> dict[str, Any]:
    """Every number as plain Python objects, ready for JSON."""
    simulated = found.simulated
    configured = next(iter(found.question.rhos))
    refused = refusals(found)
    parties = []
    for i, size in enumerate(found.question.sizes):
        parties.append(
            {
                "name": size.name,
                "rows": size.rows,
                "alone": _spread(simulated.alone[:, i]),
                "contributes": _spread(simulated.contributions[:, i]),
                "receives": {
                    rho: _spread(rewards[:, i]) for rho, rewards in simulated.rewards.items()
                },
                "noise": noise_in_words(found, i),
                "refused": any(refusal.party == size.name for refusal in refused),
                "may_send_rows": size.rows >= found.configured.rows_needed,
                "may_send_sums": _may_send_sums(found, size.rows),
            }
        )
    return {
        "weights": found.configured.weights,
        "model": found.settings,
        "noise_and_prior": noise_and_prior(found),
        "simulations": simulated.count,
        "total": _spread(simulated.totals),
        "rho": {"configured": configured}
        | {name: _spread(numbers) for name, numbers in simulated.rhos.items()},
        "parties": parties,
        "by_weights": [_outlook_as_plain(found, outlook) for outlook in found.outlooks],
        "otherwise": [_otherwise_as_plain(found, one) for one in found.otherwise],
        "refusals": [refusal.text for refusal in refused],
        "refused_rhos": [refusal.rho for refusal in refused if refusal.rho is not None],
        "discloses": list(found.discloses),
        "assumptions": list(assumptions(found)),
    }


def _may_send_sums(found: WhatIf, rows: int) -> bool:
    outlook = found.configured
    return found.sums_are_possible and rows >= max(outlook.sums_needed, outlook.rows_needed)


def _outlook_as_plain(found: WhatIf, outlook: Outlook) -> dict[str, Any]:
    receives = None
    if outlook.simulated is not None:
        rewards = outlook.simulated.rewards[next(iter(found.question.rhos))]
        receives = [_spread(of_party) for of_party in rewards.T]
    return {
        "weights": outlook.weights,
        "configured": outlook.is_configured,
        "rows_needed": outlook.rows_needed,
        "sums_needed": outlook.sums_needed,
        "refused": list(outlook.refused(found.question.sizes)),
        "total": None if outlook.simulated is None else _spread(outlook.simulated.totals),
        "receives": receives,
    }


def _otherwise_as_plain(found: WhatIf, one: Otherwise) -> dict[str, Any]:
    rewards = one.simulated.rewards[next(iter(found.question.rhos))]
    return {
        "noise_over_prior_times": one.times,
        "learned_from_other_rows": one.is_anew,
        "total": _spread(one.simulated.totals),
        "alone": [_spread(of_party) for of_party in one.simulated.alone.T],
        "receives": [_spread(of_party) for of_party in rewards.T],
    }


def _spread(values: FloatArray) -> dict[str, float]:
    return vars(Spread.of(values))
