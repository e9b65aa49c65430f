"""What a person gives: the plan that the operator sent, and the table."""

from dataclasses import replace
from pathlib import Path

from fairpool.compute.files import plain_content
from fairpool.consortium.home.own_table import OWNER
from fairpool.consortium.home.reading_file import read_delivery
from fairpool.consortium.tables import Source
from fairpool.errors import ContributionError, PlanError
from fairpool.exchange.contribution_file import SUFFIX
from fairpool.exchange.plan import SignedPlan
from fairpool.signatures.signed import MOST_BYTES


def read_plan_file(path: Path) -> SignedPlan:
    """The plan in a file, whoever signed it."""
    try:
        content = plain_content(path, MOST_BYTES)
    except OSError as error:
        raise PlanError(
            f"{path}: the plan cannot be read ({error.strerror or 'no file'}); give the plan.json"
            " that the operator sent"
        ) from None
    return SignedPlan.of_content(content, str(path))


def refuse_other_suffix(out: Path) -> None:
    """Refuse a name by which the operator's configuration would not know a contribution."""
    if out.suffix != SUFFIX:
        raise ContributionError(
            f"{out}: a contribution is known by its name; give it one that ends with {SUFFIX},"
            f" such as {out.stem or 'mine'}{SUFFIX}"
        )


def find_table(plan: SignedPlan, data: Path, reading: Path | None) -> Source:
    """A person's table.

    Args:
        plan: What columns it has.
        data: A file, folder or pattern.
        reading: The file that says how it is written; None: as the plan has it.
    """
    source = Source.find(OWNER, str(data), Path(), remedy="give another --data", follow_links=True)
    if reading is None:
        return source
    return replace(source, delivery=read_delivery(reading, plan.plan))
