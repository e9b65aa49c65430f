"""`fairpool ledger`: what was released, line by line, and whether that is as it was written."""

from typing import Annotated

import typer

from fairpool.cli.options import Folder, Json, Quiet
from fairpool.cli.screen import screen

app = typer.Typer(
    no_args_is_help=True,
    help="Show the ledger, or verify that it is as it was written.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def show(folder: Folder, quiet: Quiet = False, as_json: Json = False) -> None:
    """Print the ledger: one line for every run, release and erasure.

    Example: `fairpool ledger show my-project`
    """
    with screen(quiet, as_json) as shown:
        from fairpool.consortium.rounds.inspecting import verify_folder
        from fairpool.ledger.words import line_of, lines_of

        found = verify_folder(folder)
        records = []
        for record in found.ledger.records:
            shown.say(line_of(record))
            entries = {"number": record.number, "time": record.time, "kind": record.kind}
            records.append({**entries, "hash": record.hash, "body": record.body})
        if not found.ledger.records:
            shown.say("The ledger has no records.")
        problems = [f"line {line}: {text}" for line, text in found.ledger.problems]
        shown.give(
            {
                "head": found.ledger.head,
                "records": records,
                "ok": found.ledger.ok,
                "problems": problems,
            }
        )
        if not found.ledger.ok:
            for line in lines_of(found.ledger):
                shown.say(line)
            raise typer.Exit(2)


@app.command()
def verify(
    folder: Folder,
    head: Annotated[
        list[str] | None,
        typer.Option(help="A hash that a letter or a file carries; give it for each."),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Verify the ledger's chain and seals, the released files, and the hashes in letters.

    The exit code is 2 where something is not as it was written.

    Examples: `fairpool ledger verify my-project`, `fairpool ledger verify my-project --head
    3f2a...`
    """
    with screen(quiet, as_json) as shown:
        from fairpool.consortium.rounds.inspecting import verify_folder
        from fairpool.ledger.words import lines_of

        found = verify_folder(folder, head or [])
        for line in lines_of(found.ledger):
            shown.say(line)
        for problem in found.files:
            shown.say(f"File: {problem}.")
        for note in found.notes:
            shown.say(f"Note: {note}.")
        if found.ok and head:
            shown.say("It has a record of every head that was given.")
        if found.ok and found.ledger.records:
            shown.say("All released models are as the ledger tells.")
        problems = [f"line {line}: {text}" for line, text in found.ledger.problems]
        shown.give(
            {
                "ok": found.ok,
                "head": found.ledger.head,
                "records": len(found.ledger.records),
                "problems": [*problems, *found.files],
                "notes": [*found.ledger.notes, *found.notes],
            }
        )
        if not found.ok:
            raise typer.Exit(2)
