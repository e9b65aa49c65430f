"""`fairpool check`: look at everything, compute nothing."""

from fairpool.cli.options import Folder, Json, Quiet
from fairpool.cli.screen import screen, show_preparation


def check(folder: Folder, quiet: Quiet = False, as_json: Json = False) -> None:
    """Look at configuration and data, compute nothing, and list every problem at once.

    Example: `fairpool check my-project`
    """
    with screen(quiet, as_json) as show:
        from fairpool.compute.workers import Workers
        from fairpool.consortium.preparation import prepare
        from fairpool.consortium.request import RunRequest

        request = RunRequest(configuration=folder)
        with show.progress() as progress:
            preparation = prepare(request, Workers(progress=progress))
        sections = preparation.configuration.parties
        rows = {}
        for section, survey in zip(sections, preparation.parties, strict=True):
            rows[section.name] = survey.rows
        show.give(
            {
                "parties": rows,
                "features": preparation.encoding.features,
                "warnings": preparation.warnings,
            }
        )
        show_preparation(show, preparation, rows)
