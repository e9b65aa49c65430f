"""When a contribution would tell single rows: it has few, or differs by few from another."""

from collections.abc import Sequence
from dataclasses import dataclass

from fairpool.consortium.home.beside import Others
from fairpool.consortium.home.journal import Journal
from fairpool.consortium.home.journal_entry import JournalEntry
from fairpool.consortium.home.overlaps import fewest_apart, share_rows, smallest_shown
from fairpool.consortium.home.own_table import MISSING, LevelCounts
from fairpool.errors import ContributionError, shown
from fairpool.exchange.plan import (
    FEWEST_OF_A_CLASS,
    FEWEST_OF_A_LEVEL,
    FEWEST_PARTIES,
    Plan,
)
from fairpool.targets import ClassTarget

OR_SHOW = "or, if the operator may see your rows, say so: --rows-may-be-seen"


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which rows would be contributed, as far as refusals ask.

    Attributes:
        rows: How many.
        inputs: How many different inputs they have; counted until there are as many as needed.
        left_out: How many rows of the table are in earlier contributions instead.
        counts: Of classes, how many of each; None: labels are numbers.
        levels: How many rows have each level.
    """

    rows: int
    inputs: int
    left_out: int
    counts: tuple[int, ...] | None
    levels: LevelCounts


def refuse_few_parties(plan: Plan) -> None:
    """Refuse a plan in which the others would learn what this party's data are by subtracting."""
    if len(plan.parties) < FEWEST_PARTIES:
        raise ContributionError(
            f"the plan has {len(plan.parties)} parties, and needs {FEWEST_PARTIES}: of two, each"
            " would know the other's sums by subtracting its own; wait for a plan with more"
        )


def exact_ones(journal: Journal, *, anew: bool) -> tuple[JournalEntry, ...]:
    """The contributions that another one without noise has to be put beside.

    Next to those of the same party to the same operator, whose rows are left out, there is nothing
    to compare; unless others have some of these rows as well.

    Args:
        journal: All contributions of the home.
        anew: Whether all rows are contributed, in place of earlier contributions.
    """
    others = tuple(entry for entry in journal.others if not entry.is_hidden)
    if not others and not anew:
        return ()
    return (*(entry for entry in journal.entries if not entry.is_hidden), *others)


def rows_needed(plan: Plan, overlapping: Sequence[JournalEntry]) -> int:
    """How many rows a contribution needs, beside others of the same rows with other features.

    Those tell other numbers of these rows, and all numbers together must be fewer than what they
    depend on.

    Args:
        plan: Under which it is.
        overlapping: The others, to anybody.
    """
    of_features: dict[str, int] = {}
    for entry in overlapping:
        features = entry.file.manifest.features
        if features != plan.features_digest:
            of_features[features] = max(entry.fewest, of_features.get(features, 0))
    return plan.fewest_rows + sum(of_features.values())


def few_rows_problems(plan: Plan, selection: Selection, *, needed: int) -> list[str]:
    """Why the operator could compute rows from these sums; empty: it could not."""
    problems = []
    if selection.rows < needed:
        problems.append(_few_rows(plan, selection, needed=needed))
    elif selection.inputs < needed:
        problems.append(
            f"{selection.rows} row(s) with {selection.inputs} different inputs, and a contribution"
            f" needs {needed} different ones: rows with the same inputs hide these no better than"
            f" one row does; add other rows, {OR_SHOW}"
        )
    if isinstance(plan.encoding.target, ClassTarget):
        for level, count in zip(plan.encoding.target.levels, selection.counts or (), strict=True):
            if 0 < count < FEWEST_OF_A_CLASS:
                problems.append(
                    f"{count} row(s) of the class {shown(level)}, and a contribution needs"
                    f" {FEWEST_OF_A_CLASS} of a class, or none: sums over fewer tell too much of"
                    f" each; take these rows out of the table, {OR_SHOW}"
                )
    for name, counts in selection.levels.items():
        for level, count in counts.items():
            if 0 < count < FEWEST_OF_A_LEVEL:
                what = shown(level) if level != MISSING else "no value"
                problems.append(
                    f'{count} row(s) with {what} in column "{name}", and a contribution needs'
                    f" {FEWEST_OF_A_LEVEL}, or none: sums over fewer tell too much of each; take"
                    f" these rows out of the table, {OR_SHOW}"
                )
    return problems


def _few_rows(plan: Plan, selection: Selection, *, needed: int) -> str:
    what = "row(s)"
    remedy = "add rows"
    if selection.left_out:
        what = f"new row(s) beside {selection.left_out} that you contributed before"
        remedy = "wait until you have more new ones"
    numbers = plan.weights * (plan.weights + 3) // 2
    return (
        f"{selection.rows} {what}, and a contribution needs {needed}: it shows the operator"
        f" {numbers} numbers for {plan.weights} weights, from which fewer rows could be computed;"
        f" {remedy}, {OR_SHOW}"
    )


def difference_problems(entry: JournalEntry, others: Others, *, needed: int) -> list[str]:
    """Why a contribution, put beside earlier ones, would show few rows; empty: it would not.

    What sums with other features tell together is more than differences: see `standing_alone`.

    Args:
        entry: The contribution.
        others: Those that were made, to any operator: nobody knows who has which of them.
        needed: Fewer rows than this can be computed from sums over them.
    """
    rows = entry.members
    for unknown in others.unknown:
        manifest = unknown.file.manifest
        if manifest.features == entry.file.manifest.features:
            return [
                f"its rows are known by {', '.join(entry.known_by)}, and those of the contribution"
                f" of {manifest.made} by {', '.join(unknown.known_by)}, so that nobody can"
                " tell whether few rows make the difference, which both would show; give the table"
                f" the same columns as then, {OR_SHOW}"
            ]
    for other in others.joined:
        apart = fewest_apart(rows, other.members) if share_rows(other.members, rows) else 0
        if 0 < apart < needed:
            return [
                f"it differs by {apart} row(s) from the contribution of"
                f" {other.entry.file.manifest.made} ({_to_whom(entry, other.entry)}): subtracted"
                f" from each other, they would show these rows; let at least {needed} rows come or"
                f" go, {OR_SHOW}"
            ]
    together = [other.members for other in others.joined]
    if len(together) > 1:
        shown_rows = smallest_shown([*together, rows], fewest=needed, known=len(together))
        if shown_rows:
            return [
                f"together with your {len(together)} earlier contributions it would show a group"
                f" of {shown_rows} row(s), and a group needs {needed}; let more rows come or go,"
                f" {OR_SHOW}"
            ]
    return []


def _to_whom(entry: JournalEntry, other: JournalEntry) -> str:
    """Where an earlier contribution is, and for whom it was, if that is somebody else."""
    now, then = entry.file.manifest, other.file.manifest
    said = str(other.place)
    if then.operator != now.operator:
        return f"{said}, to the operator {then.operator.fingerprint}: operators may know each other"
    if then.party != now.party:
        return f"{said}, for the party {shown(then.party)}"
    return said
