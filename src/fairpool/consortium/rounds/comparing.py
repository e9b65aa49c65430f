"""What changed between two rounds, from the sums that are kept of them."""

from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import numpy as np

from fairpool.compute.workers import Workers
from fairpool.consortium.rounds.context import RoundContext, open_context, read_agreement
from fairpool.consortium.rounds.contribution import Contribution
from fairpool.consortium.rounds.kept import Arrays
from fairpool.consortium.rounds.part_data import data_of, together
from fairpool.consortium.rounds.sums import summary_of_several
from fairpool.errors import DataError
from fairpool.models import Classifier, Model, WeightModel
from fairpool.outcome import Outcome
from fairpool.parties import Party, PartyData
from fairpool.rounds import Changes, RoundGame, explain_changes
from fairpool.rounds.history import Participation, PastRound
from fairpool.values import InformationGain

SAME = 1e-6
"""The same sums in another order have values that are rounded in another way."""


@dataclass(frozen=True, kw_only=True)
class Since:
    """What changed since the last round.

    Attributes:
        changes: By what each reward moved; None where that cannot be told.
        reason: Why not; empty where it can.
    """

    changes: Changes | None
    reason: str = ""


def since_last(
    context: RoundContext,
    result: Outcome,
    contributions: tuple[Contribution, ...],
    workers: Workers,
) -> Since | None:
    """What changed since the last round; None where this is the first.

    Args:
        context: What was released before.
        result: This round.
        contributions: What each party contributed to it.
        workers: Who values coalitions.
    """
    last = context.history.last
    if last is None:
        return None
    if context.learns_anew:
        return Since(changes=None, reason="the model was learned anew")
    before = past_game(context, last)
    if before is None:
        return Since(changes=None, reason=f"not all sums of round {last.number} are kept")
    if not _is_as_recorded(before, last):
        reason = f"what is kept of round {last.number} is not what was released"
        return Since(changes=None, reason=reason)
    now = RoundGame(
        number=context.number,
        model=result.game.model,
        parties=tuple(contribution.data for contribution in contributions),
        ids=tuple(contribution.id for contribution in contributions),
        rho=result.asked,
        contributions=result.contributions.concept.name,
        kept=result.kept,
        encoding=context.agreement_digest,
    )
    changes = explain_changes(before, now, executor=workers)
    held = {}
    for contribution, received in zip(contributions, result.received, strict=False):
        held[contribution.id] = (received.holds, received.sent)
    return Since(changes=changes.with_what_is_held(held))


def compare_rounds(configuration: Path, first: int, second: int) -> Changes:
    """What changed between two rounds that were released.

    Args:
        configuration: The collaboration's folder, or its configuration.
        first: The number of the earlier one.
        second: The number of the later one.
    """
    context = open_context(configuration)
    games = []
    for number in (first, second):
        game = past_game(context, _round(context, number))
        if game is None:
            raise DataError(
                f"round {number}: not all sums over its rows are kept any longer, so that nothing"
                " can be said about what changed"
            )
        if not _is_as_recorded(game, _round(context, number)):
            raise DataError(
                f"round {number}: what is kept of it does not have the values that the ledger"
                " records; restore the folder .fairpool from a backup"
            )
        games.append(game)
    held = {}
    for one in _round(context, second).parties:
        held[one.id] = (one.holds, one.file is not None)
    return explain_changes(games[0], games[1]).with_what_is_held(held)


def _round(context: RoundContext, number: int) -> PastRound:
    for past in context.history.rounds:
        if past.number == number:
            return past
    last = len(context.history.rounds)
    if not last:
        raise DataError(f"there is no round {number}: nothing was released yet")
    raise DataError(f"there is no round {number}; those released are 1 to {last}")


def past_game(context: RoundContext, past: PastRound) -> RoundGame | None:
    """A round that was released, from what is kept of it; None where that is not all."""
    agreement = read_agreement(context.folder, past.agreement)
    model = agreement.built.model
    parties = []
    for participation in past.parties:
        data = _data(context, past, participation, model, inputs=len(agreement.encoding.features))
        if data is None:
            return None
        parties.append(data)
    return RoundGame(
        number=past.number,
        model=model,
        parties=tuple(parties),
        ids=tuple(participation.id for participation in past.parties),
        rho=past.rho,
        contributions=past.contributions,
        kept=None if past.kept is None else np.array(past.kept),
        encoding=past.agreement,
    )


def _data(
    context: RoundContext,
    past: PastRound,
    participation: Participation,
    model: Model,
    *,
    inputs: int,
) -> PartyData | None:
    """What a party contributed to a round; None where not all of it is kept."""
    found: list[tuple[Arrays, int]] = []
    for batch in participation.batches:
        for part in context.history.batches[batch].parts:
            arrays = context.kept.arrays(part, past.agreement)
            if arrays is None:
                return None
            found.append((arrays, context.history.parts[part].rows))
    if not found:
        return Party(participation.name, np.zeros((0, inputs)), np.zeros(0))
    if any("noise" in arrays for arrays, _ in found):
        assert isinstance(model, WeightModel | Classifier)  # of sums
        return summary_of_several(found, model, name=participation.name, inputs=inputs)
    return data_of(
        reduce(together, [arrays for arrays, _ in found]),
        model,
        name=participation.name,
        rows=participation.rows,
        inputs=inputs,
    )


def _is_as_recorded(game: RoundGame, past: PastRound) -> bool:
    """Whether what is kept of a round has the values that were recorded of it."""
    values = InformationGain(game.model, game.parties).alone
    recorded = np.array([participation.value for participation in past.parties])
    return bool((np.abs(values - recorded) <= SAME * (1 + recorded)).all())
