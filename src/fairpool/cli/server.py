"""`fairpool server`: what whoever runs the service does beside it."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fairpool.cli.options import Json, Quiet, ServerFolder
from fairpool.cli.screen import screen
from fairpool.cli.serving import extra_needed, opened, opened_as_it_is
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
def password(
    email: Annotated[
        str, typer.Option("--email", help="Whose password: the address of an account.")
    ],
    folder: ServerFolder = Path("fairpool-server"),
    address: Annotated[
        str,
        typer.Option("--address", help="Where browsers find the service, as `serve` was told."),
    ] = "http://127.0.0.1:8000",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Make a link with which somebody who forgot the password sets another one, once.

    Hand it to that person by a way that nobody else reads: whoever opens it first has the account.
    It lasts a day, and ends earlier links for the same account. Once it is used, all browsers of
    that person are signed out and all tokens end. Nobody of a collaboration can make one.

    Examples: `fairpool server password --email anna@example.org`, `fairpool server password
    --email anna@example.org --folder /srv/fairpool --address https://pool.example.org`
    """
    with screen(quiet, as_json) as show, opened(folder) as (settings, database):
        from fairpool.server.people.resetting import LASTS, reset_link
        from fairpool.server.starting import fit_address

        settings = replace(settings, address=fit_address(address, host="", is_insecure=True))
        with database.transaction() as session:
            link = reset_link(session, settings, email)
        hours = int(LASTS.total_seconds() // 3600)
        show.say(f"For {email}, once, within {hours} hours:")
        show.say_unbroken(link)
        show.give({"email": email, "link": link, "hours": hours})


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


@app.command()
def backup(
    out: Annotated[Path, typer.Option("--out", help="The file to write; a new one.")],
    folder: ServerFolder = Path("fairpool-server"),
    with_uploads_key: Annotated[
        bool,
        typer.Option(
            "--with-uploads-key",
            help="Put the key of uploads into it: whoever has the file then reads every table that"
            " was sent. Without it, keep a copy of the key elsewhere.",
        ),
    ] = False,
    patience: Annotated[
        float,
        typer.Option(help="Seconds that rounds which are being computed are waited for.", min=0),
    ] = 600.0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write everything that a service keeps into one file, while it goes on.

    In it are the database, whatever kind it is, the uploads as they are encrypted, and the folder
    of each collaboration, all of one moment; with them the secret of the noise and the operator's
    keys, so the file is for nobody else to read. What parties withdraw later stays in it.

    Examples: `fairpool server backup --out monday.backup`, `fairpool server backup --folder
    /srv/fairpool --out /mnt/backups/monday.backup`
    """
    with screen(quiet, as_json) as show:
        with opened_as_it_is(folder) as (settings, database):
            from fairpool.server.backup.taking import back_up

            taken = back_up(settings, database, out, with_key=with_uploads_key, patience=patience)
        show.say(
            f"{taken.path} has {taken.collaborations} collaboration(s) and {taken.uploads}"
            f" upload(s), {taken.bytes} bytes."
        )
        if with_uploads_key:
            show.say("The key of uploads is in it: whoever has it reads every table.")
        else:
            show.say(f"The key of uploads is not in it; keep a copy of {settings.key_file}.")
        show.give(
            {
                "out": str(taken.path),
                "collaborations": taken.collaborations,
                "uploads": taken.uploads,
                "bytes": taken.bytes,
                "has_key": with_uploads_key,
            }
        )


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="What `fairpool server backup` wrote.")],
    folder: Annotated[Path, typer.Option("--folder", help="A new one, or an empty one.")],
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Make a service of a backup, in an empty folder and an empty database.

    FAIRPOOL_DATABASE may be of another kind than the one that was backed up. Nothing is written
    before every byte of the file was compared with what was backed up. Where it is cut off, no
    service starts with the folder, and the same command begins anew.

    Example: `fairpool server restore monday.backup --folder /srv/fairpool-restored`
    """
    with screen(quiet, as_json) as show:
        with extra_needed():
            from fairpool.server.backup.restoring import restore as restore_service
            from fairpool.server.settings import Settings
        settings = Settings.of(folder)
        restored = restore_service(file, settings)
        show.say(f"{folder} is the service as it was at {restored.made}.")
        if not restored.has_key:
            show.say(
                f"The key of uploads was not in the backup: put your copy to {settings.key_file},"
                " mode 600, before you start the service."
            )
        show.say(f"Look whether all is well: fairpool server check --folder {folder}")
        show.give({"folder": str(folder), "made": restored.made, "has_key": restored.has_key})
