"""Contributions with noise that hides single rows, drawn by a seed so that tests repeat."""

import random
from dataclasses import dataclass, field, replace

import numpy as np

from fairpool import Classifier
from fairpool.compute.files import write_atomically
from fairpool.consortium.rounds.context import PLAN_FILE
from fairpool.differential_privacy.gaussian import mu_of
from fairpool.differential_privacy.mechanism import with_noise
from fairpool.exchange.contribution_file import ContributionFile
from fairpool.exchange.noisy_sums import noise_for, row_bounds_of
from fairpool.exchange.plan import SignedPlan
from tests.support.exchange import KEYS, OPERATOR
from tests.support.sums import Case, contribution_of

DELTA = 1e-6


def noisy_file(
    plan: SignedPlan, file: ContributionFile, epsilon, *, name, seed=1, delta=DELTA, **said
) -> ContributionFile:
    """The same contribution with noise on it."""
    noisy = with_noise(
        file.arrays,
        file.manifest.rows,
        bounds=row_bounds_of(plan.plan),
        mu=mu_of(epsilon, delta),
        randbelow=random.Random(seed).randrange,
    )
    manifest = replace(
        file.manifest,
        rows=noisy.rows,
        counts=None,
        left_out=0,
        privacy=noise_for(plan.plan, epsilon, delta),
        **said,
    )
    return ContributionFile.made(KEYS[name], manifest, noisy.arrays)


def bounded(plan: SignedPlan) -> SignedPlan:
    """The plan with what its model says of the length of features."""
    model = plan.plan.model
    models = model.of_classes if isinstance(model, Classifier) else [model]
    bounds = [one.feature_bounds(plan.plan.inputs).largest for one in models]
    assert np.isfinite(bounds).all()
    changed = replace(plan.plan, feature_bound=max(bounds))
    return SignedPlan.of_content(changed.signed(OPERATOR).content, "plan.json")


@dataclass(kw_only=True)
class NoisyCase(Case):
    """A collaboration some of whose parties put noise on their sums.

    Attributes:
        epsilons: How little noise; who is not here puts none on.
        seed: Of the draws.
    """

    epsilons: dict = field(default_factory=dict)
    seed: int = 1

    def planned(self):
        plan = bounded(super().planned())
        write_atomically(self.folder / PLAN_FILE, plan.document.content)
        return plan

    def contribute(self, name, table, plan=None, **said):
        plan = plan or self.planned()
        file = contribution_of(table, plan, name, **said)
        if name in self.epsilons:
            file = noisy_file(plan, file, self.epsilons[name], name=name, seed=self.seed)
        path = f"{name}-{len(self.sent.get(name, {}))}.contribution"
        write_atomically(self.folder / path, file.to_bytes())
        self.sent.setdefault(name, {})[path] = file
        return file
