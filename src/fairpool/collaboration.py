"""The whole chain, every stage once, in order."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from fairpool.audit import find_duplicates, held_out_residuals
from fairpool.compute.files import write_atomically
from fairpool.compute.workers import Workers, workers_of
from fairpool.contributions import Contributions, shapley
from fairpool.models import Model
from fairpool.notes import Note, texts_of, warn_of
from fairpool.parties import Party, PartySummary
from fairpool.percent import as_percent
from fairpool.realisation import ModelReward, realise
from fairpool.rewards import RewardScheme, check_incentives
from fairpool.rewards.scheme import SilentScheme
from fairpool.tables.arrays import TINY, FloatArray, as_generator, read_only
from fairpool.values import InformationGain
from fairpool.verdicts import Verdicts

SAMPLING_SEED = 0
"""Which coalitions are sampled is no secret, and the same in every run: so a run can be resumed."""


@dataclass(frozen=True, eq=False)
class Collaboration:
    """What `collaborate` found: every stage's result, and a table that explains itself.

    Attributes:
        game: v_C, the values.
        contributions: phi, the Shapley values.
        scheme: Theorem 1, with rho_r and rho_s.
        rho: The number that was used.
        asked: What was asked for, that number or a word.
        rewards: r [n].
        incentives: The verdicts on R1-R7, F1-F4 and Definitions 1-3.
        models: One `ModelReward` per party.
        notes: What the operator should know.
    """

    game: InformationGain
    contributions: Contributions
    scheme: RewardScheme
    rho: float
    asked: float | str
    rewards: FloatArray
    incentives: Verdicts
    models: tuple[ModelReward, ...]
    notes: tuple[Note, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes in words."""
        return texts_of(self.notes)

    @cached_property
    def residuals(self) -> FloatArray | None:
        """Per party, how far its labels are from the others' prediction (`held_out_residuals`); None without rows."""
        return None if self.game.pool is None else held_out_residuals(self.game)

    @cached_property
    def reward_intervals(self) -> FloatArray:
        """Where the rewards of exact contributions lie [n, 2]; see `RewardScheme.reward_intervals`."""
        return self.scheme.reward_intervals(self.asked)

    def explain(self) -> tuple[str, ...]:
        """One sentence per party: what it receives, and why."""
        return tuple(self._sentence(i) for i in range(self.game.n))

    def _sentence(self, i: int) -> str:
        name, r, alone, total = self.game.names[i], self.rewards[i], self.game.alone[i], self.game.total
        share = self.scheme.shares[i]
        if total <= 0:
            return f"{name} receives nothing, because nobody's data tells anything about the model."
        if share == 1:
            return f"{name} receives the best model, because nobody contributes more."
        if share == 0:
            return f"{name} receives {as_percent(r / total)} of the best model's information, and contributes nothing."
        return (
            f"{name} receives {as_percent(r / total)} of the best model's information"
            f" (alone it has {as_percent(alone / total)}), because it contributes {as_percent(share)}"
            f" of what the largest contributor does and rho is {self.rho:.3g}."
        )

    def report(self, path: str | Path) -> None:
        """Write the report: one self-contained HTML page, for whoever may see all parties' values."""
        from fairpool.report import Context, render_report  # only here: charts take a second to load

        residuals = self.residuals if self.game.pool is not None else None
        page = render_report(self, Context(residuals=residuals, warnings=self.warnings))
        write_atomically(Path(path), page.encode())

    def to_dict(self) -> dict[str, Any]:
        """Every number as plain Python objects, ready for JSON (infinite ones as None)."""
        ratios = self.scheme.benefit_ratios(self.asked)
        return {
            "parties": [
                {
                    "name": self.game.names[i],
                    "rows": self.game.rows[i],
                    "value": float(self.game.alone[i]),
                    "contribution": float(self.contributions.values[i]),
                    "standard_error": float(self.contributions.standard_errors[i]),
                    "reward": float(self.rewards[i]),
                    "reward_interval": self.reward_intervals[i].tolist(),
                    "benefit_ratio": _finite(ratios[i]),
                    "realised": self.models[i].value,
                    "eta": _finite(self.models[i].eta),
                    "tau": self.models[i].tau,
                    "label_residual": None if self.residuals is None else _finite(self.residuals[i]),
                    "explanation": self._sentence(i),
                }
                for i in range(self.game.n)
            ],
            "total": self.game.total,
            "method": self.contributions.method,
            "rho": self.rho,
            "rho_rational": _finite(self.scheme.rho_rational),
            "rho_stable": _finite(self.scheme.rho_stable),
            "rho_rational_interval": [_finite(end) for end in self.scheme.rho_rational_interval],
            "rho_stable_interval": [_finite(end) for end in self.scheme.rho_stable_interval],
            "evaluations": self.contributions.evaluations,
            "incentives": [{"condition": v.condition, "holds": v.holds, "why": v.why} for v in self.incentives],
            "warnings": list(self.warnings),
        }

    def table(self) -> Table:
        """One row per party, for a terminal."""
        parties = "1 party" if self.game.n == 1 else f"{self.game.n} parties"
        table = Table(title=f"{parties}, rho = {self.rho:.4g}, v_N = {self.game.total:.2f} nats")
        table.add_column("party")
        for column in ("rows", "alone\nv_i", "contributes\nphi_i", "receives\nr_i", "of the\nbest", "noise\nvariance"):
            table.add_column(column, justify="right")
        for i, model in enumerate(self.models):
            total = self.game.total
            table.add_row(
                Text(self.game.names[i]),
                str(self.game.rows[i]),
                f"{self.game.alone[i]:.2f}",
                f"{self.contributions.values[i]:.2f}"
                + ("" if self.contributions.exact else f" +- {self.contributions.standard_errors[i]:.1g}"),
                f"{self.rewards[i]:.2f}{self._range(self.reward_intervals[i], digits='.2f')}",
                as_percent(self.rewards[i] / total) if total > 0 else "-",
                f"{model.eta:.3g}" if np.isfinite(model.eta) else "all noise",
            )
        return table

    def __rich__(self) -> RenderableType:
        holding = "Conditions that hold: " + ", ".join(v.condition for v in self.incentives if v.holds)
        others = [str(v) for v in self.incentives if not v.holds]
        notes = [f"Warning: {text}" for text in self.warnings]
        r, s = self.scheme.rho_rational_interval, self.scheme.rho_stable_interval
        switches = (
            f"Individually rational up to rho_r = {self.scheme.rho_rational:.4g}{self._range(r, digits='.3g')},"
            f" stable up to rho_s = {self.scheme.rho_stable:.4g}{self._range(s, digits='.3g')}."
        )
        if not self.contributions.exact:
            switches += (
                " Contributions are sampled: +- is one standard error; (a to b) is where a number lies if contributions"
                " are exact, for all numbers at once in 95% of samplings."
            )
        return Group(self.table(), *map(Text, [*self.explain(), switches, holding, *others, *notes]))

    def _range(self, interval: Sequence[float] | FloatArray, digits: str) -> str:
        """Where a number lies, in words; nothing where it is exact."""
        return "" if self.contributions.exact else f" ({interval[0]:{digits}} to {interval[1]:{digits}})"

    def __repr__(self) -> str:
        console = Console(width=110, color_system=None, force_terminal=False)
        with console.capture() as capture:
            console.print(self.__rich__())
        return "\n".join(line.rstrip() for line in capture.get().splitlines())


def collaborate(
    parties: Sequence[Party] | Sequence[PartySummary],
    model: Model,
    rho: float | str = "stable",
    rng: np.random.Generator | int | None = 0,
    *,
    evaluations: int | None = None,
    precision: float | None = None,
    executor: Workers | Executor | None = None,
) -> Collaboration:
    """From the parties' data to one reward model each: values, Shapley values, rewards, incentives, models.

    Paper: all of Sec. 3 and 4.

    Args:
        parties: The parties; or, for a model with weights, their summaries.
        model: The Bayesian model, its hyperparameters known or learned beforehand (`model.fit_hyperparameters`) and the
            same for every coalition.
        rho: A number in 0 .. 1, or "fair", "rational", "stable", "welfare" (see `RewardScheme.rewards`).
        rng: Seed or generator of the noise. The default makes results repeatable; where models are handed out give a
            secret seed, since who knows it can remove the noise. (Samples of coalitions hide nothing; their seed is
            always the same, so that a valuation can be resumed.)
        evaluations: Of more than 16 parties, how many coalitions to value at most; see `shapley`.
        precision: Stop before, once every contribution's standard error is this share of the average contribution.
        executor: Who values coalitions: threads, processes, a Dask client's executor; None: this thread.
    """
    with workers_of(executor) as workers:
        result = collaboration_of(
            parties, model, rho, rng, evaluations=evaluations, precision=precision, workers=workers
        )
    warn_of(result.notes)
    return result


def collaboration_of(
    parties: Sequence[Party] | Sequence[PartySummary],
    model: Model,
    rho: float | str,
    rng: np.random.Generator | int | None,
    *,
    evaluations: int | None,
    precision: float | None,
    workers: Workers,
) -> Collaboration:
    """What `collaborate` does, with notes instead of warnings; those of the workers stay with them."""
    rng = as_generator(rng)
    game = InformationGain(model, parties)
    contributions = shapley(
        game,
        rng=SAMPLING_SEED,
        evaluations=evaluations,
        target_standard_error=None if precision is None else max(precision * game.total / game.n, TINY),
        executor=workers,
    )
    scheme = SilentScheme(game, contributions)
    rewards = read_only(scheme.rewards(rho))
    return Collaboration(
        game,
        contributions,
        scheme,
        scheme.rho(rho),
        rho,
        rewards,
        check_incentives(game, contributions, rewards),
        tuple(replace(model, rho=scheme.rho(rho)) for model in realise(game, rewards, rng)),
        scheme.notes + (() if game.pool is None else find_duplicates(game.pool.parties).notes),
    )


def _finite(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
