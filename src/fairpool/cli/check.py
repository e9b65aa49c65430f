"""`fairpool check`: look at everything, compute nothing."""

from fairpool.cli.options import Folder, Json, Quiet
from fairpool.cli.screen import screen, show_columns, show_preparation
from fairpool.errors import FairpoolError


def check(folder: Folder, quiet: Quiet = False, as_json: Json = False) -> None:
    """Look at configuration and data, compute nothing, and list every problem at once.

    A table shows every column at every party, so that one sees what does not fit; a question in it
    is a party whose unit seems to be another than the others'.

    Example: `fairpool check my-project`

    Example: `fairpool check my-project --json > columns.json`
    """
    with screen(quiet, as_json) as show:
        from fairpool.compute.workers import Workers
        from fairpool.consortium.column_table import as_plain
        from fairpool.consortium.examination import examine
        from fairpool.consortium.preparation import conclude
        from fairpool.consortium.request import RunRequest
        from fairpool.consortium.rounds.context import open_context

        request = RunRequest(configuration=folder)
        with show.progress() as progress:
            context = open_context(folder)
            examination = examine(request, Workers(progress=progress), context)
        show_columns(show, examination.table)
        try:
            preparation = conclude(examination)
        except FairpoolError as error:
            show.refuse(error, {"columns": as_plain(examination.table)})
        sections = preparation.configuration.parties
        rows = {}
        noisy = set()
        for section, survey in zip(sections, preparation.parties, strict=True):
            rows[section.name] = survey.rows
            if survey.has_noise:
                noisy.add(section.name)
        show.give(
            {
                "parties": rows,
                "features": preparation.encoding.features,
                "warnings": preparation.warnings,
                "columns": as_plain(examination.table),
            }
        )
        show_preparation(show, preparation, rows, noisy=noisy)
