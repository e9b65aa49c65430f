"""`fairpool audit`: an auditor computes a released round anew, without any row."""

from pathlib import Path
from typing import Annotated

import typer

from fairpool.cli.options import Folder, Json, Quiet
from fairpool.cli.screen import screen
from fairpool.cli.verify import show_findings


def audit(
    folder: Folder,
    number: Annotated[int, typer.Argument(help="Of the round.", min=1, show_default=False)],
    plan: Annotated[
        Path | None,
        typer.Option(
            help="The plan, as a party has it. Default: the one that the operator kept with the"
            " round.",
            show_default=False,
        ),
    ] = None,
    receipt: Annotated[
        list[Path] | None,
        typer.Option(
            help="What a party holds against the operator; give it for each.", show_default=False
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write what was found, as JSON.", show_default=False),
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option(
            help="Your key (`fairpool keys new`), with which to sign what --out writes.",
            show_default=False,
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Compute a released round anew, from contributions, plan and ledger alone, and compare.

    For an auditor whom all trust, since it sees the operator's secret and everybody's sums: values,
    contributions, rewards, noise, models and commitments. The folder is the operator's, or a copy
    of what it shows. Nothing in it is changed. The exit code is 0 where nothing is FALSE, 1 where
    something is, and 2 where the folder cannot be used.

    Examples: `fairpool audit my-project 3`, `fairpool audit my-project 3 --plan norths-plan.json
    --receipt north.receipt --out audit.json --sign auditor.key`
    """
    with screen(quiet, as_json) as show:
        import json

        from fairpool.compute.files import write_atomically
        from fairpool.consortium.auditing.audit import audit as check
        from fairpool.consortium.auditing.opened import open_round
        from fairpool.errors import DataError
        from fairpool.exchange.attestation import attested
        from fairpool.signatures import SigningKey

        if sign is not None and out is None:
            raise DataError("--sign signs what --out writes; give --out, too")
        if out is not None and out.exists():
            raise DataError(f"{out} exists already; give another --out")
        key = None if sign is None else SigningKey.read(sign)
        opened = open_round(folder, number, plan=plan, receipts=receipt or ())
        found = check(opened)
        if out is not None:
            content = (json.dumps(found.to_dict(), indent=1, ensure_ascii=False) + "\n").encode()
            if key is not None:
                content = attested(
                    key,
                    number=number,
                    release=opened.release,
                    ok=found.ok,
                    findings=[line.to_dict() for line in found.lines],
                ).content
            write_atomically(out, content)
        show_findings(show, found)
        if out is not None:
            show.say(f"Wrote {out}")
        show.give({"round": number, "release": opened.release, **found.to_dict()})
        if not found.ok:
            raise typer.Exit(1)
