"""Contributions by information, by evidence and by validation, side by side.

Rewards follow the first. The other two look at labels: the second at everybody's own, the third at
those of the test data (App. F.3). Where they differ much, labels deserve a look.
"""

from dataclasses import dataclass

import numpy as np

from fairpool.consortium.sample import Sample
from fairpool.consortium.valuation import Valuation
from fairpool.contributions import shapley
from fairpool.parties import PartyData
from fairpool.tables.arrays import FloatArray
from fairpool.values import ValidationGain

MOST_VALIDATED = 8
"""Of more parties, contributions by validation take too long: a prediction for every coalition."""

MOST_TEST_ROWS = 2000
"""So many test rows are predicted for every coalition."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ContributionShares:
    """What each party contributes, measured in three ways.

    Attributes:
        information: phi_i of information gain, or what else was chosen [n], in nats.
        evidence: phi''_i of the evidence game [n], in nats.
        validation: phi'_i by what test rows gain in log density [n], nats per row; None where there
            are no test data, or too many parties.
    """

    information: FloatArray
    evidence: FloatArray
    validation: FloatArray | None


def contribution_shares(valuation: Valuation, test: Sample | None) -> ContributionShares:
    """In three ways, or two."""
    collaboration = valuation.collaboration
    evidence = np.array([found.phi for found in valuation.judgement.evidence.parties])
    return ContributionShares(
        information=collaboration.contributions.values,
        evidence=evidence,
        validation=_by_validation(valuation, test),
    )


def _by_validation(valuation: Valuation, test: Sample | None) -> FloatArray | None:
    game = valuation.collaboration.game
    if test is None or not len(test.y) or game.n > MOST_VALIDATED:
        return None
    rows = np.linspace(0, len(test.y) - 1, min(len(test.y), MOST_TEST_ROWS)).astype(int)
    data: tuple[PartyData, ...] = game.pool.parties
    validation = ValidationGain(game.model, data, test.X[rows], test.y[rows])
    return shapley(validation).values
