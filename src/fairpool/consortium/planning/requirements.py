"""What a plan needs of the configuration, since no party's row may tell it: all lacks at once."""

from collections.abc import Iterator, Sequence

from fairpool.columns import COLUMNS
from fairpool.consortium.column_plan import ColumnPlan
from fairpool.consortium.configuration import Configuration
from fairpool.encoding import TableEncoding
from fairpool.errors import cut
from fairpool.exchange.plan import FEWEST_PARTIES
from fairpool.model_kinds import KINDS
from fairpool.targets import LABELS, TARGETS

OR_PUBLIC = "or give [public] data"
"""From which all that is learned then comes."""

ANY_COLUMNS = TableEncoding(columns=(), target=LABELS)
"""A model is asked what it learns before columns are known; what these lack is told apart."""


def name_problems(configuration: Configuration) -> Iterator[str]:
    """A name that others may have, too: parties know a collaboration by its name and its key."""
    if "name" not in configuration.model_fields_set:
        yield (
            "name: missing; parties know the collaboration by it, so that it needs one of its own,"
            ' such as name = "Hospitals of the north"'
        )


def party_problems(configuration: Configuration) -> Iterator[str]:
    """Too few parties: sums over everybody's rows would show those of the other one."""
    count = len(configuration.parties)
    if count < FEWEST_PARTIES:
        yield (
            f"[[parties]]: there are {count}, and a plan needs {FEWEST_PARTIES} at least: of two,"
            " each would know the other's sums by subtracting its own; add parties"
        )


def model_problems(configuration: Configuration) -> Iterator[str]:
    """A model that has no sums, or whose features would be made of the parties' rows."""
    section = configuration.model
    kind = KINDS[section.kind]
    if kind.needs_rows:
        yield (
            f'[model] kind = "{section.kind}": it has no weights, so that its values need every'
            " row, and no sums stand for rows; use"
            ' kind = "sparse_gp" with inducing = "spread", "fourier" or "blr"'
        )
        return
    if configuration.public is not None:
        return
    disclosed = kind.disclosed(section, ANY_COLUMNS)
    learned = [what for what in disclosed.learned if what != "scaling"]
    if disclosed.from_labels is not None:
        learned.append("features")
    for what in learned:
        yield (
            f'[model] kind = "{section.kind}": its {what} would be made of the parties\' rows,'
            " which stay at home; give [public] data, or use"
            ' kind = "sparse_gp" with inducing = "spread", "fourier" or "blr"'
        )


def feature_problems(configuration: Configuration) -> Iterator[str]:
    """Inputs that nobody lists: which columns all parties have, their tables would tell."""
    if configuration.features is None and configuration.public is None:
        yield (
            "features: missing; list the input columns, since no party's table is looked at;"
            " without a list they are those of [public] data"
        )


def column_problems(configuration: Configuration, features: Sequence[str]) -> Iterator[str]:
    """Columns of which only the parties' rows could tell what they may be.

    Args:
        configuration: What is known of them.
        features: The input columns.
    """
    if configuration.public is not None:
        return
    plan = configuration.plan
    for name in features:
        yield from _input_problems(plan, name)
    target = plan.column(plan.target.name)
    where = f"[columns.{cut(target.name)}]"
    if TARGETS[configuration.target.kind].of_numbers:
        if target.rules.bounds is None:
            yield (
                f'{where}: range is missing; say what the target "{cut(target.name)}" may be, such'
                f" as range = [0, 120], {OR_PUBLIC}"
            )
    elif target.levels is None:
        yield (f'[target] levels: missing; list all classes of "{cut(target.name)}", {OR_PUBLIC}')


def _input_problems(plan: ColumnPlan, name: str) -> Iterator[str]:
    planned = plan.column(name)
    keys = COLUMNS[planned.kind].keys
    where = f"[columns.{cut(name)}]"
    if "range" in keys and planned.rules.bounds is None:
        example = "[2015-01-01, 2024-12-31]" if planned.read_as == "date" else "[0, 120]"
        or_levels = "" if planned.read_as == "date" else " (of a category: levels)"
        yield (
            f"{where}: range is missing; say what values may be, such as range = {example}"
            f"{or_levels}, {OR_PUBLIC}"
        )
    if "levels" in keys and planned.levels is None:
        yield f"{where}: levels are missing; list all that there are, {OR_PUBLIC}"
    if planned.rules.imputes and not planned.is_free_text:
        yield (
            f'{where}: missing = "impute" needs [public] data, since what a missing value is taken'
            ' to be would come from the parties\' rows; give such data, or use "drop" or "error"'
        )
