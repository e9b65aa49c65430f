"""Whom the rules would refuse, and which rho, for parties of given sizes."""

from collections.abc import Iterator
from dataclasses import dataclass

from fairpool.consortium.planning.what_if import WhatIf
from fairpool.exchange.plan import FEWEST_PARTIES
from fairpool.realisation.disclosure import FEWEST_ROWS


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Something that the rules would refuse.

    Attributes:
        text: What, and why, as a sentence.
        party: With whose data as they are a round would be refused; None: it is not about a party,
            or the party can take part in another way.
        rho: Which rho a run would refuse; None: it is not about one.
    """

    text: str
    party: str | None = None
    rho: str | None = None


def refusals(found: WhatIf) -> tuple[Refusal, ...]:
    """All that would be refused."""
    return (
        *_with_few_rows(found),
        *_sums_of_nobody(found),
        *_with_rare_classes(found),
        *_refused_rhos(found),
    )


def _with_few_rows(found: WhatIf) -> Iterator[Refusal]:
    outlook = found.configured
    for size in found.question.sizes:
        if size.rows < outlook.rows_needed:
            text = (
                f"{size.name}: {size.rows} rows, and any party needs {outlook.rows_needed}: from"
                " reward files with fewer in them they could be computed, so that the round would"
                " be refused"
            )
            yield Refusal(text=text, party=size.name)
        elif found.sums_are_possible and size.rows < outlook.sums_needed:
            text = (
                f"{size.name}: {size.rows} rows are too few to send sums, which need"
                f" {outlook.sums_needed}; it can send its rows, or agree that you may see them"
            )
            yield Refusal(text=text)


def _sums_of_nobody(found: WhatIf) -> Iterator[Refusal]:
    if found.stand_in.lacking:
        text = (
            "nobody can send sums, only rows: sums take a plan, and the configuration lacks what"
            " that is made of; `fairpool plan` without --what-if says what to add"
        )
    elif not found.is_bounded:
        text = (
            "nobody can send sums: nothing bounds how large a row's features can be; give all"
            " columns a range or levels, or use another model"
        )
    elif not found.sums_are_possible:
        text = (
            f"nobody can send sums: that takes {FEWEST_PARTIES} parties at least, since of two each"
            " would know the other's by subtracting its own"
        )
    else:
        return
    yield Refusal(text=text)


def _with_rare_classes(found: WhatIf) -> Iterator[Refusal]:
    if found.plan.terms.share_inputs:
        return
    counts = found.simulated.rare.sum(axis=0)
    for size, count in zip(found.question.sizes, counts, strict=True):
        if count:
            text = (
                f"{size.name}: in {count} of {found.simulated.count} draws it has some rows of a"
                f" class, but fewer than {FEWEST_ROWS}, and would be refused until classes are"
                " merged or these rows are left out"
            )
            yield Refusal(text=text, party=size.name)


def _refused_rhos(found: WhatIf) -> Iterator[Refusal]:
    for name, below in found.simulated.below_own.items():
        if below.any():
            text = (
                f"rho = {name}: in {below.sum()} of {found.simulated.count} draws some party would"
                " be due less than its own data are worth, and a run would refuse this rho"
            )
            yield Refusal(text=text, rho=name)
