"""How many rows of a party a batch needs, and how many files it may be in."""

from dataclasses import dataclass, replace

import numpy as np

from fairpool.consortium.configuration import RewardsSection
from fairpool.consortium.learning import Learning
from fairpool.encoding import TableEncoding
from fairpool.models import Classifier, Model, WeightModel
from fairpool.realisation.disclosure import Exposure
from fairpool.rounds.history import History
from fairpool.targets import label_sets


@dataclass(frozen=True, kw_only=True)
class Needed:
    """How many rows a batch needs that were in none before.

    Attributes:
        exposure: What the model's files tell; None: rows need not hide among others.
        together: How many files of one round may be held together.
        colluding: How many recipients may put their files together; None: all.
    """

    exposure: Exposure | None
    together: int
    colluding: int | None

    @property
    def fewest(self) -> int:
        """For the files of one round: as many as a party whose rows are in all of them."""
        return 0 if self.exposure is None else self.exposure.fewest_rows(self.together)

    @property
    def lasting(self) -> int:
        """For any number of files."""
        if self.exposure is None:
            return 0
        return replace(self.exposure, hidden=False).fewest_rows(self.together)

    def spent(self, party: str, history: History) -> frozenset[str]:
        """A party's batches whose rows are too few for the files of one more round.

        Every file is as many numbers about a batch as the model has weights, whatever the noise in
        it is, so that files are counted for each batch by itself.
        """
        if self.exposure is None:
            return frozenset()
        spent = set()
        for name, batch in history.batches.items():
            rows = sum(history.parts[part].rows for part in history.fresh_parts[name])
            if batch.party == party and rows < self.lasting:
                files = history.files_with_batch(name, self.colluding) + self.together
                if rows < self.exposure.fewest_rows(files):
                    spent.add(name)
        return frozenset(spent)


def needed_rows(learning: Learning) -> Needed:
    """How many rows a batch needs, by the model and by who may put files together."""
    preparation = learning.preparation
    return needed_by(
        learning.built.model,
        preparation.encoding,
        preparation.configuration.rewards,
        parties=len(preparation.configuration.parties),
    )


def needed_by(
    model: Model, encoding: TableEncoding, rewards: RewardsSection, *, parties: int
) -> Needed:
    """How many rows a batch needs, before anybody has sent any.

    Args:
        model: Whose files are handed out.
        encoding: How tables become its inputs.
        rewards: What was agreed about them.
        parties: How many take part.
    """
    base = model.base if isinstance(model, Classifier) else model
    exposure = None
    if not rewards.share_inputs and parties > 1 and isinstance(base, WeightModel):
        classes = label_sets(encoding.target)
        weights = base.whitened_features(np.zeros((0, len(encoding.features)))).shape[1]
        exposure = Exposure(
            rows={},
            releases={},
            weights=classes * weights,
            classes=classes,
            inputs=len(encoding.columns),
            hidden=rewards.covariance == "hidden",
        )
    return Needed(
        exposure=exposure,
        together=rewards.files_together(parties),
        colluding=rewards.colluding,
    )
