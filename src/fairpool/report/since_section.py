"""Since last time, as a section of the operator's report."""

from dataclasses import dataclass

from fairpool.report.charts import as_svg
from fairpool.report.since import (
    MEANINGS,
    RULE,
    TITLES,
    by_reward,
    called,
    cells_of,
    operator_sentence,
    signed,
)
from fairpool.report.since_chart import drawn_changes, since_chart
from fairpool.rounds import Changes


@dataclass(frozen=True, kw_only=True)
class SinceSection:
    """What the report's template asks.

    Attributes:
        changes: What changed.
        chart: The picture of it; None where nothing moved, or it is not known by what.
        drawn: How many parties the picture shows.
    """

    changes: Changes
    chart: str | None
    drawn: int

    @classmethod
    def of(cls, changes: Changes) -> "SinceSection":
        """The section, with its picture."""
        chart = since_chart(changes)
        svg = None if chart is None else as_svg(chart)
        return cls(changes=changes, chart=svg, drawn=len(drawn_changes(changes)))

    rule = RULE

    @property
    def lead(self) -> str:
        """What the rounds came to."""
        before = self.changes.before
        after = self.changes.after
        total = "as before"
        if signed(after.total - before.total) != signed(0):
            total = f"{before.total:.2f} before"
        rho = "as before"
        if f"{before.rho:.4g}" != f"{after.rho:.4g}":
            rho = f"{before.rho:.4g} before"
        return (
            f"Round {after.number} beside round {before.number}: all data together are worth"
            f" {after.total:.2f} nats ({total}), and ρ is {after.rho:.4g} ({rho})."
        )

    @property
    def agreed_anew(self) -> tuple[str, ...]:
        """A sentence for each of the terms that changed for everybody."""
        before = self.changes.before.terms
        after = self.changes.after.terms
        sentences = []
        if before.rho != after.rho and isinstance(before.rho, str) | isinstance(after.rho, str):
            sentences.append(f"ρ was asked for as {before.rho}, and now as {after.rho}.")
        if before.contributions != after.contributions:
            sentences.append(
                f"Contributions were measured by {before.contributions}, and now by"
                f" {after.contributions}."
            )
        return tuple(sentences)

    @property
    def came_and_went(self) -> tuple[str, ...]:
        """A sentence for each party of one round alone."""
        sentences = []
        for party in by_reward(self.changes):
            if party.before is None:
                sentences.append(f"{party.name} is new; its reward is {party.after:.2f} nats.")
            elif party.after is None:
                sentences.append(f"{party.name} left; its reward was {party.before:.2f} nats.")
        return tuple(sentences)

    @property
    def explanations(self) -> tuple[str, ...]:
        """A sentence for each party of both rounds."""
        parties = by_reward(self.changes)
        return tuple(operator_sentence(party) for party in parties if party.moved is not None)

    @property
    def rows(self) -> list[tuple[str, list[str]]]:
        """The table: each party's name and cells."""
        factors = self.changes.factors
        return [(called(party), cells_of(party, factors)) for party in by_reward(self.changes)]

    @property
    def meanings(self) -> dict[str, str]:
        """The factors that moved anybody's reward, by their headings, and what each of them is."""
        return {TITLES[factor]: MEANINGS[factor] for factor in self.changes.factors}
