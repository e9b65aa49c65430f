"""The whole chain, every stage once, in order."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from rich.console import RenderableType
from rich.table import Table

from fairpool.archive import archive_bytes, read_archive
from fairpool.audit import copy_notes, find_duplicates, find_near_copies
from fairpool.compute.files import write_atomically
from fairpool.compute.workers import Workers, workers_of
from fairpool.contributions import Concept, concept_of
from fairpool.contributions.registry import settings_without_meaning
from fairpool.errors import GameError, RewardError
from fairpool.keyed_noise.secret import Secret
from fairpool.models import Model
from fairpool.notes import warn_of
from fairpool.outcome import Outcome
from fairpool.parties import PartyData
from fairpool.realisation import Mechanism, ModelReward, Models, mechanism_of, realise
from fairpool.realisation.label_noise import LabelNoise
from fairpool.realisation.level import check_targets
from fairpool.report.notebook import html_of
from fairpool.report.plain import as_plain
from fairpool.report.sentences import explain
from fairpool.report.terminal import summary_of, table_of, text_of
from fairpool.rewards import check_incentives
from fairpool.rewards.discount import capped, discounted
from fairpool.rewards.scheme import SilentScheme
from fairpool.tables.arrays import TINY, FloatArray, as_generator, read_only
from fairpool.values import InformationGain

SAMPLING_SEED = 0
"""Which coalitions are sampled is no secret, and the same in every run: so a run can be resumed."""


class Collaboration(Outcome):
    """What `collaborate` found: every stage's result, and ways to show it."""

    def explain(self) -> tuple[str, ...]:
        """One sentence per party: what it receives, and why."""
        return explain(self)

    def report(self, path: str | Path) -> None:
        """Write the report, one self-contained HTML page: for those who may see all values."""
        from fairpool.report.report import (
            Context,
            render_report,
        )  # only here: charts take a second to load

        context = Context(
            residuals=self.residuals,
            notes=self.notes,
            against_alone=self.against_alone,
            uncheckable=self.uncheckable,
        )
        page = render_report(self, context)
        write_atomically(Path(path), page.encode())

    def save(self, path: str | Path) -> None:
        """Write all of it as one file, for the operator alone; `load_collaboration` opens it.

        The file holds every party's rows or sums, every coalition's value, and every party's model,
        and only this user may read it. Hand out single rewards: `models["north"].save(...)`.

        What no file can hold is refused, with the reason: features that are code, a concept or a
        mechanism of your own, models trained on several draws.

        Args:
            path: Where to.
        """
        write_atomically(Path(path), archive_bytes(self))

    def to_dict(self) -> dict[str, Any]:
        """Every number as plain Python objects, ready for JSON (infinite ones as None)."""
        return as_plain(self)

    def table(self) -> Table:
        """One row per party, for a terminal."""
        return table_of(self)

    def plot(self, what: str = "rewards") -> Any:
        """A chart, as the report has it; a notebook shows it, and `.save("rewards.svg")` keeps it.

        Args:
            what: "rewards", what each party has alone and receives, or "rho", what each would
                receive at any rho.
        """
        from fairpool.report.charts import chart_of  # only here: charts take a second to load

        return chart_of(self, what)

    def _repr_html_(self) -> str:
        return html_of(self)

    def __rich__(self) -> RenderableType:
        return summary_of(self)

    def __repr__(self) -> str:
        return text_of(self)


def load_collaboration(path: str | Path) -> Collaboration:
    """Open what `Collaboration.save` wrote; nothing is computed anew.

    Args:
        path: The file. One that is cut short, edited or of another kind is refused.
    """
    return Collaboration(**read_archive(Path(path)))


def collaborate(
    parties: Sequence[PartyData],
    model: Model,
    rho: float | str = "stable",
    rng: np.random.Generator | int | None = None,
    *,
    contributions: str | Concept = "shapley",
    evaluations: int | None = None,
    precision: float | None = None,
    executor: Workers | Executor | None = None,
    mechanism: str | Mechanism = "label_noise",
    covariance: str = "hidden",
    colluding: int | None = None,
    secret: Secret | None = None,
) -> Collaboration:
    """From the parties' data to one reward model each, by way of values, contributions and rewards.

    Paper: all of Sec. 3 and 4.

    Args:
        parties: The parties; for a model with weights, some or all of them by their summaries.
        model: The Bayesian model, its hyperparameters known or learned beforehand
            (`model.fit_hyperparameters`) and the same for every coalition.
        rho: A number in 0 .. 1, or "fair", "rational", "stable", "welfare" (see
            `RewardScheme.rewards`).
        rng: Of the noise. None: fresh, and nobody knows it. A seed or generator makes models
            repeatable; whoever knows it can remove the noise, so such models are for yourself
            (`ModelReward.known_noise`). Samples of coalitions hide nothing; their seed is always
            the same, so that a valuation can be resumed.
        contributions: How contributions are measured: "shapley", "banzhaf", "standalone" or
            "leave_one_out", or a `Concept` of your own.
        evaluations: Of more than 16 parties, how many coalitions to value at most, where
            contributions are sampled; see `shapley`.
        precision: Stop before, once every contribution's standard error is this share of the
            average contribution; for "shapley".
        executor: Who values coalitions: threads, processes, a Dask client's executor; None: this
            thread.
        mechanism: How rewards are weakened, see `fairpool.realisation.mechanism`.
        covariance: Of models with weights: "hidden" tells little of the others' inputs, "full" is
            as trained; see `realise`.
        colluding: How many recipients may put their files together; None: all; see `realise`.
        secret: Makes the noise the same whenever the same rows are released; see `realise`.
    """
    if secret is not None:
        mechanism = _keyed(secret, mechanism, rng)
    with workers_of(executor) as workers:
        result = collaboration_of(
            InformationGain(model, parties),
            rho=rho,
            rng=rng,
            contributions=contributions,
            evaluations=evaluations,
            precision=precision,
            workers=workers,
            mechanism=mechanism,
            covariance=covariance,
            colluding=colluding,
        )
    warn_of(result.notes)
    return result


def _keyed(
    secret: Secret, mechanism: str | Mechanism, rng: np.random.Generator | int | None
) -> Mechanism:
    """Noise on labels that is made of a secret."""
    if rng is not None or mechanism_of(mechanism) != LabelNoise():
        raise RewardError(
            "a secret is for noise on labels, which is then not drawn; leave rng and mechanism out"
        )
    return LabelNoise(secret=secret)


def collaboration_of(
    game: InformationGain,
    *,
    rho: float | str,
    rng: np.random.Generator | int | None,
    contributions: str | Concept,
    evaluations: int | None,
    precision: float | None,
    workers: Workers,
    mechanism: str | Mechanism = "label_noise",
    covariance: str = "hidden",
    colluding: int | None = None,
    public: FloatArray | None = None,
    declared: FloatArray | None = None,
    kept: FloatArray | None = None,
    most: FloatArray | None = None,
    realiser: "Realiser | None" = None,
) -> Collaboration:
    """What `collaborate` does, with notes instead of warnings; the workers keep their own notes.

    Of what a reward adds to its own data, party i keeps kept[i]; all, where that is None. Party i
    wants to hold no more than the share most[i] of v_N; any, where that is None. The realiser makes
    models of rewards in its own way; None: as `realise` does.
    """
    as_generator(rng)  # so that a wrong one is refused before anything is computed
    concept = concept_of(contributions)
    problems = settings_without_meaning(concept, evaluations=evaluations, precision=precision)
    if problems:
        raise GameError(*problems)
    target_standard_error = None
    if precision is not None:
        target_standard_error = max(precision * game.total / game.n, TINY)
    if game.enumerable:
        # Verdicts look at all values even where the concept does not: the workers compute them.
        game.values(workers)
    measured = concept.measure(
        game,
        rng=SAMPLING_SEED,
        evaluations=evaluations,
        target_standard_error=target_standard_error,
        workers=workers,
    )
    # Whatever the numbers were computed with, the promises are those of the concept chosen.
    phi = replace(measured, concept=concept)
    scheme = SilentScheme(game, phi)
    rewards = read_only(scheme.rewards(rho))
    if kept is not None:
        rewards = read_only(discounted(rewards, alone=game.alone, kept=kept))
    if most is not None:
        rewards = read_only(capped(rewards, alone=game.alone, most=most * game.total))
    check_targets(game, rewards, scheme)
    if realiser is not None:
        realised = realiser(game, rewards)
    else:
        realised = realise(
            game,
            rewards,
            rng,
            mechanism=mechanism,
            covariance=covariance,
            colluding=colluding,
            public=public,
            declared=declared,
        )
    models = []
    for reward in realised:
        # A model of an earlier round has that round's.
        own_rho = scheme.rho(rho) if reward.rho is None else reward.rho
        models.append(replace(reward, rho=own_rho))
    rows = game.pool.rows
    copies = tuple(copy_notes(find_near_copies(rows), find_duplicates(rows)))
    return Collaboration(
        game=game,
        contributions=phi,
        scheme=scheme,
        rho=scheme.rho(rho),
        asked=rho,
        rewards=rewards,
        incentives=check_incentives(game, phi, rewards),
        models=Models(models),
        kept=kept,
        most=most,
        notes=scheme.notes + copies,
    )


class Realiser(Protocol):
    """How models are made of rewards."""

    def __call__(self, game: InformationGain, rewards: FloatArray) -> tuple[ModelReward, ...]:
        """One model per party."""
        ...  # pragma: no cover
