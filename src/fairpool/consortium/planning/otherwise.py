"""What a what-if's figures become if the first round learns otherwise than is taken here."""

from dataclasses import dataclass

from fairpool.compute.workers import Workers
from fairpool.consortium.planning.simulating import (
    FEWEST_SIMULATIONS,
    SIMULATIONS,
    Question,
    Simulated,
    simulate,
)
from fairpool.consortium.planning.stand_ins import Scales, StandIn
from fairpool.models import Classifier, WeightModel

OTHER_NOISE = (0.1, 10.0)
"""How many times as noisy, beside the prior's scale, the first round may find labels.

Even of three hundred rows like the parties' these two can be learned that much apart, where length
scales are long and few weights tell them apart.
"""

LEARNED_ANEW = 6
"""By so many choices of the known rows all is learned again, where a round learns all."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Otherwise:
    """What comes out if the first round learns something else.

    Attributes:
        times: How many times as large the ratio of noise variance to prior variance is, on which
            alone values depend, features being the same.
        simulated: Values and rewards.
        is_anew: Whether all was learned from another choice of the known rows.
    """

    times: float
    simulated: Simulated
    is_anew: bool = False


def other_outcomes(
    model: WeightModel | Classifier,
    stand_in: StandIn,
    question: Question,
    workers: Workers,
    *,
    known: Simulated,
) -> tuple[Otherwise, ...]:
    """Less noisy labels, the same as here, and more noisy ones; then what other rows teach.

    Nothing where the round uses just this model.

    Args:
        model: The configured one.
        stand_in: What stands for the parties' rows.
        question: Of whom, and by which rhos.
        workers: Who values coalitions, and who is told about it.
        known: What comes out by the model itself.
    """
    if stand_in.scales in (Scales.GIVEN, Scales.PUBLIC):
        return ()
    found = [Otherwise(times=1.0, simulated=known)]
    for times in OTHER_NOISE:
        noisier = model.with_prior_scaled(1 / times)
        simulated = simulate(noisier, stand_in.source, question, draws=known.count, workers=workers)
        found.append(Otherwise(times=times, simulated=simulated))
    found.sort(key=lambda one: one.times)
    if stand_in.lacking and known.count == SIMULATIONS:  # draws are quick
        found += _learned_anew(stand_in, question, workers)
    return tuple(found)


def _learned_anew(stand_in: StandIn, question: Question, workers: Workers) -> list[Otherwise]:
    """All learned from other choices of rows: of these, that of the least worth, and the most."""
    totals = {}
    for number in range(LEARNED_ANEW):
        model = stand_in.learned_anew(number, workers).model
        quick = simulate(
            model, stand_in.source, question, draws=FEWEST_SIMULATIONS, workers=workers
        )
        totals[float(quick.totals.mean())] = model
    found = []
    for total in (min(totals), max(totals)):
        simulated = simulate(
            totals[total], stand_in.source, question, draws=SIMULATIONS, workers=workers
        )
        found.append(Otherwise(times=1.0, simulated=simulated, is_anew=True))
    return found
