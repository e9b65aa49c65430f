"""`fairpool erase`: forget what is kept of a party that has left."""

from typing import Annotated

import typer

from fairpool.cli.options import Folder, Json, Quiet
from fairpool.cli.screen import screen


def erase(
    folder: Folder,
    party: Annotated[str, typer.Option(help="Who: its name, or its permanent id.")],
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Erase, at once, all that is kept of a party that has left: identities and sums of its rows.

    The party must not be in the configuration any longer. The ledger keeps that it took part and
    that its data were erased. Models that were released cannot be taken back.

    Example: `fairpool erase my-project --party "Hospital B"`
    """
    with screen(quiet, as_json) as show:
        from fairpool.consortium.configuration_file import read_configuration
        from fairpool.consortium.rounds.administration import erase_party

        configuration = read_configuration(folder).configuration
        names = [section.permanent_id for section in configuration.parties]
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
