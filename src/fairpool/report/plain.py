"""Every number of an outcome as plain Python objects, for JSON and for other programs."""

from typing import Any

import numpy as np

from fairpool.outcome import Outcome
from fairpool.report.sentences import sentence
from fairpool.verdicts import Verdicts


def as_plain(outcome: Outcome) -> dict[str, Any]:
    """Every number, infinite ones as None."""
    scheme = outcome.scheme
    contributions = outcome.contributions
    held = outcome.held_incentives
    return {
        "parties": [_party(outcome, i) for i in range(outcome.game.n)],
        "total": outcome.game.total,
        "method": contributions.method,
        "rho": outcome.rho,
        "rho_rational": _finite(scheme.rho_rational),
        "rho_stable": _finite(scheme.rho_stable),
        "rho_rational_interval": [_finite(end) for end in scheme.rho_rational_interval],
        "rho_stable_interval": [_finite(end) for end in scheme.rho_stable_interval],
        "evaluations": contributions.evaluations,
        "incentives": _verdicts(outcome.incentives),
        "incentives_of_what_is_held": None if held is None else _verdicts(held),
        "warnings": list(outcome.warnings),
    }


def _verdicts(verdicts: Verdicts) -> list[dict[str, Any]]:
    entries = []
    for verdict in verdicts:
        coalition = None if verdict.witness is None else verdict.witness.coalition
        entries.append(
            {
                "condition": verdict.condition,
                "holds": verdict.holds,
                "why": verdict.why,
                # All of it, where the sentence has the first few.
                "coalition": None if coalition is None else list(coalition),
            }
        )
    return entries


def _party(outcome: Outcome, i: int) -> dict[str, Any]:
    game = outcome.game
    model = outcome.models[i]
    residual = None
    if outcome.residuals is not None:
        residual = _finite(outcome.residuals[i])
    return {
        "name": game.names[i],
        "rows": game.rows[i],
        "value": float(game.alone[i]),
        "contribution": float(outcome.contributions.values[i]),
        "standard_error": float(outcome.contributions.standard_errors[i]),
        "reward": float(outcome.rewards[i]),
        "reward_interval": outcome.reward_intervals[i].tolist(),
        "benefit_ratio": _finite(outcome.scheme.benefit_ratios(outcome.asked)[i]),
        "realised": model.value,
        **model.mechanism.encode(model.level),
        "covariance_price": model.covariance_price,
        "label_residual": residual,
        "explanation": sentence(outcome, i),
    }


def _finite(number: float) -> float | None:
    # JSON has no infinity.
    return float(number) if np.isfinite(number) else None
