"""`fairpool server`: what whoever runs the service does beside it."""

from pathlib import Path
from typing import Annotated

import typer

from fairpool.cli.options import Json, Quiet, ServerFolder
from fairpool.cli.screen import screen
from fairpool.cli.serving import opened
from fairpool.errors import DataError

app = typer.Typer(
    no_args_is_help=True,
    help="Look after the service: what it keeps on its disk and in its database.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def server() -> None:
    """Look after the service: what it keeps on its disk and in its database."""


@app.command()
def check(
    folder: ServerFolder = Path("fairpool-server"),
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Remove what was left behind, once it is an hour old."),
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Look whether files and database belong together: after a crash, and after restoring a backup.

    Every upload has its record and the other way round; every ledger is valid, and tells of the
    rounds that the database tells of; nothing lies about that a job has left. Each line says what
    to do. It can be run at any time, also while the service is at work. The exit code is 2 where
    something is found that stays.

    Examples: `fairpool server check`, `fairpool server check --folder /srv/fairpool --repair`
    """
    with screen(quiet, as_json) as show:
        with opened(folder) as (settings, database):
            from fairpool.server.check import check_service
            from fairpool.server.leftovers import remove

            found = check_service(settings, database)
            removed = remove(found) if repair else []
        stays = [one for one in found if one.path not in removed]
        for path in removed:
            show.say(f"Removed {path}")
        for one in stays:
            show.say(f"{one.text}; {one.remedy}")
        if not stays:
            show.say("Files and database belong together.")
        show.give(
            {
                "ok": not stays,
                "found": [{"text": one.text, "remedy": one.remedy} for one in stays],
                "removed": [str(path) for path in removed],
            }
        )
        if stays:
            raise typer.Exit(2)


@app.command()
def mail(
    to: Annotated[str, typer.Option("--to", help="Who gets it.", metavar="ADDRESS")],
    folder: ServerFolder = Path("fairpool-server"),
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Send a mail to try it out, at once, and say what is wrong where that does not work.

    FAIRPOOL_SMTP is the server, such as smtps://user@mail.example.org:465; the password is in a
    file for you alone (mode 600) that FAIRPOOL_SMTP_PASSWORD_FILE names, or in
    FAIRPOOL_SMTP_PASSWORD; FAIRPOOL_MAIL_FROM is the address that mail is from, and
    FAIRPOOL_ADDRESS where browsers find the service. The service and its workers need the same.

    Example: `fairpool server mail --to me@example.org --folder /srv/fairpool`
    """
    with screen(quiet, as_json) as show:
        with opened(folder) as (settings, _):
            from fairpool.server.mail.trying import try_out

            if settings.mail is None:
                raise DataError(
                    "FAIRPOOL_SMTP: no server for mail is named, so that none is sent; give"
                    " smtps://user@mail.example.org:465"
                )
            try_out(settings.mail, to=to, address=settings.address)
        show.say(f"The mail server has taken a mail to {to}. Look whether it arrives.")
        show.give({"sent": True, "to": to})
