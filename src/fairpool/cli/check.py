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

        with show.progress() as progress:
            preparation = prepare(folder, Workers(progress=progress))
        rows = {
            p.name: s.rows
            for p, s in zip(preparation.configuration.parties, preparation.parties, strict=True)
        }
        show.give(
            {
                "parties": rows,
                "features": preparation.encoding.features,
                "warnings": preparation.warnings,
            }
        )
        show_preparation(show, preparation, rows)
