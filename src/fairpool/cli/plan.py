"""`fairpool plan`: what all parties agree to before anybody sends anything."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from fairpool.cli.options import Folder, Json, Quiet
from fairpool.cli.screen import Screen, screen
from fairpool.cli.what_if import show_what_if
from fairpool.errors import PlanError

if TYPE_CHECKING:
    from fairpool.consortium.planning import Written


def plan(
    folder: Folder,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Write it even where columns, scaling or features are others than those that"
            " parties have contributed by: all of them have to contribute again.",
        ),
    ] = False,
    what_if: Annotated[
        bool,
        typer.Option(
            "--what-if",
            help="Write nothing; show what the model and rho would give to parties of --sizes.",
        ),
    ] = False,
    sizes: Annotated[
        str | None,
        typer.Option(
            help="With --what-if: how many rows each party may have, as 200,80,1200 or"
            " North=200,South=80.",
            metavar="ROWS,ROWS,...",
            show_default=False,
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write plan.json: how rows become sums, and on what terms, signed by you.

    Send it to all parties. Those with a `key` can then keep their rows at home, and send sums over
    them (`fairpool contribute`). No party's table is looked at: scaling and features come from
    [public] data, or from the ranges and levels in [columns.NAME].

    Where the plan that is there says the same, it is left as it is. The first plan makes your own
    key, .fairpool/operator.key: keep a copy, since parties know you by it.

    Before you ask anybody for data, `--what-if` simulates parties of given sizes, with rows of
    [public] or [test] data, or made-up ones where all is declared: what each would receive, what
    its file would disclose, and whom the rules would refuse. That writes nothing.

    Example, with [public] data or all declared: `fairpool plan my-project`

    Example, with [test] data, too, as `fairpool init` writes them: `fairpool plan my-project
    --what-if --sizes 200,80,1200`
    """
    with screen(quiet, as_json) as show:
        if what_if:
            _refuse_together(replace=replace)
            show_what_if(show, folder, sizes)
            return
        if sizes is not None:
            raise PlanError("--sizes has a meaning only with --what-if; a plan names no sizes")
        from fairpool.compute.workers import Workers
        from fairpool.consortium.planning import write_plan

        made = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        with show.progress() as progress:
            written = write_plan(
                folder, made=made, replace=replace, workers=Workers(progress=progress)
            )
        _tell(show, written)


def _refuse_together(*, replace: bool) -> None:
    if replace:
        raise PlanError("--what-if writes nothing, so that --replace has no meaning; leave one out")


def _tell(show: Screen, written: "Written") -> None:
    from fairpool.consortium.planning.words import CHANGES, LATE, REKEYED, plan_warnings
    from fairpool.exchange.plan_words import plan_as_plain, plan_in_words

    signed = written.plan
    warnings = [*plan_warnings(signed.plan)]
    if written.rekeyed:
        warnings.append(REKEYED.format(parties=", ".join(written.rekeyed)))
    if written.is_late:
        warnings.append(LATE)
    show.give(
        {
            "file": str(written.path),
            "change": str(written.change),
            **plan_as_plain(signed),
            "warnings": warnings,
        }
    )
    show.describe(plan_in_words(signed))
    show.say("")
    for sentence in signed.plan.discloses:
        show.say(f"- {sentence}")
    show.say("")
    for warning in warnings:
        show.say(f"Warning: {warning}")
    show.say(CHANGES[written.change].format(path=written.path))
    show.say("Parties compare this fingerprint with you before they contribute:")
    show.say_unbroken(f"  {signed.operator.fingerprint}")
