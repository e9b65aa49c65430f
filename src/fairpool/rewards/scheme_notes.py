"""What the operator should know before trusting a scheme's rewards, each as a note."""

from collections.abc import Iterable

import numpy as np

from fairpool.notes import Note
from fairpool.tables.arrays import FloatArray
from fairpool.values import Game, check_properties

IMPRECISE = 1e-6
"""Rounding that may be more than this share of v_N is told."""


def nothing_to_give(game: Game) -> Note:
    """All data together is worth nothing."""
    text = (
        f"everybody's data together is worth v_N = {game.total:.6g}: there is nothing to give, and"
        " all rewards are 0; check that the data and the model's prior variance are not degenerate"
    )
    return Note(code="nothing to give", text=text)


def notes_on_values(game: Game) -> list[Note]:
    """Values that are not precise, or do not have what Theorem 1 needs."""
    notes = []
    if game.rounding_error > IMPRECISE * game.total:
        text = (
            f"rounding may put values and rewards off by {game.rounding_error:.2g} nats; a larger"
            " noise variance, fewer inducing points, or standardised columns that are less alike"
            " make them more exact"
        )
        notes.append(Note(code="rounding", text=text))
    if game.enumerable:
        notes += _broken_promises(game)
    return notes


def _broken_promises(game: Game) -> list[Note]:
    """A note on each of the three properties that Theorem 1 needs and the values lack."""
    notes = []
    # The fourth property, submodularity, is not among the theorem's premises.
    for verdict in check_properties(game)[:3]:
        if verdict.holds is not False:
            continue
        what = f"the values are not {verdict.condition} ({verdict.why})"
        if verdict.condition == "empty is 0":
            what = verdict.why
        text = f"Theorem 1's promises do not hold: {what}"
        notes.append(Note(code="no promise", text=text))
    return notes


def notes_on_contributions(game: Game, phi: FloatArray) -> list[Note]:
    """Contributions [n] that are not above 0."""
    notes = []
    if phi.max() <= 0:
        text = (
            "nobody's contribution is above 0, so all rewards are 0 although there is something to"
            " give"
        )
        notes.append(Note(code="no contribution", text=text))
    losers = [f'"{game.names[i]}"' for i in np.flatnonzero(phi < 0)]
    if losers:
        text = f"{', '.join(losers)} contribute less than nothing; their rewards are 0"
        notes.append(Note(code="negative contribution", text=text))
    return notes


def conflict(game: Game, best: int, C: Iterable[int]) -> Note:
    """The parties C have all that can be had without the party that contributes most."""
    names = ", ".join(game.names[j] for j in C)
    text = (
        f"fairness and stability conflict (rho_s = 0): {{{names}}} have data worth v_N ="
        f' {game.total:.6g} without "{game.names[best]}", who contributes most, so only equal'
        " rewards (rho = 0) keep them from leaving; who contributes nothing still receives nothing"
    )
    return Note(code="conflict", text=text)
