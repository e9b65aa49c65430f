"""`fairpool contribute`: a party sums up its rows at home, and sends the sums."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairpool.cli.delivering import deliver, delivery_to, place_of, tell_where_it_goes
from fairpool.cli.options import Json, Quiet
from fairpool.cli.screen import Screen, screen
from fairpool.cli.what_leaves import seen_to_the_end, tell_what_leaves
from fairpool.errors import ContributionError, PlanError

if TYPE_CHECKING:
    from fairpool.consortium.home.contributing import Prepared
    from fairpool.exchange.plan import SignedPlan

WRITE = "Write this contribution?"


def contribute(
    data: Annotated[
        Path,
        typer.Option(
            help="Your table: a file, a folder or a pattern. It stays where it is.",
            show_default=False,
        ),
    ],
    plan: Annotated[
        Path | None,
        typer.Argument(
            help="The plan.json that the operator sent. With --to it may be left out: it is the one"
            " in force there.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The file to write, such as north.contribution. With --to it may be left out: it"
            " is then called after your party and what it is known by.",
            show_default=False,
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            help="Send it to the operator's service, and keep the receipt beside it.",
            metavar="URL",
            show_default=False,
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="A file of mode 600 with your token for that service. Default: the variable"
            " FAIRPOOL_TOKEN has it.",
            show_default=False,
        ),
    ] = None,
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

    With --to it goes to the operator's service, takes part in the round, and is acknowledged: the
    receipt is checked, and kept. What the service has is not sent twice, so that after a lost
    connection the same command goes on.

    Example: `fairpool contribute plan.json --data mine.csv --out north.contribution`

    Example, to a service: `fairpool contribute --data mine.csv --to https://pool.example.org
    --token-file north.token`

    Example, with noise: `fairpool contribute plan.json --data mine.csv --out north.contribution
    --epsilon 3`

    Example, in a script: `fairpool contribute plan.json --data mine.csv --out north.contribution
    --yes --trust "81f3 66dc ..."`
    """
    with screen(quiet, as_json) as show:
        from fairpool.consortium.home.contributing import contribute_table
        from fairpool.consortium.home.hiding import wish_of
        from fairpool.consortium.home.inputs import find_table, refuse_other_suffix
        from fairpool.consortium.home.journal import refuse_other_content
        from fairpool.consortium.home.making import Choices
        from fairpool.consortium.home.operators import refuse_other_fingerprint
        from fairpool.exchange.home import home_folder, key_path, read_key

        if out is not None:
            refuse_other_suffix(out)
        delivery = None if to is None else delivery_to(to, token_file, plan)
        agreed = _plan(plan, out, token_file) if delivery is None else delivery.plan
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
                encoders=encoders or (Path() if plan is None else plan.parent),
                progress=progress,
            )
        out = out or place_of(prepared)
        refuse_other_content(out, prepared.content)
        waiting = () if delivery is None else delivery.waiting(prepared.counting)
        may_ask = not (yes or quiet or as_json) and sys.stdin.isatty()
        is_trusted = trust is not None or prepared.standing.is_known
        if not is_trusted and not may_ask:
            _refuse_unknown_operator(prepared)
        with seen_to_the_end():
            tell_what_leaves(show, prepared)
            if delivery is not None:
                tell_where_it_goes(show, delivery, waiting, prepared)
        if not is_trusted:
            _have_key_compared(show, prepared)
        if not new_terms:
            _refuse_new_terms(prepared, may_ask=may_ask)
        _agree("Write this contribution, and send it?" if to else WRITE, yes=yes, may_ask=may_ask)
        try:
            prepared.write(out)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                "if it was begun, the next fairpool contribute finishes it: run this again"
            ) from None
        _tell_what_was_written(show, prepared, out, is_sent=delivery is not None)
        if delivery is None:
            show.give(_facts(prepared, out))
        else:
            sent = deliver(show, delivery, waiting, prepared=prepared, out=out)
            show.give({**_facts(prepared, out), **sent})


def _plan(plan: Path | None, out: Path | None, token_file: Path | None) -> "SignedPlan":
    """The plan in a file, where nothing goes to a service."""
    from fairpool.consortium.home.inputs import read_plan_file

    if plan is None:
        raise PlanError("give the plan.json that the operator sent, or a service with --to")
    if out is None:
        raise ContributionError("--out: give the file to write, or a service with --to")
    if token_file is not None:
        raise ContributionError("--token-file is for a service; give that, too, with --to")
    return read_plan_file(plan)


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


def _agree(question: str, *, yes: bool, may_ask: bool) -> None:
    if yes:
        return
    if not may_ask:
        raise ContributionError(
            "nobody can be asked whether this may leave, since there is no terminal to ask on, or"
            " nothing was shown; look at what leaves, and add --yes"
        )
    _ask(question)


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


def _tell_what_was_written(show: Screen, prepared: "Prepared", out: Path, *, is_sent: bool) -> None:
    what = "now it goes to the service" if is_sent else "send it to the operator"
    show.say_unbroken(f"Wrote {out}: {what}. It is known by {prepared.file.name}.")


def _facts(prepared: "Prepared", out: Path) -> dict[str, Any]:
    """The same for a program."""
    file = prepared.file
    return {
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
