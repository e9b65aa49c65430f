"""`fairpool contribute`: a party sums up its rows at home, and sends the sums."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairpool.cli.options import Json, Quiet
from fairpool.cli.screen import MOST_COLUMNS, Screen, screen
from fairpool.errors import ContributionError, PlanError

if TYPE_CHECKING:
    from fairpool.consortium.home.contributing import Prepared


def contribute(
    plan: Annotated[
        Path, typer.Argument(help="The plan.json that the operator sent.", show_default=False)
    ],
    data: Annotated[
        Path,
        typer.Option(
            help="Your table: a file, a folder or a pattern. It stays where it is.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(help="The file to write, such as north.contribution.", show_default=False),
    ],
    key: Annotated[
        Path | None,
        typer.Option(
            help="Your signing key. Default: the one that `fairpool keys new` made.",
            show_default=False,
        ),
    ] = None,
    reading: Annotated[
        Path | None,
        typer.Option(
            help="A TOML file that says how your table is written, where that is not as agreed:"
            " [reading] and [columns.NAME], as under [[parties]].",
            show_default=False,
        ),
    ] = None,
    encoders: Annotated[
        Path | None,
        typer.Option(
            help="The folder of the encoders that the plan's texts or images need. Default: beside"
            " the plan.",
            show_default=False,
        ),
    ] = None,
    rows_may_be_seen: Annotated[
        bool,
        typer.Option(
            "--rows-may-be-seen",
            help="The operator may compute your rows: too few for hiding are no error.",
        ),
    ] = False,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Contribute all rows anew, in place of earlier contributions. The operator must"
            " book that as a second look at their labels.",
        ),
    ] = False,
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="Put noise on everything that leaves, so that no single row can be seen in it: 1"
            " hides rows well, 3 somewhat. It costs value, which is said beforehand.",
            show_default=False,
        ),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(
            help="The chance that epsilon does not hold. Default: one in a million.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            help="The most that epsilon may be over all your contributions together; it is"
            " remembered.",
            show_default=False,
        ),
    ] = None,
    without_noise: Annotated[
        bool,
        typer.Option(
            "--without-noise",
            help="Contribute without noise, though you have set a budget, or noise hides these rows"
            " in an earlier contribution.",
        ),
    ] = False,
    trust: Annotated[
        str | None,
        typer.Option(
            help="The fingerprint of the operator's key, as you were told: for the first time.",
            metavar="FINGERPRINT",
            show_default=False,
        ),
    ] = None,
    new_terms: Annotated[
        bool,
        typer.Option(
            "--new-terms",
            help="Agree to a plan whose terms are not those that you agreed to before.",
        ),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask: what leaves is known. For scripts.")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Sum up your rows by a plan, and write a signed contribution. No row leaves this machine.

    It says what leaves, and asks. Rows that you contributed before are left out, so that next
    month's table may have all rows, old and new.

    Example: `fairpool contribute plan.json --data mine.csv --out north.contribution`

    Example, with noise: `fairpool contribute plan.json --data mine.csv --out north.contribution
    --epsilon 3`

    Example, in a script: `fairpool contribute plan.json --data mine.csv --out north.contribution
    --yes --trust "81f3 66dc ..."`
    """
    with screen(quiet, as_json) as show:
        from fairpool.consortium.home.contributing import contribute_table
        from fairpool.consortium.home.hiding import wish_of
        from fairpool.consortium.home.inputs import find_table, read_plan_file, refuse_other_suffix
        from fairpool.consortium.home.journal import refuse_other_content
        from fairpool.consortium.home.making import Choices
        from fairpool.consortium.home.operators import refuse_other_fingerprint
        from fairpool.exchange.home import home_folder, key_path, read_key

        refuse_other_suffix(out)
        agreed = read_plan_file(plan)
        if trust is not None:
            refuse_other_fingerprint(agreed, trust)
        own_key = read_key(key or key_path())
        with show.progress() as progress:
            prepared = contribute_table(
                agreed,
                find_table(agreed, data, reading),
                key=own_key,
                home=home_folder(),
                choices=Choices(
                    rows_may_be_seen=rows_may_be_seen,
                    replace=replace,
                    wish=wish_of(epsilon, delta, budget),
                    without_noise=without_noise,
                ),
                encoders=encoders or plan.parent,
                progress=progress,
            )
        refuse_other_content(out, prepared.content)
        may_ask = not (yes or quiet or as_json) and sys.stdin.isatty()
        is_trusted = trust is not None or prepared.standing.is_known
        if not is_trusted and not may_ask:
            _refuse_unknown_operator(prepared)
        with _seen_to_the_end():
            _tell_what_leaves(show, prepared)
        if not is_trusted:
            _have_key_compared(show, prepared)
        if not new_terms:
            _refuse_new_terms(prepared, may_ask=may_ask)
        _agree(yes=yes, may_ask=may_ask)
        try:
            prepared.write(out)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                "if it was begun, the next fairpool contribute finishes it: run this again"
            ) from None
        _tell_what_was_written(show, prepared, out)


def _tell_what_stands_in_it(show: Screen, prepared: "Prepared") -> None:
    """The columns, so that a wrong unit is seen by the only person who can see it."""
    from fairpool.errors import cut

    show.say("In your table, which stays here:")
    some = {f"  {cut(column.name)}": str(column) for column in prepared.columns[:MOST_COLUMNS]}
    show.describe(some)
    more = len(prepared.columns) - len(some)
    if more > 0:
        show.say(f"  and {more} more column(s)")


def _tell_what_leaves(show: Screen, prepared: "Prepared") -> None:
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
def _seen_to_the_end() -> Iterator[None]:
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


def _refuse_unknown_operator(prepared: "Prepared") -> None:
    fingerprint = prepared.plan.operator.fingerprint
    raise PlanError(
        f"the operator's key was never compared: its fingerprint is {fingerprint}; ask the"
        " operator for it over the telephone, not by the way that the plan came, and if it is"
        f' the same, add --trust "{fingerprint}"'
    )


def _have_key_compared(show: Screen, prepared: "Prepared") -> None:
    """Have the person compare the operator's key, the first time that it is met."""
    show.say(f"The operator's key has the fingerprint {prepared.plan.operator.fingerprint}")
    _ask("Did the operator tell you the same one, not by the way that the plan came?")


def _refuse_new_terms(prepared: "Prepared", *, may_ask: bool) -> None:
    """Refuse what a script cannot have looked at; a person was told, and is asked."""
    changes = prepared.standing.changes(prepared.plan)
    if changes and not may_ask:
        raise ContributionError(
            f"the plan is not the one that you agreed to before: {'; '.join(changes)}; if you agree"
            " to that as well, add --new-terms"
        )


def _agree(*, yes: bool, may_ask: bool) -> None:
    if yes:
        return
    if not may_ask:
        raise ContributionError(
            "nobody can be asked whether this may leave, since there is no terminal to ask on, or"
            " nothing was shown; look at what leaves, and add --yes"
        )
    _ask("Write this contribution?")


def _ask(question: str) -> None:
    """Go on only if a person says so; Ctrl-C and the end of what is typed say no."""
    try:
        agreed = typer.confirm(question, default=False)
    except typer.Abort:
        print(file=sys.stderr)
        agreed = False
    if not agreed:
        print("Nothing was written.", file=sys.stderr)
        raise typer.Exit(1)


def _tell_what_was_written(show: Screen, prepared: "Prepared", out: Path) -> None:
    file = prepared.file
    show.give(
        {
            "out": str(out),
            "contribution": file.digest,
            "rows": file.manifest.rows,
            "left_out": prepared.left_out,
            "vanished": prepared.vanished,
            "again": prepared.again,
            "notes": list(prepared.notes),
            "replaces": list(file.manifest.replaces),
            "operator": str(prepared.plan.operator),
            "hiding": None if prepared.hiding is None else prepared.hiding.figures(),
        }
    )
    show.say_unbroken(f"Wrote {out}: send it to the operator. It is known by {file.name}.")
