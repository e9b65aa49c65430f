"""`fairpool server`: what whoever runs the service does beside it."""

from pathlib import Path
from typing import Annotated

import typer

from fairpool.cli.options import Json, Quiet, ServerFolder
from fairpool.cli.screen import screen
from fairpool.cli.serving import extra_needed, opened, opened_as_it_is

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
