"""What leaves a party's machine, and what it tells: said before anything is written."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fairpool.cli.screen import MOST_COLUMNS, Screen
from fairpool.errors import ContributionError

if TYPE_CHECKING:
    from fairpool.consortium.home.contributing import Prepared


def _tell_what_stands_in_it(show: Screen, prepared: "Prepared") -> None:
    """The columns, so that a wrong unit is seen by the only person who can see it."""
    from fairpool.errors import cut

    show.say("In your table, which stays here:")
    some = {f"  {cut(column.name)}": str(column) for column in prepared.columns[:MOST_COLUMNS]}
    show.describe(some)
    more = len(prepared.columns) - len(some)
    if more > 0:
        show.say(f"  and {more} more column(s)")


def tell_what_leaves(show: Screen, prepared: "Prepared") -> None:
    """Rows, arrays, what is said of them, and what the operator learns by that."""
    from fairpool.consortium.home.leaving import (
        arrays_that_leave,
        others_in_words,
        said_in_manifest,
    )
    from fairpool.exchange.disclosed import certain_disclosures, words_of_the_operator

    file = prepared.file
    plan = prepared.plan.plan
    _tell_what_stands_in_it(show, prepared)
    for note in prepared.notes:
        show.say(f"Note: {note}")
    for change in prepared.standing.changes(prepared.plan):
        show.say(f"Note: the plan is not the one that you agreed to before: {change}")
    if prepared.again:
        show.say("No row is new: this is the contribution that you made before, once more.")
    elif prepared.left_out:
        show.say(f"{prepared.left_out} row(s) are left out: you contributed them before.")
    if prepared.vanished:
        where = "They are not in this contribution, either."
        if not file.manifest.replaces:
            where = (
                "They stay in those contributions; to take them out, contribute all rows anew:"
                " --replace"
            )
        show.say(
            f"{prepared.vanished} row(s) that you contributed before are not in this table. {where}"
        )
    if file.manifest.replaces:
        show.say(
            f"It stands in place of {len(file.manifest.replaces)} earlier contribution(s). If these"
            " took part in a round, the operator must book it as a second look at your labels"
            " (second_look), to which everybody agrees; and leave the earlier files out."
        )
    if prepared.hiding is not None:
        for sentence in prepared.hiding.in_words():
            show.say(sentence)
    rows = f"{file.manifest.rows} row(s), no row"
    if file.manifest.privacy is not None:
        rows = f"your rows, no row (their number has noise, too: {file.manifest.rows})"
    show.say(f"What leaves: sums over {rows}. In the file are:")
    for array in arrays_that_leave(prepared):
        shape = " x ".join(map(str, array.shape)) or "1"
        show.say(f"  {array.name}: {shape} number(s), {array.size} bytes: {array.what}")
        show.say(f"    for example {array.example}")
    show.say("and, signed with your key:")
    show.describe({f"  {name}": value for name, value in said_in_manifest(file).items()})
    show.say("What that tells:")
    for sentence in certain_disclosures(plan):
        show.say(f"  {sentence}")
    if file.manifest.privacy is not None:
        show.say(
            "  All that with noise: whoever sees it cannot tell whether any one row was in it, but"
            f" for odds that change by a factor of e^{file.manifest.privacy.epsilon:g}."
        )
    if file.manifest.rows_may_be_seen:
        show.say("  You say that the operator may compute your rows.")
    besides = words_of_the_operator(plan)
    if besides:
        show.say("What the operator writes besides, which cannot be checked here:")
        for sentence in besides:
            show.say(f"  {sentence}")
    show.say(others_in_words(prepared))
    show.say(f"The whole file has {len(prepared.content)} bytes.")


@contextmanager
def seen_to_the_end() -> Iterator[None]:
    """Write nothing where whoever reads the screen has gone before all was said, as `head` does."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())  # or Python would complain when it closes it
        raise ContributionError(
            "what leaves could not be shown to the end, since the output was closed; nothing was"
            " written; run this without a pipe that ends early, or with --quiet"
        ) from None
