"""`fairpool serve`: the central party as a service."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from fairpool.cli.options import Json, Quiet
from fairpool.cli.screen import screen
from fairpool.cli.serving import extra_needed
from fairpool.errors import DataError


def serve(
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Where everything is kept; made where it is lacking. Default: fairpool-server, or"
            " fairpool-server-demo.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Where to listen.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Where to listen; 0: any that is free.", min=0, max=65535)
    ] = 8000,
    address: Annotated[
        str | None,
        typer.Option(
            help="Where browsers find it, when a proxy with TLS stands before it.",
            metavar="HTTPS://NAME",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(
            help="How many workers run beside it; 0: they run elsewhere (`fairpool worker`).",
            min=0,
        ),
    ] = 1,
    demo: Annotated[
        bool,
        typer.Option(
            "--demo",
            help="Three hospitals in the middle of a round, to click through on this machine.",
        ),
    ] = False,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Listen to other machines without TLS.")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """A place where operator, parties and auditor do their rounds, in a browser or by programs.

    At each start it prints a link with which the first operator makes an account, until there is
    one. FAIRPOOL_DATABASE is the address of a Postgres; without it there is a file in the folder.
    How much of the disk is whose is set in MiB: FAIRPOOL_UPLOAD_MEBIBYTES (one file, 512),
    FAIRPOOL_PARTY_MEBIBYTES (4096), FAIRPOOL_COLLABORATION_MEBIBYTES (32768) and
    FAIRPOOL_FREE_MEBIBYTES (what is left free, 512); FAIRPOOL_UPLOADS_PER_HOUR is how many files a
    party may send (60).

    Example: `fairpool serve --port 8000`

    Example: `fairpool serve --demo`
    """
    with screen(quiet, as_json) as show:
        with extra_needed():
            from fairpool.server.running import Running
        place = folder or Path("fairpool-server-demo" if demo else "fairpool-server")
        if demo:
            if address is not None or insecure:
                raise DataError(
                    "--demo: whoever reaches a demonstration may do everything in it, so that it"
                    " is for this machine alone; leave --address and --insecure out"
                )
            show.say("Three hospitals pool their data; that takes a minute when it is new.")
            running = Running.prepare_demo(place, host=host, port=port)
        else:
            running = Running.prepare(
                place, host=host, port=port, address=address, is_insecure=insecure
            )
        show.say_unbroken(f"fairpool is at {running.settings.address}")
        if running.link is not None and demo:
            show.say("Look at it as whomever you like:")
            show.say_unbroken(running.link)
        elif running.link is not None:
            show.say("The first operator makes an account here, once:")
            show.say_unbroken(running.link)
        show.say("Ctrl-C ends it.")
        show.give({"address": running.settings.address, "link": running.link})
        sys.stdout.flush()
        running.serve(workers=workers)
