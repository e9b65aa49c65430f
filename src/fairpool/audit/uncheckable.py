"""How much of what a party adds comes from rows where nobody else has data.

Information gain pays most for rows that are far from all others, and nobody can say whether such
rows are true: the others' data predict nothing there. They may be what makes a party valuable, or
invented; the number tells how much has to be taken on trust.

A row of party i cannot be checked where the others' data leave at least half of its latent
variance:

    v_k >= 1/2 k_k,    k_k a priori, v_k given the data of all others

What comes from such rows is what everybody's data would be worth less without them, as a share of
what the party adds to the others:

    share = [v_N - v(N without these rows)] / [v_N - v_(N - i)]

It lies between 0 and 1 (v is monotone), does not depend on the order of rows or parties, and gives
what checkable and uncheckable rows tell twice to the checkable ones: it can be checked there.
`docs/trust.md` shows what other bounds than half give.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairpool.models import ClassPosterior, WeightPosterior
from fairpool.parties import ClassSummary, Party, PartySummary
from fairpool.tables.arrays import FloatArray
from fairpool.values import InformationGain

LEFT_OPEN = 0.5
"""Of a row's latent variance a priori: where the others' data leave so much, nobody can check it.

In the example no honest row comes above 0.3; of rows invented far away most are above 0.5, and few
above 0.9, since the model is smooth and the others' data reach far.
"""


@dataclass(frozen=True, kw_only=True)
class Uncheckable:
    """What of a party's data has to be taken on trust.

    Attributes:
        rows: How many of its rows nobody else's data can check.
        added: v_N - v_(N - i), what its data add to the others', in nats.
        from_them: How much of that is lost without these rows, in nats.
    """

    rows: int
    added: float
    from_them: float

    @property
    def share(self) -> float:
        """Of what the party adds, how much comes from these rows; 0 where it adds nothing."""
        if self.added <= 0:
            return 0.0
        return float(np.clip(self.from_them / self.added, 0.0, 1.0))


def uncheckable_information(
    game: InformationGain, rows: Sequence[Party] | None = None
) -> tuple[Uncheckable | None, ...]:
    """Per party, how much of what it adds comes from rows where nobody else has data.

    Args:
        game: The values, with every party's data or summary.
        rows: All rows of each party; by default the game's own.

    Returns:
        One record per party, in the parties' order; None where it has no rows or none that can be
        looked at, and where nobody else has any.
    """
    findings: list[Uncheckable | None] = []
    for i, party in enumerate(game.pool.rows if rows is None else rows):
        if not len(party) or sum(game.rows) == game.rows[i]:
            findings.append(None)
            continue
        others = game.posterior([j for j in range(game.n) if j != i])
        noise = party.noise_of_rows(game.model.noise_variance)
        _, latent = others.latent(party.X)
        # A row of infinite noise tells nothing.
        open_ = left_open(latent, game.model.prior_variance_at(party.X)) & np.isfinite(noise)
        added = game.model.gain_of(others, party)
        checkable = game.model.gain_of(others, party.some_rows(~open_))
        findings.append(
            Uncheckable(rows=int(open_.sum()), added=added, from_them=added - checkable)
        )
    return tuple(findings)


def left_open(latent: FloatArray, prior: FloatArray) -> NDArray[np.bool_]:
    """Which rows [m] nobody can check.

    Args:
        latent: Latent variances given everybody else's data [m].
        prior: Latent variances a priori [m]. A row without any tells nothing, and needs no check.
    """
    return np.asarray((latent >= LEFT_OPEN * prior) & (prior > 0))


class OpenRows(NamedTuple):
    """Sums over the rows of a party that nobody can check; those of several batches add up.

    Attributes:
        rows: How many there are.
        gram: A^T A of their whitened features [d, d]; of classes, as a `ClassSummary` has them.
    """

    rows: int
    gram: FloatArray

    @classmethod
    def none(cls, others: WeightPosterior | ClassPosterior) -> "OpenRows":
        """Without any rows."""
        model = others.model
        sums = model.moments(np.zeros((0, others.inputs)), np.zeros(0))
        return cls(0, sums.gram)

    @classmethod
    def of(
        cls,
        others: WeightPosterior | ClassPosterior,
        X: FloatArray,
        features: Sequence[FloatArray],
        *,
        y: FloatArray,
    ) -> "OpenRows":
        """Of some rows' inputs X [m, p], whitened features [m, d] and labels y [m].

        Args:
            others: The model trained on everybody else's data.
            X: Inputs [m, p].
            features: Those of every class, or of the only function that there is.
            y: Labels [m].
        """
        layers = (others,) if isinstance(others, WeightPosterior) else others.of_classes
        latent = np.zeros(len(X))
        prior = np.zeros(len(X))
        for layer, A in zip(layers, features, strict=True):
            assert isinstance(layer, WeightPosterior)  # rows are summed up for no other
            residual = layer.model.residual_variance(X, A)
            latent += (layer.variance_of(A) + residual) / len(layers)
            prior += (np.einsum("ij,ij->i", A, A) + residual) / len(layers)
        open_ = left_open(latent, prior)
        if isinstance(others, WeightPosterior):
            A = features[0][open_]
            return cls(int(open_.sum()), A.T @ A)
        of_open = [A[open_] for A in features]
        return cls(int(open_.sum()), others.model.sums_of(of_open, y[open_]).gram)

    def plus(self, more: "OpenRows") -> "OpenRows":
        """Of both ones' rows."""
        return OpenRows(self.rows + more.rows, self.gram + more.gram)

    def uncheckable(
        self,
        others: WeightPosterior | ClassPosterior,
        party: PartySummary | ClassSummary,
    ) -> Uncheckable:
        """What has to be taken on trust.

        Args:
            others: The model trained on everybody else's data.
            party: Sums over all rows of the party.
        """
        gram = party.grams if isinstance(party, ClassSummary) else party.gram
        noise = 1.0 if isinstance(party, ClassSummary) else party.noise_variance
        added = _gain(others, gram, noise)
        checkable = _gain(others, gram - self.gram, noise)
        return Uncheckable(rows=self.rows, added=added, from_them=added - checkable)


def _gain(others: WeightPosterior | ClassPosterior, gram: FloatArray, noise: float) -> float:
    """What more rows with these Gram matrices add to a model."""
    if isinstance(others, WeightPosterior):
        return others.gain_from_precision(gram / noise)
    precisions = others.model.precisions(gram)
    gain = 0.0
    for layer, precision in zip(others.of_classes, precisions, strict=True):
        assert isinstance(layer, WeightPosterior)  # rows are summed up for no other
        gain += layer.gain_from_precision(precision)
    return gain
