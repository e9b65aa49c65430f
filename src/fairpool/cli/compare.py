"""`fairpool compare`: whose reward moved between two rounds, and why."""

from typing import Annotated

import typer

from fairpool.cli.options import Folder, Json, Quiet
from fairpool.cli.screen import screen

Round = Annotated[int, typer.Argument(min=1, help="The number of a round.", show_default=False)]


def compare(
    folder: Folder, first: Round, second: Round, quiet: Quiet = False, as_json: Json = False
) -> None:
    """Say whose reward moved between two rounds, and how much of that is due to what.

    Own new data, others' data, joiners, leavers, and terms such as rho: the parts add up.

    Example: `fairpool compare my-project 1 2`
    """
    with screen(quiet, as_json) as show:
        from fairpool.consortium.rounds.comparing import compare_rounds
        from fairpool.report.since import operator_sentence, since_table

        changes = compare_rounds(folder, first, second)
        show.give(changes.to_dict())
        show.say(since_table(changes))
        for party in changes.parties:
            if party.moved is not None:  # who joined or left has nothing to compare
                show.say(operator_sentence(party))
