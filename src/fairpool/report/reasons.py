"""Why a party gets what it gets, and what would bring it more: as sentences, a table and JSON.

The report has everybody's; a letter has its own, in whole points and to a tenth of a nat
(`docs/privacy.md`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpool.audit import Evidence
from fairpool.outcome import Outcome
from fairpool.report.sentences import is_capped
from fairpool.report.words import as_percent
from fairpool.rewards.more_rows import MoreRows

SMALLEST_SHARE = 0.005
"""Below half a point a change is not said as a number of points."""

LIKE_YOURS = "Whether new rows would be like those you have, nobody can say."


@dataclass(frozen=True, kw_only=True)
class Reason:
    """One party's line of the report's table.

    Attributes:
        party: Its name.
        rows: How many rows it has.
        counted: How much of what its data tell counts as its contribution; None: the concept does
            not tell.
        closest: With whom its data overlap most, and how many nats; None: with nobody, or not
            known.
        noise_factor: How many times the standard deviation of the median party's noise its labels
            have; None: not known.
        more: What more rows would bring, in words.
    """

    party: str
    rows: int
    counted: float | None
    closest: tuple[str, float] | None
    noise_factor: float | None
    more: str


def counted_share(outcome: Outcome, i: int) -> float | None:
    """phi_i / v_i: how much of what party i's data tell counts as its contribution.

    For submodular values, averages of what a party adds to others are at most what it has alone.
    None where contributions are no such averages, and where there is nothing to share.
    """
    alone = float(outcome.game.alone[i])
    if not outcome.contributions.concept.averages_marginals or alone <= 0:
        return None
    return float(np.clip(outcome.contributions.values[i] / alone, 0.0, 1.0))


def reasons_of(outcome: Outcome, evidence: Evidence | None) -> tuple[Reason, ...]:
    """Everybody's lines, in the parties' order."""
    reasons = []
    for i, name in enumerate(outcome.game.names):
        factor = None
        if evidence is not None and evidence.parties[i].phi != 0:
            factor = evidence.parties[i].deviation_factor
        more = outcome.outlook.parties[i]
        reasons.append(
            Reason(
                party=name,
                rows=outcome.game.rows[i],
                counted=counted_share(outcome, i),
                closest=_closest(outcome, i),
                noise_factor=factor,
                more="–" if more is None else _in_table(more),
            )
        )
    return tuple(reasons)


def _closest(outcome: Outcome, i: int) -> tuple[str, float] | None:
    if outcome.overlap is None or outcome.game.n == 1:
        return None
    shared = outcome.overlap[i].copy()
    shared[i] = -np.inf
    j = int(np.argmax(shared))
    nats = float(shared[j])
    return None if nats < SMALLEST_SHARE else (outcome.game.names[j], nats)


def _in_table(more: MoreRows) -> str:
    """Both differences, since a share of a best model that grows as well may not tell all."""
    rows = f"{more.rows:,} more: "
    nats = f"{_signed(more.reward, 1)} ± {more.reward_error:.1f} nats"
    return f"{rows}{nats}, {_signed(100 * more.share, 0)} points"


def letter_sentences(outcome: Outcome, i: int, noise: str) -> tuple[str, ...]:
    """To party i itself; nothing is said of any other one.

    Args:
        outcome: What the collaboration came to.
        i: The party's place.
        noise: How noisy labels are taken to be, in words; empty: nothing is said of it.
    """
    sentences = []
    if is_capped(outcome, i):
        sentences.append(_own_wish(outcome, i))
    counted = counted_share(outcome, i)
    if counted is not None:
        rest = "" if counted > 1 - SMALLEST_SHARE else "; the others' data tell the rest as well"
        sentences.append(
            f"Of what your data tell by themselves, {as_percent(counted)} count as your"
            f" contribution{rest}."
        )
    if noise:
        sentences.append(f"Labels are taken to be noisy, everybody's alike: {noise}.")
    more = outcome.outlook.parties[i]
    if more is not None:
        sentences += _more_sentences(outcome, i, more)
    return tuple(sentences)


def _own_wish(outcome: Outcome, i: int) -> str:
    """That a party wants less than it is due, without which fairness would look broken."""
    assert outcome.most is not None
    due = as_percent(outcome.scheme.rewards(outcome.rho)[i] / outcome.game.total)
    return (
        f"You want no more than {as_percent(outcome.most[i])} of the best model's information; else"
        f" your share would be {due}. The others' rewards do not change by that. What stands below"
        " is about what is given."
    )


def _more_sentences(outcome: Outcome, i: int, more: MoreRows) -> list[str]:
    """What more rows would bring, with the assumption under which they do."""
    now = float(outcome.rewards[i] / outcome.game.total)
    rows = f"{more.rows:,} more rows like yours"
    if now > 1 - 1e-9:
        nats = f"about {more.reward:.1f} nats (± {max(more.reward_error, 0.1):.1f}) more"
        return [f"Your share is the best model already: {rows} would make it worth {nats}."]
    if abs(more.share) < SMALLEST_SHARE:
        return [
            f"{rows} would change your share by less than one point of the best model's"
            " information."
        ]
    error = max(1, round(100 * more.share_error))
    points = f"about {_signed(100 * more.share, 0)} points (± {error})"
    then = as_percent(min(now + more.share, 1.0))
    return [
        f"{rows} would change your share by {points}: about {then} of the best model's"
        f" information instead of {as_percent(now)}, if nothing else changes. {LIKE_YOURS}"
    ]


def _signed(number: float, digits: int) -> str:
    rounded = round(number, digits)
    return f"{rounded:+.{digits}f}".replace("-", "−") if rounded else f"{0:.{digits}f}"


def as_json(outcome: Outcome) -> dict[str, Any]:
    """What pairs of parties tell twice, and what more rows would bring to everybody."""
    overlap = outcome.overlap
    return {
        "overlap": None if overlap is None else overlap.tolist(),
        "more_rows": [_more_as_json(more) for more in outcome.outlook.parties],
        "more_rows_not_told": outcome.outlook.why_not or None,
    }


def _more_as_json(more: MoreRows | None) -> dict[str, Any] | None:
    if more is None:
        return None
    return {
        "rows": more.rows,
        "reward": more.reward,
        "reward_error": more.reward_error,
        "share": more.share,
        "share_error": more.share_error,
    }
