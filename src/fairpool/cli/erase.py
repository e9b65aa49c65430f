"""`fairpool erase`: forget what is kept of a party that has left, or of rows that it took out."""

from pathlib import Path
from typing import Annotated

import typer

from fairpool.cli.options import Folder, Json, Quiet
from fairpool.cli.screen import Screen, screen


def erase(
    folder: Folder,
    party: Annotated[str, typer.Option(help="Who: its name, or its permanent id.")],
    withdrawn: Annotated[
        bool,
        typer.Option(
            "--withdrawn",
            help="Only what is kept of rows that the party took out of its table; it stays.",
        ),
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Erase, at once, all that is kept of a party that has left: identities and sums of its rows.

    The party must not be in the configuration any longer. The ledger keeps that it took part and
    that its data were erased. Models that were released cannot be taken back.

    With --withdrawn the party stays, and only sums over rows that are no longer in its table are
    erased. The rows that were released together with these wait until they can return in a new
    batch.

    Example: `fairpool erase my-project --party "Hospital B"`

    Example: `fairpool erase my-project --party "Hospital A" --withdrawn`
    """
    with screen(quiet, as_json) as show:
        from fairpool.consortium.configuration_file import read_configuration

        configuration = read_configuration(folder).configuration
        names = [section.permanent_id for section in configuration.parties]
        if withdrawn:
            _erase_withdrawn(show, folder, party, names)
        else:
            _erase_party(show, folder, party, names)


def _erase_party(show: Screen, folder: Path, party: str, names: list[str]) -> None:
    from fairpool.consortium.rounds.erasing import erase_party

    done = erase_party(folder, party, names=names)
    show.give({"party": done.party, "rows": done.rows, "holders": list(done.holders)})
    show.say(f"Erased: identities of {done.rows} row(s) of {done.party}, and sums over them.")
    if done.holders:
        show.say(
            f"What cannot be undone: models that were made with these rows, and released to"
            f" {', '.join(done.holders)}. What they hold of them is no longer counted."
        )
    show.say(
        "Its tables, and backups of this folder, are where you put them: delete these yourself."
    )
    show.say(
        "It may come back only with rows that are new, under another id: known ones could not"
        " be told from new ones."
    )


def _erase_withdrawn(show: Screen, folder: Path, party: str, names: list[str]) -> None:
    from fairpool.consortium.rounds.erasing import erase_withdrawn

    done = erase_withdrawn(folder, party, names=names)
    show.give(
        {
            "party": done.party,
            "rows": done.rows,
            "beside": done.beside,
            "holders": list(done.holders),
        }
    )
    show.say(
        f"Erased: all sums that {done.rows} row(s) were in which {done.party} took out of its"
        " table. Keyed hashes of them stay, so that they are known if they return."
    )
    if done.beside:
        show.say(
            f"{done.beside} row(s) were released together with them. These take no part in the"
            " next round, until enough new rows come for a batch."
        )
    if done.holders:
        show.say(
            "What cannot be undone: models that were made with these rows, and released to"
            f" {', '.join(done.holders)}. What they hold of them is no longer counted."
        )
    show.say(
        "Its older tables, and backups of this folder, are where you put them: delete these"
        " yourself."
    )
